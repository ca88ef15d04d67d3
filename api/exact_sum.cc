#include "vcm5/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace vcm5::exact_sum {
namespace {

// Data limbs of a group; the eighth word of a message is headroom.
constexpr int kGroupLimbsMax = 7;

// |value| = mantissa * 2^shift units.
template <typename T>
struct Parts {
  bool negative;
  uint32_t special;
  uint64_t mantissa;  // 0 for a special value
  int shift;
};

template <typename T>
Parts<T> Split(T value) {
  using F = Format<T>;
  using Bits = typename F::Bits;
  constexpr Bits kFractionMask = (Bits{1} << F::kFractionBits) - 1;
  constexpr int kExponentMask = (1 << F::kExponentBits) - 1;
  const Bits bits = std::bit_cast<Bits>(value);
  const bool negative = (bits >> (8 * sizeof(T) - 1)) != 0;
  const int exponent = static_cast<int>(bits >> F::kFractionBits) & kExponentMask;
  const Bits fraction = bits & kFractionMask;
  if (exponent == kExponentMask) {
    const uint32_t special = fraction != 0 ? Contents::kNan
                             : negative    ? Contents::kMinusInfinity
                                           : Contents::kPlusInfinity;
    return {negative, special, 0, 0};
  }
  if (exponent == 0) return {negative, 0, fraction, 0};
  return {negative, 0, fraction | (Bits{1} << F::kFractionBits), exponent - 1};
}

// The three limbs that a mantissa covers, from limb shift / 32 on.
struct Limbs {
  uint32_t limb[3];
};
Limbs Spread(uint64_t mantissa, int shift) {
  const int bit = shift % 32;
  const uint64_t low = mantissa << bit;
  const uint64_t high = bit == 0 ? 0 : mantissa >> (64 - bit);
  return {
      {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high)}};
}

void Negate(uint32_t* words, int count) {
  uint64_t carry = 1;
  for (int i = 0; i < count; ++i) {
    carry += static_cast<uint32_t>(~words[i]);
    words[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
}

// magnitude, `count` limbs of which the lowest is limb `first` of the unit scale, as a T.
template <typename T>
T Round(const uint32_t* magnitude, int count, int first) {
  using F = Format<T>;
  constexpr int kPrecision = F::kFractionBits + 1;
  int top = count - 1;
  while (top >= 0 && magnitude[top] == 0) --top;
  if (top < 0) return T{0};
  // Three limbs hold the precision, a rounding bit, and more; what is below only matters as sticky.
  auto limb = [&](int i) { return i >= 0 ? magnitude[i] : 0; };
  const int zeros = std::countl_zero(magnitude[top]);
  uint64_t head = uint64_t{magnitude[top]} << 32 | limb(top - 1);
  if (zeros > 0) head = head << zeros | limb(top - 2) >> (32 - zeros);
  bool sticky = zeros > 0 ? (limb(top - 2) << zeros) != 0 : limb(top - 2) != 0;
  for (int i = 0; i < top - 2 && !sticky; ++i) sticky = magnitude[i] != 0;
  // head's top bit is bit `position` of the sum, in units.
  const int position = 32 * (first + top) + 31 - zeros;
  const int dropped = 64 - kPrecision;
  uint64_t mantissa = head >> dropped;
  int exponent = position - (kPrecision - 1);
  // A sum below 2^kPrecision units is a subnormal or the smallest normal and has no bits to drop.
  const uint64_t half = uint64_t{1} << (dropped - 1);
  const uint64_t rest = head & (2 * half - 1);
  if (rest > half || (rest == half && (sticky || (mantissa & 1) != 0))) ++mantissa;
  // Exact, or infinite when the sum is too large: the mantissa has at most kPrecision bits, or is a
  // power of two.
  return std::ldexp(static_cast<T>(mantissa), exponent + F::kUnitExponent);
}

}  // namespace

template <typename T>
uint32_t SpecialOf(T value) {
  return Split(value).special;
}

template <typename T>
T SpecialSum(uint32_t special) {
  if (special == Contents::kPlusInfinity) return std::numeric_limits<T>::infinity();
  if (special == Contents::kMinusInfinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::quiet_NaN();
}

template <typename T>
Contents ContentsOf(std::span<const T> values) {
  Contents contents;
  for (const T value : values) {
    const Parts<T> parts = Split(value);
    contents.words[0] |= parts.special;
    if (parts.mantissa == 0) continue;
    const int low = (parts.shift + std::countr_zero(parts.mantissa)) / 32;
    const int high = (parts.shift + 63 - std::countl_zero(parts.mantissa)) / 32;
    for (int limb = low; limb <= high; ++limb) contents.words[1 + limb / 32] |= 1u << (limb % 32);
  }
  return contents;
}

Layout LayoutOf(const Contents& contents) {
  Layout layout;
  int last = -1;
  for (int limb = 0; limb < kLimbsMax; ++limb) {
    if ((contents.words[1 + limb / 32] >> (limb % 32) & 1) == 0) continue;
    if (last < 0) layout.first_limb = limb;
    last = limb;
  }
  if (last < 0) return layout;
  layout.limbs = last - layout.first_limb + 1;
  layout.groups = (layout.limbs + kGroupLimbsMax - 1) / kGroupLimbsMax;
  layout.limbs_per_group = (layout.limbs + layout.groups - 1) / layout.groups;
  return layout;
}

template <typename T>
void Write(const Layout& layout, T value, uint32_t* words) {
  const int group_words = static_cast<int>(layout.words());
  std::fill_n(words, layout.groups * group_words, 0u);
  const Parts<T> parts = Split(value);
  if (parts.mantissa == 0) return;
  const Limbs limbs = Spread(parts.mantissa, parts.shift);
  for (int i = 0; i < 3; ++i) {
    if (limbs.limb[i] == 0) continue;
    const int at = parts.shift / 32 + i - layout.first_limb;
    words[at / layout.limbs_per_group * group_words + at % layout.limbs_per_group] = limbs.limb[i];
  }
  if (!parts.negative) return;
  for (int group = 0; group < layout.groups; ++group) {
    Negate(words + group * group_words, group_words);
  }
}

template <typename T>
T Read(const Layout& layout, const uint32_t* words) {
  // The groups overlap by their headroom: add each, sign-extended, at its place.
  uint32_t sum[kLimbsMax + 2 * kGroupLimbsMax + 2] = {};
  const int group_words = static_cast<int>(layout.words());
  const int count = layout.groups * layout.limbs_per_group + 2;
  for (int group = 0; group < layout.groups; ++group) {
    const uint32_t* part = words + group * group_words;
    const uint32_t extension = part[group_words - 1] >> 31 != 0 ? ~0u : 0;
    uint64_t carry = 0;
    for (int at = group * layout.limbs_per_group, i = 0; at < count; ++at, ++i) {
      carry += uint64_t{sum[at]} + (i < group_words ? part[i] : extension);
      sum[at] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  const bool negative = sum[count - 1] >> 31 != 0;
  if (negative) Negate(sum, count);
  const T magnitude = Round<T>(sum, count, layout.first_limb);
  return negative ? -magnitude : magnitude;
}

template uint32_t SpecialOf(float);
template uint32_t SpecialOf(double);
template float SpecialSum(uint32_t);
template double SpecialSum(uint32_t);
template Contents ContentsOf(std::span<const float>);
template Contents ContentsOf(std::span<const double>);
template void Write(const Layout&, float, uint32_t*);
template void Write(const Layout&, double, uint32_t*);
template float Read(const Layout&, const uint32_t*);
template double Read(const Layout&, const uint32_t*);

}  // namespace vcm5::exact_sum
