#include "switches/topology/concerned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "runtime/base/prng.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;

Partition Range(uint32_t first, uint32_t count) {
  Partition partition(count);
  std::iota(partition.begin(), partition.end(), first);
  return partition;
}

// Subtrees of 16, 4 and 4 leaves; 24 to 31 and 48 to 63 are free, and 32 is alone.
const std::vector<Partition> kPartitions = {Range(0, 16), Range(16, 3), Range(20, 4), {32}};

TEST(ConcernedBy, APartOfAPartitionsSubtreeIsItsAlone) {
  EXPECT_THAT(ConcernedBy(kPartitions, {0, 4}), ElementsAre(0));
  EXPECT_THAT(ConcernedBy(kPartitions, {9, 1}), ElementsAre(0));
  EXPECT_THAT(ConcernedBy(kPartitions, {0, 16}), ElementsAre(0));
  EXPECT_THAT(ConcernedBy(kPartitions, {19, 1}), ElementsAre(1)) << "no member, but in its subtree";
  EXPECT_THAT(ConcernedBy(kPartitions, {33, 1}), ElementsAre(3));
}

TEST(ConcernedBy, APartAbovePartitionsIsTheirs) {
  EXPECT_THAT(ConcernedBy(kPartitions, {16, 16}), ElementsAre(1, 2));
  EXPECT_THAT(ConcernedBy(kPartitions, {0, 64}), ElementsAre(0, 1, 2, 3));
}

TEST(ConcernedBy, APartThatNoPartitionHasIsTheNearestOnes) {
  EXPECT_THAT(ConcernedBy(kPartitions, {24, 4}), ElementsAre(1, 2));
  EXPECT_THAT(ConcernedBy(kPartitions, {40, 4}), ElementsAre(3));
  EXPECT_THAT(ConcernedBy(kPartitions, {48, 16}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ConcernedBy(kPartitions, {0xffffffffu, 0xffffffffu}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ConcernedBy(kPartitions, {17, 0}), ElementsAre(1));
}

TEST(LeavesBelow, AreThoseOfTheLowerEnd) {
  const FatTree tree(64, {2, 2, 4});
  const ChipId chip = tree.chip(2, 1, 1);  // above leaves 16 to 31
  const auto text = [](const Subtree& of) {
    return std::to_string(of.first) + "+" + std::to_string(of.size);
  };
  EXPECT_EQ(text(LeavesBelow(tree, chip)), "16+16");
  EXPECT_EQ(text(LeavesBelowLink(tree, ChipEnd(chip, 1))), "20+4");
  EXPECT_EQ(text(LeavesBelowLink(tree, ChipEnd(chip, 4))), "16+16");
  EXPECT_EQ(text(LeavesBelowLink(tree, FarEnd(tree, ChipEnd(chip, 4)))), "16+16");
  EXPECT_EQ(text(LeavesBelowLink(tree, LeafEnd(21))), "21+1");
  EXPECT_EQ(text(LeavesBelowLink(tree, tree.leaf_peer(21))), "21+1");
  EXPECT_EQ(text(LeavesOf(tree)), "0+64");
}

// Whatever way a message of a partition takes, each link and chip on it concerns this partition only.
TEST(ConcernedBy, NamesWhoeverPasses) {
  ForEachSeed(30, [](uint64_t seed) {
    Prng prng(seed);
    std::vector<uint32_t> nodes(256);
    std::iota(nodes.begin(), nodes.end(), 0u);
    const std::vector<uint32_t> sizes = {1 + prng.Below(20), 1 + prng.Below(5), 1 + prng.Below(60)};
    const std::vector<Partition> partitions = PlacePartitions(sizes, nodes).value();
    const FatTree tree(PlacedNodes(partitions) + prng.Below(30), {2, 2, 4});
    for (uint32_t i = 0; i < partitions.size(); ++i) {
      const Partition& members = partitions[i];
      const uint32_t from = members[prng.Below(static_cast<uint32_t>(members.size()))];
      const uint32_t to = members[prng.Below(static_cast<uint32_t>(members.size()))];
      LinkEnd at = tree.leaf_peer(from);
      EXPECT_THAT(ConcernedBy(partitions, LeavesBelowLink(tree, LeafEnd(from))), ElementsAre(i));
      for (unsigned level = 1; level < FatTree::CommonLevel(from, to); ++level) {
        EXPECT_THAT(ConcernedBy(partitions, LeavesBelow(tree, at.id)), ElementsAre(i));
        const LinkEnd up = ChipEnd(at.id, kChildren + prng.Below(tree.parents(level)));
        EXPECT_THAT(ConcernedBy(partitions, LeavesBelowLink(tree, up)), ElementsAre(i));
        at = FarEnd(tree, up);
      }
      while (at.kind == LinkEnd::Kind::kChip) {
        EXPECT_THAT(ConcernedBy(partitions, LeavesBelow(tree, at.id)), ElementsAre(i));
        const unsigned level = tree.place(at.id).level;
        const LinkEnd down = ChipEnd(at.id, to >> (2 * (level - 1)) & 3);
        EXPECT_THAT(ConcernedBy(partitions, LeavesBelowLink(tree, down)), ElementsAre(i));
        at = FarEnd(tree, down);
      }
      EXPECT_EQ(at.id, to);
    }
  });
}

}  // namespace
}  // namespace vcm5
