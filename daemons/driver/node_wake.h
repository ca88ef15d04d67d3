// Waking nodes that sleep on their NI's wait word (node_control.waiting in netif/shm/ni_page.h).
#ifndef VCM5_DAEMONS_DRIVER_NODE_WAKE_H_
#define VCM5_DAEMONS_DRIVER_NODE_WAKE_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "netif/port/ni_port.h"

namespace vcm5 {

// Constructed after positions were published, then asked for each node that may wait for them. The
// constructor is a full fence: a node sets `waiting`, fences, and looks at its FIFOs once more
// before it sleeps, so either it sees the positions or we see it waiting.
class NodeWake {
 public:
  // Values of node_control.waiting.
  static constexpr uint32_t kAwake = 0;
  static constexpr uint32_t kAsleep = 1;  // on a futex
  static constexpr uint32_t kParked = 2;  // a fiber whose scheduler looks at the word

  NodeWake() { Fence(); }

  void IfWaiting(vcm5_ni_page* page) {
    const uint32_t waiting = vcm5_load_relaxed(&page->node_control.waiting);
    if (__builtin_expect(waiting == kAwake, 1)) return;
    vcm5_store_relaxed(&page->node_control.waiting, kAwake);
    if (waiting == kAsleep) {
      syscall(SYS_futex, &page->node_control.waiting, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
  }

  // A full fence that ThreadSanitizer understands.
  static void Fence() {
    static thread_local uint32_t word = 0;
    __atomic_exchange_n(&word, 1u, __ATOMIC_SEQ_CST);
  }
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_NODE_WAKE_H_
