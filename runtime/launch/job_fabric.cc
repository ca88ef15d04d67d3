#include "runtime/launch/job_fabric.h"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/config/control_spec.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/node_ranges.h"
#include "daemons/driver/part_links.h"
#include "switches/topology/concerned.h"

namespace vcm5 {
namespace {

uint32_t CountProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(CPU_COUNT(&set));
}

absl::StatusOr<SharedMemory> MakeDoorbell(uint32_t bells) {
  absl::StatusOr<SharedMemory> memory =
      SharedMemory::Create("vcm5-doorbell", Doorbell::BytesFor(bells));
  if (memory.ok()) Doorbell::Create(memory->data(), bells);
  return memory;
}

// Collects descriptors into frames of as many as one may carry.
class BatchSender {
 public:
  explicit BatchSender(ControlChannel& channel) : channel_(channel) {}

  absl::Status Add(int fd, config::Descriptor::Kind kind, uint32_t index = 0, uint32_t half = 0,
                   uint32_t bells = 0, uint32_t bell = 0) {
    config::Descriptor* descriptor = message_.mutable_descriptors()->add_descriptors();
    descriptor->set_kind(kind);
    descriptor->set_index(index);
    descriptor->set_half(half);
    descriptor->set_bells(bells);
    descriptor->set_bell(bell);
    fds_.push_back(fd);
    return fds_.size() == kDescriptorsPerFrameMax ? Send() : absl::OkStatus();
  }

  absl::Status Finish() {
    message_.mutable_descriptors()->set_last(true);
    return Send();
  }

 private:
  absl::Status Send() {
    absl::Status status = channel_.Send(message_, fds_);
    message_.Clear();
    fds_.clear();
    return status;
  }

  ControlChannel& channel_;
  config::ToDaemon message_;
  std::vector<int> fds_;
};

}  // namespace

JobFabric::JobFabric(const RunOptions& options)
    : options_(options),
      tree_(options.machine.leaves(), options.machine.parents_per_level),
      processors_(CountProcessors()) {
  for (const ProgramRun& program : options_.programs) {
    const auto index = static_cast<uint32_t>(partitions_.size());
    partitions_.push_back(program.partition);
    for (uint32_t self = 0; self < program.partition.size(); ++self) {
      places_.push_back({index, self, program.partition[self]});
    }
  }
}

absl::StatusOr<std::unique_ptr<JobFabric>> JobFabric::Create(const RunOptions& options) {
  std::unique_ptr<JobFabric> fabric(new JobFabric(options));
  if (absl::Status status = fabric->MakeDaemons(); !status.ok()) return status;
  if (absl::Status status = fabric->MakeLinks(); !status.ok()) return status;
  if (absl::Status status = fabric->MakeNodes(); !status.ok()) return status;
  if (absl::Status status = fabric->MakeSupervisors(); !status.ok()) return status;
  if (absl::Status status = fabric->MakeNodePrograms(); !status.ok()) return status;
  return fabric;
}

// Each node: memory, both ends of its interrupt line, its two outputs. A partition: its program, its
// doorbell at the control daemon, and one at each data daemon that has a leaf of it. Links: both ends
// in both halves. And some for each daemon, and for everybody.
uint64_t JobFabric::FilesNeeded(const RunOptions& options) {
  const uint64_t nodes = options.nodes();
  const uint64_t programs = options.programs.size();
  const uint64_t doorbells = programs + std::min(nodes, programs * options.data_daemons);
  std::set<std::pair<uint32_t, uint32_t>> linked;
  if (options.data_daemons > 1) {
    const FatTree tree(options.machine.leaves(), options.machine.parents_per_level);
    for (const CutWire& wire : CutWires(tree, options.data_daemons)) {
      linked.insert(std::minmax(wire.child_part, wire.parent_part));
    }
  }
  const uint64_t links = linked.size() * VCM5_HALVES * 2 * LinkDescriptors(options.link);
  return 5 * nodes + programs + doorbells + links + 8 * (uint64_t{options.data_daemons} + 1) + 32;
}

absl::Status JobFabric::MakeDaemons() {
  for (uint32_t daemon = 0; daemon < daemons(); ++daemon) {
    const BellPlan bells =
        is_control(daemon) ? BellPlan::ForControlDaemon(partitions_)
                           : BellPlan::ForDataDaemon(tree_, options_.data_daemons, daemon, partitions_);
    absl::StatusOr<SharedMemory> own = MakeDoorbell(bells.own_bells());
    if (!own.ok()) return own.status();
    std::vector<SharedMemory> doorbells(partitions_.size());
    for (size_t i = 0; i < partitions_.size(); ++i) {
      if (bells.bells(i) == 0) continue;
      absl::StatusOr<SharedMemory> memory = MakeDoorbell(bells.bells(i));
      if (!memory.ok()) return memory.status();
      doorbells[i] = std::move(*memory);
    }
    daemons_.push_back({bells, std::move(*own), std::move(doorbells)});
  }
  return absl::OkStatus();
}

absl::Status JobFabric::MakeLinks() {
  for (uint32_t low = 0; low < options_.data_daemons; ++low) {
    for (uint32_t high = low + 1; high < options_.data_daemons; ++high) {
      const LinkGeometry geometry{
          .wires = WiresBetween(options_.machine, options_.data_daemons, low, high),
          .depth = options_.machine.link_depth,
          .words_max = options_.machine.words_max};
      if (geometry.wires == 0) continue;
      for (int half = 0; half < VCM5_HALVES; ++half) {
        absl::StatusOr<LinkEnds> ends = CreateLink(options_.link, geometry);
        if (!ends.ok()) return ends.status();
        DataLink link{.low = low, .high = high, .half = half, .ends = {}};
        for (int side = 0; side < 2; ++side) {
          for (const int fd : ends->side[side]) link.ends[side].emplace_back(fd);
        }
        links_.push_back(std::move(link));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status JobFabric::MakeNodes() {
  const uint32_t bytes = NodeMemoryBytes(options_.machine);
  nodes_.reserve(places_.size());
  for (uint32_t node = 0; node < places_.size(); ++node) {
    const auto [partition, self, physical] = places_[node];
    absl::StatusOr<SharedMemory> memory = SharedMemory::Create("vcm5-ni", bytes);
    if (!memory.ok()) return memory.status();
    const BellPlan& bells = daemons_[DataDaemonOf(node)].bells;
    InitializeNodePage(memory->data(), options_.machine,
                       {.self = self,
                        .partition_size = NodesOf(partitions_[partition], options_.machine.nodes),
                        .has_host = HasHost(partitions_[partition], options_.machine.nodes),
                        .processors = processors_,
                        .runners = runners(),
                        .data_bell = {bells.bell(partition, VCM5_LEFT, physical),
                                      bells.bell(partition, VCM5_RIGHT, physical)},
                        .control_bell = vcm5_control_bell(self)});
    int line[2];
    if (pipe2(line, O_CLOEXEC | O_NONBLOCK) != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot make the interrupt line of node ", node, ": ", std::strerror(errno)));
    }
    nodes_.push_back({std::move(*memory), UniqueFd(line[0]), UniqueFd(line[1])});
  }
  return absl::OkStatus();
}

absl::Status JobFabric::MakeSupervisors() {
  absl::StatusOr<SharedMemory> memory = SharedMemory::Create(
      "vcm5-supervisor", sizeof(vcm5_supervisor_page) * options_.machine.leaves());
  if (!memory.ok()) return memory.status();
  supervisor_memory_ = std::move(*memory);
  auto* page = reinterpret_cast<vcm5_supervisor_page*>(supervisor_memory_.data());
  for (const auto [partition, self, physical] : places_) {
    vcm5_supervisor_page_init(page + physical, self,
                              NodesOf(partitions_[partition], options_.machine.nodes));
  }
  const Daemon& control = daemons_.back();
  for (size_t i = 0; i < partitions_.size(); ++i) {
    vcm5_supervisor_port& port = supervisor_ports_.emplace_back();
    if (const char* wrong = vcm5_supervisor_attach(&port, page + partitions_[i].front())) {
      return absl::InternalError(wrong);
    }
    const Doorbell doorbell(control.doorbells[i].data(), control.bells.bells(i));
    port.doorbell = doorbell.shared();
    port.bell = doorbell.bell(vcm5_supervisor_bell(0));
    // Both halves of the data network at node 0 are one daemon's.
    const Daemon& data =
        daemons_[tree_.PartOfLeaf(partitions_[i].front(), options_.data_daemons)];
    const Doorbell data_doorbell(data.own_doorbell.data(), data.bells.own_bells());
    for (int half = 0; half < VCM5_HALVES; ++half) {
      port.data_doorbell[half] = data_doorbell.shared();
    }
    port.wake = Doorbell::Wake;
  }
  return absl::OkStatus();
}

absl::Status JobFabric::MakeNodePrograms() {
  programs_.resize(partitions_.size());
  auto* page = reinterpret_cast<vcm5_supervisor_page*>(supervisor_memory_.data());
  for (size_t i = 0; i < partitions_.size(); ++i) {
    const ProgramRun& run = options_.programs[i];
    if (!run.host.has_value()) continue;
    absl::StatusOr<SharedMemory> memory =
        SharedMemory::Create("vcm5-node-program", run.image.size());
    if (!memory.ok()) return memory.status();
    std::memcpy(memory->data(), run.image.data(), run.image.size());
    programs_[i] = std::move(*memory);
    // Nodes listen from the beginning: what is sent before they look waits for them.
    for (uint32_t self = 0; self + 1 < partitions_[i].size(); ++self) {
      page[partitions_[i][self]].registers.listening = 1u << VCM5_BROADCAST_SUPERVISOR;
    }
  }
  return absl::OkStatus();
}

absl::Status JobFabric::Configure(uint32_t daemon, ControlChannel& channel) const {
  const Daemon& self = daemons_[daemon];
  config::ToDaemon message;
  config::Configure* configure = message.mutable_configure();
  PackSpec(options_.machine, configure->mutable_spec());
  for (const Partition& partition : partitions_) {
    config::PartitionNodes* nodes = configure->add_partitions();
    nodes->mutable_members()->Add(partition.begin(), partition.end());
  }
  configure->set_part(is_control(daemon) ? 0 : daemon);
  configure->set_parts(options_.data_daemons);
  configure->set_link_kind(static_cast<uint32_t>(options_.link));
  configure->set_processors(processors_);
  configure->set_runners(runners());
  if (absl::Status status = channel.Send(message); !status.ok()) return status;

  BatchSender batch(channel);
  absl::Status status = batch.Add(self.own_doorbell.fd(), config::Descriptor::OWN_DOORBELL, 0, 0,
                                  self.bells.own_bells());
  for (uint32_t i = 0; i < partitions_.size(); ++i) {
    if (self.bells.bells(i) == 0) continue;
    status.Update(batch.Add(self.doorbells[i].fd(), config::Descriptor::PARTITION_DOORBELL, i, 0,
                            self.bells.bells(i)));
  }
  for (uint32_t node = 0; status.ok() && node < places_.size(); ++node) {
    const uint32_t physical = places_[node].physical;
    if (!is_control(daemon) && DataDaemonOf(node) != daemon) continue;
    const NodeParts& parts = nodes_[node];
    status.Update(batch.Add(parts.memory.fd(), config::Descriptor::NODE_MEMORY, physical));
    status.Update(
        batch.Add(parts.interrupt_write.get(), config::Descriptor::INTERRUPT_LINE, physical));
  }
  status.Update(batch.Add(supervisor_memory_.fd(), config::Descriptor::SUPERVISOR_MEMORY));
  if (is_control(daemon)) {
    status.Update(batch.Finish());
    return status;
  }
  for (uint32_t peer = 0; status.ok() && peer < options_.data_daemons; ++peer) {
    if (peer == daemon) continue;
    const BellPlan& bells = daemons_[peer].bells;
    status.Update(batch.Add(daemons_[peer].own_doorbell.fd(), config::Descriptor::PEER_DOORBELL, peer,
                            0, bells.own_bells(), bells.peer(daemon)));
  }
  for (const DataLink& link : links_) {
    if (link.low != daemon && link.high != daemon) continue;
    const int side = link.low == daemon ? 0 : 1;
    const uint32_t peer = link.low == daemon ? link.high : link.low;
    for (const UniqueFd& fd : link.ends[side]) {
      status.Update(batch.Add(fd.get(), config::Descriptor::LINK, peer,
                              static_cast<uint32_t>(link.half)));
    }
  }
  status.Update(batch.Finish());
  return status;
}

std::vector<int> JobFabric::NodeDescriptors(uint32_t node) const {
  const uint32_t partition = places_[node].partition;
  std::vector<int> fds = {
      nodes_[node].memory.fd(), daemons_[DataDaemonOf(node)].doorbells[partition].fd(),
      daemons_.back().doorbells[partition].fd(), nodes_[node].interrupt_read.get()};
  const SharedMemory& program = programs_[partition];
  if (program.data() != nullptr) fds.push_back(supervisor_memory_.fd());
  if (is_host(node)) fds.push_back(program.fd());
  return fds;
}

BootEnvironment JobFabric::BootEnvironmentOf(uint32_t node) const {
  const SharedMemory& program = programs_[places_[node].partition];
  return {.supervisor_memory = 7,
          .pages = options_.machine.leaves(),
          .page = places_[node].physical,
          .program = is_host(node) ? 8 : 0,
          .program_bytes = is_host(node) ? static_cast<uint32_t>(program.size()) : 0};
}

NodeEnvironment JobFabric::EnvironmentOf(uint32_t node) const {
  const uint32_t partition = places_[node].partition;
  return {.memory = 3,
          .memory_bytes = static_cast<uint32_t>(nodes_[node].memory.size()),
          .data_doorbell = 4,
          .data_bells = daemons_[DataDaemonOf(node)].bells.bells(partition),
          .control_doorbell = 5,
          .control_bells = daemons_.back().bells.bells(partition),
          .interrupt_line = 6};
}

std::string JobFabric::LineOf(const FabricError& error) const {
  return ErrorLine(partitions_, options_.machine.nodes, error);
}

std::vector<uint32_t> JobFabric::ConcernedBy(const FabricError& error) const {
  return vcm5::ConcernedBy(partitions_, error.place());
}

std::string JobFabric::NameOf(uint32_t physical) const {
  return NodeName(partitions_, options_.machine.nodes, physical);
}

void JobFabric::CloseDescriptors() {
  // The daemons have the memory mapped; nobody here looks into it.
  nodes_.clear();
  links_.clear();
  programs_.clear();
  for (Daemon& daemon : daemons_) {
    daemon.own_doorbell.CloseFd();
    for (SharedMemory& doorbell : daemon.doorbells) doorbell.CloseFd();
  }
  supervisor_memory_.CloseFd();
}

void JobFabric::Wake(uint32_t daemon) {
  const BellPlan& bells = daemons_[daemon].bells;
  Doorbell(daemons_[daemon].own_doorbell.data(), bells.own_bells()).Ring(bells.launcher());
}

}  // namespace vcm5
