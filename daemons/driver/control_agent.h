// Drives the control network of one partition: takes what nodes push into their control FIFOs
// through the combining tree and delivers the results.
#ifndef VCM5_DAEMONS_DRIVER_CONTROL_AGENT_H_
#define VCM5_DAEMONS_DRIVER_CONTROL_AGENT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "daemons/driver/agent.h"
#include "daemons/driver/doorbell.h"
#include "netif/ni/saved_ni.h"
#include "netif/shm/ni_page.h"
#include "netif/shm/supervisor_page.h"
#include "switches/topology/binary_tree.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

struct ControlAgentOptions {
  MachineSpec spec;
  // NI memory of the partition's members, in scan order (by relative address): the host is last, as
  // one more leaf of the tree. None is null.
  std::vector<vcm5_ni_page*> pages;
  Partition members;  // physical address of each, for reports
  BinaryTree tree = BinaryTree::Balanced(1);  // over them (control_settings.h)
  // Supervisor pages of the same; none at all: the partition has no privileged operations.
  std::vector<vcm5_supervisor_page*> supervisor_pages;
  // Interrupt lines of the same (write ends of pipes; -1, or none at all: none).
  std::vector<int> interrupt_lines;
  Doorbell doorbell;  // the partition's, with vcm5_control_bells(pages.size()) bells
  std::string label;  // before each line of Waiting(): "partition 1: "
};

// An agent of the control network, and what a supervisor asks of it, between two turns and on the
// thread that gives it its turns.
class ControlNetworkAgent : public Agent {
 public:
  // Whether every member's NI knows that all of the network is flushed.
  virtual bool Flushed() const = 0;
  // Out of the NI of a member (by relative address), and into it: what its user has in the control
  // network (NI11), while that is flushed and the user's program does not run. SaveNi is false if
  // the program failed. What the NIs were given reaches the network at the agent's next turns; only
  // then may it be reinitiated.
  virtual bool SaveNi(uint32_t member, SavedNi* saved) const = 0;
  virtual void RestoreNi(uint32_t member, const SavedNi& saved) = 0;
};

std::unique_ptr<ControlNetworkAgent> MakeControlAgent(ControlAgentOptions options);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_CONTROL_AGENT_H_
