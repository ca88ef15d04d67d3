// What the two programs of the example quantiles agree on. The host broadcasts how many numbers there
// are, deals them out, and then asks: how many of them are at most `pivot`?
#ifndef VCM5_EXAMPLES_QUANTILES_H_
#define VCM5_EXAMPLES_QUANTILES_H_

#include <cstdint>

namespace examples {

// As their count: there is nothing to do, or the host cannot go on.
inline constexpr uint64_t kNoNumbers = 0;

struct Question {
  int64_t pivot;
  uint64_t is_last;  // nothing is asked any more
};

}  // namespace examples

#endif  // VCM5_EXAMPLES_QUANTILES_H_
