#include "switches/topology/fat_tree.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "switches/topology/machine_spec.h"

namespace vcm5 {
namespace {

using Kind = FatTreePeer::Kind;

// The paper's machine, section 3.
TEST(FatTree, ANodeHasTheChipsOfThePaper) {
  const FatTree tree(16384, {2, 2, 4});
  ASSERT_EQ(tree.levels(), 7u);
  const uint32_t chips[] = {1, 2, 4, 16, 64, 256, 1024};
  for (unsigned level = 1; level <= 7; ++level) {
    EXPECT_EQ(tree.chips_per_node(level), chips[level - 1]) << "level " << level;
    EXPECT_EQ(tree.parents(level), level <= 2 ? 2u : level < 7 ? 4u : 0u) << "level " << level;
  }
}

TEST(FatTree, HasTheBandwidthsOfThePaper) {
  const uint32_t megabytes_per_link = 20;
  const uint32_t halves = 2;
  const FatTree tree(2048, {2, 2, 4});
  const auto out_of_subtree = [&](unsigned level) {
    return tree.chips_per_node(level) * tree.parents(level) * megabytes_per_link * halves;
  };
  EXPECT_EQ(out_of_subtree(2), 160u) << "out of 16 nodes";
  EXPECT_EQ(tree.nodes_at(5), 2u);
  EXPECT_EQ(out_of_subtree(5), 10240u) << "from one half of a 2K-node system to the other";
}

TEST(FatTree, LevelsAboveTheListUseItsLastEntry) {
  const FatTree tree(1024, {1, 3});
  EXPECT_EQ(tree.parents(1), 1u);
  for (unsigned level = 2; level < tree.levels(); ++level) EXPECT_EQ(tree.parents(level), 3u);
}

TEST(FatTree, OneLeafHangsOnOneChip) {
  const FatTree tree(1, {2});
  EXPECT_EQ(tree.levels(), 1u);
  EXPECT_EQ(tree.chips(), 1u);
  EXPECT_EQ(tree.parents(1), 0u);
}

TEST(FatTree, HasRoomForTheLargestMachine) {
  const FatTree tree(kLeavesMax, {2, 2, 4});
  EXPECT_EQ(tree.levels(), 8u);
  EXPECT_EQ(tree.leaf_peer(kLeavesMax - 1).id, tree.nodes_at(1) - 1);
}

TEST(FatTree, CommonLevelIsTheFirstGroupOfFourShared) {
  for (uint32_t a = 0; a < 300; ++a) {
    for (uint32_t b = 0; b < 300; ++b) {
      unsigned level = 1;
      for (uint32_t x = a / 4, y = b / 4; x != y; x /= 4, y /= 4) ++level;
      ASSERT_EQ(FatTree::CommonLevel(a, b), level) << a << " " << b;
    }
  }
}

class AnyShape : public ::testing::TestWithParam<std::vector<uint32_t>> {
 protected:
  static std::vector<uint32_t> LeafCounts() {
    std::vector<uint32_t> counts;
    for (uint32_t leaves = 1; leaves <= 90; ++leaves) counts.push_back(leaves);
    counts.insert(counts.end(), {255, 256, 257, 260, 1000, 1024, 1025});
    return counts;
  }
};

TEST_P(AnyShape, BothEndsOfEveryLinkAgree) {
  for (const uint32_t leaves : LeafCounts()) {
    const FatTree tree(leaves, GetParam());
    for (ChipId chip = 0; chip < tree.chips(); ++chip) {
      for (unsigned port = 0; port < kChipPorts; ++port) {
        const FatTreePeer peer = tree.peer(chip, port);
        if (peer.kind == Kind::kNothing) continue;
        const FatTreePeer back =
            peer.kind == Kind::kLeaf ? tree.leaf_peer(peer.id) : tree.peer(peer.id, peer.port);
        ASSERT_EQ(back.kind, Kind::kChip);
        ASSERT_EQ(back.id, chip) << leaves << " leaves, port " << port;
        ASSERT_EQ(back.port, port) << leaves << " leaves, chip " << chip;
        const unsigned level = tree.place(chip).level;
        const unsigned expected = port < kChildren ? level - 1 : level + 1;
        ASSERT_EQ(peer.kind == Kind::kLeaf ? 0 : tree.place(peer.id).level, expected);
      }
    }
  }
}

TEST_P(AnyShape, EveryTopChipReachesEveryLeafInOneWay) {
  for (const uint32_t leaves : LeafCounts()) {
    const FatTree tree(leaves, GetParam());
    for (uint32_t top = 0; top < tree.chips_per_node(tree.levels()); ++top) {
      std::vector<ChipId> todo = {tree.chip(tree.levels(), 0, top)};
      std::multiset<uint32_t> reached;
      while (!todo.empty()) {
        const ChipId chip = todo.back();
        todo.pop_back();
        for (unsigned port = 0; port < kChildren; ++port) {
          const FatTreePeer peer = tree.peer(chip, port);
          if (peer.kind == Kind::kLeaf) reached.insert(peer.id);
          if (peer.kind == Kind::kChip) todo.push_back(peer.id);
        }
      }
      ASSERT_EQ(reached.size(), leaves);
      for (uint32_t leaf = 0; leaf < leaves; ++leaf) ASSERT_EQ(reached.count(leaf), 1u);
    }
  }
}

TEST_P(AnyShape, PlaceIsTheInverseOfChip) {
  for (const uint32_t leaves : LeafCounts()) {
    const FatTree tree(leaves, GetParam());
    ChipId next = 0;
    for (unsigned level = 1; level <= tree.levels(); ++level) {
      for (uint32_t node = 0; node < tree.nodes_at(level); ++node) {
        for (uint32_t index = 0; index < tree.chips_per_node(level); ++index, ++next) {
          ASSERT_EQ(tree.chip(level, node, index), next);
          const ChipPlace place = tree.place(next);
          ASSERT_EQ(std::tie(place.level, place.node, place.index), std::tie(level, node, index));
        }
      }
    }
    ASSERT_EQ(next, tree.chips());
  }
}

TEST_P(AnyShape, PartsAreContiguousAndCoverTheLeaves) {
  for (const uint32_t leaves : LeafCounts()) {
    const FatTree tree(leaves, GetParam());
    for (uint32_t parts = 1; parts <= std::min(tree.nodes_at(1), 9u); ++parts) {
      uint32_t part = 0;
      for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
        const uint32_t next = tree.PartOfLeaf(leaf, parts);
        ASSERT_TRUE(next == part || next == part + 1) << leaf;
        part = next;
      }
      ASSERT_EQ(part, parts - 1) << leaves << " leaves, " << parts << " parts";
    }
  }
}

TEST_P(AnyShape, AChipBelongsToAPartOfItsLeaves) {
  for (const uint32_t leaves : LeafCounts()) {
    const FatTree tree(leaves, GetParam());
    for (uint32_t parts = 1; parts <= std::min(tree.nodes_at(1), 9u); ++parts) {
      for (ChipId chip = 0; chip < tree.chips(); ++chip) {
        const ChipPlace place = tree.place(chip);
        std::set<uint32_t> below;
        for (uint32_t leaf = place.node << (2 * place.level);
             leaf < std::min(leaves, (place.node + 1) << (2 * place.level)); ++leaf) {
          below.insert(tree.PartOfLeaf(leaf, parts));
        }
        ASSERT_EQ(below.count(tree.PartOfChip(chip, parts)), 1u)
            << leaves << " leaves, " << parts << " parts, chip " << chip;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ParentsPerLevel, AnyShape,
                         ::testing::Values(std::vector<uint32_t>{2, 2, 4}, std::vector<uint32_t>{1},
                                           std::vector<uint32_t>{4},
                                           std::vector<uint32_t>{3, 1, 2, 4}));

}  // namespace
}  // namespace vcm5
