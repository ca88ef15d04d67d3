// Everything that the processes of a job share: NI memory of the nodes, doorbells, links between
// data daemons, interrupt lines. Made here, before anybody runs, and handed out as descriptors.
#ifndef VCM5_RUNTIME_LAUNCH_JOB_FABRIC_H_
#define VCM5_RUNTIME_LAUNCH_JOB_FABRIC_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemons/config/bell_plan.h"
#include "daemons/config/control_channel.h"
#include "daemons/config/control_plane.pb.h"
#include "daemons/driver/agent.h"
#include "daemons/driver/doorbell.h"
#include "netif/port/supervisor.h"
#include "netif/shm/shared_memory.h"
#include "runtime/launch/run_options.h"
#include "runtime/launch/unique_fd.h"
#include "runtime/node/node_environment.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

class JobFabric {
 public:
  // `options` must outlive the fabric.
  static absl::StatusOr<std::unique_ptr<JobFabric>> Create(const RunOptions& options);

  // Files that the launcher has open for such a job at once, at most.
  static uint64_t FilesNeeded(const RunOptions& options);

  // Daemons are numbered: data daemons 0 to K - 1, then the control daemon.
  uint32_t daemons() const { return options_.data_daemons + 1; }
  bool is_control(uint32_t daemon) const { return daemon == options_.data_daemons; }

  // Sends a daemon its configuration and descriptors. What the socket does not take at once stays
  // queued in `channel`; the fabric must live, descriptors and all, until that is sent.
  absl::Status Configure(uint32_t daemon, ControlChannel& channel) const;

  // The members of all partitions are numbered on, in order, hosts included. Where one is:
  struct Place {
    uint32_t partition;
    uint32_t self;      // relative address
    uint32_t physical;
  };
  const std::vector<Place>& places() const { return places_; }

  bool is_host(uint32_t node) const { return places_[node].physical >= options_.machine.nodes; }

  // Descriptors 3, 4, ... of a node, in order, and what it is told about them; in a partition with a
  // host it begins as vcm5-boot, which is told the rest.
  std::vector<int> NodeDescriptors(uint32_t node) const;
  NodeEnvironment EnvironmentOf(uint32_t node) const;
  BootEnvironment BootEnvironmentOf(uint32_t node) const;

  // Closes everything that has been handed out. Wake() still works.
  void CloseDescriptors();

  // What users call a physical address: "node 3" by its relative address, if it is a node of the
  // job, or "leaf 7".
  std::string NameOf(uint32_t physical) const;
  std::string LineOf(const FabricError& error) const;
  // The partitions whose programs end with it.
  std::vector<uint32_t> ConcernedBy(const FabricError& error) const;

  // Makes a daemon look at its control socket.
  void Wake(uint32_t daemon);

  // The supervisor of a partition, at its node 0: the launcher's way to all of its nodes at once (NI9).
  Supervisor supervisor(size_t partition) { return Supervisor(supervisor_ports_[partition]); }

 private:
  struct Daemon {
    BellPlan bells;
    SharedMemory own_doorbell;
    std::vector<SharedMemory> doorbells;  // by partition; none where the plan has no bells
  };
  struct DataLink {
    uint32_t low;  // the part that is side 0
    uint32_t high;
    int half;
    std::vector<UniqueFd> ends[2];
  };
  struct NodeParts {
    SharedMemory memory;
    UniqueFd interrupt_read;
    UniqueFd interrupt_write;
  };

  explicit JobFabric(const RunOptions& options);

  absl::Status MakeDaemons();
  absl::Status MakeLinks();
  absl::Status MakeNodes();
  absl::Status MakeSupervisors();
  absl::Status MakeNodePrograms();
  uint32_t DataDaemonOf(uint32_t node) const {
    return tree_.PartOfLeaf(places_[node].physical, options_.data_daemons);
  }
  uint32_t runners() const { return options_.nodes() + daemons() + 1; }

  const RunOptions& options_;
  const FatTree tree_;
  const uint32_t processors_;
  std::vector<Daemon> daemons_;
  std::vector<DataLink> links_;
  std::vector<Partition> partitions_;
  std::vector<Place> places_;
  std::vector<NodeParts> nodes_;
  SharedMemory supervisor_memory_;  // pages of all leaves
  std::vector<SharedMemory> programs_;  // by partition: what its host broadcasts, if it has one
  std::deque<vcm5_supervisor_port> supervisor_ports_;  // by partition
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_JOB_FABRIC_H_
