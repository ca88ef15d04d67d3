#include "switches/data/link_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "switches/data/region.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

using ::testing::SizeIs;
using Verdict = LinkFaults::Verdict;

LinkFault Fault(LinkFault::Kind kind, uint64_t first, uint64_t every = 0, uint32_t bit = 0) {
  LinkFault fault;
  fault.kind = kind;
  fault.first = first;
  fault.every = every;
  fault.bit = bit;
  return fault;
}

TEST(LinkFault, StrikesOnceOrEverySoMany) {
  const LinkFault once = Fault(LinkFault::Kind::kLose, 3);
  const LinkFault every = Fault(LinkFault::Kind::kLose, 3, 4);
  for (uint64_t message = 1; message <= 12; ++message) {
    EXPECT_EQ(once.Strikes(message), message == 3);
    EXPECT_EQ(every.Strikes(message), message == 3 || message == 7 || message == 11);
  }
}

TEST(LinkFaults, CountsTheMessagesOfEachLinkForItself) {
  LinkFaults faults(10, {4, 7}, {Fault(LinkFault::Kind::kLose, 2), Fault(LinkFault::Kind::kLose, 1)});
  EXPECT_TRUE(faults.Afflicts(4));
  EXPECT_FALSE(faults.Afflicts(5));
  DataPacket packet = MakePacket(0, 0, 5, 0, 1);
  EXPECT_EQ(faults.Pass(4, &packet, 5), Verdict::kArrives);
  EXPECT_EQ(faults.Pass(7, &packet, 5), Verdict::kLost);
  EXPECT_EQ(faults.Pass(4, &packet, 5), Verdict::kLost);
  EXPECT_EQ(faults.Pass(4, &packet, 5), Verdict::kArrives);
  EXPECT_EQ(faults.counts().lost, 2u);
}

TEST(LinkFaults, FlipsOneBitAndNoOther) {
  for (uint32_t bit = 0; bit < 8 * sizeof(PacketUnit); ++bit) {
    LinkFaults faults(1, {0}, {Fault(LinkFault::Kind::kFlip, 1, 0, bit)});
    const DataPacket before = MakePacket(0x1b1, 9, 5, 3, 1);
    DataPacket after = before;
    EXPECT_EQ(faults.Pass(0, &after, 5), Verdict::kArrives);
    const auto* a = reinterpret_cast<const uint8_t*>(&before);
    const auto* b = reinterpret_cast<const uint8_t*>(&after);
    for (uint32_t i = 0; i < sizeof(PacketUnit); ++i) {
      ASSERT_EQ(a[i] ^ b[i], i == bit / 8 ? 1 << bit % 8 : 0) << "bit " << bit;
    }
  }
}

TEST(LinkFaults, CountsTheBitsOfAShortPacketRound) {
  LinkFaults faults(1, {0}, {Fault(LinkFault::Kind::kFlip, 1, 0, 8 * 16 + 3)});
  DataPacket packet = MakePacket(0, 0, 1, 0, 1);  // 16 bytes
  const uint64_t header = packet.header;
  faults.Pass(0, &packet, 1);
  EXPECT_EQ(packet.header, header ^ 8);
}

TEST(LinkFaults, WhatIsLostDoesNotArriveTwice) {
  LinkFaults faults(1, {0, 0, 0},
                    {Fault(LinkFault::Kind::kDuplicate, 1, 1), Fault(LinkFault::Kind::kLose, 2),
                     Fault(LinkFault::Kind::kDuplicate, 1, 1)});
  DataPacket packet = MakePacket(0, 0, 5, 0, 1);
  EXPECT_EQ(faults.Pass(0, &packet, 5), Verdict::kArrivesTwice);
  EXPECT_EQ(faults.Pass(0, &packet, 5), Verdict::kLost);
  EXPECT_EQ(faults.counts().duplicated, 1u);
  EXPECT_EQ(faults.counts().lost, 1u);
}

// ---- in a region ----

// Four leaves on one chip whose buffers hold one packet each.
class FaultyChip : public ::testing::Test {
 protected:
  FaultyChip() : tree_(4, {2}) {}
  void Start(const LinkEnd& from, LinkFault fault) {
    fault.from = from;
    RegionOptions options;
    options.depth = 1;
    options.leaf_credit = 1;
    options.link_faults = {fault};
    region_ = std::make_unique<Region>(tree_, options);
  }
  void Inject(uint32_t from, uint32_t to) {
    const DataPacket packet = MakePacket(FatTree::Route(from, to), to, 5, 0, ++id_);
    CopyPacket(region_->InjectSlot(from), &packet, 5);
    region_->Inject(from);
  }
  // Runs, and returns the ids of the packets that left.
  std::vector<uint32_t> Run() {
    std::vector<uint32_t> ids;
    region_->Run();
    for (size_t i = 0; i < region_->departures().size(); ++i) {
      ids.push_back(region_->departure_packet(i).words[0]);
    }
    region_->ClearDepartures();
    region_->CheckInvariants();
    return ids;
  }

  FatTree tree_;
  std::unique_ptr<Region> region_;
  uint32_t id_ = 0;
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(FaultyChip, ALostMessageGivesItsCreditBack) {
  Start(ChipEnd(0, 2), Fault(LinkFault::Kind::kLose, 1));
  Inject(0, 2);
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_TRUE(region_->Idle());
  Inject(0, 2);
  EXPECT_THAT(Run(), ElementsAre(2)) << "though the leaf never gave credit";
}

TEST_F(FaultyChip, AMessageLostBeforeTheChipTakesNoSlot) {
  Start(LeafEnd(0), Fault(LinkFault::Kind::kLose, 1));
  Inject(0, 2);
  EXPECT_TRUE(region_->Idle());
  EXPECT_EQ(region_->InjectSpace(0), 1u);
  Inject(0, 2);
  EXPECT_THAT(Run(), ElementsAre(2));
}

TEST_F(FaultyChip, ADuplicateWaitsForACreditOfItsOwnAheadOfWhatIsLater) {
  Start(ChipEnd(0, 2), Fault(LinkFault::Kind::kDuplicate, 1));
  Inject(0, 2);
  EXPECT_THAT(Run(), ElementsAre(1));
  EXPECT_FALSE(region_->Idle()) << "the copy waits";
  EXPECT_EQ(region_->chip(0).stats().out[2], 1u) << "the chip sent one";
  Inject(1, 2);
  EXPECT_THAT(Run(), IsEmpty());
  region_->HandleLeafCredit(2, 1);
  EXPECT_THAT(Run(), ElementsAre(1));
  region_->HandleLeafCredit(2, 1);
  EXPECT_THAT(Run(), ElementsAre(2));
  EXPECT_TRUE(region_->Idle());
}

TEST_F(FaultyChip, ADuplicateFromALeafWaitsForASlotOfItsOwn) {
  Start(LeafEnd(0), Fault(LinkFault::Kind::kDuplicate, 1));
  Inject(0, 2);
  EXPECT_EQ(region_->InjectSpace(0), 0u);
  EXPECT_THAT(Run(), ElementsAre(1));
  EXPECT_EQ(region_->InjectSpace(0), 0u) << "the copy has taken it";
  region_->HandleLeafCredit(2, 1);
  EXPECT_THAT(Run(), ElementsAre(1));
  EXPECT_TRUE(region_->Idle());
  EXPECT_EQ(region_->InjectSpace(0), 1u);
}

// A driver injects as many as InjectSpace says before it asks again.
TEST(FaultyRegion, TakesOneMessageAtATimeSoThatACopyOfEachHasRoom) {
  const FatTree tree(4, {2});
  RegionOptions options;
  options.depth = 8;
  EXPECT_EQ(Region(tree, options).InjectSpace(0), 8u);
  LinkFault fault;
  fault.from = LeafEnd(0);
  fault.kind = LinkFault::Kind::kDuplicate;
  fault.every = 1;
  options.link_faults = {fault};
  Region region(tree, options);
  uint32_t injected = 0;
  while (const uint32_t space = region.InjectSpace(0)) {
    for (uint32_t i = 0; i < space; ++i) {
      *region.InjectSlot(0) = MakePacket(FatTree::Route(0, 1), 1, 5, 0, injected);
      region.Inject(0);
      ++injected;
    }
  }
  EXPECT_EQ(injected, 4u) << "each takes two slots";
}

TEST_F(FaultyChip, EveryMessageTwiceNeverOverflowsTheBufferOfDepartures) {
  Start(ChipEnd(0, 2), Fault(LinkFault::Kind::kDuplicate, 1, 1));
  RegionOptions options;
  options.depth = 1024;
  options.leaf_credit = 4096;
  for (unsigned port = 0; port < 4; ++port) {
    LinkFault fault = Fault(LinkFault::Kind::kDuplicate, 1, 1);
    fault.from = ChipEnd(0, port);
    options.link_faults.push_back(fault);
  }
  region_ = std::make_unique<Region>(tree_, options);
  for (uint32_t i = 0; i < 4000; ++i) Inject(i % 4, i / 4 % 4);
  size_t departed = 0;
  for (size_t now = 1; now != 0; departed += now) now = Run().size();
  EXPECT_EQ(departed, 8000u);
  EXPECT_TRUE(region_->Idle());
}

TEST_F(FaultyChip, FaultsOfOtherPartsAreLeftToThem) {
  const FatTree tree(32, {2, 2, 4});
  LinkFault fault = Fault(LinkFault::Kind::kLose, 1);
  fault.from = LeafEnd(31);
  RegionOptions options;
  options.parts = 2;
  options.link_faults = {fault};
  EXPECT_EQ(Region(tree, options).link_faults(), nullptr);
  options.part = 1;
  EXPECT_NE(Region(tree, options).link_faults(), nullptr);
}

}  // namespace
}  // namespace vcm5
