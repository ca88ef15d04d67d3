// "The pseudorandom choice at each level balances the load" (paper section 3): patterns that are
// known to be bad for other networks load the parent links of each tree node alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/support/region_world.h"

namespace vcm5 {
namespace {

constexpr uint32_t kLeaves = 256;
constexpr uint32_t kRounds = 300;

uint32_t OtherHalf(uint32_t leaf) { return leaf ^ (kLeaves / 2); }
uint32_t Reversed(uint32_t leaf) {
  uint32_t reversed = 0;
  for (unsigned bit = 0; bit < 8; ++bit) reversed |= ((leaf >> bit) & 1) << (7 - bit);
  return reversed;
}
uint32_t Transposed(uint32_t leaf) { return (leaf % 16) * 16 + leaf / 16; }
uint32_t Next(uint32_t leaf) { return (leaf + 1) % kLeaves; }
uint32_t Complement(uint32_t leaf) { return kLeaves - 1 - leaf; }

class LoadBalance : public ::testing::TestWithParam<uint32_t (*)(uint32_t)> {};

TEST_P(LoadBalance, ParentLinksOfANodeCarryAboutTheSame) {
  WorldShape shape;
  shape.leaves = kLeaves;
  RegionWorld world(shape);
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t leaf = 0; leaf < kLeaves; ++leaf) {
      ASSERT_TRUE(world.Send(leaf, GetParam()(leaf), 1, 0));
    }
    world.Settle();
  }
  ASSERT_EQ(world.delivered(), kRounds * kLeaves);

  const FatTree& tree = world.tree();
  uint32_t nodes_loaded = 0;
  for (unsigned level = 1; level < tree.levels(); ++level) {
    for (uint32_t node = 0; node < tree.nodes_at(level); ++node) {
      uint64_t most = 0;
      uint64_t sum = 0;
      for (uint32_t index = 0; index < tree.chips_per_node(level); ++index) {
        const RouterChipStats stats = world.region(0).chip(tree.chip(level, node, index)).stats();
        for (uint32_t link = 0; link < tree.parents(level); ++link) {
          most = std::max(most, stats.out[kChildren + link]);
          sum += stats.out[kChildren + link];
        }
      }
      const uint64_t links = uint64_t{tree.chips_per_node(level)} * tree.parents(level);
      // With fewer messages chance alone makes a difference.
      if (sum < 100 * links) continue;
      ++nodes_loaded;
      EXPECT_LE(most * links * 10, sum * 14)
          << "level " << level << " node " << node << ": " << most << " on one of " << links
          << " links, " << sum << " on all";
    }
  }
  EXPECT_GT(nodes_loaded, 10u);
}

INSTANTIATE_TEST_SUITE_P(Patterns, LoadBalance,
                         ::testing::Values(OtherHalf, Reversed, Transposed, Next, Complement));

}  // namespace
}  // namespace vcm5
