#include "switches/topology/partition.h"

#include <gtest/gtest.h>

#include <string>

#include "switches/topology/fat_tree.h"

namespace vcm5 {
namespace {

Partition Range(uint32_t first, uint32_t count) {
  Partition partition;
  for (uint32_t i = 0; i < count; ++i) partition.push_back(first + i);
  return partition;
}

TEST(Partition, TheSubtreeHoldsAllPathsBetweenMembers) {
  EXPECT_EQ(SubtreeOf(Partition{5}).first, 4u);
  EXPECT_EQ(SubtreeOf(Partition{5}).size, 4u);
  EXPECT_EQ(SubtreeOf(Range(16, 16)).first, 16u);
  EXPECT_EQ(SubtreeOf(Range(16, 16)).size, 16u);
  EXPECT_EQ(SubtreeOf(Partition{15, 16}).first, 0u);
  EXPECT_EQ(SubtreeOf(Partition{15, 16}).size, 64u);
  EXPECT_EQ(SubtreeOf(Partition{64, 70, 127}).first, 64u);
  EXPECT_EQ(SubtreeOf(Partition{64, 70, 127}).size, 64u);
}

std::string Wrong(const std::vector<Partition>& partitions, uint32_t nodes) {
  return std::string(CheckPartitions(partitions, nodes).message());
}

TEST(Partition, SubtreesMustNotShareChips) {
  EXPECT_TRUE(CheckPartitions(std::vector<Partition>{Range(0, 16), Range(16, 4), Range(20, 3)}, 32).ok());
  EXPECT_EQ(Wrong({Range(0, 20), Range(20, 4)}, 32),
            "partitions 0 and 1 share chips: both are in the subtree of leaves 0 to 63");
  EXPECT_EQ(Wrong({Range(2, 1), Range(3, 1)}, 32),
            "partitions 0 and 1 share chips: both are in the subtree of leaves 0 to 3");
  EXPECT_EQ(Wrong({Range(0, 4), {}}, 32), "partition 1 has no nodes");
  EXPECT_EQ(Wrong({{3, 2}}, 32), "the addresses of partition 0 do not ascend");
  EXPECT_EQ(Wrong({{1, 1}}, 32), "the addresses of partition 0 do not ascend");
  EXPECT_EQ(Wrong({Range(16, 17)}, 32), "partition 0 has node 32, but the machine's are 0 to 31");
}

// On a machine with nodes to spare.
std::vector<Partition> Placed(const std::vector<uint32_t>& sizes) {
  return PlacePartitions(sizes, Range(0, 1024)).value();
}

TEST(Partition, ArePlacedAmongTheNodesThatThereAre) {
  Partition nodes = Range(0, 64);
  nodes.erase(nodes.begin() + 4, nodes.begin() + 8);  // mapped out
  const std::vector<uint32_t> two = {16, 16};
  const std::vector<Partition> placed = PlacePartitions(two, nodes).value();
  EXPECT_EQ(placed[0], Range(16, 16)) << "the first subtree of 16 has 12 nodes";
  EXPECT_EQ(placed[1], Range(32, 16));
  const std::vector<uint32_t> all = {60};
  EXPECT_EQ(PlacePartitions(all, nodes).value()[0], nodes);
  const std::vector<uint32_t> more = {61};
  EXPECT_FALSE(PlacePartitions(more, nodes).has_value());
  const std::vector<uint32_t> spread = {16, 16, 16, 13};
  EXPECT_FALSE(PlacePartitions(spread, nodes).has_value()) << "12 are left";
  const std::vector<uint32_t> full = {16, 16, 16, 12};
  EXPECT_TRUE(PlacePartitions(full, nodes).has_value());
}

TEST(Partition, AreTightlyPlacedInSubtreesOfTheirOwn) {
  for (uint32_t a = 1; a <= 70; a += 3) {
    for (uint32_t b = 1; b <= 70; b += 2) {
      for (const uint32_t c : {1u, 4u, 5u, 17u}) {
        const std::vector<uint32_t> sizes = {a, b, c};
        const std::vector<Partition> placed = Placed(sizes);
        ASSERT_EQ(placed.size(), 3u);
        for (size_t i = 0; i < 3; ++i) ASSERT_EQ(placed[i].size(), sizes[i]);
        ASSERT_TRUE(CheckPartitions(placed, PlacedNodes(placed)).ok()) << a << " " << b << " " << c;
      }
    }
  }
  // A small one fits between large ones; equal ones lie side by side.
  const std::vector<uint32_t> sizes = {4, 16, 3};
  const std::vector<Partition> placed = Placed(sizes);
  EXPECT_EQ(placed[1].front(), 16u);
  EXPECT_EQ(placed[2].front(), 4u);
  EXPECT_EQ(PlacedNodes(placed), 32u);
}

TEST(Partition, AHostIsItsLastMember) {
  const std::vector<Partition> sound = {{0, 1, 2, 35}, {16, 17}, {4, 33}};
  EXPECT_TRUE(CheckPartitions(sound, 32, 4).ok());
  EXPECT_TRUE(HasHost(sound[0], 32));
  EXPECT_EQ(NodesOf(sound[0], 32), 3u);
  EXPECT_FALSE(HasHost(sound[1], 32));
  EXPECT_EQ(NodesOf(sound[1], 32), 2u);
  const auto wrong = [](const std::vector<Partition>& partitions, uint32_t control_processors) {
    return std::string(CheckPartitions(partitions, 32, control_processors).message());
  };
  EXPECT_EQ(wrong({{0, 32}}, 0), "partition 0 has node 32, but the machine's are 0 to 31");
  EXPECT_EQ(wrong({{0, 34}}, 2), "partition 0 has node 34, but the machine's are 0 to 31");
  EXPECT_EQ(wrong({{0, 32, 33}}, 2), "partition 0 has node 32, but the machine's are 0 to 31");
  EXPECT_EQ(wrong({{32}}, 2), "partition 0 has a host and no nodes");
  EXPECT_EQ(wrong({{0, 32}, {16, 32}}, 2), "partitions 0 and 1 have the same host");
}

TEST(Partition, HostsAreKeptOutOfOthersSubtrees) {
  // Leaf 19 is in the subtree of the second partition.
  std::vector<Partition> partitions = {Range(0, 16), Range(16, 3)};
  const std::vector<uint32_t> processors = {19, 20, 33};
  ASSERT_TRUE(PlaceHosts(processors, {true, true}, &partitions));
  EXPECT_EQ(partitions[0].back(), 20u);
  EXPECT_EQ(partitions[1].back(), 19u);
  partitions = {Range(0, 16), Range(16, 3)};
  ASSERT_TRUE(PlaceHosts(processors, {true, false}, &partitions));
  EXPECT_EQ(partitions[0].back(), 20u);
  EXPECT_EQ(partitions[1], Range(16, 3));
  // If there is no other, then one of another's.
  partitions = {Range(0, 16), Range(16, 3)};
  const std::vector<uint32_t> only = {19};
  ASSERT_TRUE(PlaceHosts(only, {true, false}, &partitions));
  EXPECT_EQ(partitions[0].back(), 19u);
  partitions = {Range(0, 16), Range(16, 3)};
  EXPECT_FALSE(PlaceHosts(only, {true, true}, &partitions));
  EXPECT_EQ(partitions[0], Range(0, 16));
}

TEST(Partition, AMachineCanKeepAllControlProcessorsOutOfSubtrees) {
  const std::vector<Partition> partitions = {Range(0, 16), Range(16, 2)};
  EXPECT_EQ(PlacedNodes(partitions), 18u);
  EXPECT_EQ(PlacedNodesApart(partitions), 20u);
}

}  // namespace
}  // namespace vcm5
