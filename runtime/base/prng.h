// The project's own integer generator: the same seed gives the same sequence with every compiler
// and library, which std::*_distribution does not promise.
#ifndef VCM5_RUNTIME_BASE_PRNG_H_
#define VCM5_RUNTIME_BASE_PRNG_H_

#include <cstdint>

namespace vcm5 {

// SplitMix64: one addition and a mix a draw; any seed is good, streams of different seeds are
// independent for our purposes. Copyable; not thread-safe.
class Prng {
 public:
  explicit constexpr Prng(uint64_t seed) : state_(seed) {}

  constexpr uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound) to within 2^-32; bound > 0.
  constexpr uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>(((Next() >> 32) * bound) >> 32);
  }

  // True with probability numerator / denominator.
  constexpr bool Chance(uint32_t numerator, uint32_t denominator) {
    return Below(denominator) < numerator;
  }

 private:
  uint64_t state_;
};

// A seed for part `index` of a thing seeded with `seed`, so that neighbours differ in all bits.
constexpr uint64_t DeriveSeed(uint64_t seed, uint64_t index) {
  Prng prng(seed ^ (index * 0xd6e8feb86659fd93u));
  return prng.Next();
}

}  // namespace vcm5

#endif  // VCM5_RUNTIME_BASE_PRNG_H_
