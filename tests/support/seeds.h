// Seeds of the random tests. A test prints each seed before it uses it, so that the last one
// printed is the one that failed, crashed or hung:
//
//   VCM5_TEST_SEED=17 path/to/some_test --gtest_filter=...   runs seed 17 alone
//   VCM5_TEST_SEEDS=100000 path/to/some_test                 runs seeds 1 to 100000
#ifndef VCM5_TESTS_SUPPORT_SEEDS_H_
#define VCM5_TESTS_SUPPORT_SEEDS_H_

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace vcm5 {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// Calls body(seed) for seeds 1 to `count` (a quarter of them under a sanitizer), until one fails.
template <class Body>
void ForEachSeed(uint64_t count, Body&& body) {
  uint64_t first = 1;
  if (kSanitized) count = (count + 3) / 4;
  if (const char* text = std::getenv("VCM5_TEST_SEEDS")) count = std::strtoull(text, nullptr, 0);
  if (const char* text = std::getenv("VCM5_TEST_SEED")) {
    first = std::strtoull(text, nullptr, 0);
    count = 1;
  }
  std::fprintf(stderr, "seeds:");
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::fprintf(stderr, " %" PRIu64, seed);
    body(seed);
    if (::testing::Test::HasFailure()) {
      std::fprintf(stderr, "\nfailed; VCM5_TEST_SEED=%" PRIu64 " runs it again", seed);
      break;
    }
  }
  std::fprintf(stderr, "\n");
}

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_SEEDS_H_
