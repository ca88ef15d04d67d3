// Routes against an oracle that enumerates the tree: every packet climbs to the least common
// ancestor and no higher, whatever parent links it takes, and arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/base/prng.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/machine_spec.h"
#include "tests/support/seeds.h"
#include "tests/support/tree_oracle.h"

namespace vcm5 {
namespace {

const std::vector<std::vector<uint32_t>> kParents = {{2, 2, 4}, {1}, {4}, {3, 1, 2}, {1, 4}};

TEST(Routes, AllPairsOfSmallTreesByEveryWay) {
  for (const std::vector<uint32_t>& parents : kParents) {
    for (const uint32_t leaves : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 16u, 17u, 20u, 31u, 64u, 65u}) {
      const FatTree tree(leaves, parents);
      TreeOracle oracle(tree);
      for (uint32_t from = 0; from < leaves; ++from) {
        for (uint32_t to = 0; to < leaves; ++to) {
          ASSERT_EQ(oracle.FollowEveryWay(from, to, FatTree::Route(from, to)), "")
              << leaves << " leaves, from " << from << " to " << to;
        }
      }
    }
  }
}

TEST(Routes, RandomPairsOfTreesUpToTheLargestMachine) {
  ForEachSeed(1000, [](uint64_t seed) {
    Prng prng(seed);
    // Every order of magnitude alike, and the two largest for certain.
    const uint32_t leaves = seed == 1   ? 16384
                            : seed == 2 ? kLeavesMax
                                        : 1 + prng.Below(1u << (1 + prng.Below(14)));
    const FatTree tree(leaves, kParents[prng.Below(static_cast<uint32_t>(kParents.size()))]);
    TreeOracle oracle(tree);
    for (int pair = 0; pair < 30; ++pair) {
      const uint32_t from = prng.Below(leaves);
      // Near ones and far ones.
      const uint32_t to =
          prng.Chance(1, 2) ? prng.Below(leaves) : std::min(from ^ prng.Below(16), leaves - 1);
      ASSERT_EQ(oracle.Follow(from, to, FatTree::Route(from, to),
                              [&](unsigned links) { return prng.Below(links); }),
                "")
          << leaves << " leaves, from " << from << " to " << to;
    }
  });
}

// The oracle itself must notice what is wrong.
TEST(Routes, TheOracleFindsWrongRoutes) {
  const FatTree tree(64, {2, 2, 4});
  TreeOracle oracle(tree);
  const auto first = [](unsigned) { return 0u; };
  const uint32_t good = FatTree::Route(3, 9);
  EXPECT_EQ(oracle.Follow(3, 9, good, first), "");
  EXPECT_EQ(oracle.Follow(3, 8, good, first), "arrives at leaf 9");
  EXPECT_NE(oracle.Follow(3, 9, FatTree::Route(3, 60), first).find("climbs above"),
            std::string::npos);
  EXPECT_NE(oracle.Follow(3, 60, good, first).find("turns round"), std::string::npos);
  EXPECT_EQ(oracle.Follow(3, 9, good | (1u << 20), first), "arrives with instructions left");
  EXPECT_NE(oracle.Follow(3, 60, FatTree::Route(3, 60) + 1, first).find("climbs above"),
            std::string::npos);
}

}  // namespace
}  // namespace vcm5
