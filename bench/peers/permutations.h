/* The random permutations of the benchmark `permutation`: message w of every window goes from node
 * i to permutations[w](i). Node i sends and receives one message for each w, and who sends to whom
 * follows from the seed alone, so vcm5 and its peers carry the same traffic. C11 and C++.
 */
#ifndef VCM5_BENCH_PEERS_PERMUTATIONS_H_
#define VCM5_BENCH_PEERS_PERMUTATIONS_H_

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t bench_random(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Fills `count` permutations of `nodes` nodes: node i's destination in permutation w is
 * table[w * nodes + i]. */
static inline void bench_fill_permutations(uint64_t seed, uint32_t count, uint32_t nodes,
                                           uint32_t *table) {
  uint64_t state = seed;
  for (uint32_t w = 0; w < count; ++w) {
    uint32_t *permutation = table + (uint64_t)w * nodes;
    for (uint32_t i = 0; i < nodes; ++i) {
      /* Fisher-Yates from the inside out; the bias of taking the high bits is below 2^-32. */
      const uint32_t j = (uint32_t)(((bench_random(&state) >> 32) * (i + 1)) >> 32);
      permutation[i] = permutation[j];
      permutation[j] = i;
    }
  }
}

#endif /* VCM5_BENCH_PEERS_PERMUTATIONS_H_ */
