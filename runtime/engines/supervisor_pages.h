// The supervisor pages of an embedded machine, apart from the memory that its nodes have (NI9), and
// the ports of those that somebody supervises.
#ifndef VCM5_RUNTIME_ENGINES_SUPERVISOR_PAGES_H_
#define VCM5_RUNTIME_ENGINES_SUPERVISOR_PAGES_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "daemons/driver/doorbell.h"
#include "netif/port/supervisor.h"
#include "netif/shm/supervisor_page.h"
#include "runtime/engines/lazy_memory.h"

namespace vcm5 {

class SupervisorPages {
 public:
  explicit SupervisorPages(uint32_t nodes)
      : nodes_(nodes), memory_(sizeof(vcm5_supervisor_page) * nodes) {}

  std::vector<vcm5_supervisor_page*> pages() const {
    std::vector<vcm5_supervisor_page*> pages(nodes_);
    for (uint32_t node = 0; node < nodes_; ++node) pages[node] = page(node);
    return pages;
  }

  // The supervisor's side of a node, which rings in `doorbell`, the control network's. The identity of
  // a page is written when somebody asks for it first.
  Supervisor Attach(uint32_t node, Doorbell doorbell) {
    VCM5_CHECK_MSG(node < nodes_, "no such node");
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [found, is_new] = ports_.try_emplace(node);
    vcm5_supervisor_port& port = found->second;
    if (is_new) {
      vcm5_supervisor_page_init(page(node), node, nodes_);
      const char* wrong = vcm5_supervisor_attach(&port, page(node));
      VCM5_CHECK_MSG(wrong == nullptr, wrong);
      port.doorbell = doorbell.shared();
      port.bell = doorbell.bell(vcm5_supervisor_bell(node));
    }
    return Supervisor(port);
  }

 private:
  vcm5_supervisor_page* page(uint32_t node) const {
    return reinterpret_cast<vcm5_supervisor_page*>(memory_.data()) + node;
  }

  const uint32_t nodes_;
  LazyMemory memory_;
  std::mutex mutex_;
  std::map<uint32_t, vcm5_supervisor_port> ports_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_SUPERVISOR_PAGES_H_
