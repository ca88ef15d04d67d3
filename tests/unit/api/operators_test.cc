// How values become words for the control network, and back.
#include "vcm5/operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace vcm5 {
namespace {

using operators_internal::Coding;

// Words of a maximum compare as the network does: the first as signed, the others as unsigned.
template <typename Op, typename T>
bool NetworkLess(T a, T b) {
  using C = Coding<Op, T>;
  uint32_t left[C::kWords];
  uint32_t right[C::kWords];
  C::Write(a, left);
  C::Write(b, right);
  if (left[0] != right[0]) {
    return static_cast<int32_t>(left[0]) < static_cast<int32_t>(right[0]);
  }
  for (uint32_t i = 1; i < C::kWords; ++i) {
    if (left[i] != right[i]) return left[i] < right[i];
  }
  return false;
}

template <typename T>
std::vector<T> Sorted() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {Limits::lowest(), Limits::max(), T{0}, T{1}, T{2}, T{1} << 16, T{77}};
  if constexpr (std::signed_integral<T>) {
    values.insert(values.end(), {T{-1}, T{-2}, T{-77}, T(-(T{1} << 20))});
  }
  values.push_back(static_cast<T>(Limits::max() / 2));
  values.push_back(static_cast<T>(Limits::max() / 3));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}
template <>
std::vector<float> Sorted() {
  const float infinity = std::numeric_limits<float>::infinity();
  return {-infinity, -3e38f, -1.5f, -1e-40f, 0.0f, 1e-45f, 1e-40f, 1.0f, 2.5f, 3e38f, infinity};
}
template <>
std::vector<double> Sorted() {
  const double infinity = std::numeric_limits<double>::infinity();
  return {-infinity, -1e308, -1.5, -5e-324, 0.0, 5e-324, 1.0, 1.0000000000000002, 1e308, infinity};
}

template <typename T>
class OperatorsTest : public testing::Test {};
using Elements = testing::Types<int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(OperatorsTest, Elements);

TYPED_TEST(OperatorsTest, MaximumKeepsTheOrder) {
  const std::vector<TypeParam> values = Sorted<TypeParam>();
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      EXPECT_EQ((NetworkLess<MaxOperator>(values[i], values[j])), i < j);
      EXPECT_EQ((NetworkLess<MinOperator>(values[i], values[j])), i > j);
    }
  }
}

template <typename Op, typename T>
T ThroughWords(T value) {
  uint32_t words[Coding<Op, T>::kWords];
  Coding<Op, T>::Write(value, words);
  return Coding<Op, T>::Read(words);
}

TYPED_TEST(OperatorsTest, WordsGiveTheValueBack) {
  for (const TypeParam value : Sorted<TypeParam>()) {
    EXPECT_EQ((ThroughWords<MaxOperator>(value)), value);
    EXPECT_EQ((ThroughWords<MinOperator>(value)), value);
    if constexpr (std::integral<TypeParam>) {
      EXPECT_EQ((ThroughWords<AddOperator>(value)), value);
      EXPECT_EQ((ThroughWords<AndOperator>(value)), value);
      EXPECT_EQ((ThroughWords<XorOperator>(value)), value);
    }
  }
}

TYPED_TEST(OperatorsTest, NetworkIdentityIsTheOperatorsIdentity) {
  using Limits = std::numeric_limits<TypeParam>;
  const uint32_t identity[2] = {0x80000000u, 0};
  const TypeParam least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const TypeParam greatest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  EXPECT_EQ((Coding<MaxOperator, TypeParam>::Read(identity)), least);
  EXPECT_EQ((Coding<MinOperator, TypeParam>::Read(identity)), greatest);
  if constexpr (std::integral<TypeParam>) {
    const uint32_t zero[2] = {0, 0};
    EXPECT_EQ((Coding<AndOperator, TypeParam>::Read(zero)), static_cast<TypeParam>(-1));
  }
}

}  // namespace
}  // namespace vcm5
