// The supervisor pages of an embedded machine, apart from the memory that its nodes have (NI9), and
// the ports of those that somebody supervises.
#ifndef VCM5_RUNTIME_ENGINES_SUPERVISOR_PAGES_H_
#define VCM5_RUNTIME_ENGINES_SUPERVISOR_PAGES_H_

#include <cstdint>
#include <map>
#include <mutex>

#include "netif/port/ni_port.h"
#include "netif/port/supervisor.h"
#include "netif/shm/supervisor_page.h"
#include "runtime/base/check.h"
#include "runtime/engines/lazy_memory.h"

namespace vcm5 {

class SupervisorPages {
 public:
  explicit SupervisorPages(uint32_t nodes)
      : nodes_(nodes), memory_(sizeof(vcm5_supervisor_page) * nodes) {}

  vcm5_supervisor_page* page(uint32_t node) const {
    VCM5_CHECK_MSG(node < nodes_, "no such node");
    return reinterpret_cast<vcm5_supervisor_page*>(memory_.data()) + node;
  }

  // The supervisor's side of a node; it rings where the node's own port does. The identity of a
  // page is written when somebody asks for it first.
  Supervisor Attach(uint32_t node, const vcm5_port& node_port) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [found, is_new] = ports_.try_emplace(node);
    vcm5_supervisor_port& port = found->second;
    if (is_new) {
      vcm5_supervisor_page_init(page(node), node_port.self, node_port.partition_size);
      const char* wrong = vcm5_supervisor_attach(&port, page(node));
      VCM5_CHECK_MSG(wrong == nullptr, wrong);
      port.doorbell = node_port.control_doorbell;
      port.bell = node_port.control_bell + VCM5_CONTROL_BELL_STRIDE * VCM5_FIFO_BROADCAST;
      for (int half = 0; half < VCM5_HALVES; ++half) {
        port.data_doorbell[half] = node_port.data_doorbell[half];
      }
    }
    return Supervisor(port);
  }

 private:
  const uint32_t nodes_;
  LazyMemory memory_;
  std::mutex mutex_;
  std::map<uint32_t, vcm5_supervisor_port> ports_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_SUPERVISOR_PAGES_H_
