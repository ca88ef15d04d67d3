// A process's end of its supervisor page, before its program runs: broadcasts go in and out, and it
// sleeps while there is nothing to do.
#ifndef VCM5_RUNTIME_BOOT_SUPERVISOR_END_H_
#define VCM5_RUNTIME_BOOT_SUPERVISOR_END_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "netif/port/supervisor_port.h"
#include "netif/shm/shared_memory.h"
#include "runtime/node/node_environment.h"

namespace vcm5 {

class SupervisorEnd {
 public:
  // Maps what the environments name. The descriptors of `node` stay open, for the program; that of
  // the supervisor pages is closed.
  static absl::StatusOr<std::unique_ptr<SupervisorEnd>> Attach(const NodeEnvironment& node,
                                                               const BootEnvironment& boot);
  SupervisorEnd(const SupervisorEnd&) = delete;
  SupervisorEnd& operator=(const SupervisorEnd&) = delete;

  // Supervisor broadcasts; each waits until it is done.
  void Send(std::span<const uint32_t> message);
  std::vector<uint32_t> Receive();
  // Until the network has taken all that was sent.
  void WaitUntilSent();
  // Broadcasts from now on are dropped here: nobody reads them any more.
  void StopListening();

 private:
  SupervisorEnd() = default;
  absl::Status Map(const NodeEnvironment& node, const BootEnvironment& boot);
  // Waits until ready() holds, which the control network makes true.
  template <class Ready>
  void WaitFor(Ready ready);

  SharedMemory memory_;
  SharedMemory doorbell_;
  SharedMemory supervisor_memory_;
  vcm5_ni_page* page_ = nullptr;
  vcm5_supervisor_port port_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_BOOT_SUPERVISOR_END_H_
