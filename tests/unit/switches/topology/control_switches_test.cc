#include "switches/topology/control_switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace vcm5 {
namespace {

using ::testing::ElementsAre;

MachineSpec Machine(uint32_t nodes, uint32_t control_processors = 0, uint32_t io_channels = 0) {
  MachineSpec spec;
  spec.nodes = nodes;
  spec.control_processors = control_processors;
  spec.io_channels = io_channels;
  return spec;
}

BrokenPart Chip(uint32_t level, uint32_t number) {
  return {.kind = BrokenPart::Kind::kChip, .halves = kControlNetwork, .level = level,
          .number = number};
}
BrokenPart LinkOf(uint32_t level, uint32_t number, uint32_t port) {
  return {.kind = BrokenPart::Kind::kLink, .halves = kControlNetwork, .level = level,
          .number = number, .port = port};
}
BrokenPart Leaf(uint32_t leaf) { return {.halves = kControlNetwork, .leaf = leaf}; }

TEST(ControlSwitches, HaveHalfAsManySubtreesALevel) {
  const ControlSwitches switches(Machine(16));
  ASSERT_EQ(switches.levels(), 4u);
  const std::vector<uint32_t> chips = {switches.chips_at(1), switches.chips_at(2),
                                       switches.chips_at(3), switches.chips_at(4)};
  EXPECT_THAT(chips, ElementsAre(8, 8, 4, 2));
  EXPECT_EQ(switches.switches(), 22u);
  // One of each leaf, two of each pair, four of each larger subtree but the whole.
  EXPECT_EQ(switches.links(), 16u + 8 * 2 + 4 * 4 + 2 * 4);
}

TEST(ControlSwitches, GiveFourChannelsToEverySubtreeOfMoreThanTwo) {
  const ControlSwitches switches(Machine(256, 5));
  const ControlDamage nothing(switches);
  for (unsigned level = 0; level < switches.levels(); ++level) {
    for (uint32_t number = 0; number < switches.subtrees_at(level); ++number) {
      EXPECT_EQ(nothing.Channels(level, switches.SubtreeAt(level, number)),
                level == 0   ? 1u
                : level == 1 ? 2u
                             : 4u);
    }
  }
}

TEST(ControlSwitches, KeepControlProcessorsInAHalfOfTheirOwn) {
  const ControlSwitches switches(Machine(20, 3, 1));
  ASSERT_EQ(switches.levels(), 6u);
  EXPECT_EQ(switches.position(19), 19u);
  EXPECT_EQ(switches.position(20), 32u);
  EXPECT_EQ(switches.leaves_below(5, 0).end, 20u);
  EXPECT_EQ(switches.leaves_below(5, 1).first, 20u);
  EXPECT_EQ(switches.leaves_below(5, 1).end, 24u);
  EXPECT_EQ(switches.leaves_below(1, 17).first, 22u);
  EXPECT_EQ(switches.leaves_below(6, 0).end, 24u);
  EXPECT_TRUE(switches.exists(2, 4));
  EXPECT_FALSE(switches.exists(2, 5)) << "no leaf has a position from 20 to 31";
  EXPECT_TRUE(switches.exists(2, 8));
  EXPECT_EQ(switches.subtrees_at(2), 6u);
}

TEST(ControlSwitches, OfOneNodeHaveAChip) {
  const ControlSwitches alone(Machine(1));
  EXPECT_EQ(alone.levels(), 1u);
  EXPECT_EQ(alone.switches(), 1u);
  EXPECT_TRUE(alone.HasPort(1, 0, 0));
  EXPECT_FALSE(alone.HasPort(1, 0, 2));
  const ControlSwitches two(Machine(1, 1));
  EXPECT_EQ(two.levels(), 1u);
  EXPECT_TRUE(two.HasPort(1, 0, 2));
}

TEST(ControlSwitches, HavePortsWhereLinksAre) {
  const ControlSwitches switches(Machine(8));
  const auto ports = [&](unsigned level, uint32_t chip) {
    std::vector<unsigned> found;
    for (unsigned port = 0; port < ControlSwitches::kPorts; ++port) {
      if (switches.HasPort(level, chip, port)) found.push_back(port);
    }
    return found;
  };
  EXPECT_THAT(ports(1, 0), ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(ports(2, 3), ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(ports(3, 1), ElementsAre(0, 1, 2, 3));
}

TEST(ControlSwitches, KnowTheirParts) {
  const ControlSwitches switches(Machine(16));
  EXPECT_TRUE(switches.Has(Chip(4, 1)));
  EXPECT_FALSE(switches.Has(Chip(4, 2)));
  EXPECT_FALSE(switches.Has(Chip(0, 0)));
  EXPECT_FALSE(switches.Has(Chip(5, 0)));
  EXPECT_TRUE(switches.Has(LinkOf(3, 3, 5)));
  EXPECT_FALSE(switches.Has(LinkOf(4, 0, 4))) << "the top";
  EXPECT_FALSE(switches.Has(LinkOf(3, 3, 6)));
  EXPECT_FALSE(switches.Has(LinkOf(2, 0, 1))) << "a pair of leaves has one chip";
  EXPECT_TRUE(switches.Has(Leaf(15)));
  EXPECT_FALSE(switches.Has(Leaf(16)));
  EXPECT_FALSE(switches.Has({.halves = kBothHalves, .leaf = 3}));
}

TEST(ControlDamage, OfALinkIsTheSameFromBothEnds) {
  const ControlSwitches switches(Machine(16));
  ControlDamage above(switches);
  above.Break(LinkOf(3, 2, 3));  // chip 0 of leaves 8 to 15, to chip 1 of leaves 12 to 15
  EXPECT_FALSE(above.LinkWorks(2, 3, 1, 0));
  EXPECT_EQ(above.Channels(2, 3), 3u);
  ControlDamage below(switches);
  below.Break(LinkOf(2, 7, 4));
  EXPECT_FALSE(below.LinkWorks(2, 3, 1, 0));
  EXPECT_EQ(below.links(), switches.links() - 1);
}

TEST(ControlDamage, OfAChipTakesItsLinks) {
  const ControlSwitches switches(Machine(16));
  ControlDamage damage(switches);
  damage.Break(Chip(3, 0));
  EXPECT_EQ(damage.links(), switches.links() - 6);
  EXPECT_EQ(damage.Channels(3, 0), 2u);
  EXPECT_EQ(damage.Channels(2, 0), 2u);
  EXPECT_EQ(damage.Channels(2, 2), 4u);
}

std::vector<uint32_t> Lost(const MachineSpec& spec, const std::vector<BrokenPart>& parts) {
  const ControlSwitches switches(spec);
  const std::vector<uint8_t> joined = LeavesOfOneTree(switches, ControlDamage(switches, parts),
                                                      std::vector<uint8_t>(switches.leaves(), 1));
  std::vector<uint32_t> lost;
  for (uint32_t leaf = 0; leaf < joined.size(); ++leaf) {
    if (joined[leaf] == 0) lost.push_back(leaf);
  }
  return lost;
}

TEST(LeavesOfOneTree, LeaveOutWhatOneLinkOrChipServed) {
  EXPECT_THAT(Lost(Machine(16), {Leaf(5)}), ElementsAre(5));
  EXPECT_THAT(Lost(Machine(16), {Chip(1, 3)}), ElementsAre(6, 7));
  EXPECT_THAT(Lost(Machine(16), {LinkOf(1, 3, 2)}), ElementsAre(7));
}

TEST(LeavesOfOneTree, NeedAChip) {
  EXPECT_THAT(Lost(Machine(1), {Leaf(0)}), ElementsAre(0));
  EXPECT_THAT(Lost(Machine(2), {Chip(1, 0)}), ElementsAre(0, 1));
}

TEST(LeavesOfOneTree, TakeTheOtherChipOrLink) {
  EXPECT_THAT(Lost(Machine(16), {Chip(2, 0)}), ElementsAre());
  EXPECT_THAT(Lost(Machine(16), {Chip(2, 0), Chip(2, 3), Chip(3, 1), Chip(4, 0)}), ElementsAre());
  EXPECT_THAT(Lost(Machine(16), {LinkOf(1, 0, 4), LinkOf(1, 1, 4), LinkOf(2, 2, 4)}),
              ElementsAre());
}

TEST(LeavesOfOneTree, LeaveOutWhatIsFewest) {
  EXPECT_THAT(Lost(Machine(16), {Chip(2, 0), Chip(2, 1)}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Lost(Machine(16), {Chip(4, 0), Chip(4, 1)}), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15))
      << "the halves are as good";
  EXPECT_THAT(Lost(Machine(4, 12), {Chip(5, 0), Chip(5, 1)}),
              ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
      << "nodes are what a machine is for";
  // Leaves 0 and 1 can come up to chip 1 only, leaves 2 and 3 to chip 0 only.
  EXPECT_THAT(Lost(Machine(16), {LinkOf(1, 0, 4), LinkOf(1, 1, 5)}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace vcm5
