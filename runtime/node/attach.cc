#include "runtime/node/attach.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "netif/shm/shared_memory.h"
#include "runtime/node/interrupt_line.h"
#include "runtime/node/map_memory.h"
#include "runtime/node/node_environment.h"
#include "runtime/node/node_idle.h"

namespace vcm5 {
namespace {

void Idle(vcm5_port* port) { static_cast<NodeIdle*>(port->engine)->Miss(*port); }

void Wake(vcm5_doorbell* doorbell) {
  vcm5_store_relaxed(&doorbell->sleeping, 0);
  syscall(SYS_futex, &doorbell->sleeping, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// A node process's network interface, mapped; lives as long as the process.
class Node {
 public:
  static absl::StatusOr<std::unique_ptr<Node>> Attach(const NodeEnvironment& environment) {
    std::unique_ptr<Node> node(new Node);
    if (absl::Status status = node->Map(environment); !status.ok()) return status;
    return node;
  }

  vcm5_port* port() { return &port_; }

 private:
  Node() = default;

  absl::Status Map(const NodeEnvironment& environment) {
    auto memory = AttachMemory(environment.memory, environment.memory_bytes, "network interface");
    if (!memory.ok()) return memory.status();
    memory_ = std::move(*memory);
    auto* page = reinterpret_cast<vcm5_ni_page*>(memory_.data());
    if (const char* fault = vcm5_port_attach(&port_, page, environment.memory_bytes)) {
      return absl::InvalidArgumentError(absl::StrCat("network interface: ", fault));
    }
    if (IsUsed(*page)) {
      return absl::InvalidArgumentError(
          "an earlier program has used this node's network interface; start one program a node");
    }

    auto data = AttachDoorbell(environment.data_doorbell, environment.data_bells, "data doorbell");
    if (!data.ok()) return data.status();
    auto control =
        AttachDoorbell(environment.control_doorbell, environment.control_bells, "control doorbell");
    if (!control.ok()) return control.status();
    data_doorbell_ = std::move(*data);
    control_doorbell_ = std::move(*control);
    auto* data_doorbell = reinterpret_cast<vcm5_doorbell*>(data_doorbell_.data());
    auto* control_doorbell = reinterpret_cast<vcm5_doorbell*>(control_doorbell_.data());
    for (int half = 0; half < VCM5_HALVES; ++half) {
      if (page->data_bell[half] >= environment.data_bells) return NoSuchBell();
      port_.data_bell[half] =
          reinterpret_cast<uint8_t*>(data_doorbell + 1) + page->data_bell[half];
      port_.data_doorbell[half] = data_doorbell;
    }
    constexpr uint32_t kToLastBell = VCM5_CONTROL_BELL_STRIDE * (VCM5_CONTROL_FIFOS - 1);
    if (uint64_t{page->control_bell} + kToLastBell >= environment.control_bells) {
      return NoSuchBell();
    }
    port_.control_bell = reinterpret_cast<uint8_t*>(control_doorbell + 1) + page->control_bell;
    port_.control_doorbell = control_doorbell;

    idle_ = std::make_unique<NodeIdle>(*page);
    port_.engine = idle_.get();
    port_.idle = Idle;
    port_.wake = Wake;
    // For the barrier by which a daemon that falls asleep makes our rings visible.
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
    return ConnectInterruptLine(environment.interrupt_line, &port_);
  }

  // Positions begin at zero for one program only.
  static bool IsUsed(const vcm5_ni_page& page) {
    uint32_t used = 0;
    for (int half = 0; half < VCM5_HALVES; ++half) {
      used |= page.node_data.out_tail[half] | page.node_data.in_head[half];
    }
    for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
      used |= page.node_control.out_tail[fifo] | page.node_control.in_head[fifo];
    }
    return used != 0;
  }

  static absl::Status NoSuchBell() {
    return absl::InvalidArgumentError("network interface: its bell is outside of the doorbell");
  }

  SharedMemory memory_;
  SharedMemory data_doorbell_;
  SharedMemory control_doorbell_;
  std::unique_ptr<NodeIdle> idle_;
  vcm5_port port_;
};

[[noreturn]] void Refuse(const std::string& why) {
  std::fprintf(stderr, "vcm5: %s\n", why.c_str());
  std::exit(2);
}

vcm5_port* AttachProcess() {
  const char* text = std::getenv(kNodeVariable);
  if (text == nullptr) {
    const char* name = program_invocation_short_name;
    Refuse(absl::StrCat(name, " is not running under vcm5: start it with `vcm5 run -n N ", name,
                        "`"));
  }
  absl::StatusOr<NodeEnvironment> environment = NodeEnvironment::Parse(text);
  if (!environment.ok()) Refuse(std::string(environment.status().message()));
  absl::StatusOr<std::unique_ptr<Node>> node = Node::Attach(*environment);
  if (!node.ok()) {
    Refuse(absl::StrCat(kNodeVariable, " does not describe a node of a running job: ",
                        std::string(node.status().message())));
  }
  // What a node printed before it was killed shall have been seen. Terminals do the same.
  setvbuf(stdout, nullptr, _IOLBF, 0);
  // A child process is not this node, and the descriptors are gone.
  unsetenv(kNodeVariable);
  // Never destroyed: the interrupt handler and other threads may use it until the very end.
  return node->release()->port();
}

using EngineAttach = vcm5_port* (*)();

// Under the engine `embedded` the program that loaded us says which node runs.
EngineAttach FindEngine() {
  return reinterpret_cast<EngineAttach>(dlsym(RTLD_DEFAULT, "vcm5_engine_attach"));
}

}  // namespace
}  // namespace vcm5

extern "C" struct vcm5_port* vcm5_attach_self(void) {
  static const vcm5::EngineAttach engine = vcm5::FindEngine();
  if (engine != nullptr) {
    // Null outside of an embedded run: a program may link the engine and run under the daemons.
    if (vcm5_port* fiber = engine()) return fiber;
  }
  static vcm5_port* const port = vcm5::AttachProcess();
  return port;
}
