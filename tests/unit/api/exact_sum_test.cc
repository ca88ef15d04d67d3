// Sums of floats as long integers, without a network: each value's words added up by hand.
#include "vcm5/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"

namespace vcm5::exact_sum {
namespace {

// What the control network does to one message: an addition with carries from word to word.
void AddMessage(std::vector<uint32_t>& sum, const std::vector<uint32_t>& value, size_t words) {
  for (size_t group = 0; group < value.size(); group += words) {
    uint64_t carry = 0;
    for (size_t i = group; i < group + words; ++i) {
      carry += uint64_t{sum[i]} + value[i];
      sum[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
}

template <typename T>
T Sum(const std::vector<T>& values) {
  const Layout layout = LayoutOf(ContentsOf<T>(values));
  std::vector<uint32_t> sum(static_cast<size_t>(layout.groups) * layout.words());
  std::vector<uint32_t> words(sum.size());
  for (const T value : values) {
    Write(layout, value, words.data());
    AddMessage(sum, words, layout.words());
  }
  return Read<T>(layout, sum.data());
}

TEST(ExactSumTest, OneValueIsItself) {
  Prng prng(1);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::bit_cast<double>(prng.Next());
    if (!std::isfinite(value) || value == 0) continue;
    ASSERT_EQ(Sum<double>({value}), value);
    const float narrow = std::bit_cast<float>(static_cast<uint32_t>(prng.Next()));
    if (!std::isfinite(narrow) || narrow == 0) continue;
    ASSERT_EQ(Sum<float>({narrow}), narrow);
  }
}

TEST(ExactSumTest, NothingIsLostBesideLargeValues) {
  EXPECT_EQ(Sum<double>({1e300, 1.0, -1e300}), 1.0);
  EXPECT_EQ(Sum<double>({5e-324, 1.7e308, -1.7e308}), 5e-324);
  EXPECT_EQ(Sum<float>({3e38f, 1e-45f, -3e38f}), 1e-45f);
  EXPECT_EQ(Sum<double>({1e16, 1.0, 1.0}), 1e16 + 2.0);
  EXPECT_EQ(Sum<double>({}), 0.0);
  EXPECT_EQ(Sum<double>({2.5, -2.5}), 0.0);
}

TEST(ExactSumTest, RoundsToNearestEvenOnce) {
  const double one = 1.0;
  const double ulp = std::numeric_limits<double>::epsilon();
  EXPECT_EQ(Sum<double>({one, ulp / 2}), one);                  // tie, to even
  EXPECT_EQ(Sum<double>({one + ulp, ulp / 2}), one + 2 * ulp);  // tie, to even
  EXPECT_EQ(Sum<double>({one, ulp / 2, 5e-324}), one + ulp);    // just above the tie
  EXPECT_EQ(Sum<double>({one, ulp / 2, -5e-324}), one);         // just below
  EXPECT_EQ(Sum<double>({-one, -ulp / 2, -5e-324}), -(one + ulp));
  EXPECT_EQ(Sum<double>({std::nextafter(2.0, 1.0), ulp / 2}), 2.0);  // carries into the exponent
}

TEST(ExactSumTest, OverflowIsInfinity) {
  const double max = std::numeric_limits<double>::max();
  EXPECT_EQ(Sum<double>({max, max}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Sum<double>({-max, -max}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Sum<double>({max, max, -max}), max);
  const std::vector<double> many(20000, max);
  EXPECT_EQ(Sum<double>(many), std::numeric_limits<double>::infinity());
}

TEST(ExactSumTest, AgreesWithWiderArithmetic) {
  Prng prng(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> values;
    long double wide = 0;  // 64 bits of mantissa hold these sums exactly
    for (int i = 0; i < 50; ++i) {
      const auto integer = static_cast<int32_t>(prng.Next());
      const float value = std::ldexp(static_cast<float>(integer), static_cast<int>(prng.Below(20)));
      values.push_back(value);
      wide += value;
    }
    ASSERT_EQ(Sum<float>(values), static_cast<float>(wide));
  }
}

TEST(ExactSumTest, SpecialValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(SpecialOf(1.5), 0u);
  EXPECT_EQ(SpecialSum<double>(SpecialOf(infinity)), infinity);
  EXPECT_EQ(SpecialSum<double>(SpecialOf(-infinity)), -infinity);
  EXPECT_TRUE(std::isnan(SpecialSum<double>(SpecialOf(infinity) | SpecialOf(-infinity))));
  EXPECT_TRUE(std::isnan(SpecialSum<double>(SpecialOf(nan) | SpecialOf(infinity))));
}

}  // namespace
}  // namespace vcm5::exact_sum
