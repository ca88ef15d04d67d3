#include "runtime/engines/embedded.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_join.h"
#include "daemons/driver/all_fall_down.h"
#include "daemons/driver/control_agent.h"
#include "daemons/driver/data_agent.h"
#include "daemons/driver/doorbell.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/node_ranges.h"
#include "daemons/driver/node_wake.h"
#include "netif/port/network_positions.h"
#include "runtime/base/check.h"
#include "runtime/base/prng.h"
#include "runtime/engines/fiber.h"
#include "switches/topology/health.h"
#include "runtime/engines/lazy_memory.h"
#include "runtime/engines/supervisor_pages.h"

namespace vcm5 {
namespace {

struct Worker;

struct alignas(64) EmbeddedNode {
  std::optional<Fiber> fiber;
  Worker* worker = nullptr;
  uint32_t physical = 0;
  uint32_t partition = 0;
  uint32_t number = 0;  // among the nodes of all partitions
  vcm5_port port;
  NetworkPositions seen;  // with several threads: at the last miss
};

// What one thread runs.
struct Worker {
  std::vector<EmbeddedNode*> nodes;  // that have not finished
  std::vector<Agent*> agents;
  Prng prng{1};
  uint64_t quiet_rounds = 0;
  uint32_t stops_seen = 0;  // of Machine::stops_

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

  std::vector<absl::Status> Run(const std::vector<NodeMain>& mains);
  [[noreturn]] void Finish(vcm5_port& port);
  vcm5_ni_page* page(uint32_t node) {
    return reinterpret_cast<vcm5_ni_page*>(memory_.data() + node * (node_bytes_ + kColour));
  }

  Supervisor supervisor(uint32_t node) { return supervisors_.Attach(node, nodes_.at(node).port); }

  EmbeddedOptions options_;
  std::vector<std::unique_ptr<Agent>> agents_;  // left, right, control of each partition
  std::vector<DataNetworkAgent*> data_agents_;  // of these

 private:
  static void Idle(vcm5_port* port);
  Doorbell MakeDoorbell(uint32_t bells);
  void AttachNode(uint32_t physical, uint32_t self, const Doorbell* halves,
                  const Doorbell& control);
  void Shuffle(Worker& worker);
  EmbeddedNode* NextReady(Worker& worker) const;
  void RunWorker(Worker& worker);
  unsigned RunNodes(Worker& worker, bool all);
  unsigned RunAgents(Worker& worker);
  void Collect(Agent& agent);
  void Wait(Worker& worker);
  void Stop(uint32_t partition, absl::Status status);
  void StopAll(const absl::Status& status);
  void Retire(Worker& worker);
  bool StopWanted(const Worker& worker) const {
    return stops_.load(std::memory_order_relaxed) != worker.stops_seen;
  }

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
  SupervisorPages supervisors_;
  std::deque<LazyMemory> bell_memory_;  // of each doorbell
  std::vector<EmbeddedNode> nodes_;
  std::vector<Worker> workers_;
  uint64_t spin_rounds_;  // that a worker looks again before it gives its processor away
  bool hop_;  // turns go from node to node without the scheduler
  std::atomic<uint32_t> live_{0};
  std::atomic<uint32_t> stops_{0};  // times that a partition was stopped
  // What has become of a partition.
  struct Outcome {
    std::atomic<uint32_t> live{0};
    std::atomic<bool> stopped{false};
    absl::Status status;
  };
  std::mutex status_mutex_;  // guards every status
  std::vector<Outcome> outcomes_;
};

Embedded::Machine::Machine(EmbeddedOptions options)
    : options_(std::move(options)),
      node_bytes_(NodeMemoryBytes(options_.spec)),
      memory_((node_bytes_ + kColour) * options_.spec.nodes),
      supervisors_(options_.spec.nodes),
      nodes_(options_.spec.nodes),
      outcomes_(std::max<size_t>(options_.partitions.size(), 1)) {
  const MachineSpec& spec = options_.spec;
  if (options_.partitions.empty()) options_.partitions.push_back(UsableNodes(spec));
  const absl::Status sound = CheckPartitions(options_.partitions, spec.nodes);
  VCM5_CHECK_MSG(sound.ok(), std::string(sound.message()).c_str());
  const Doorbell halves[VCM5_HALVES] = {MakeDoorbell(spec.nodes), MakeDoorbell(spec.nodes)};
  std::vector<vcm5_ni_page*> pages(spec.nodes);
  std::vector<ControlAgentOptions> controls;
  uint32_t number = 0;
  for (uint32_t index = 0; index < options_.partitions.size(); ++index) {
    const Partition& partition = options_.partitions[index];
    ControlAgentOptions& control = controls.emplace_back();
    control.spec = spec;
    control.members = partition;
    control.doorbell = MakeDoorbell(vcm5_control_bells(static_cast<uint32_t>(partition.size())));
    for (uint32_t self = 0; self < partition.size(); ++self) {
      const uint32_t physical = partition[self];
      nodes_[physical].physical = physical;
      nodes_[physical].partition = index;
      nodes_[physical].number = number++;
      pages[physical] = page(physical);
      control.pages.push_back(page(physical));
      control.supervisor_pages.push_back(supervisors_.page(physical));
      AttachNode(physical, self, halves, control.doorbell);
    }
  }
  for (int half = 0; half < VCM5_HALVES; ++half) {
    DataAgentOptions agent;
    agent.spec = spec;
    agent.half = half;
    agent.pages = pages;
    agent.partitions = options_.partitions;
    agent.doorbell = halves[half];
    auto made = MakeDataAgent(std::move(agent));
    data_agents_.push_back(made.get());
    agents_.push_back(std::move(made));
  }
  for (ControlAgentOptions& control : controls) {
    agents_.push_back(MakeControlAgent(std::move(control)));
  }

  const unsigned threads = std::clamp(options_.threads, 1u, spec.nodes);
  workers_.resize(threads);
  spin_rounds_ = threads > 1 && threads <= std::thread::hardware_concurrency() ? kSpinRounds : 0;
  hop_ = !options_.random_schedule && options_.on_switch == nullptr;
  for (const Partition& partition : options_.partitions) {
    for (const uint32_t physical : partition) {
      Worker& worker = workers_[uint64_t{physical} * threads / spec.nodes];
      worker.nodes.push_back(&nodes_[physical]);
      nodes_[physical].worker = &worker;
    }
  }
  for (size_t i = 0; i < agents_.size(); ++i) {
    workers_[i % threads].agents.push_back(agents_[i].get());
  }
  for (unsigned i = 0; i < threads; ++i) workers_[i].prng = Prng(DeriveSeed(options_.seed, i));
}

Doorbell Embedded::Machine::MakeDoorbell(uint32_t bells) {
  uint8_t* memory = bell_memory_.emplace_back(Doorbell::BytesFor(bells)).data();
  Doorbell::Create(memory, bells);
  return Doorbell(memory, bells);
}

void Embedded::Machine::AttachNode(uint32_t physical, uint32_t self, const Doorbell* halves,
                                   const Doorbell& control) {
  EmbeddedNode& node = nodes_[physical];
  NodeIdentity identity;
  identity.self = self;
  identity.partition_size =
      static_cast<uint32_t>(options_.partitions[node.partition].size());
  identity.data_bell[VCM5_LEFT] = identity.data_bell[VCM5_RIGHT] = physical;
  identity.control_bell = vcm5_control_bell(self);
  InitializeNodePage(page(physical), options_.spec, identity);
  vcm5_port& port = node.port;
  const char* wrong =
      vcm5_port_attach(&port, page(physical), static_cast<uint32_t>(node_bytes_));
  VCM5_CHECK_MSG(wrong == nullptr, wrong);
  for (int half = 0; half < VCM5_HALVES; ++half) {
    port.data_doorbell[half] = halves[half].shared();
    port.data_bell[half] = halves[half].bell(physical);
  }
  port.control_doorbell = control.shared();
  port.control_bell = control.bell(vcm5_control_bell(self));
  port.idle = Idle;
  port.engine = this;
}

std::vector<absl::Status> Embedded::Machine::Run(const std::vector<NodeMain>& mains) {
  VCM5_CHECK_MSG(mains.size() == outcomes_.size(), "as many programs as partitions");
  uint32_t live = 0;
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    outcomes_[i].live = static_cast<uint32_t>(options_.partitions[i].size());
    outcomes_[i].stopped = false;
    outcomes_[i].status = absl::OkStatus();
    live += outcomes_[i].live;
  }
  live_ = live;
  std::vector<std::thread> threads;
  auto run = [&](Worker& worker) {
    FiberHome home;
    for (EmbeddedNode* node : worker.nodes) {
      vcm5_store_relaxed(&node->port.page->node_control.waiting, NodeWake::kAwake);
      node->fiber.emplace(home, options_.stack_bytes, kColour * (node->physical % kColours),
                          [node, &main = mains[node->partition]] { main(node->port); });
    }
    RunWorker(worker);
    for (EmbeddedNode* node : worker.nodes) node->fiber.reset();
  };
  for (size_t i = 1; i < workers_.size(); ++i) {
    threads.emplace_back([&run, this, i] { run(workers_[i]); });
  }
  run(workers_[0]);
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> lost;
  for (const auto& agent : agents_) {
    for (std::string& line : agent->Unbalanced()) lost.push_back(std::move(line));
  }
  std::vector<absl::Status> statuses;
  for (const Outcome& outcome : outcomes_) {
    statuses.push_back(outcome.status.ok() && !lost.empty()
                           ? absl::DataLossError(absl::StrJoin(lost, "\n"))
                           : outcome.status);
  }
  return statuses;
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
  if (machine->hop_ && !machine->StopWanted(worker)) {
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
    if (hooked) options_.on_switch(node->number, true);
    node->fiber->Resume();
    if (hooked) options_.on_switch(node->number, false);
    // Turns may have gone from node to node meanwhile: the last one came back.
    if (__builtin_expect(current_node->fiber->finished(), 0)) ++finished;
    if (__builtin_expect(StopWanted(worker), 0)) break;
  }
  current_node = nullptr;
  if (finished != 0) Retire(worker);
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

// An error belongs to the partition of the node that it names.
void Embedded::Machine::Collect(Agent& agent) {
  for (const FabricError& error : agent.TakeErrors()) {
    const absl::Status status =
        absl::FailedPreconditionError(ErrorLine(options_.partitions, error));
    const EmbeddedNode* node = error.leaf < nodes_.size() ? &nodes_[error.leaf] : nullptr;
    if (node != nullptr && node->worker != nullptr) {
      Stop(node->partition, status);
    } else {
      StopAll(status);
    }
  }
}

// Nothing happens to a partition that has ended already.
void Embedded::Machine::Stop(uint32_t partition, absl::Status status) {
  const std::lock_guard<std::mutex> lock(status_mutex_);
  Outcome& outcome = outcomes_[partition];
  if (outcome.stopped || (outcome.live == 0 && absl::IsDeadlineExceeded(status))) return;
  outcome.status = std::move(status);
  outcome.stopped = true;
  stops_.fetch_add(1, std::memory_order_release);
}

void Embedded::Machine::StopAll(const absl::Status& status) {
  for (uint32_t i = 0; i < outcomes_.size(); ++i) Stop(i, status);
}

// Nodes that have finished, or whose partition was stopped, get no more turns.
void Embedded::Machine::Retire(Worker& worker) {
  worker.stops_seen = stops_.load(std::memory_order_acquire);
  const size_t retired = std::erase_if(worker.nodes, [this](EmbeddedNode* node) {
    Outcome& outcome = outcomes_[node->partition];
    if (!node->fiber->finished() && !outcome.stopped) return false;
    outcome.live.fetch_sub(1, std::memory_order_relaxed);
    return true;
  });
  live_.fetch_sub(static_cast<uint32_t>(retired), std::memory_order_acq_rel);
}

void Embedded::Machine::RunWorker(Worker& worker) {
  const std::vector<EmbeddedNode*> all_nodes = worker.nodes;
  uint64_t rounds = 0;
  while (live_.load(std::memory_order_acquire) != 0) {
    if (__builtin_expect(StopWanted(worker), 0)) Retire(worker);
    // A node that missed may yet do something that no message is needed for, and others may be busy
    // until it does: now and then everybody gets a turn.
    const unsigned ran = RunNodes(worker, (rounds & 0xff) == 0xff);
    const unsigned work = RunAgents(worker);
    if ((++rounds & 0xff) == 0 && options_.should_stop && options_.should_stop()) {
      StopAll(absl::DeadlineExceededError("the run was told to stop"));
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
    StopAll(absl::DeadlineExceededError("the run was told to stop"));
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

absl::Status Embedded::Run(const NodeMain& node_main) { return machine_->Run({node_main}).front(); }

std::vector<absl::Status> Embedded::RunPartitions(const std::vector<NodeMain>& mains) {
  return machine_->Run(mains);
}

void Embedded::Finish(vcm5_port& port) { machine_->Finish(port); }

vcm5_port* Embedded::Current() { return current_node == nullptr ? nullptr : &current_node->port; }

Supervisor Embedded::supervisor(uint32_t node) { return machine_->supervisor(node); }

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

uint32_t Embedded::nodes() const {
  size_t nodes = 0;
  for (const Partition& partition : machine_->options_.partitions) nodes += partition.size();
  return static_cast<uint32_t>(nodes);
}

vcm5_ni_page* Embedded::page(uint32_t node) { return machine_->page(node); }

}  // namespace vcm5
