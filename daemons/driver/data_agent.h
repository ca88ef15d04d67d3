// Drives one part of one half of the data network: takes messages from the nodes' outgoing FIFOs
// into the router chips, runs the chips, delivers to the incoming FIFOs, and exchanges packets and
// credits with the parts that other daemons play.
#ifndef VCM5_DAEMONS_DRIVER_DATA_AGENT_H_
#define VCM5_DAEMONS_DRIVER_DATA_AGENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemons/driver/agent.h"
#include "daemons/driver/doorbell.h"
#include "daemons/link/link.h"
#include "netif/shm/ni_page.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

struct DataAgentOptions {
  MachineSpec spec;
  int half = VCM5_LEFT;
  uint32_t part = 0;   // which of
  uint32_t parts = 1;  // the parts of the fat tree (FatTree::PartOfChip)

  // NI memory by physical address; null where no node is attached or another part has the leaf.
  // Each is vcm5_ni_compute_offsets(...).bytes long, for the geometry of `spec`.
  std::vector<vcm5_ni_page*> pages;

  // Which address only others of their own partition; leaves outside of all send to nobody.
  std::vector<Partition> partitions;

  // Bells [first_bell, first_bell + leaves of this part) of `doorbell`, in leaf order.
  Doorbell doorbell;
  uint32_t first_bell = 0;

  // Links to the other parts, by part; null for oneself and for parts with no common wire.
  std::vector<std::unique_ptr<Link>> links;

  // Interrupt lines by physical address (write ends of pipes; -1: none): NI5.
  std::vector<int> interrupt_lines;
};

std::unique_ptr<Agent> MakeDataAgent(DataAgentOptions options);

// Wires between two parts of one half, for sizing their link; the link numbers them from 0. 0: the
// parts have no wire in common and need no link.
uint32_t WiresBetween(const MachineSpec& spec, uint32_t parts, uint32_t part, uint32_t other);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_AGENT_H_
