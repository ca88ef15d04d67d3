// The inside of the engine `embedded`: the machine's memory, its nodes as fibers, and the workers
// that give nodes and networks their turns. Made and run in embedded.cc; turns are in turns.cc.
#ifndef VCM5_RUNTIME_ENGINES_EMBEDDED_MACHINE_H_
#define VCM5_RUNTIME_ENGINES_EMBEDDED_MACHINE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "daemons/driver/agent.h"
#include "daemons/driver/control_agent.h"
#include "daemons/driver/data_agent.h"
#include "daemons/driver/doorbell.h"
#include "netif/port/network_positions.h"
#include "netif/port/ni_port.h"
#include "runtime/base/prng.h"
#include "runtime/engines/embedded.h"
#include "runtime/engines/fiber.h"
#include "runtime/engines/lazy_memory.h"
#include "runtime/engines/supervisor_pages.h"

namespace vcm5 {

struct Worker;

struct alignas(64) EmbeddedNode {
  std::optional<Fiber> fiber;
  Worker* worker = nullptr;
  uint32_t physical = 0;
  uint32_t partition = 0;
  uint32_t number = 0;  // among the members of all partitions
  vcm5_port port;
  NetworkPositions seen;  // with several threads: at the last miss
};

// A partition that will be stopped.
struct Sentence {
  uint32_t partition;
  absl::Status status;
  uint64_t round;  // of the worker
};

// What one thread runs.
struct Worker {
  std::vector<EmbeddedNode*> nodes;  // that have not finished
  std::vector<Agent*> agents;
  Prng prng{1};
  uint64_t quiet_rounds = 0;
  uint32_t stops_seen = 0;  // of Machine::stops_
  uint64_t rounds = 0;      // since the run began
  std::vector<Sentence> sentences;  // by round

  // The round of turns that is going on:
  size_t at = 0;     // whose turn it is, in `nodes`
  bool all = false;  // those who wait have one, too
  unsigned ran = 0;  // who had one
};

class Embedded::Machine {
 public:
  explicit Machine(EmbeddedOptions options);

  std::vector<absl::Status> Run(const std::vector<NodeMain>& mains);
  [[noreturn]] void Finish(vcm5_port& port);
  vcm5_ni_page* page(uint32_t node) {
    return reinterpret_cast<vcm5_ni_page*>(memory_.data() + node * (node_bytes_ + kColour));
  }

  bool Stop(uint32_t partition, absl::Status status);

  absl::Status Freeze();
  absl::StatusOr<SavedMachine> Save();
  absl::Status Restore(const SavedMachine& saved);
  absl::Status Resume();

  Supervisor supervisor(uint32_t node) { return supervisors_.Attach(node, nodes_.at(node).port); }

  EmbeddedOptions options_;
  std::vector<std::unique_ptr<Agent>> agents_;  // left, right, control of each partition
  std::vector<DataNetworkAgent*> data_agents_;  // of these, by half
  std::vector<ControlNetworkAgent*> control_agents_;  // and by partition

 private:
  static void Idle(vcm5_port* port);
  absl::Status SettleControl();
  Doorbell MakeDoorbell(uint32_t bells);
  void AttachNode(uint32_t physical, uint32_t self, const Doorbell* halves,
                  const Doorbell& control);
  void Shuffle(Worker& worker);
  EmbeddedNode* NextReady(Worker& worker) const;
  void RunWorker(Worker& worker);
  unsigned RunNodes(Worker& worker, bool all);
  unsigned RunAgents(Worker& worker);
  void Collect(Worker& worker, Agent& agent);
  void CarryOut(Worker& worker, uint64_t rounds);
  bool StopIfTold(Worker& worker);
  void Wait(Worker& worker);
  void StopAll(const absl::Status& status);
  void Retire(Worker& worker);
  bool StopWanted(const Worker& worker) const {
    return stops_.load(std::memory_order_relaxed) != worker.stops_seen;
  }

  // The same line of every node's memory, or of its stack, would fall into one set of the cache if
  // they lay whole pages apart: each node's are shifted by some lines against the one before.
  static constexpr size_t kColour = 7 * 64;
  static constexpr size_t kColours = 32;

  // That the nodes of a partition have to hear of a hard error before they are stopped.
  static constexpr uint64_t kRoundsToHear = 256;
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
  // While the machine is frozen: whether the networks got empty, and what fell, by half.
  bool frozen_ = false;
  absl::Status frozen_well_;
  std::vector<std::vector<CapturedMessage>> captured_;
  std::mutex status_mutex_;  // guards every status
  std::vector<Outcome> outcomes_;
  std::vector<absl::Status> damage_;  // by partition: what a network said first of its user
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_EMBEDDED_MACHINE_H_
