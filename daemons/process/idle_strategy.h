// What a daemon does when its agents find nothing to do: spin a little if a processor is to spare,
// then let others run, then sleep. A process that wakes another one across processors pays about
// a hundred times what a yield costs, so sleeping comes last.
#ifndef VCM5_DAEMONS_PROCESS_IDLE_STRATEGY_H_
#define VCM5_DAEMONS_PROCESS_IDLE_STRATEGY_H_

#include <sched.h>

#include <algorithm>
#include <cstdint>

namespace vcm5 {

class IdleStrategy {
 public:
  IdleStrategy(uint32_t processors, uint32_t runners)
      : spins_(processors > runners ? kSpins : 0) {}

  void Reset() {
    idle_ = 0;
    sleep_ns_ = kSleepMinNs;
  }

  // Waits a moment; false when it is time to sleep instead.
  bool Wait() {
    if (idle_ >= spins_ + kYields) return false;
    if (idle_++ < spins_) {
      __builtin_ia32_pause();
    } else {
      sched_yield();
    }
    return true;
  }

  // How long to sleep at most: longer each time in a row.
  uint64_t NextSleepNs() {
    const uint64_t sleep_ns = sleep_ns_;
    sleep_ns_ = std::min(2 * sleep_ns_, kSleepMaxNs);
    return sleep_ns;
  }

 private:
  static constexpr uint32_t kSpins = 1000;  // about 20 to 40 us
  static constexpr uint32_t kYields = 100;
  static constexpr uint64_t kSleepMinNs = 1'000'000;
  static constexpr uint64_t kSleepMaxNs = 20'000'000;

  uint32_t spins_;
  uint32_t idle_ = 0;
  uint64_t sleep_ns_ = kSleepMinNs;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_PROCESS_IDLE_STRATEGY_H_
