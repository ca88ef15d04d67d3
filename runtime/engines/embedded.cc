#include "runtime/engines/embedded.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemons/driver/all_fall_down.h"
#include "daemons/driver/control_agent.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/node_wake.h"
#include "runtime/base/check.h"
#include "runtime/engines/embedded_machine.h"
#include "switches/topology/concerned.h"
#include "switches/topology/control_settings.h"
#include "switches/topology/health.h"

namespace vcm5 {

Embedded::Machine::Machine(EmbeddedOptions options)
    : options_(std::move(options)),
      node_bytes_(NodeMemoryBytes(options_.spec)),
      memory_((node_bytes_ + kColour) * options_.spec.leaves()),
      supervisors_(options_.spec.leaves()),
      nodes_(options_.spec.leaves()),
      outcomes_(std::max<size_t>(options_.partitions.size(), 1)),
      damage_(outcomes_.size()) {
  const MachineSpec& spec = options_.spec;
  if (options_.partitions.empty()) options_.partitions.push_back(UsableNodes(spec));
  if (options_.hosts) {
    std::vector<bool> wanted;
    for (const Partition& each : options_.partitions) wanted.push_back(!HasHost(each, spec.nodes));
    VCM5_CHECK_MSG(PlaceHosts(UsableControlProcessors(spec), wanted, &options_.partitions),
                   "more hosts than the machine has usable control processors");
  }
  const absl::Status sound =
      CheckPartitions(options_.partitions, spec.nodes, spec.control_processors);
  VCM5_CHECK_MSG(sound.ok(), std::string(sound.message()).c_str());
  absl::StatusOr<ControlSettings> settings = SetControlSwitches(spec, options_.partitions);
  VCM5_CHECK_MSG(settings.ok(), std::string(settings.status().message()).c_str());
  const Doorbell halves[VCM5_HALVES] = {MakeDoorbell(spec.leaves()), MakeDoorbell(spec.leaves())};
  std::vector<vcm5_ni_page*> pages(spec.leaves());
  std::vector<vcm5_supervisor_page*> supervisor_pages(spec.leaves());
  std::vector<ControlAgentOptions> controls;
  uint32_t number = 0;
  for (uint32_t index = 0; index < options_.partitions.size(); ++index) {
    const Partition& partition = options_.partitions[index];
    ControlAgentOptions& control = controls.emplace_back();
    control.spec = spec;
    control.members = partition;
    if (options_.partitions.size() > 1) control.label = absl::StrCat("partition ", index, ": ");
    control.tree = std::move(settings->trees[index]);
    control.doorbell = MakeDoorbell(vcm5_control_bells(static_cast<uint32_t>(partition.size())));
    for (uint32_t self = 0; self < partition.size(); ++self) {
      const uint32_t physical = partition[self];
      nodes_[physical].physical = physical;
      nodes_[physical].partition = index;
      nodes_[physical].number = number++;
      pages[physical] = page(physical);
      control.pages.push_back(page(physical));
      supervisor_pages[physical] = supervisors_.page(physical);
      control.supervisor_pages.push_back(supervisor_pages[physical]);
      AttachNode(physical, self, halves, control.doorbell);
    }
  }
  for (int half = 0; half < VCM5_HALVES; ++half) {
    DataAgentOptions agent;
    agent.spec = spec;
    agent.half = half;
    agent.pages = pages;
    agent.supervisor_pages = supervisor_pages;
    agent.supervisor_doorbell = halves[half];
    agent.partitions = options_.partitions;
    agent.bells = {{halves[half], 0, 0, spec.leaves()}};
    auto made = MakeDataAgent(std::move(agent));
    data_agents_.push_back(made.get());
    agents_.push_back(std::move(made));
  }
  for (ControlAgentOptions& control : controls) {
    auto made = MakeControlAgent(std::move(control));
    control_agents_.push_back(made.get());
    agents_.push_back(std::move(made));
  }

  const unsigned threads = std::clamp(options_.threads, 1u, spec.nodes);
  workers_.resize(threads);
  spin_rounds_ = threads > 1 && threads <= std::thread::hardware_concurrency() ? kSpinRounds : 0;
  hop_ = !options_.random_schedule && options_.on_switch == nullptr;
  for (const Partition& partition : options_.partitions) {
    for (const uint32_t physical : partition) {
      Worker& worker = workers_[uint64_t{physical} * threads / spec.leaves()];
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
  const Partition& partition = options_.partitions[node.partition];
  identity.partition_size = NodesOf(partition, options_.spec.nodes);
  identity.has_host = HasHost(partition, options_.spec.nodes);
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
  std::vector<std::vector<std::string>> lost(outcomes_.size());
  for (const auto& agent : agents_) {
    for (const FabricError& error : agent->Unbalanced()) {
      for (const uint32_t i : ConcernedBy(options_.partitions, error.place())) {
        lost[i].push_back(error.message);
      }
    }
  }
  std::vector<absl::Status> statuses;
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    const absl::Status& status = outcomes_[i].status;
    statuses.push_back(status.ok() && !lost[i].empty()
                           ? absl::DataLossError(absl::StrJoin(lost[i], "\n"))
                           : status);
  }
  return statuses;
}

Embedded::Embedded(EmbeddedOptions options)
    : machine_(std::make_unique<Machine>(std::move(options))) {}
Embedded::~Embedded() = default;

absl::Status Embedded::Run(const NodeMain& node_main) { return machine_->Run({node_main}).front(); }

std::vector<absl::Status> Embedded::RunPartitions(const std::vector<NodeMain>& mains) {
  return machine_->Run(mains);
}

bool Embedded::StopPartition(uint32_t partition) {
  return machine_->Stop(partition, absl::DeadlineExceededError("the partition was told to stop"));
}

void Embedded::Finish(vcm5_port& port) { machine_->Finish(port); }

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
