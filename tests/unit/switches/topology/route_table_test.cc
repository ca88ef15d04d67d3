#include "switches/topology/route_table.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "runtime/base/prng.h"

namespace vcm5 {
namespace {

void ExpectRoutesOfTheTree(uint32_t leaves, const std::vector<uint32_t>& members) {
  const RouteTable table(leaves, members);
  ASSERT_EQ(table.size(), members.size());
  for (const uint32_t source : members) {
    for (uint32_t relative = 0; relative < table.size(); ++relative) {
      ASSERT_EQ(table.physical(relative), members[relative]);
      ASSERT_EQ(table.Route(source, relative), FatTree::Route(source, members[relative]))
          << leaves << " leaves, from " << source << " to " << members[relative];
    }
  }
}

TEST(RouteTable, WholeMachinesOfAnySize) {
  for (uint32_t leaves = 1; leaves <= 70; ++leaves) {
    std::vector<uint32_t> members(leaves);
    std::iota(members.begin(), members.end(), 0u);
    ExpectRoutesOfTheTree(leaves, members);
  }
}

TEST(RouteTable, PartitionsWithFailedNodesMappedOut) {
  Prng prng(1);
  for (int i = 0; i < 200; ++i) {
    const uint32_t leaves = 1 + prng.Below(20000);
    const uint32_t first = prng.Below(leaves);
    std::vector<uint32_t> members;
    for (uint32_t leaf = first; leaf < leaves && members.size() < 40; ++leaf) {
      if (prng.Chance(3, 4)) members.push_back(leaf);
    }
    ExpectRoutesOfTheTree(leaves, members);
  }
}

TEST(RouteTable, MembersFarApart) { ExpectRoutesOfTheTree(16384, {0, 1, 4, 5, 255, 8191, 16383}); }

}  // namespace
}  // namespace vcm5
