// The order in which a chip deals the messages that fall, and a chip in all-fall-down mode.
#include "switches/data/fall_down.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "tests/unit/switches/data/chip_rig.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kClimbing = 1;

uint64_t Descending(unsigned child) { return uint64_t{child} << kPathShift; }
unsigned DealtChild(FallDown* fall, uint64_t header) {
  const uint64_t dealt = fall->Deal(header);
  EXPECT_TRUE(data_header::FallsAndIsDealt(dealt));
  return data_header::NextChild(dealt);
}

TEST(FallDown, DealsInTurnBeginningWithTheProgrammedLink) {
  FallDown fall(0xf);
  fall.Program({{1, 1, 1, 1}, 2});
  std::vector<unsigned> children;
  for (int i = 0; i < 6; ++i) children.push_back(DealtChild(&fall, kClimbing));
  EXPECT_THAT(children, ElementsAre(2, 3, 0, 1, 2, 3));
  fall.Forget();
  EXPECT_EQ(DealtChild(&fall, kClimbing), 2u);
}

TEST(FallDown, DealsByTheLeavesBelow) {
  FallDown fall(0b0111);
  fall.Program({{4, 4, 1, 0}, 0});
  std::array<unsigned, kChildren> dealt{};
  for (int i = 0; i < 90; ++i) dealt[DealtChild(&fall, kClimbing)]++;
  EXPECT_THAT(dealt, ElementsAre(40, 40, 10, 0));
}

TEST(FallDown, WithoutAProgramDealsToTheLinksThatThereAre) {
  FallDown fall(0b1010);
  EXPECT_EQ(DealtChild(&fall, kClimbing), 1u);
  EXPECT_EQ(DealtChild(&fall, kClimbing), 3u);
  fall.Program({});
  EXPECT_EQ(DealtChild(&fall, kClimbing), 1u);
}

TEST(FallDown, TurnsAwayAMessageThatBeginsToFallOnItsWayDown) {
  FallDown fall(0xf);
  for (int i = 0; i < 9; ++i) EXPECT_NE(DealtChild(&fall, Descending(1)), 1u);
  EXPECT_EQ(DealtChild(&fall, Descending(1) | data_header::kFalls), 1u) << "fell before";
  EXPECT_EQ(DealtChild(&fall, kClimbing | Descending(1)), 1u) << "was going up";
}

// The bound of fall_down.h for one chip of equal links, for every sequence of up to eight messages
// that climb or are turned away from one of the links.
TEST(FallDown, GivesNoLinkTooManyWhateverComes) {
  constexpr unsigned kLength = 8;
  unsigned sequences = 1;
  for (unsigned i = 0; i < kLength; ++i) sequences *= kChildren + 1;
  for (unsigned sequence = 0; sequence < sequences; ++sequence) {
    FallDown fall(0xf);
    std::array<unsigned, kChildren> dealt{};
    unsigned turned = 0;
    unsigned rest = sequence;
    for (unsigned total = 1; total <= kLength; ++total, rest /= kChildren + 1) {
      const unsigned kind = rest % (kChildren + 1);
      if (kind != kChildren) ++turned;
      dealt[data_header::NextChild(fall.Deal(kind == kChildren ? kClimbing : Descending(kind)))]++;
      const unsigned most = *std::max_element(dealt.begin(), dealt.end());
      ASSERT_LE(12 * most, 3 * total + turned + 11) << sequence << " after " << total;
    }
  }
}

// The same for links with different shares: at most (T + 3) s/W.
TEST(FallDown, GivesNoLinkTooManyForItsLeaves) {
  for (uint32_t shares = 1; shares < 6 * 6 * 6 * 6; ++shares) {
    const std::array<uint32_t, kChildren> share = {shares % 6, shares / 6 % 6, shares / 36 % 6,
                                                   shares / 216};
    const uint32_t all = std::accumulate(share.begin(), share.end(), 0u);
    FallDown fall(0xf);
    fall.Program({share, static_cast<uint8_t>(shares % 4)});
    std::array<uint32_t, kChildren> dealt{};
    for (uint32_t total = 1; total <= 40; ++total) {
      dealt[data_header::NextChild(fall.Deal(kClimbing))]++;
      for (unsigned child = 0; child < kChildren; ++child) {
        ASSERT_LE(dealt[child] * all, (total + 3) * share[child]);
      }
    }
  }
}

TEST(ChipInAllFallDown, MarksEverythingAndSendsItDown) {
  ChipRig rig;
  rig.chip().SetAllFallDown(true);
  for (unsigned port = 0; port < kChipPorts; ++port) {
    rig.Put(port, port < kUp0 ? Climb(2) : Descend(2, 0x39), port);
  }
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(kChipPorts));
  for (const auto& out : outs) {
    EXPECT_LT(out.port, kUp0);
    EXPECT_TRUE(data_header::FallsOnLink(out.packet.header));
    EXPECT_TRUE(DataPacketCrcGood(out.packet));
    EXPECT_EQ(data_header::Destination(out.packet.header), out.id()) << "keeps its destination";
    EXPECT_EQ(data_header::Length(out.packet.header), 5u);
  }
  EXPECT_EQ(rig.chip().stats().began_to_fall, kChipPorts);
}

TEST(ChipInAllFallDown, WhatFallsKeepsFallingInAChipThatIsNotInTheMode) {
  ChipRig above;
  above.chip().SetAllFallDown(true);
  above.Put(0, Climb(), 7);
  const auto fell = above.Route();
  ASSERT_THAT(fell, SizeIs(1));
  ChipRig below;
  below.Put(kUp0, fell[0].packet);
  below.Put(0, Climb(), 8);
  const auto outs = below.Route();
  ASSERT_THAT(outs, SizeIs(2));
  for (const auto& out : outs) EXPECT_EQ(data_header::Falls(out.packet.header), out.id() == 7);
  EXPECT_EQ(below.chip().stats().began_to_fall, 0u);
}

TEST(ChipInAllFallDown, WaitsForTheLinkItWasDealtToAlsoWhenTheModeEnds) {
  ChipRig rig;
  rig.BlockAll();
  rig.Put(kUp0, Descend(2), 1);
  EXPECT_THAT(rig.Route(), IsEmpty());
  rig.chip().SetAllFallDown(true);
  EXPECT_THAT(rig.Route(), IsEmpty());
  rig.chip().SetAllFallDown(false);
  for (unsigned child = 1; child < kChildren; ++child) rig.chip().HandleCredit(child, 1);
  EXPECT_THAT(rig.Route(), IsEmpty()) << "was dealt to link 0, the first";
  rig.chip().HandleCredit(0, 1);
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(1));
  EXPECT_EQ(outs[0].port, 0u);
  EXPECT_TRUE(data_header::FallsOnLink(outs[0].packet.header));
}

TEST(ChipInAllFallDown, NobodyWaitsForATurnOfWhatNowFalls) {
  // Input 0 waited to climb, input 4 for child 3; both were owed the next turn there.
  ChipRig rig;
  rig.BlockAll();
  rig.Put(0, Climb(), 1);
  rig.Put(kUp0, Descend(3), 2);
  rig.Route();
  rig.chip().SetAllFallDown(true);
  rig.Route();
  rig.chip().SetAllFallDown(false);
  for (const unsigned child : {0u, 1u, 2u, 3u}) rig.chip().HandleCredit(child, 2);
  rig.chip().HandleCredit(kUp0, 2);
  EXPECT_THAT(rig.Route(), SizeIs(2));
  rig.Put(1, Climb(), 3);
  rig.Put(2, Descend(3), 4);
  EXPECT_THAT(rig.Route(), SizeIs(2));
}

TEST(ChipInAllFallDown, ADamagedMessageIsFoundAllTheSame) {
  ChipRig rig;
  rig.chip().SetAllFallDown(true);
  DataPacket packet = MakePacket(Climb(), 9, 5, 0, 9);
  packet.words[2] ^= 4;
  rig.Put(0, packet);
  const auto moved = rig.Route();
  ASSERT_THAT(moved, SizeIs(1));
  EXPECT_TRUE(data_header::Falls(moved[0].packet.header));
  EXPECT_TRUE(DataPacketCrcMarked(moved[0].packet)) << "it says so wherever it lands";
  EXPECT_EQ(rig.chip().stats().primary_errors, 1u);
}

TEST(ChipInAllFallDown, AMarkThatANeighbourForgedLeadsDownOrNowhere) {
  ChipRig rig(2, 0b0011);
  for (const uint32_t route : {Climb(), Descend(3, 1), Descend(0, 7), RoutingInstructions(0, 7)}) {
    DataPacket packet = MakePacket(route, 9, 5, 0, 9);
    packet.header |= data_header::kFalls;
    packet.crc = DataPacketCrc(packet, 5, packet.header);
    rig.Put(kUp0, packet);
    for (const auto& out : rig.Route()) {
      EXPECT_LT(out.port, 2u);
      EXPECT_TRUE(data_header::FallsOnLink(out.packet.header));
    }
  }
  EXPECT_EQ(rig.chip().stats().misrouted, 2u) << "as if dealt to child 3, which has no link";
}

}  // namespace
}  // namespace vcm5
