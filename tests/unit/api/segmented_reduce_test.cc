// A segmented reduction, which the control network does not have, made of a segmented scan in each
// direction (paper section 5).
#include <algorithm>
#include <concepts>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"
#include "vcm5/collectives.hpp"
#include "vcm5/embedded.hpp"

namespace vcm5 {
namespace {

// Segments begin at node 0 and at nodes that `starts` names.
template <typename Op, typename T>
T SegmentedReduce(Node& node, Op op, T value, const std::vector<bool>& starts) {
  const uint32_t self = node.self();
  // A backward scan starts over at the last node of a segment.
  const bool first = starts[self];
  const bool last = self + 1 == node.size() || starts[self + 1];
  const T before = node.ScanForward(op, value, first);
  const T after = node.ScanBackward(op, value, last);
  if constexpr (std::same_as<Op, MaxOperator>) {
    return std::max({before, value, after});
  } else {
    return before + value + after;
  }
}

TEST(SegmentedReduceTest, IsAScanInEachDirection) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Prng prng(seed);
    const uint32_t nodes = 1 + prng.Below(40);
    std::vector<int32_t> values(nodes);
    std::vector<bool> starts(nodes);
    for (uint32_t n = 0; n < nodes; ++n) {
      values[n] = static_cast<int32_t>(prng.Below(2000)) - 1000;
      starts[n] = n == 0 || prng.Chance(1, 3);
    }
    EmbeddedMachine machine(nodes);
    const absl::Status status = machine.Run([&](Node& node) {
      uint32_t begin = node.self();
      while (!starts[begin]) --begin;
      uint32_t end = node.self() + 1;
      while (end < nodes && !starts[end]) ++end;
      int32_t sum = 0;
      int32_t most = values[begin];
      for (uint32_t n = begin; n < end; ++n) {
        sum += values[n];
        most = std::max(most, values[n]);
      }
      const int32_t mine = values[node.self()];
      EXPECT_EQ(SegmentedReduce(node, kAdd, mine, starts), sum) << "seed " << seed;
      EXPECT_EQ(SegmentedReduce(node, kMax, mine, starts), most) << "seed " << seed;
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace vcm5
