// What the launcher hands a daemon before the job begins: the machine, this daemon's place in it,
// and the memory, doorbells, links and interrupt lines that it works with.
#ifndef VCM5_DAEMONS_PROCESS_DAEMON_SETUP_H_
#define VCM5_DAEMONS_PROCESS_DAEMON_SETUP_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "daemons/config/bell_plan.h"
#include "daemons/config/control_channel.h"
#include "daemons/driver/doorbell.h"
#include "daemons/link/make_link.h"
#include "netif/shm/ni_page.h"
#include "netif/shm/shared_memory.h"
#include "netif/shm/supervisor_page.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

struct DoorbellMemory {
  SharedMemory memory;
  uint32_t bells = 0;
  Doorbell doorbell() const { return Doorbell(memory.data(), bells); }
};

struct DaemonSetup {
  MachineSpec spec;
  std::vector<Partition> partitions;
  uint32_t part = 0;
  uint32_t parts = 1;
  LinkKind link_kind = LinkKind::kShm;
  uint32_t processors = 1;
  uint32_t runners = 1;

  DoorbellMemory own_doorbell;
  std::vector<DoorbellMemory> partition_doorbells;  // by partition; no bells: none
  // The daemon's own, then those of partitions.
  std::vector<Doorbell> AllDoorbells() const;
  // Whether there are just as many bells as planned.
  bool Has(const BellPlan& plan) const;

  std::vector<SharedMemory> memories;  // of the nodes, in no particular order
  std::vector<vcm5_ni_page*> pages;    // by physical address; null: none
  std::vector<int> interrupt_lines;    // by physical address; -1: none
  SharedMemory supervisor_memory;      // by physical address
  vcm5_supervisor_page* supervisor_page(uint32_t node) const {
    return reinterpret_cast<vcm5_supervisor_page*>(supervisor_memory.data()) + node;
  }

  struct Peer {
    DoorbellMemory memory;
    uint32_t bell = 0;  // the one that is ours to ring
  };
  std::map<uint32_t, Peer> peers;                                   // by part
  std::map<std::pair<int, uint32_t>, std::vector<int>> link_descriptors;  // by half and part
};

// Says hello to the launcher and blocks until it has sent everything. An error is the launcher's
// fault (or it is gone).
absl::StatusOr<DaemonSetup> ReceiveSetup(ControlChannel& channel);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_PROCESS_DAEMON_SETUP_H_
