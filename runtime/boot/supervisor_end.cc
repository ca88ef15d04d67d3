#include "runtime/boot/supervisor_end.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "daemons/driver/doorbell.h"
#include "daemons/driver/node_wake.h"
#include "runtime/node/map_memory.h"

namespace vcm5 {
namespace {

constexpr int kKind = VCM5_BROADCAST_SUPERVISOR;
constexpr unsigned kYields = 64;  // before it sleeps
// So that a wake-up that was missed costs no more.
constexpr timespec kSleepMax{0, 20'000'000};

// The program inherits the original.
int Copy(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

}  // namespace

absl::StatusOr<std::unique_ptr<SupervisorEnd>> SupervisorEnd::Attach(const NodeEnvironment& node,
                                                                     const BootEnvironment& boot) {
  std::unique_ptr<SupervisorEnd> end(new SupervisorEnd);
  if (absl::Status status = end->Map(node, boot); !status.ok()) return status;
  return end;
}

absl::Status SupervisorEnd::Map(const NodeEnvironment& node, const BootEnvironment& boot) {
  auto memory = AttachMemory(Copy(node.memory), node.memory_bytes, "network interface");
  if (!memory.ok()) return memory.status();
  auto doorbell = AttachDoorbell(Copy(node.control_doorbell), node.control_bells, "control doorbell");
  if (!doorbell.ok()) return doorbell.status();
  auto pages = AttachMemory(boot.supervisor_memory, sizeof(vcm5_supervisor_page) * boot.pages,
                            "supervisor pages");
  if (!pages.ok()) return pages.status();
  memory_ = std::move(*memory);
  doorbell_ = std::move(*doorbell);
  supervisor_memory_ = std::move(*pages);
  page_ = reinterpret_cast<vcm5_ni_page*>(memory_.data());
  // The program checks the rest of its network interface itself.
  if (node.memory_bytes < sizeof *page_ || boot.page >= boot.pages) {
    return absl::InvalidArgumentError("a page is outside of what was inherited");
  }
  const uint64_t bell =
      uint64_t{page_->control_bell} + VCM5_CONTROL_BELL_STRIDE * VCM5_FIFO_BROADCAST;
  if (bell >= node.control_bells) {
    return absl::InvalidArgumentError("a bell is outside of the doorbell");
  }
  const char* wrong = vcm5_supervisor_attach(
      &port_, reinterpret_cast<vcm5_supervisor_page*>(supervisor_memory_.data()) + boot.page);
  if (wrong != nullptr) return absl::InvalidArgumentError(wrong);
  Doorbell rings(doorbell_.data(), node.control_bells);
  port_.doorbell = rings.shared();
  port_.bell = rings.bell(static_cast<uint32_t>(bell));
  port_.wake = Doorbell::Wake;
  return absl::OkStatus();
}

// Sleeps as programs do, on the network interface's wait word.
template <class Ready>
void SupervisorEnd::WaitFor(Ready ready) {
  uint32_t* const waiting = &page_->node_control.waiting;
  for (unsigned looks = 0; !ready(); ++looks) {
    if (looks < kYields) {
      sched_yield();
      continue;
    }
    vcm5_store_relaxed(waiting, NodeWake::kAsleep);
    NodeWake::Fence();
    if (!ready()) {
      syscall(SYS_futex, waiting, FUTEX_WAIT, NodeWake::kAsleep, &kSleepMax, nullptr, 0);
    }
    // The program finds the word as if nobody had ever slept.
    vcm5_store_relaxed(waiting, NodeWake::kAwake);
  }
}

void SupervisorEnd::Send(std::span<const uint32_t> message) {
  bool sent = false;
  WaitFor([&] {
    return sent || (sent = vcm5_supervisor_broadcast(&port_, kKind, message.data(),
                                                     static_cast<uint32_t>(message.size())));
  });
}

std::vector<uint32_t> SupervisorEnd::Receive() {
  uint32_t length = 0;
  WaitFor([&] { return (length = vcm5_supervisor_receive_length(&port_, kKind)) != 0; });
  std::vector<uint32_t> message(length);
  for (uint32_t& word : message) word = vcm5_supervisor_receive_word(&port_, kKind);
  return message;
}

void SupervisorEnd::WaitUntilSent() {
  WaitFor([&] { return vcm5_supervisor_sent(&port_, kKind); });
}

void SupervisorEnd::StopListening() { vcm5_supervisor_listen(&port_, kKind, false); }

}  // namespace vcm5
