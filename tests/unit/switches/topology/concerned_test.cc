#include "switches/topology/concerned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

TEST(ConcernedBy, AHostsWayIsItsPartitionsAlone) {
  Partition first = Range(0, 4);
  first.push_back(60);
  const std::vector<Partition> partitions = {first, Range(4, 4), Range(16, 4)};
  EXPECT_THAT(ConcernedBy(partitions, {60, 1}), ElementsAre(0)) << "the host's own link";
  EXPECT_THAT(ConcernedBy(partitions, {48, 16}), ElementsAre(0)) << "on the way down to it";
  EXPECT_THAT(ConcernedBy(partitions, {0, 16}), ElementsAre(0)) << "above both, and only one passes";
  EXPECT_THAT(ConcernedBy(partitions, {0, 64}), ElementsAre(0)) << "the root";
  EXPECT_THAT(ConcernedBy(partitions, {4, 4}), ElementsAre(1));
  EXPECT_THAT(ConcernedBy(partitions, {16, 4}), ElementsAre(2));
  EXPECT_THAT(ConcernedBy(partitions, {18, 1}), ElementsAre(2)) << "who is below";
  EXPECT_THAT(ConcernedBy(partitions, {16, 16}), ElementsAre(2)) << "nobody passes";
  EXPECT_THAT(ConcernedBy(partitions, {32, 16}), ElementsAre(0)) << "nobody is below";
  EXPECT_THAT(ConcernedBy(partitions, kEverywhere), ElementsAre(0, 1, 2));
}

TEST(ConcernedBy, AHostAmongAnothersLeavesConcernsBoth) {
  const std::vector<Partition> partitions = {{0, 1, 2, 4, 5, 6}, {16, 17, 30}, {8, 31}};
  EXPECT_THAT(ConcernedBy(partitions, {28, 4}), ElementsAre(1, 2));
  EXPECT_THAT(ConcernedBy(partitions, {30, 1}), ElementsAre(1));
  EXPECT_THAT(ConcernedBy(partitions, {31, 1}), ElementsAre(2));
  EXPECT_THAT(ConcernedBy(partitions, {8, 4}), ElementsAre(2));
  EXPECT_THAT(ConcernedBy(partitions, {4, 4}), ElementsAre(0));
  EXPECT_THAT(ConcernedBy(partitions, {0, 16}), ElementsAre(0, 2)) << "the chip below which 0 is, and 2's way";
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
}

// Whatever way a message of a partition takes, each link and chip on it concerns this partition, and
// nobody else unless on a way to or from some host.
TEST(ConcernedBy, NamesWhoeverPasses) {
  ForEachSeed(30, [](uint64_t seed) {
    Prng prng(seed);
    std::vector<uint32_t> nodes(256);
    std::iota(nodes.begin(), nodes.end(), 0u);
    const std::vector<uint32_t> sizes = {1 + prng.Below(20), 1 + prng.Below(5), 1 + prng.Below(60)};
    std::vector<Partition> partitions = PlacePartitions(sizes, nodes).value();
    const uint32_t others = prng.Below(30);
    const uint32_t first_other = PlacedNodes(partitions);
    const FatTree tree(first_other + others, {2, 2, 4});
    std::vector<uint32_t> control_processors(others);
    std::iota(control_processors.begin(), control_processors.end(), first_other);
    const bool hosts = prng.Chance(1, 2) && PlaceHosts(control_processors, {true, true, true}, &partitions);
    const auto concerns = [&](uint32_t i, Subtree below) {
      const std::vector<uint32_t> concerned = ConcernedBy(partitions, below);
      return hosts ? std::count(concerned.begin(), concerned.end(), i) == 1
                   : concerned == std::vector<uint32_t>{i};
    };
    for (uint32_t i = 0; i < partitions.size(); ++i) {
      const Partition& members = partitions[i];
      const uint32_t from = members[prng.Below(static_cast<uint32_t>(members.size()))];
      const uint32_t to = members[prng.Below(static_cast<uint32_t>(members.size()))];
      LinkEnd at = tree.leaf_peer(from);
      EXPECT_TRUE(concerns(i, LeavesBelowLink(tree, LeafEnd(from))));
      for (unsigned level = 1; level < FatTree::CommonLevel(from, to); ++level) {
        EXPECT_TRUE(concerns(i, LeavesBelow(tree, at.id)));
        const LinkEnd up = ChipEnd(at.id, kChildren + prng.Below(tree.parents(level)));
        EXPECT_TRUE(concerns(i, LeavesBelowLink(tree, up)));
        at = FarEnd(tree, up);
      }
      while (at.kind == LinkEnd::Kind::kChip) {
        EXPECT_TRUE(concerns(i, LeavesBelow(tree, at.id)));
        const unsigned level = tree.place(at.id).level;
        const LinkEnd down = ChipEnd(at.id, to >> (2 * (level - 1)) & 3);
        EXPECT_TRUE(concerns(i, LeavesBelowLink(tree, down)));
        at = FarEnd(tree, down);
      }
      EXPECT_EQ(at.id, to);
    }
  });
}

}  // namespace
}  // namespace vcm5
