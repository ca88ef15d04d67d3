/* Loads and stores of words in memory that several processes map. C11 and C++; the compiler
 * builtins are used because C11 _Atomic and std::atomic cannot both describe one struct. */
#ifndef VCM5_NETIF_SHM_ATOMIC_WORDS_H_
#define VCM5_NETIF_SHM_ATOMIC_WORDS_H_

#include <stdint.h>

static inline uint32_t vcm5_load_acquire(const uint32_t *word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline uint32_t vcm5_load_relaxed(const uint32_t *word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void vcm5_store_release(uint32_t *word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void vcm5_store_relaxed(uint32_t *word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static inline uint64_t vcm5_load64_relaxed(const uint64_t *word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void vcm5_store64_relaxed(uint64_t *word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

#endif /* VCM5_NETIF_SHM_ATOMIC_WORDS_H_ */
