// What a router chip does with sound packets, one transition a test.
#include "switches/data/router_chip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/switches/data/chip_rig.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// ---- up ----

TEST(RouterChip, ClimbsByAParentLinkWithOneLevelLessToClimb) {
  ChipRig rig;
  rig.Put(2, Climb(3), 77);
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(1));
  EXPECT_GE(outs[0].port, kUp0);
  EXPECT_EQ(outs[0].length, 5u);
  EXPECT_EQ(outs[0].packet.header, data_header::Make(Climb(2), 5, 0, 77));
  EXPECT_TRUE(DataPacketCrcGood(outs[0].packet));
  EXPECT_TRUE(WordsAreOf(77, outs[0].packet.words, 5));
}

TEST(RouterChip, ChoosesAmongAllFreeParentLinksAboutEquallyOften) {
  for (unsigned parents = 1; parents <= kParentsMax; ++parents) {
    ChipRig rig(parents);
    std::map<unsigned, int> chosen;
    for (uint32_t id = 0; id < 4000; ++id) {
      rig.Put(id % kChildren, Climb(), id);
      const auto outs = rig.Route();
      ASSERT_THAT(outs, SizeIs(1));
      chosen[outs[0].port]++;
      rig.chip().HandleCredit(outs[0].port, 1);
    }
    ASSERT_THAT(chosen, SizeIs(parents));
    for (const auto& [port, times] : chosen) {
      EXPECT_NEAR(times, 4000.0 / parents, 400) << "port " << port << " of " << parents;
    }
  }
}

TEST(RouterChip, DoesNotChooseAParentLinkThatIsBlocked) {
  ChipRig rig;
  rig.chip().SetCredit(kUp0 + 0, 0);
  rig.chip().SetCredit(kUp0 + 2, 0);
  for (uint32_t id = 0; id < 200; ++id) {
    rig.Put(0, Climb(), id);
    const auto outs = rig.Route();
    ASSERT_THAT(outs, SizeIs(1));
    ASSERT_TRUE(outs[0].port == kUp0 + 1 || outs[0].port == kUp0 + 3);
    rig.chip().HandleCredit(outs[0].port, 1);
  }
}

TEST(RouterChip, WaitsWhenNoParentLinkHasCredit) {
  ChipRig rig(2);
  rig.BlockAll();
  rig.Put(1, Climb(), 5);
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.chip().stats().stalled_up, 1u);
  EXPECT_EQ(rig.chip().Waiting(1), 1u);
  rig.chip().HandleCredit(kUp0 + 1, 1);
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(1));
  EXPECT_EQ(outs[0].port, kUp0 + 1);
}

TEST(RouterChip, SameSeedSameChoices) {
  ChipRig one(4, 0xf, 9), two(4, 0xf, 9), other(4, 0xf, 10);
  bool differs = false;
  for (uint32_t id = 0; id < 64; ++id) {
    unsigned port[3];
    int i = 0;
    for (ChipRig* rig : {&one, &two, &other}) {
      rig->Put(0, Climb(), id);
      port[i] = rig->Route().at(0).port;
      rig->chip().HandleCredit(port[i], 1);
      ++i;
    }
    ASSERT_EQ(port[0], port[1]);
    differs |= port[0] != port[2];
  }
  EXPECT_TRUE(differs);
}

// ---- down ----

TEST(RouterChip, GoesDownTheChildLinkOfItsPath) {
  for (unsigned child = 0; child < kChildren; ++child) {
    ChipRig rig;
    rig.Put(kUp0 + 1, Descend(child, 0x2d), 8, 2);
    const auto outs = rig.Route();
    ASSERT_THAT(outs, SizeIs(1));
    EXPECT_EQ(outs[0].port, child);
    EXPECT_EQ(outs[0].packet.header, data_header::Make(RoutingInstructions(0, 0x2d), 2, 0, 8));
    EXPECT_TRUE(DataPacketCrcGood(outs[0].packet));
    EXPECT_TRUE(WordsAreOf(8, outs[0].packet.words, 2));
  }
}

TEST(RouterChip, WaitsForTheOneChildLinkOfItsPath) {
  ChipRig rig;
  rig.chip().SetCredit(2, 0);
  rig.Put(kUp0, Descend(2), 1);
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.chip().stats().stalled_down, 1u);
  rig.chip().HandleCredit(2, 1);
  EXPECT_THAT(rig.Route(), SizeIs(1));
}

TEST(RouterChip, TurnsRoundBetweenItsOwnChildren) {
  for (unsigned from = 0; from < kChildren; ++from) {
    for (unsigned to = 0; to < kChildren; ++to) {
      ChipRig rig(0);
      rig.Put(from, Descend(to), 1);
      const auto outs = rig.Route();
      ASSERT_THAT(outs, SizeIs(1)) << from << " to " << to;
      EXPECT_EQ(outs[0].port, to);
    }
  }
}

// A crossbar but for the ways from parent to parent (router_chip_errors_test.cc).
TEST(RouterChip, EveryInputReachesEveryOutput) {
  for (unsigned in = 0; in < kChipPorts; ++in) {
    for (unsigned out = 0; out < (in < kChildren ? kChipPorts : kChildren); ++out) {
      ChipRig rig;
      rig.BlockAll();
      rig.chip().HandleCredit(out, 1);
      rig.Put(in, out < kChildren ? Descend(out) : Climb(), 1);
      const auto outs = rig.Route();
      ASSERT_THAT(outs, SizeIs(1)) << in << " to " << out;
      EXPECT_EQ(outs[0].port, out);
    }
  }
}

// ---- credits and buffers ----

TEST(RouterChip, GivesBackACreditForEverySlotItEmptied) {
  ChipRig rig;
  for (uint32_t id = 0; id < 3; ++id) rig.Put(0, Descend(1), id);
  rig.Put(kUp0 + 3, Descend(2), 9);
  EXPECT_EQ(rig.chip().Space(0), kDepth - 3);
  rig.Route();
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(0, 3), Pair(kUp0 + 3, 1)));
  EXPECT_EQ(rig.chip().Space(0), kDepth);
  EXPECT_FALSE(rig.chip().occupied());
}

TEST(RouterChip, GivesBackNothingForWhatWaits) {
  ChipRig rig;
  rig.BlockAll();
  rig.Put(0, Climb(), 1);
  rig.Route();
  EXPECT_THAT(rig.freed(), IsEmpty());
}

TEST(RouterChip, SendsNoMoreThanItHasCreditFor) {
  ChipRig rig(1, 0xf, 1, 16);
  rig.chip().SetCredit(kUp0, 3);
  for (uint32_t id = 0; id < 16; ++id) rig.Put(id % kChildren, Climb(), id);
  EXPECT_THAT(rig.Route(), SizeIs(3));
  EXPECT_EQ(rig.chip().Credit(kUp0), 0u);
  EXPECT_THAT(rig.Route(), IsEmpty());
  rig.chip().HandleCredit(kUp0, 2);
  EXPECT_THAT(rig.Route(), SizeIs(2));
}

TEST(RouterChip, NoCreditIsNoCredit) {
  ChipRig rig(1);
  rig.BlockAll();
  rig.chip().HandleCredit(kUp0, 0);
  rig.Put(0, Climb(), 1);
  EXPECT_THAT(rig.Route(), IsEmpty());
}

TEST(RouterChip, StartsWithCreditForTheBufferAtTheFarEnd) {
  ChipRig rig(2);
  for (unsigned port = 0; port < kUp0 + 2; ++port) EXPECT_EQ(rig.chip().Credit(port), kDepth);
  EXPECT_EQ(rig.chip().Credit(kUp0 + 2), 0u);
}

TEST(RouterChip, KeepsTheOrderOfOneInput) {
  ChipRig rig(1);
  for (uint32_t id = 0; id < kDepth; ++id) rig.Put(3, Climb(), id);
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(kDepth));
  for (uint32_t id = 0; id < kDepth; ++id) EXPECT_EQ(outs[id].id(), id);
}

TEST(RouterChip, AWaitingInputDoesNotHoldUpTheOthers) {
  ChipRig rig;
  rig.chip().SetCredit(0, 0);
  rig.Put(1, Descend(0), 1);
  rig.Put(2, Descend(3), 2);
  rig.Put(3, Climb(), 3);
  EXPECT_THAT(rig.Route(), SizeIs(2));
  EXPECT_EQ(rig.chip().Waiting(1), 1u);
}

TEST(RouterChip, MovesNoMoreThanItsBudget) {
  ChipRig rig;
  for (uint32_t id = 0; id < 8; ++id) rig.Put(id, Descend(id % kChildren), id);
  EXPECT_THAT(rig.Route(0), IsEmpty());
  EXPECT_THAT(rig.Route(3), SizeIs(3));
  EXPECT_EQ(rig.moved(), 3u);
  EXPECT_THAT(rig.Route(), SizeIs(5));
}

TEST(RouterChip, BuffersAreReusedRoundAndRound) {
  ChipRig rig;
  for (uint32_t id = 0; id < 10 * kDepth; ++id) {
    rig.Put(0, Descend(1), id, 1 + id % 5);
    const auto outs = rig.Route();
    ASSERT_THAT(outs, SizeIs(1));
    ASSERT_TRUE(WordsAreOf(id, outs[0].packet.words, 1 + id % 5));
    rig.chip().HandleCredit(1, 1);
  }
}

TEST(RouterChip, CountsWhatPassesEachLink) {
  ChipRig rig(1);
  rig.Put(0, Descend(1), 1);
  rig.Put(0, Climb(), 2);
  rig.Put(kUp0, Descend(1), 3);
  rig.Route();
  const RouterChipStats stats = rig.chip().stats();
  EXPECT_THAT(stats.in, ElementsAre(2, 0, 0, 0, 1, 0, 0, 0));
  EXPECT_THAT(stats.out, ElementsAre(0, 2, 0, 0, 1, 0, 0, 0));
}

TEST(RouterChip, ShowsTheHeadOfAnInput) {
  ChipRig rig;
  uint64_t header;
  EXPECT_FALSE(rig.chip().Head(2, &header));
  rig.Put(2, Descend(1), 42);
  ASSERT_TRUE(rig.chip().Head(2, &header));
  EXPECT_EQ(data_header::Destination(header), 42u);
}

TEST(RouterChip, TakesTheLongestPacketsOfTheCm5e) {
  RouterChip::Options options;
  options.children_mask = 0xf;
  options.depth = 2;
  options.slot_units = kPacketUnitsMax;
  std::vector<PacketUnit> storage(RouterChip::StorageUnits(options));
  RouterChip chip(options, storage.data());
  for (uint32_t id = 0; id < 2; ++id) {
    const DataPacket packet = MakePacket(Descend(3), 1, kCm5eWordsMax, 0, id);
    CopyPacket(chip.ReceiveSlot(1), &packet, kCm5eWordsMax);
    chip.HandlePacket(1);
  }
  uint32_t next = 0;
  chip.Route(
      10,
      [&](unsigned, const DataPacket& packet, unsigned length) {
        EXPECT_EQ(length, kCm5eWordsMax);
        EXPECT_TRUE(WordsAreOf(next++, packet.words, length));
      },
      [](unsigned, uint32_t) {});
  EXPECT_EQ(next, 2u);
}

}  // namespace
}  // namespace vcm5
