// What a router chip does with packets that are damaged or lost, and with a driver that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/switches/data/chip_rig.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(RouterChipErrors, NeverMovesAPacketFromParentToParent) {
  ChipRig rig;
  for (unsigned port = kUp0; port < kChipPorts; ++port) {
    rig.Put(port, Climb(2), port);
    EXPECT_THAT(rig.Route(), IsEmpty());
  }
  EXPECT_EQ(rig.chip().stats().misrouted, 4u);
  EXPECT_THAT(rig.freed(), SizeIs(4)) << "its slot is free again";
}

TEST(RouterChipErrors, APacketThatClimbsFromAParentDoesNotWaitForCredit) {
  ChipRig rig;
  rig.BlockAll();
  rig.Put(kUp0, Climb(), 1);
  rig.Route();
  EXPECT_EQ(rig.chip().stats().misrouted, 1u);
}

TEST(RouterChipErrors, CountsAPacketThatClimbsAboveTheTop) {
  ChipRig rig(0);
  rig.Put(1, Climb(), 1);
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.chip().stats().misrouted, 1u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(1, 1)));
}

TEST(RouterChipErrors, CountsAPacketForAChildThatDoesNotExist) {
  ChipRig rig(2, 0b0111);
  rig.Put(kUp0, Descend(3), 1);
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.chip().stats().misrouted, 1u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(kUp0, 1)));
}

// ---- damaged packets (DN4) ----

DataPacket Damaged(uint32_t route, uint32_t id = 9) {
  DataPacket packet = MakePacket(route, 9, 5, 0, id);
  packet.words[4] ^= 0x100;
  return packet;
}

TEST(RouterChipErrors, SignalsAPrimaryErrorAndSendsTheMarkedPacketOn) {
  ChipRig rig;
  rig.Put(0, Damaged(Descend(1, 2)));
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(1));
  EXPECT_EQ(outs[0].port, 1u);
  EXPECT_EQ(outs[0].length, 5u);
  EXPECT_FALSE(DataPacketCrcGood(outs[0].packet));
  EXPECT_TRUE(DataPacketCrcMarked(outs[0].packet)) << "the complement, for the changed header, too";
  const RouterChipStats stats = rig.chip().stats();
  EXPECT_EQ(stats.primary_errors, 1u);
  EXPECT_EQ(stats.secondary_errors, 0u);
  EXPECT_EQ(stats.dropped, 0u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(0, 1)));
  EXPECT_EQ(rig.chip().Credit(1), kDepth - 1);
  unsigned port = 99;
  ASSERT_TRUE(rig.chip().has_fault());
  EXPECT_EQ(rig.chip().TakeFault(&port), RouterChipFault::kPrimary);
  EXPECT_EQ(port, 0u);
  EXPECT_FALSE(rig.chip().has_fault());
}

TEST(RouterChipErrors, CountsASecondaryErrorAndSendsThePacketOnAsItIs) {
  ChipRig first;
  first.Put(0, Damaged(Descend(1, 2)));
  DataPacket packet = first.Route().at(0).packet;
  for (unsigned hop = 0; hop < 3; ++hop) {  // the chips after it, all alike
    ChipRig later;
    later.Put(kUp0, packet);
    const auto outs = later.Route();
    ASSERT_THAT(outs, SizeIs(1));
    packet = outs[0].packet;
    EXPECT_TRUE(DataPacketCrcMarked(packet));
    EXPECT_EQ(later.chip().stats().primary_errors, 0u);
    EXPECT_EQ(later.chip().stats().secondary_errors, 1u);
    EXPECT_FALSE(later.chip().has_fault()) << "who found it first has signalled it";
  }
}

TEST(RouterChipErrors, APacketDamagedOnceMoreIsAPrimaryErrorAgain) {
  ChipRig first;
  first.Put(0, Damaged(Descend(1)));
  DataPacket packet = first.Route().at(0).packet;
  packet.words[0] ^= 1;
  ChipRig second;
  second.Put(kUp0, packet);
  EXPECT_TRUE(DataPacketCrcMarked(second.Route().at(0).packet));
  EXPECT_EQ(second.chip().stats().primary_errors, 1u);
}

// Where a header that a flipped bit changed leads, if anywhere, is anybody's guess.
TEST(RouterChipErrors, FindsAnyBitThatFlips) {
  for (unsigned bit = 0; bit < 8 * sizeof(PacketUnit); ++bit) {
    ChipRig rig;
    DataPacket packet = MakePacket(Descend(1), 9, 5, 0, 9);
    auto* bytes = reinterpret_cast<uint8_t*>(&packet);
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << bit % 8));
    rig.Put(0, packet);
    const auto outs = rig.Route();
    ASSERT_EQ(rig.chip().stats().primary_errors, 1u) << "bit " << bit;
    ASSERT_EQ(outs.size() + rig.chip().stats().dropped, 1u) << "bit " << bit;
    if (!outs.empty()) {
      ASSERT_TRUE(DataPacketCrcMarked(outs[0].packet)) << "bit " << bit;
    }
  }
}

TEST(RouterChipErrors, DropsADamagedPacketWhoseLengthTheMachineDoesNotHave) {
  for (const unsigned length : {0u, 6u, 31u}) {
    ChipRig rig;
    DataPacket packet = MakePacket(Descend(1), 9, 5, 0, 9);
    packet.header = data_header::Make(Descend(1), length, 0, 9);
    rig.Put(0, packet);
    EXPECT_THAT(rig.Route(), IsEmpty());
    EXPECT_EQ(rig.chip().stats().primary_errors, 1u);
    EXPECT_EQ(rig.chip().stats().dropped, 1u);
    EXPECT_TRUE(rig.chip().has_fault());
    EXPECT_EQ(rig.chip().Credit(1), kDepth) << "nothing was sent";
    EXPECT_THAT(rig.freed(), ElementsAre(Pair(0, 1)));
  }
}

TEST(RouterChipErrors, DropsADamagedPacketThatItCannotRoute) {
  ChipRig rig(2, 0b0111);
  rig.Put(kUp0, Damaged(Descend(3)));
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.chip().stats().primary_errors, 1u);
  EXPECT_EQ(rig.chip().stats().misrouted, 0u) << "its route may be what was damaged";
  EXPECT_EQ(rig.chip().stats().dropped, 1u);
}

TEST(RouterChipErrors, ADroppedPacketDoesNotHoldUpTheNext) {
  ChipRig rig(2, 0b0111);
  rig.Put(0, Damaged(Descend(3)));
  rig.Put(0, Descend(1), 2);
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(1));
  EXPECT_EQ(outs[0].id(), 2u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(0, 2)));
}

using RouterChipDeathTest = ::testing::Test;

TEST(RouterChipDeathTest, APacketWithoutCreditIsTheDriversBug) {
  ChipRig rig;
  rig.BlockAll();
  for (uint32_t id = 0; id < kDepth; ++id) rig.Put(0, Climb(), id);
  EXPECT_DEATH(rig.Put(0, Climb(), 99), "packet sent without credit");
}

TEST(RouterChipDeathTest, CreditForALinkThatDoesNotExistIsTheDriversBug) {
  ChipRig rig(2);
  EXPECT_DEATH(rig.chip().SetCredit(kUp0 + 2, 1), "linked_");
}

TEST(RouterChipDeathTest, DepthIsAPowerOfTwo) { EXPECT_DEATH(ChipRig(2, 0xf, 1, 3), "depth"); }

}  // namespace
}  // namespace vcm5
