#include "runtime/engines/embedded.h"

#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/all_fall_down.h"
#include "daemons/driver/control_agent.h"
#include "daemons/driver/data_agent.h"
#include "daemons/driver/doorbell.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/node_wake.h"
#include "netif/port/network_positions.h"
#include "runtime/base/check.h"
#include "runtime/base/prng.h"
#include "runtime/engines/fiber.h"

namespace vcm5 {
namespace {

// Zeroed memory that is touched only as it is used.
class LazyMemory {
 public:
  explicit LazyMemory(size_t bytes) : bytes_(bytes) {
    data_ = static_cast<uint8_t*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    VCM5_CHECK_MSG(data_ != MAP_FAILED, "no memory for the machine's network interfaces");
  }
  LazyMemory(const LazyMemory&) = delete;
  LazyMemory& operator=(const LazyMemory&) = delete;
  ~LazyMemory() { munmap(data_, bytes_); }
  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_;
  size_t bytes_;
};

struct Worker;

struct alignas(64) EmbeddedNode {
  std::optional<Fiber> fiber;
  Worker* worker;
  vcm5_port port;
  NetworkPositions seen;  // with several threads: at the last miss
};

// What one thread runs.
struct Worker {
  std::vector<EmbeddedNode*> nodes;  // that have not finished
  std::vector<Agent*> agents;
  Prng prng{1};
  uint64_t quiet_rounds = 0;

  // The round of turns that is going on:
  size_t at = 0;     // whose turn it is, in `nodes`
  bool all = false;  // those who wait have one, too
  unsigned ran = 0;  // who had one
};

thread_local EmbeddedNode* current_node = nullptr;

}  // namespace

class Embedded::Machine {
 public:
  explicit Machine(EmbeddedOptions options);

  absl::Status Run(const std::function<void(vcm5_port&)>& node_main);
  [[noreturn]] void Finish(vcm5_port& port);
  vcm5_ni_page* page(uint32_t node) {
    return reinterpret_cast<vcm5_ni_page*>(memory_.data() + node * (node_bytes_ + kColour));
  }

  EmbeddedOptions options_;
  std::vector<std::unique_ptr<Agent>> agents_;  // left, right, control
  std::vector<DataNetworkAgent*> data_agents_;  // of these

 private:
  static void Idle(vcm5_port* port);
  void Shuffle(Worker& worker);
  EmbeddedNode* NextReady(Worker& worker) const;
  void RunWorker(Worker& worker);
  unsigned RunNodes(Worker& worker, bool all);
  unsigned RunAgents(Worker& worker);
  void Collect(Agent& agent);
  void Wait(Worker& worker);
  void Stop(absl::Status status);

  // The same line of every node's memory, or of its stack, would fall into one set of the cache if
  // they lay whole pages apart: each node's are shifted by some lines against the one before.
  static constexpr size_t kColour = 7 * 64;
  static constexpr size_t kColours = 32;

  static constexpr uint64_t kSpinRounds = 64;  // some microseconds
  // A worker that has nothing to do and no processor to itself sleeps so long at most.
  static constexpr uint64_t kPauseMaxUs = 1000;
  static constexpr uint64_t kSharedPauseMaxUs = 100;

  const size_t node_bytes_;
  LazyMemory memory_;
  LazyMemory bells_;
  std::vector<EmbeddedNode> nodes_;
  std::vector<Worker> workers_;
  uint64_t spin_rounds_;  // that a worker looks again before it gives its processor away
  bool hop_;  // turns go from node to node without the scheduler
  std::atomic<uint32_t> live_{0};
  std::atomic<bool> stop_{false};
  std::mutex status_mutex_;
  absl::Status status_;
};

Embedded::Machine::Machine(EmbeddedOptions options)
    : options_(std::move(options)),
      node_bytes_(NodeMemoryBytes(options_.spec)),
      memory_((node_bytes_ + kColour) * options_.spec.nodes),
      bells_(3 * Doorbell::BytesFor(vcm5_control_bells(options_.spec.leaves()))),
      nodes_(options_.spec.nodes) {
  const MachineSpec& spec = options_.spec;
  const uint32_t bells = vcm5_control_bells(spec.leaves());  // as many as control needs
  Doorbell doorbells[3];  // left, right, control
  for (unsigned i = 0; i < 3; ++i) {
    uint8_t* memory = bells_.data() + size_t{i} * Doorbell::BytesFor(bells);
    Doorbell::Create(memory, bells);
    doorbells[i] = Doorbell(memory, bells);
  }
  std::vector<vcm5_ni_page*> pages(spec.nodes);
  std::vector<uint32_t> members(spec.nodes);
  std::iota(members.begin(), members.end(), 0u);
  for (uint32_t node = 0; node < spec.nodes; ++node) {
    NodeIdentity identity;
    identity.self = node;
    identity.partition_size = spec.nodes;
    identity.data_bell[VCM5_LEFT] = identity.data_bell[VCM5_RIGHT] = node;
    identity.control_bell = vcm5_control_bell(node);
    InitializeNodePage(page(node), spec, identity);
    pages[node] = page(node);
    vcm5_port& port = nodes_[node].port;
    const char* wrong =
        vcm5_port_attach(&port, page(node), static_cast<uint32_t>(node_bytes_));
    VCM5_CHECK_MSG(wrong == nullptr, wrong);
    for (int half = 0; half < VCM5_HALVES; ++half) {
      port.data_doorbell[half] = doorbells[half].shared();
      port.data_bell[half] = doorbells[half].bell(node);
    }
    port.control_doorbell = doorbells[2].shared();
    port.control_bell = doorbells[2].bell(vcm5_control_bell(node));
    port.idle = Idle;
    port.engine = this;
  }
  for (int half = 0; half < VCM5_HALVES; ++half) {
    DataAgentOptions agent;
    agent.spec = spec;
    agent.half = half;
    agent.pages = pages;
    agent.members = members;
    agent.doorbell = doorbells[half];
    auto made = MakeDataAgent(std::move(agent));
    data_agents_.push_back(made.get());
    agents_.push_back(std::move(made));
  }
  ControlAgentOptions control;
  control.spec = spec;
  control.pages = pages;
  control.members = members;
  control.doorbell = doorbells[2];
  agents_.push_back(MakeControlAgent(std::move(control)));

  const unsigned threads = std::clamp(options_.threads, 1u, spec.nodes);
  workers_.resize(threads);
  spin_rounds_ = threads > 1 && threads <= std::thread::hardware_concurrency() ? kSpinRounds : 0;
  hop_ = !options_.random_schedule && options_.on_switch == nullptr;
  for (uint32_t node = 0; node < spec.nodes; ++node) {
    Worker& worker = workers_[uint64_t{node} * threads / spec.nodes];
    worker.nodes.push_back(&nodes_[node]);
    nodes_[node].worker = &worker;
  }
  for (size_t i = 0; i < agents_.size(); ++i) {
    workers_[i % threads].agents.push_back(agents_[i].get());
  }
  for (unsigned i = 0; i < threads; ++i) workers_[i].prng = Prng(DeriveSeed(options_.seed, i));
}

absl::Status Embedded::Machine::Run(const std::function<void(vcm5_port&)>& node_main) {
  status_ = absl::OkStatus();
  stop_ = false;
  live_ = options_.spec.nodes;
  std::vector<std::thread> threads;
  auto run = [&](Worker& worker) {
    FiberHome home;
    for (EmbeddedNode* node : worker.nodes) {
      vcm5_store_relaxed(&node->port.page->node_control.waiting, NodeWake::kAwake);
      node->fiber.emplace(home, options_.stack_bytes, kColour * (node->port.self % kColours),
                          [node, &node_main] { node_main(node->port); });
    }
    RunWorker(worker);
    for (EmbeddedNode* node : worker.nodes) node->fiber.reset();
  };
  for (size_t i = 1; i < workers_.size(); ++i) {
    threads.emplace_back([&run, this, i] { run(workers_[i]); });
  }
  run(workers_[0]);
  for (std::thread& thread : threads) thread.join();
  return status_;
}

void Embedded::Machine::Idle(vcm5_port* port) {
  EmbeddedNode* node = current_node;
  VCM5_CHECK_MSG(node != nullptr && &node->port == port, "a node's port used outside its fiber");
  const Machine* machine = static_cast<Machine*>(port->engine);
  vcm5_store_relaxed(&port->page->node_control.waiting, NodeWake::kParked);
  if (machine->workers_.size() > 1) {
    // A network on another thread may have delivered just before: look once more, after a fence.
    NodeWake::Fence();
    const NetworkPositions now = NetworkPositions::Look(*port->page);
    if (!(now == node->seen)) {
      vcm5_store_relaxed(&port->page->node_control.waiting, NodeWake::kAwake);
      node->seen = now;
    }
  }
  // Straight on to the next node, if nobody wants to hear of it.
  Worker& worker = *node->worker;
  if (machine->hop_ && !machine->stop_.load(std::memory_order_relaxed)) {
    ++worker.at;
    if (EmbeddedNode* next = machine->NextReady(worker)) {
      ++worker.ran;
      current_node = next;
      node->fiber->SuspendTo(*next->fiber);
      return;
    }
    --worker.at;
  }
  node->fiber->Suspend();
}

void Embedded::Machine::Shuffle(Worker& worker) {
  for (size_t i = worker.nodes.size(); i > 1; --i) {
    std::swap(worker.nodes[i - 1], worker.nodes[worker.prng.Below(static_cast<uint32_t>(i))]);
  }
}

// The first node from worker.at on that is to have a turn in this round, now at worker.at; or null.
inline EmbeddedNode* Embedded::Machine::NextReady(Worker& worker) const {
  for (; worker.at < worker.nodes.size(); ++worker.at) {
    EmbeddedNode* node = worker.nodes[worker.at];
    uint32_t* waiting = &node->port.page->node_control.waiting;
    if (worker.all) {
      vcm5_store_relaxed(waiting, NodeWake::kAwake);
      return node;
    }
    if (vcm5_load_relaxed(waiting) != NodeWake::kParked) return node;
  }
  return nullptr;
}

// Gives every node that does not wait (or simply every node) one turn. Returns how many had one.
unsigned Embedded::Machine::RunNodes(Worker& worker, bool all) {
  if (options_.random_schedule) Shuffle(worker);
  const bool hooked = options_.on_switch != nullptr;
  unsigned finished = 0;
  worker.all = all;
  worker.ran = 0;
  for (worker.at = 0; EmbeddedNode* node = NextReady(worker); ++worker.at) {
    ++worker.ran;
    if (__builtin_expect(options_.random_schedule, 0) && worker.prng.Chance(1, 4)) continue;
    current_node = node;
    if (hooked) options_.on_switch(node->port.self, true);
    node->fiber->Resume();
    if (hooked) options_.on_switch(node->port.self, false);
    // Turns may have gone from node to node meanwhile: the last one came back.
    if (__builtin_expect(current_node->fiber->finished(), 0)) ++finished;
    if (__builtin_expect(stop_.load(std::memory_order_relaxed), 0)) break;
  }
  current_node = nullptr;
  if (finished != 0) {
    std::erase_if(worker.nodes, [](EmbeddedNode* node) { return node->fiber->finished(); });
    live_.fetch_sub(finished, std::memory_order_acq_rel);
  }
  return worker.ran;
}

unsigned Embedded::Machine::RunAgents(Worker& worker) {
  unsigned work = 0;
  for (Agent* agent : worker.agents) {
    if (options_.random_schedule && worker.prng.Chance(1, 4)) {
      ++work;
      continue;
    }
    work += agent->DoWork();
    Collect(*agent);
  }
  return work;
}

void Embedded::Machine::Collect(Agent& agent) {
  for (const FabricError& error : agent.TakeErrors()) {
    Stop(absl::FailedPreconditionError(absl::StrCat("node ", error.leaf, ": ", error.message)));
  }
}

void Embedded::Machine::Stop(absl::Status status) {
  const std::lock_guard<std::mutex> lock(status_mutex_);
  if (status_.ok()) status_ = std::move(status);
  stop_.store(true, std::memory_order_relaxed);
}

void Embedded::Machine::RunWorker(Worker& worker) {
  const std::vector<EmbeddedNode*> all_nodes = worker.nodes;
  uint64_t rounds = 0;
  while (live_.load(std::memory_order_acquire) != 0 && !stop_.load(std::memory_order_relaxed)) {
    // A node that missed may yet do something that no message is needed for, and others may be busy
    // until it does: now and then everybody gets a turn.
    const unsigned ran = RunNodes(worker, (rounds & 0xff) == 0xff);
    const unsigned work = RunAgents(worker);
    if ((++rounds & 0xff) == 0 && options_.should_stop && options_.should_stop()) {
      Stop(absl::DeadlineExceededError("the run was told to stop"));
    }
    if (ran != 0 || work != 0) {
      worker.quiet_rounds = 0;
      continue;
    }
    // Everybody here waits and nothing is on its way. Another thread may be about to act; then,
    // whoever waits for something that no network brings (a clock) must be let look for it.
    if (++worker.quiet_rounds <= spin_rounds_) {
      __builtin_ia32_pause();
      continue;
    }
    RunNodes(worker, true);
    Wait(worker);
  }
  worker.nodes = all_nodes;
}

void Embedded::Machine::Wait(Worker& worker) {
  // Another thread may be about to act, on a processor that we share with it.
  const bool shared = workers_.size() > 1;
  if (shared && worker.quiet_rounds > 2) sched_yield();
  if (worker.quiet_rounds < (shared ? 1000 : 64)) return;
  if (options_.should_stop && options_.should_stop()) {
    Stop(absl::DeadlineExceededError("the run was told to stop"));
    return;
  }
  const uint64_t microseconds =
      std::min<uint64_t>(worker.quiet_rounds, shared ? kSharedPauseMaxUs : kPauseMaxUs);
  timespec pause{0, static_cast<long>(microseconds * 1000)};
  nanosleep(&pause, nullptr);
}

void Embedded::Machine::Finish(vcm5_port& port) {
  EmbeddedNode* node = current_node;
  VCM5_CHECK(node != nullptr && &node->port == &port);
  node->fiber->Finish();
}

Embedded::Embedded(EmbeddedOptions options)
    : machine_(std::make_unique<Machine>(std::move(options))) {}
Embedded::~Embedded() = default;

absl::Status Embedded::Run(const std::function<void(vcm5_port&)>& node_main) {
  return machine_->Run(node_main);
}

void Embedded::Finish(vcm5_port& port) { machine_->Finish(port); }

vcm5_port* Embedded::Current() { return current_node == nullptr ? nullptr : &current_node->port; }

AllFallDown Embedded::MakeAllFallDown() {
  VCM5_CHECK_MSG(machine_->options_.threads == 1, "all-fall-down of a machine of several threads");
  return AllFallDown(machine_->data_agents_);
}

std::vector<FabricStat> Embedded::Stats() const {
  std::vector<FabricStat> stats;
  for (const auto& agent : machine_->agents_) {
    for (FabricStat& stat : agent->Stats()) stats.push_back(std::move(stat));
  }
  return stats;
}

std::vector<std::string> Embedded::Waiting() const {
  std::vector<std::string> lines;
  for (const auto& agent : machine_->agents_) {
    for (std::string& line : agent->Waiting()) lines.push_back(std::move(line));
  }
  return lines;
}

vcm5_ni_page* Embedded::page(uint32_t node) { return machine_->page(node); }

}  // namespace vcm5
