// Drives one part of one half of the data network: takes messages from the nodes' outgoing FIFOs
// into the router chips, runs the chips, delivers to the incoming FIFOs, and exchanges packets and
// credits with the parts that other daemons play.
#ifndef VCM5_DAEMONS_DRIVER_DATA_AGENT_H_
#define VCM5_DAEMONS_DRIVER_DATA_AGENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemons/driver/agent.h"
#include "daemons/driver/captured_messages.h"
#include "daemons/driver/data_counts.h"
#include "daemons/driver/doorbell.h"
#include "daemons/link/link.h"
#include "netif/ni/saved_ni.h"
#include "netif/shm/ni_page.h"
#include "netif/shm/supervisor_page.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

// Bells first_bell, first_bell + 1, ... of a doorbell are those of leaves first_leaf, ...
struct LeafBells {
  Doorbell doorbell;
  uint32_t first_bell = 0;  // a multiple of 8
  uint32_t first_leaf = 0;
  uint32_t leaves = 0;
};

struct DataAgentOptions {
  MachineSpec spec;
  int half = VCM5_LEFT;
  uint32_t part = 0;   // which of
  uint32_t parts = 1;  // the parts of the fat tree (FatTree::PartOfChip)

  // NI memory by physical address; null where no node is attached or another part has the leaf.
  // Each is vcm5_ni_compute_offsets(...).bytes long, for the geometry of `spec`.
  std::vector<vcm5_ni_page*> pages;

  // Supervisor pages by physical address; null or absent: nobody supervises the node.
  std::vector<vcm5_supervisor_page*> supervisor_pages;

  // Where supervisors ring, in whose reach no program is; none if there are no supervisor pages.
  std::optional<Doorbell> supervisor_doorbell;

  // Which address only others of their own partition; leaves outside of all send to nobody.
  std::vector<Partition> partitions;

  // Where the nodes at leaves of this part ring.
  std::vector<LeafBells> bells;

  // Links to the other parts, by part; null for oneself and for parts with no common wire.
  std::vector<std::unique_ptr<Link>> links;

  // Interrupt lines by physical address (write ends of pipes; -1: none): NI5.
  std::vector<int> interrupt_lines;
};

// An agent of the data network, and what a supervisor asks of it (DN7; all_fall_down.h), between
// two turns and on the thread that gives it its turns.
class DataNetworkAgent : public Agent {
 public:
  // Chips of this part. One of them into all-fall-down mode, or back.
  virtual uint32_t chips() const = 0;
  virtual void SetAllFallDown(uint32_t chip, bool on) = 0;
  // Nothing enters the network until further notice; messages wait in the outgoing FIFOs.
  virtual void HoldInjection(bool hold) = 0;
  // The messages that fell to the NIs of this part since the last call, and those that have yet to be
  // sent again; and such messages to be sent to their true destinations, before anything that the
  // same nodes have pushed.
  virtual std::vector<CapturedMessage> TakeCaptured() = 0;
  virtual void Resend(std::vector<CapturedMessage> messages) = 0;
  virtual DataCounts Counts() const = 0;
  // Out of the NI of a leaf of this part, and into it: what its user has in this half (NI11), while
  // the network is empty and the user's program does not run. SaveNi is false if the program failed.
  virtual bool SaveNi(uint32_t physical, SavedNi* saved) = 0;
  virtual void RestoreNi(uint32_t physical, const SavedNi& saved) = 0;
};

std::unique_ptr<DataNetworkAgent> MakeDataAgent(DataAgentOptions options);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_AGENT_H_
