// The operators of reduce and scan, and how a value becomes the words that the control network
// combines (paper section 5).
//
// The network knows five operators on words of 32 bits: OR, XOR, signed maximum, signed and
// unsigned addition. The others are synthesised from these by what happens to a value on its way in
// and out:
//
//     And           complement, OR, complement (De Morgan)
//     Min           complement, Max, complement: complementing reverses the order
//     unsigned Max  flip the top bit, which maps 0..2^32-1 to the signed order
//     float Max     i ^ ((i >> 31) & 0x7fffffff): sign and magnitude to two's complement
//     logical And   OR of whether a value is zero; logical Or: of whether it is not
//     products      sums of logarithms, of integers only; see product.hpp
//     64 bits       two words, most significant first for Max, least significant first for Add
//     float Add     exact integer accumulators; see exact_sum.hpp
//
// For Max and Min of floats: -0 is less than +0, a NaN is beyond the infinity of its sign, and the
// identity that the first node of a scan receives is the infinity. (So the maximum of numbers and a
// positive NaN is that NaN, of numbers and a negative NaN the greatest number. The one bit pattern
// that cannot be told from Max's identity is the negative NaN with all bits set: it reads as
// -infinity; likewise for Min the positive NaN with all bits set, as infinity.)
#ifndef VCM5_OPERATORS_HPP_
#define VCM5_OPERATORS_HPP_

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "netif/shm/ni_page.h"
#include "vcm5/product.hpp"

namespace vcm5 {

struct AddOperator {};
struct MaxOperator {};
struct MinOperator {};
struct OrOperator {};
struct XorOperator {};
struct AndOperator {};
struct LogicalAndOperator {};
struct LogicalOrOperator {};
struct MultiplyOperator {};

inline constexpr AddOperator kAdd;
inline constexpr MaxOperator kMax;
inline constexpr MinOperator kMin;
inline constexpr OrOperator kOr;
inline constexpr XorOperator kXor;
inline constexpr AndOperator kAnd;
inline constexpr LogicalAndOperator kLogicalAnd;  // the result is 1 (true) or 0
inline constexpr LogicalOrOperator kLogicalOr;
inline constexpr MultiplyOperator kMultiply;  // modulo 2^32 or 2^64

// What can be combined: integers of 32 and 64 bits, float and double; bool by the logical
// operators.
template <typename T>
concept IntegerElement =
    std::integral<T> && !std::same_as<T, bool> && (sizeof(T) == 4 || sizeof(T) == 8);
template <typename T>
concept FloatElement = std::same_as<T, float> || std::same_as<T, double>;
template <typename T>
concept Element = IntegerElement<T> || FloatElement<T> || std::same_as<T, bool>;

template <typename Op>
concept LogicalOperator =
    std::same_as<Op, LogicalAndOperator> || std::same_as<Op, LogicalOrOperator>;

// Operators that take the elements: no bitwise or logical ones, and no products, of floats.
template <typename Op, typename T>
concept Combines = (LogicalOperator<Op> && (IntegerElement<T> || std::same_as<T, bool>)) ||
                   (!LogicalOperator<Op> && IntegerElement<T>) ||
                   (FloatElement<T> &&
                    (std::same_as<Op, AddOperator> || std::same_as<Op, MaxOperator> ||
                     std::same_as<Op, MinOperator>));

namespace operators_internal {

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
inline constexpr Bits<T> kTopBit = Bits<T>{1} << (8 * sizeof(T) - 1);

// The value as bits whose signed order is the value's order; an involution for each T.
template <Element T>
constexpr Bits<T> Ordered(Bits<T> bits) {
  if constexpr (FloatElement<T>) {
    return (bits & kTopBit<T>) != 0 ? bits ^ (kTopBit<T> - 1) : bits;
  } else if constexpr (std::unsigned_integral<T>) {
    return bits ^ kTopBit<T>;
  } else {
    return bits;
  }
}

// How an operator maps a value to what the network combines, and a result back. kReportsOverflow:
// what overflows in the network is what the program asked for.
template <typename Op, Element T>
struct Coding {
  static constexpr bool kMaximum = std::same_as<Op, MaxOperator> || std::same_as<Op, MinOperator>;
  static constexpr bool kAddition = std::same_as<Op, AddOperator>;

  static constexpr vcm5_combiner kCombiner = kMaximum ? VCM5_MAX
                                             : kAddition
                                                 ? (std::signed_integral<T> ? VCM5_ADD : VCM5_UADD)
                                             : std::same_as<Op, XorOperator> ? VCM5_XOR
                                                                             : VCM5_OR;
  static constexpr uint32_t kWords = sizeof(T) / 4;
  // Words that may share one message: independent only where no residue goes from word to word.
  static constexpr bool kWordsIndependent = !kMaximum && !kAddition;
  static constexpr bool kReportsOverflow = true;

  static constexpr Bits<T> Encode(T value) {
    auto bits = std::bit_cast<Bits<T>>(value);
    if constexpr (kMaximum) bits = Ordered<T>(bits);
    if constexpr (std::same_as<Op, MinOperator> || std::same_as<Op, AndOperator>) bits = ~bits;
    return bits;
  }

  static constexpr T Decode(Bits<T> bits) {
    // The network's identity of Max is the smallest of all bit patterns; no number maps to it.
    if constexpr (kMaximum && FloatElement<T>) {
      if (bits == kTopBit<T>) {
        constexpr T kInfinity = std::numeric_limits<T>::infinity();
        return std::same_as<Op, MaxOperator> ? -kInfinity : kInfinity;
      }
    }
    if constexpr (std::same_as<Op, MinOperator> || std::same_as<Op, AndOperator>) bits = ~bits;
    if constexpr (kMaximum) bits = Ordered<T>(bits);
    return std::bit_cast<T>(bits);
  }

  // The words in the order in which they are pushed.
  static constexpr void Write(T value, uint32_t* words) {
    const Bits<T> bits = Encode(value);
    if constexpr (kWords == 1) {
      words[0] = bits;
    } else {
      words[kMaximum ? 1 : 0] = static_cast<uint32_t>(bits);
      words[kMaximum ? 0 : 1] = static_cast<uint32_t>(bits >> 32);
    }
  }

  static constexpr T Read(const uint32_t* words) {
    if constexpr (kWords == 1) {
      return Decode(words[0]);
    } else {
      return Decode(uint64_t{words[kMaximum ? 1 : 0]} | uint64_t{words[kMaximum ? 0 : 1]} << 32);
    }
  }
};

template <LogicalOperator Op, Element T>
struct Coding<Op, T> {
  static constexpr vcm5_combiner kCombiner = VCM5_OR;
  static constexpr uint32_t kWords = 1;
  static constexpr bool kWordsIndependent = true;
  static constexpr bool kReportsOverflow = true;
  static constexpr bool kAnd = std::same_as<Op, LogicalAndOperator>;

  static constexpr void Write(T value, uint32_t* words) { words[0] = (value != 0) != kAnd; }
  static constexpr T Read(const uint32_t* words) { return static_cast<T>((words[0] != 0) != kAnd); }
};

template <IntegerElement T>
struct Coding<MultiplyOperator, T> {
  static constexpr vcm5_combiner kCombiner = VCM5_UADD;
  static constexpr uint32_t kWords = 2 + sizeof(T) / 4;
  static constexpr bool kWordsIndependent = false;
  static constexpr bool kReportsOverflow = false;

  static constexpr void Write(T value, uint32_t* words) {
    const auto factors = product::Factors<Bits<T>>::Of(static_cast<Bits<T>>(value));
    words[0] = factors.twos;
    words[1] = factors.negative;
    words[2] = static_cast<uint32_t>(factors.power);
    if constexpr (kWords == 4) words[3] = static_cast<uint32_t>(factors.power >> 32);
  }
  static constexpr T Read(const uint32_t* words) {
    product::Factors<Bits<T>> factors;
    factors.twos = words[0];
    factors.negative = words[1];
    factors.power = words[2];
    if constexpr (kWords == 4) factors.power |= Bits<T>{words[3]} << 32;
    return static_cast<T>(factors.Product());
  }
};

// What the network does to two values, done here. Sets *overflow if an addition of integers
// overflows.
template <typename Op, Element T>
constexpr T Apply(T a, T b, bool* overflow) {
  if constexpr (FloatElement<T> && std::same_as<Op, AddOperator>) {
    return a + b;
  } else if constexpr (std::same_as<Op, AddOperator>) {
    T sum;
    if (__builtin_add_overflow(a, b, &sum)) *overflow = true;
    return sum;
  } else if constexpr (std::same_as<Op, MaxOperator> || std::same_as<Op, MinOperator>) {
    using Signed = std::make_signed_t<Bits<T>>;
    using C = Coding<Op, T>;
    return static_cast<Signed>(C::Encode(a)) < static_cast<Signed>(C::Encode(b)) ? b : a;
  } else if constexpr (std::same_as<Op, LogicalAndOperator>) {
    return static_cast<T>(a != 0 && b != 0);
  } else if constexpr (std::same_as<Op, LogicalOrOperator>) {
    return static_cast<T>(a != 0 || b != 0);
  } else if constexpr (std::same_as<Op, MultiplyOperator>) {
    return static_cast<T>(static_cast<Bits<T>>(a) * static_cast<Bits<T>>(b));
  } else if constexpr (std::same_as<Op, OrOperator>) {
    return a | b;
  } else if constexpr (std::same_as<Op, XorOperator>) {
    return a ^ b;
  } else {
    return a & b;
  }
}

}  // namespace operators_internal
}  // namespace vcm5

#endif  // VCM5_OPERATORS_HPP_
