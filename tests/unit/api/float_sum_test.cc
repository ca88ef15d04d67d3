// Sums and scans of floats over nodes: exact, and the same for every number of nodes.
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"
#include "vcm5/embedded.hpp"

namespace vcm5 {
namespace {

TEST(FloatSumTest, DoesNotDependOnTheOrder) {
  constexpr uint32_t kNodes = 31;
  EmbeddedMachine machine(kNodes);
  std::vector<uint64_t> sums;
  const absl::Status status = machine.Run([&](Node& node) {
    for (uint32_t round = 0; round < 20; ++round) {
      // 31 numbers of all magnitudes and both signs, dealt out differently in each round.
      Prng prng((node.self() * (round + 1) + round) % kNodes);
      const double value = std::ldexp(static_cast<double>(static_cast<int64_t>(prng.Next())),
                                      static_cast<int>(prng.Below(300)) - 200);
      const double sum = node.Reduce(kAdd, value);
      if (node.self() == round) sums.push_back(std::bit_cast<uint64_t>(sum));
    }
  });
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(sums.size(), 20u);
  for (const uint64_t sum : sums) EXPECT_EQ(sum, sums[0]);
}

TEST(FloatSumTest, KeepsWhatFloatingPointAdditionLoses) {
  EmbeddedMachine machine(3);
  const absl::Status status = machine.Run([](Node& node) {
    const double values[] = {1e300, 1.0, -1e300};
    EXPECT_EQ(node.Reduce(kAdd, values[node.self()]), 1.0);
    const double prefix[] = {0.0, 1e300, 1e300};
    EXPECT_EQ(node.ScanForward(kAdd, values[node.self()]), prefix[node.self()]);
    const double suffix[] = {-1e300, -1e300, 0.0};
    EXPECT_EQ(node.ScanBackward(kAdd, values[node.self()]), suffix[node.self()]);
    const float tiny[] = {3e38f, 1e-45f, -3e38f};
    EXPECT_EQ(node.Reduce(kAdd, tiny[node.self()]), 1e-45f);
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(FloatSumTest, InfinitiesAndNans) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EmbeddedMachine machine(4);
  const absl::Status status = machine.Run([&](Node& node) {
    const double one[] = {1, infinity, 2, 3};
    EXPECT_EQ(node.Reduce(kAdd, one[node.self()]), infinity);
    const double prefix[] = {0, 1, infinity, infinity};
    EXPECT_EQ(node.ScanForward(kAdd, one[node.self()]), prefix[node.self()]);
    const double both[] = {infinity, 1, -infinity, 3};
    EXPECT_TRUE(std::isnan(node.Reduce(kAdd, both[node.self()])));
    // Only the element with the NaN is one.
    std::vector<double> values = {1.0, node.self() == 2 ? nan : 1.0};
    node.Reduce(kAdd, values, std::span(values));
    EXPECT_EQ(values[0], 4.0);
    EXPECT_TRUE(std::isnan(values[1]));
  });
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace vcm5
