#include "runtime/node/node_idle.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace vcm5 {

void NodeIdle::Miss(vcm5_port& port) {
  if (port.misses <= spins_) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return;
  }
  if (port.misses < spins_ + kYields) {
    sleep_ns_ = kSleepMinNs;
    sched_yield();
    return;
  }
  // The program has polled everything that it waits for since the look before this one.
  const NetworkPositions news = NetworkPositions::Look(*port.page);
  if (news == seen_) {
    Sleep(*port.page);
    sleep_ns_ = std::min(2 * sleep_ns_, kSleepMaxNs);
  } else {
    seen_ = news;
    sched_yield();
  }
}

void NodeIdle::Sleep(vcm5_ni_page& page) {
  vcm5_store_relaxed(&page.node_control.waiting, 1);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (NetworkPositions::Look(page) == seen_) {
    const timespec timeout{0, static_cast<long>(sleep_ns_)};
    syscall(SYS_futex, &page.node_control.waiting, FUTEX_WAIT, 1, &timeout, nullptr, 0);
  }
  vcm5_store_relaxed(&page.node_control.waiting, 0);
}

}  // namespace vcm5
