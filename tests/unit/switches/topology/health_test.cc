#include "switches/topology/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Way = HealthDecision::Way;

BrokenPart Chip(uint8_t halves, uint32_t level, uint32_t number) {
  return {.kind = BrokenPart::Kind::kChip, .halves = halves, .level = level, .number = number};
}
BrokenPart LinkOf(uint8_t halves, uint32_t level, uint32_t number, uint32_t port) {
  return {.kind = BrokenPart::Kind::kLink, .halves = halves, .level = level, .number = number,
          .port = port};
}
BrokenPart Leaf(uint8_t halves, uint32_t leaf) {
  return {.kind = BrokenPart::Kind::kLeaf, .halves = halves, .leaf = leaf};
}

MachineSpec Machine(uint32_t nodes, std::vector<BrokenPart> broken,
                    std::vector<uint32_t> parents = {2, 2, 4}) {
  MachineSpec spec;
  spec.nodes = nodes;
  spec.control_processors = 0;
  spec.parents_per_level = std::move(parents);
  spec.broken = std::move(broken);
  return spec;
}

std::vector<uint32_t> Numbers(uint32_t first, uint32_t end) {
  std::vector<uint32_t> numbers;
  for (uint32_t n = first; n < end; ++n) numbers.push_back(n);
  return numbers;
}

std::vector<unsigned> Closed(const Health& health, int half, unsigned level) {
  std::vector<unsigned> closed;
  const FatTree& tree = health.tree();
  for (uint32_t n = 0; n < tree.nodes_at(level) * tree.chips_per_node(level); ++n) {
    closed.push_back(health.closed(half)[tree.chip(level, 0, 0) + n]);
  }
  return closed;
}

TEST(Health, OfAWholeMachineClosesNothing) {
  const Health health(Machine(64, {}));
  EXPECT_EQ(health.Nodes(), Numbers(0, 64));
  EXPECT_EQ(health.channels_lost(), 0u);
  // 64 links of leaves, 32 above level 1, 16 above level 2; two directions, two halves.
  EXPECT_EQ(health.channels(), (64u + 32 + 16) * 4);
  for (const uint8_t closed : health.closed(0)) EXPECT_EQ(closed, 0);
  EXPECT_THAT(IdlePorts(Machine(64, {}), 0), IsEmpty());
}

TEST(Health, ATopChipIsRoutedAround) {
  const Health health(Machine(64, {Chip(kLeftHalf, 3, 2)}));
  EXPECT_EQ(health.decisions()[0].way, Way::kRoutedAround);
  EXPECT_FALSE(health.decisions()[0].cut_off);
  EXPECT_EQ(health.Nodes().size(), 64u);
  EXPECT_EQ(health.channels_lost(), 8u) << "both directions of four links";
  // Chip 2 of level 3 is above the first parent link of the second chip of each node of level 2.
  EXPECT_THAT(Closed(health, 0, 2), ElementsAre(0, 0x10, 0, 0x10, 0, 0x10, 0, 0x10));
  EXPECT_THAT(Closed(health, 0, 1), testing::Each(0u));
  EXPECT_THAT(Closed(health, 1, 2), testing::Each(0u)) << "the right half is whole";
}

// A chip of level 2 is on the only way down from the two chips above it, so nobody may climb to
// these; so the chips of level 2 that lead only there are closed to the chips of level 1.
TEST(Health, ClosesTransitively) {
  const Health health(Machine(64, {Chip(kRightHalf, 2, 3)}));
  EXPECT_EQ(health.decisions()[0].way, Way::kRoutedAround);
  EXPECT_THAT(Closed(health, 1, 1), testing::Each(0x20u));
  EXPECT_THAT(Closed(health, 1, 2), ElementsAre(0, 0x30, 0, 0x30, 0, 0x30, 0, 0x30));
  EXPECT_EQ(health.channels_lost(), (4u * 4 + 2 * 4) * 2);
  EXPECT_EQ(health.decisions()[0].other_leaves, 16u);
}

TEST(Health, ALinkBreaksInBothDirectionsFromEitherEnd) {
  const FatTree tree(64, {2, 2, 4});
  const FatTreePeer above = tree.peer(tree.chip(2, 1, 0), 5);
  const uint32_t number = above.id - tree.chip(3, 0, 0);
  const Health lower(Machine(64, {LinkOf(kLeftHalf, 2, 2, 5)}));
  const Health upper(Machine(64, {LinkOf(kLeftHalf, 3, number, above.port)}));
  // The chip above is lost to all: it cannot reach the nodes below the link.
  EXPECT_THAT(Closed(lower, 0, 2), ElementsAre(0x20, 0, 0x20, 0, 0x20, 0, 0x20, 0));
  EXPECT_EQ(Closed(upper, 0, 2), Closed(lower, 0, 2));
  EXPECT_EQ(upper.channels_lost(), 8u);
}

TEST(Health, AChipOfLevel1IsTheOnlyOneOfItsNodes) {
  const Health health(Machine(256, {Chip(kRightHalf, 1, 5)}));
  EXPECT_EQ(health.decisions()[0].way, Way::kMappedOut);
  EXPECT_TRUE(health.decisions()[0].cut_off);
  EXPECT_THAT(health.decisions()[0].leaves, ElementsAre(20, 21, 22, 23));
  EXPECT_EQ(health.channels_lost(), 0u);
  std::vector<uint32_t> nodes = Numbers(0, 20);
  for (const uint32_t node : Numbers(24, 256)) nodes.push_back(node);
  EXPECT_EQ(health.Nodes(), nodes) << "relative addresses skip them (NI8)";
}

TEST(Health, ANodeNeedsBothHalves) {
  const Health health(Machine(16, {Leaf(kLeftHalf, 3), Leaf(kBothHalves, 9),
                                   LinkOf(kRightHalf, 1, 3, 2)}));
  EXPECT_THAT(health.Nodes(), ElementsAre(0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13, 15));
  EXPECT_EQ(health.leaves_lost(), 3u);
}

TEST(Health, TakesTheBetterOfTheTwoWays) {
  // A link above a chip of level 1: four nodes are little of 256, but not of 64.
  const Health large(Machine(256, {LinkOf(kLeftHalf, 1, 0, 4)}));
  EXPECT_EQ(large.decisions()[0].way, Way::kMappedOut);
  EXPECT_FALSE(large.decisions()[0].cut_off);
  EXPECT_EQ(large.decisions()[0].other_channels, 256u) << "half of what is above level 1 in a half";
  EXPECT_EQ(large.Nodes(), Numbers(4, 256));
  const Health small(Machine(64, {LinkOf(kLeftHalf, 1, 0, 4)}));
  EXPECT_EQ(small.decisions()[0].way, Way::kRoutedAround);
  EXPECT_EQ(small.decisions()[0].other_leaves, 4u);
}

TEST(Health, TwoPartsThatLeaveNoWayTakeTheirNodes) {
  const Health health(Machine(64, {Chip(kLeftHalf, 2, 2), Chip(kLeftHalf, 2, 3)}));
  EXPECT_EQ(health.decisions()[1].way, Way::kMappedOut);
  EXPECT_TRUE(health.decisions()[1].cut_off);
  EXPECT_EQ(health.decisions()[1].leaves, Numbers(16, 32));
  // Nothing comes near the first any more.
  EXPECT_EQ(health.decisions()[0].way, Way::kMappedOut);
  EXPECT_THAT(health.decisions()[0].leaves, IsEmpty());
  EXPECT_EQ(health.channels_lost(), 0u);
  EXPECT_THAT(Closed(health, 0, 3), testing::Each(0u));
}

TEST(Health, OfAThinTreeKeepsWhatHangsTogether) {
  // The one chip at the top: four parts of 16 nodes, of which one is kept.
  const Health top(Machine(64, {Chip(kLeftHalf, 3, 0)}, {1}));
  EXPECT_EQ(top.Nodes(), Numbers(0, 16));
  EXPECT_TRUE(top.decisions()[0].cut_off);
  // A link below it: 16 nodes leave, 48 are kept.
  const Health link(Machine(64, {LinkOf(kLeftHalf, 2, 0, 4)}, {1}));
  EXPECT_EQ(link.Nodes(), Numbers(16, 64));
  // On one chip nothing can be kept.
  EXPECT_THAT(Health(Machine(4, {Chip(kLeftHalf, 1, 0)})).Nodes(), IsEmpty());
}

TEST(Health, KnowsWhichPartsAMachineHas) {
  const FatTree tree(20, {2, 2, 4});  // 5 chips, 2 nodes of 2 chips, 4 chips
  EXPECT_TRUE(HasPart(tree, Chip(kLeftHalf, 1, 4)));
  EXPECT_FALSE(HasPart(tree, Chip(kLeftHalf, 1, 5)));
  EXPECT_FALSE(HasPart(tree, Chip(kLeftHalf, 0, 0)));
  EXPECT_FALSE(HasPart(tree, Chip(kLeftHalf, 4, 0)));
  EXPECT_FALSE(HasPart(tree, Chip(0, 1, 0)));
  EXPECT_TRUE(HasPart(tree, Leaf(kBothHalves, 19)));
  EXPECT_FALSE(HasPart(tree, Leaf(kBothHalves, 20)));
  EXPECT_TRUE(HasPart(tree, LinkOf(kRightHalf, 2, 0, 5)));
  EXPECT_FALSE(HasPart(tree, LinkOf(kRightHalf, 2, 0, 6))) << "two parent links only";
  EXPECT_FALSE(HasPart(tree, LinkOf(kRightHalf, 3, 0, 4))) << "the top";
  EXPECT_FALSE(HasPart(tree, LinkOf(kRightHalf, 3, 0, 2))) << "a subtree without leaves";
  EXPECT_FALSE(HasPart(tree, LinkOf(kRightHalf, 2, 0, 1000)));
}

}  // namespace
}  // namespace vcm5
