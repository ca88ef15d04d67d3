// The arithmetic of a combining node: five operators on words of 32 bits, with the residue that one
// word of a message leaves for the next (paper section 5, CN3). Additions take the least significant
// word first and leave a carry; the maximum takes the most significant first and leaves which side
// is ahead.
#ifndef VCM5_SWITCHES_CONTROL_COMBINER_H_
#define VCM5_SWITCHES_CONTROL_COMBINER_H_

#include <cstdint>

#include "netif/wire/control_packet.h"

namespace vcm5 {

// What the words of a message combined so far leave for the next. One a direction of a stream,
// since messages of a stream follow each other in order. Reset at the first word.
struct Residue {
  enum Ahead : uint8_t { kNeither = 0, kA, kB };
  uint8_t carry = 0;
  Ahead ahead = kNeither;
};

struct Combined {
  uint32_t word;
  bool overflow;  // meaningful at the last word
};

// a and b are the same word of two values. `first` resets the residue.
inline Combined Combine(Combiner combiner, bool first, uint32_t a, uint32_t b, Residue& residue) {
  if (first) residue = Residue{};
  switch (combiner) {
    case Combiner::kOr:
      return {a | b, false};
    case Combiner::kXor:
      return {a ^ b, false};
    case Combiner::kMax: {
      if (residue.ahead == Residue::kNeither && a != b) {
        // The sign is in the first word only.
        const uint32_t flip = first ? 0x80000000u : 0;
        residue.ahead = (a ^ flip) > (b ^ flip) ? Residue::kA : Residue::kB;
      }
      return {residue.ahead == Residue::kB ? b : a, false};
    }
    case Combiner::kAdd:
    case Combiner::kUnsignedAdd: {
      const uint64_t sum = uint64_t{a} + b + residue.carry;
      const auto word = static_cast<uint32_t>(sum);
      residue.carry = static_cast<uint8_t>(sum >> 32);
      const bool overflow = combiner == Combiner::kUnsignedAdd
                                ? residue.carry != 0
                                : ((~(a ^ b) & (a ^ word)) >> 31) != 0;
      return {word, overflow};
    }
  }
  return {0, false};
}

}  // namespace vcm5

#endif  // VCM5_SWITCHES_CONTROL_COMBINER_H_
