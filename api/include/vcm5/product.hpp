// Products of integers, synthesised from the control network's addition (paper section 5: "can be
// easily synthesized from these and local processor operations").
//
// Modulo 2^k every number but 0 is (-1)^s 5^e 2^v: the odd ones are a group that -1 and 5 generate.
// So a product is a sum of s, e and v. 0 counts as 2^k, and whatever has v >= k is 0. What the
// network adds are the words v, s and e, in that order, so that no carry matters: sums of v and s
// stay small, and e is needed modulo 2^(k-2) only.
#ifndef VCM5_PRODUCT_HPP_
#define VCM5_PRODUCT_HPP_

#include <bit>
#include <cstdint>

namespace vcm5::product {

template <typename U>  // uint32_t or uint64_t
struct Factors {
  static constexpr uint32_t kBits = 8 * sizeof(U);

  uint32_t twos = 0;      // v
  uint32_t negative = 0;  // s; its parity matters
  U power = 0;            // e

  static constexpr Factors Of(U value) {
    Factors factors;
    if (value == 0) {
      factors.twos = kBits;
      return factors;
    }
    factors.twos = static_cast<uint32_t>(std::countr_zero(value));
    value >>= factors.twos;
    if ((value & 2) != 0) {
      factors.negative = 1;
      value = U{0} - value;
    }
    // Bit by bit: 5^(2^i) is 1 + 2^(i+2) modulo 2^(i+3), and so decides bit i + 2.
    U inverse = static_cast<U>(0xcccccccccccccccdu);  // of 5
    for (uint32_t i = 0; i + 2 < kBits; ++i) {
      if (((value >> (i + 2)) & 1) != 0) {
        factors.power |= U{1} << i;
        value *= inverse;
      }
      inverse *= inverse;
    }
    return factors;
  }

  constexpr U Product() const {
    if (twos >= kBits) return 0;
    U result = 1;
    U base = 5;
    for (U e = power; e != 0; e >>= 1) {
      if ((e & 1) != 0) result *= base;
      base *= base;
    }
    if ((negative & 1) != 0) result = U{0} - result;
    return result << twos;
  }
};

}  // namespace vcm5::product

#endif  // VCM5_PRODUCT_HPP_
