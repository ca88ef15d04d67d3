#include "switches/topology/control_settings.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace vcm5 {
namespace {

MachineSpec Machine(uint32_t nodes, uint32_t control_processors,
                    std::vector<BrokenPart> broken = {}) {
  MachineSpec spec;
  spec.nodes = nodes;
  spec.control_processors = control_processors;
  spec.broken = std::move(broken);
  return spec;
}

BrokenPart Chip(uint32_t level, uint32_t number) {
  return {.kind = BrokenPart::Kind::kChip, .halves = kControlNetwork, .level = level,
          .number = number};
}

// A parent link of a chip of level 1.
BrokenPart UpLink(uint32_t number, uint32_t port) {
  return {.kind = BrokenPart::Kind::kLink, .halves = kControlNetwork, .level = 1, .number = number,
          .port = port};
}

Partition Range(uint32_t first, uint32_t count) {
  Partition partition(count);
  std::iota(partition.begin(), partition.end(), first);
  return partition;
}

std::string Error(const MachineSpec& spec, const std::vector<Partition>& partitions) {
  const auto settings = SetControlSwitches(spec, partitions);
  return settings.ok() ? "" : std::string(settings.status().message());
}

std::vector<uint32_t> Layout(const BinaryTree& tree) {
  std::vector<uint32_t> parents;
  for (uint32_t id = 0; id < tree.ids(); ++id) parents.push_back(tree.parent(id) * 2 + tree.side(id));
  return parents;
}

// What barriers' speed depends on.
TEST(ControlSettings, OfAWholeMachineAreTheBalancedTree) {
  for (const uint32_t nodes : {1u, 2u, 3u, 4u, 5u, 8u, 13u, 31u, 32u, 63u, 64u, 100u, 1024u, 1025u}) {
    const auto settings = SetControlSwitches(Machine(nodes, 1), std::vector<Partition>{Range(0, nodes)});
    ASSERT_TRUE(settings.ok()) << settings.status();
    EXPECT_EQ(Layout(settings->trees[0]), Layout(BinaryTree::Balanced(nodes))) << nodes;
  }
}

TEST(ControlSettings, OfPartitionsOfAWholeMachineAreBalancedTrees) {
  const std::vector<uint32_t> sizes = {16, 9, 4, 1, 33, 3};
  const auto partitions = PlacePartitions(sizes, Range(0, 256)).value();
  const auto settings = SetControlSwitches(Machine(256, 1), partitions);
  ASSERT_TRUE(settings.ok()) << settings.status();
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(Layout(settings->trees[i]), Layout(BinaryTree::Balanced(sizes[i]))) << i;
  }
}

TEST(ControlSettings, JoinTheControlProcessorAsTheLastLeaf) {
  const auto settings =
      SetControlSwitches(Machine(16, 2), std::vector<Partition>{{4, 5, 6, 7, 17}});
  ASSERT_TRUE(settings.ok()) << settings.status();
  const BinaryTree& tree = settings->trees[0];
  ASSERT_EQ(tree.leaves(), 5u);
  EXPECT_EQ(tree.child(tree.root(), BinaryTree::kRight), 4u);
  EXPECT_EQ(tree.height(), 3u);
}

TEST(ControlSettings, UseTheFirstChipsWhereNothingIsBroken) {
  const MachineSpec spec = Machine(4, 0);
  const ControlSwitches switches(spec);
  const auto settings = SetControlSwitches(spec, std::vector<Partition>{Range(0, 4)});
  ASSERT_TRUE(settings.ok()) << settings.status();
  const auto& set = settings->switches;
  EXPECT_EQ(set[switches.switch_id(1, 0, 0)][0], (ControlTreeNode{{0, 2}, 4}));
  EXPECT_EQ(set[switches.switch_id(1, 1, 0)][0], (ControlTreeNode{{0, 2}, 4}));
  EXPECT_EQ(set[switches.switch_id(2, 0, 0)][0],
            (ControlTreeNode{{0, 2}, ControlTreeNode::kNoPort}));
  EXPECT_FALSE(set[switches.switch_id(2, 0, 0)][1].used());
  EXPECT_FALSE(set[switches.switch_id(2, 0, 1)][0].used());
}

TEST(ControlSettings, GoAroundABrokenChip) {
  const MachineSpec spec = Machine(8, 0, {Chip(2, 0), Chip(2, 3), Chip(3, 1)});
  const ControlSwitches switches(spec);
  const auto settings = SetControlSwitches(spec, std::vector<Partition>{Range(0, 8)});
  ASSERT_TRUE(settings.ok()) << settings.status();
  // Chip 1 of nodes 0 to 3 and chip 0 of nodes 4 to 7 meet in chip 0.
  EXPECT_EQ(settings->switches[switches.switch_id(3, 0, 0)][0],
            (ControlTreeNode{{1, 2}, ControlTreeNode::kNoPort}));
  EXPECT_EQ(Layout(settings->trees[0]), Layout(BinaryTree::Balanced(8)));
}

// Paper: "if there are only 4 control network channels into a subtree, one cannot connect 5 control
// processors to 5 partitions in the subtree."
TEST(ControlSettings, HaveFourChannelsForFiveControlProcessors) {
  std::vector<Partition> partitions;
  for (uint32_t first = 0; first < 20; first += 4) partitions.push_back(Range(first, 4));
  for (uint32_t i = 0; i < 4; ++i) partitions[i].push_back(20 + i);
  EXPECT_EQ(Error(Machine(20, 5), partitions), "");
  partitions[4].push_back(24);
  EXPECT_EQ(Error(Machine(20, 5), partitions),
            "4 channels of the control network into the subtree of leaves 20 to 24, 5 control processors "
            "wanted");
}

TEST(ControlSettings, NameTheSubtreeThatIsShortOfChannels) {
  std::vector<Partition> partitions;
  for (uint32_t first = 0; first < 32; first += 4) partitions.push_back(Range(first, 4));
  const MachineSpec spec = Machine(64, 40);
  for (const uint32_t connected : {0u, 2u, 5u, 7u}) partitions[connected].push_back(64 + 8 * (connected / 2));
  EXPECT_EQ(Error(spec, partitions), "");
  partitions[3].push_back(96);
  EXPECT_EQ(Error(spec, partitions),
            "4 channels of the control network into the subtree of nodes 0 to 31, 5 control processors "
            "wanted");
}

TEST(ControlSettings, NeedChannelsThatWork) {
  const std::vector<Partition> partitions = {Range(0, 4), Range(4, 4), Range(8, 4)};
  std::vector<Partition> with_hosts = partitions;
  for (uint32_t i = 0; i < 3; ++i) with_hosts[i].push_back(16 + i);
  EXPECT_EQ(Error(Machine(16, 4, {Chip(4, 1)}), with_hosts),
            "2 channels of the control network into the subtree of nodes 0 to 15, 3 control processors "
            "wanted");
  EXPECT_EQ(Error(Machine(16, 4, {Chip(2, 1)}), with_hosts), "");
  EXPECT_EQ(Error(Machine(16, 4, {UpLink(0, 4), UpLink(1, 5)}), partitions),
            "the control network cannot join what is in the subtree of nodes 0 to 3: too many of its "
            "chips and links there are broken");
  EXPECT_EQ(Error(Machine(16, 4, {{.halves = kControlNetwork, .leaf = 9}}), partitions),
            "0 channels of the control network into the subtree of node 9, but a partition needs one");
}

TEST(ControlSettings, RefuseWhatIsNoPartitionOrControlProcessor) {
  EXPECT_EQ(Error(Machine(8, 1), {Range(0, 5), Range(5, 3)}),
            "partitions 0 and 1 share chips: both are in the subtree of leaves 0 to 15");
  EXPECT_EQ(Error(Machine(8, 1), {{0, 1, 2, 3, 9}}),
            "partition 0 has node 9, but the machine's are 0 to 7");
  EXPECT_EQ(Error(Machine(8, 1), {{0, 1, 2, 3, 8}, {4, 5, 6, 7, 8}}),
            "partitions 0 and 1 have the same host");
}

}  // namespace
}  // namespace vcm5
