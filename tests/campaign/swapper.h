// Ends the timeslice of all users at random moments: the machine is frozen, what they have in it is
// saved as words, and restored from these (SY2, SY3).
#ifndef VCM5_TESTS_CAMPAIGN_SWAPPER_H_
#define VCM5_TESTS_CAMPAIGN_SWAPPER_H_

#include <cstdint>
#include <string>

#include "runtime/base/prng.h"
#include "runtime/engines/embedded.h"

namespace vcm5::campaign {

class Swapper {
 public:
  explicit Swapper(uint64_t seed) : prng_(seed), pause_(20 + prng_.Below(400)) {}

  // To be called between the turns of nodes. After a failure it does nothing more: users who were
  // damaged are not saved.
  void OnSwitch(Embedded& machine);

  // What the machine said that failed, if the users cannot be blamed.
  const std::string& failure() const { return failure_; }
  uint64_t swaps() const { return swaps_; }
  uint64_t captured() const { return captured_; }  // messages

 private:
  Prng prng_;
  uint32_t pause_;  // in turns; ever longer, lest too short slices let nothing be completed
  bool failed_ = false;
  std::string failure_;
  uint64_t swaps_ = 0;
  uint64_t captured_ = 0;
};

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_SWAPPER_H_
