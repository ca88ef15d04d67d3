// The choice of a parent link on the way up (paper section 3): "pseudorandomly selecting from among
// those links that are unobstructed by other messages". DN2.
#ifndef VCM5_SWITCHES_DATA_UP_ROUTING_H_
#define VCM5_SWITCHES_DATA_UP_ROUTING_H_

#include <array>
#include <bit>
#include <cstdint>

namespace vcm5 {

namespace up_routing_internal {

// Row m lists the output ports (4..7) of the bits set in m.
constexpr std::array<std::array<uint8_t, 4>, 16> MakeNthSetBit() {
  std::array<std::array<uint8_t, 4>, 16> table{};
  for (unsigned mask = 0; mask < 16; ++mask) {
    unsigned n = 0;
    for (unsigned bit = 0; bit < 4; ++bit) {
      if (mask & (1u << bit)) table[mask][n++] = static_cast<uint8_t>(4 + bit);
    }
  }
  return table;
}
inline constexpr std::array<std::array<uint8_t, 4>, 16> kNthSetBit = MakeNthSetBit();

}  // namespace up_routing_internal

class UpRouting {
 public:
  explicit UpRouting(uint64_t seed) : state_(static_cast<uint32_t>(seed ^ (seed >> 32))) {}

  // One of the set bits of `candidates` (output ports 4..7 as bits 4..7; at least one).
  unsigned Choose(uint32_t candidates) {
    state_ = state_ * 1664525u + 1013904223u;
    const uint8_t* row = up_routing_internal::kNthSetBit[(candidates >> 4) & 0xf].data();
    const uint32_t count = static_cast<uint32_t>(std::popcount(candidates));
    return row[((state_ >> 16) * count) >> 16];
  }

 private:
  uint32_t state_;  // an LCG: one multiplication a hop; only its high half is used
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_DATA_UP_ROUTING_H_
