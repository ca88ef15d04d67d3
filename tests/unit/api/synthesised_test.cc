// Operations that the control network does not know, made of those that it does: logical operators,
// products, segmented reductions; against serial folds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/base/prng.h"
#include "vcm5/collectives.hpp"
#include "vcm5/embedded.hpp"
#include "vcm5/product.hpp"

namespace vcm5 {
namespace {

constexpr uint32_t kNodes = 13;

template <typename Body>
void OnAMachine(uint64_t seed, Body&& body) {
  EmbeddedOptions options;
  options.spec.nodes = kNodes;
  options.seed = seed;
  options.random_schedule = true;
  EmbeddedMachine machine(options);
  const absl::Status status = machine.Run(body);
  ASSERT_TRUE(status.ok()) << status;
}

TEST(ProductTest, FactorsGiveTheNumberBack) {
  for (uint64_t low = 0; low < 5000; ++low) {
    for (const uint64_t value : {low, uint64_t{0} - low, low << 32, low << 55}) {
      EXPECT_EQ(product::Factors<uint64_t>::Of(value).Product(), value);
      const auto word = static_cast<uint32_t>(value >> 16);
      EXPECT_EQ(product::Factors<uint32_t>::Of(word).Product(), word);
    }
  }
  Prng random(1);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t value = random.Next();
    EXPECT_EQ(product::Factors<uint64_t>::Of(value).Product(), value);
  }
}

template <typename T>
void CheckProducts(uint64_t seed) {
  using U = std::make_unsigned_t<T>;
  Prng random(seed);
  std::vector<std::vector<T>> values(kNodes, std::vector<T>(5));
  for (auto& row : values) {
    for (size_t i = 0; i < row.size(); ++i) {
      // Some products have few twos, some overflow with them, one has a zero.
      row[i] = static_cast<T>(random.Next() >> (8 * i)) | static_cast<T>(i == 0);
    }
  }
  values[4][3] = 0;
  OnAMachine(seed, [&](Node& node) {
    const uint32_t self = node.self();
    std::vector<T> results(5);
    node.Reduce(kMultiply, values[self], std::span(results));
    EXPECT_FALSE(node.overflowed());
    const T before = node.ScanForward(kMultiply, values[self][1]);
    EXPECT_FALSE(node.overflowed());
    U expected_before = 1;
    for (uint32_t i = 0; i < self; ++i) expected_before *= static_cast<U>(values[i][1]);
    EXPECT_EQ(before, static_cast<T>(expected_before));
    for (size_t element = 0; element < 5; ++element) {
      U expected = 1;
      for (const auto& row : values) expected *= static_cast<U>(row[element]);
      EXPECT_EQ(results[element], static_cast<T>(expected));
    }
    EXPECT_EQ(node.Reduce(kMultiply, static_cast<T>(self % 2 == 0 ? -1 : 1)), static_cast<T>(-1));
  });
}

TEST(ProductTest, ProductsOfWordsWrapAsAMultiplicationDoes) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CheckProducts<int32_t>(seed);
    CheckProducts<uint32_t>(seed);
    CheckProducts<int64_t>(seed);
    CheckProducts<uint64_t>(seed);
  }
}

TEST(LogicalTest, AnyAndAll) {
  OnAMachine(1, [](Node& node) {
    const bool is_five = node.self() == 5;
    EXPECT_FALSE(node.Reduce(kLogicalAnd, is_five));
    EXPECT_TRUE(node.Reduce(kLogicalOr, is_five));
    EXPECT_TRUE(node.Reduce(kLogicalAnd, true));
    EXPECT_FALSE(node.Reduce(kLogicalOr, false));
    // Numbers that share no bit.
    EXPECT_EQ(node.Reduce(kLogicalAnd, 1 << node.self()), 1);
    EXPECT_EQ(node.Reduce(kLogicalAnd, uint64_t{node.self()}), 0u);
    EXPECT_EQ(node.Reduce(kLogicalOr, int64_t{1} << 40), 1);
    // The identities: all of nothing, any of nothing.
    const bool all_before = node.ScanForward(kLogicalAnd, !is_five);
    EXPECT_EQ(all_before, node.self() <= 5);
    const bool any_before = node.ScanForward(kLogicalOr, is_five);
    EXPECT_EQ(any_before, node.self() > 5);
  });
}

template <typename Op, typename T>
void CheckSegments(Op op, uint64_t seed) {
  Prng random(seed);
  std::vector<T> values(kNodes);
  std::vector<bool> starts(kNodes);
  for (uint32_t i = 0; i < kNodes; ++i) {
    values[i] = static_cast<T>(random.Below(1000)) - static_cast<T>(300);
    starts[i] = random.Chance(1, 3);
  }
  OnAMachine(seed, [&](Node& node) {
    const T result = node.ReduceSegment(op, values[node.self()], starts[node.self()]);
    uint32_t first = node.self();
    while (first > 0 && !starts[first]) --first;
    T expected = values[first];
    bool overflow = false;
    for (uint32_t i = first + 1; i < kNodes && !starts[i]; ++i) {
      expected = operators_internal::Apply<Op, T>(expected, values[i], &overflow);
    }
    EXPECT_EQ(result, expected);
  });
}

TEST(SegmentTest, EachSegmentIsReducedByItself) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CheckSegments<AddOperator, int32_t>(kAdd, seed);
    CheckSegments<AddOperator, double>(kAdd, seed);
    CheckSegments<MaxOperator, int64_t>(kMax, seed);
    CheckSegments<MinOperator, float>(kMin, seed);
    CheckSegments<XorOperator, uint32_t>(kXor, seed);
    CheckSegments<MultiplyOperator, uint32_t>(kMultiply, seed);
  }
}

TEST(SegmentTest, OverflowIsReportedWhereItHappens) {
  OnAMachine(3, [](Node& node) {
    // Two segments, of which the second overflows, at its last addition.
    const bool start = node.self() == 6;
    const int32_t value = node.self() < 6 ? 1 : node.self() == 6 ? 0x7fffffff : 0;
    node.ReduceSegment(kAdd, node.self() == kNodes - 1 ? 1 : value, start);
    EXPECT_EQ(node.overflowed(), node.self() >= 6);
  });
}

TEST(FloatMaximumTest, SignedZerosAndNansHaveTheDocumentedOrder) {
  OnAMachine(1, [](Node& node) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const bool is_two = node.self() == 2;
    EXPECT_FALSE(std::signbit(node.Reduce(kMax, is_two ? 0.0f : -0.0f)));
    EXPECT_TRUE(std::signbit(node.Reduce(kMin, is_two ? -0.0f : 0.0f)));
    EXPECT_TRUE(std::isnan(node.Reduce(kMax, is_two ? nan : 1e30f)));
    EXPECT_EQ(node.Reduce(kMin, is_two ? nan : 1e30f), 1e30f);
    EXPECT_EQ(node.Reduce(kMax, is_two ? -nan : -1e30f), -1e30f);
    EXPECT_TRUE(std::isnan(node.Reduce(kMin, is_two ? -nan : -1e30f)));
    EXPECT_TRUE(std::isnan(node.Reduce(kMax, is_two ? std::nan("") : 1.0)));
  });
}

}  // namespace
}  // namespace vcm5
