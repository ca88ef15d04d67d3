// Sums of floating-point numbers over nodes, exactly.
//
// The control network adds integers (paper section 5). Every finite float is an integer multiple of
// one unit, 2^-149 (float) or 2^-1074 (double), so a sum of floats is a sum of long integers. That
// is what is combined here: the result is the exact sum, rounded once, to nearest even. It does not
// depend on the number of nodes, on their order or on the tree, and a prefix is as exact as the
// whole.
//
// A double as such an integer has up to 2,098 bits, a limb of 32 of which is one word. Only limbs
// in which somebody has a bit are worth sending: a first OR tells all nodes which. Values of
// similar magnitude then take 3 or 4 words, one message. Wide ranges are split into groups of
// limbs, each summed on its own with a limb of headroom for sign and carries, and put together
// after.
#ifndef VCM5_EXACT_SUM_HPP_
#define VCM5_EXACT_SUM_HPP_

#include <cstdint>
#include <span>

namespace vcm5::exact_sum {

// How a T is made.
template <typename T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int kFractionBits = 23;
  static constexpr int kExponentBits = 8;
  static constexpr int kUnitExponent = -149;
  static constexpr int kLimbs = (24 + 253 + 31) / 32;  // of the largest finite float in units
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int kFractionBits = 52;
  static constexpr int kExponentBits = 11;
  static constexpr int kUnitExponent = -1074;
  static constexpr int kLimbs = (53 + 2045 + 31) / 32;
};

inline constexpr int kLimbsMax = Format<double>::kLimbs;
inline constexpr int kMaskWords = (kLimbsMax + 31) / 32;

// What some values contain, as words to be combined by OR: which limbs, and the special values.
struct Contents {
  static constexpr uint32_t kNan = 1;
  static constexpr uint32_t kPlusInfinity = 2;
  static constexpr uint32_t kMinusInfinity = 4;
  static constexpr uint32_t kWords = kMaskWords + 1;

  uint32_t words[kWords] = {};  // special, then limbs

  uint32_t special() const { return words[0]; }
};

// The special values of one value: 0 for a finite one.
template <typename T>
uint32_t SpecialOf(T value);

// The sum of values of which some are special.
template <typename T>
T SpecialSum(uint32_t special);

template <typename T>
Contents ContentsOf(std::span<const T> values);

// How values are cut into messages, once all nodes know what they contain together.
struct Layout {
  int first_limb = 0;
  int limbs = 0;   // 0: all values are zero
  int groups = 0;  // messages a value
  int limbs_per_group = 0;
  uint32_t words() const { return static_cast<uint32_t>(limbs_per_group) + 1; }  // of a message
};
Layout LayoutOf(const Contents& contents);

// The groups of a finite value as two's complement, least significant word first:
// layout.groups * layout.words() words. A special value counts as zero.
template <typename T>
void Write(const Layout& layout, T value, uint32_t* words);

// The sum whose groups these are, rounded.
template <typename T>
T Read(const Layout& layout, const uint32_t* words);

}  // namespace vcm5::exact_sum

#endif  // VCM5_EXACT_SUM_HPP_
