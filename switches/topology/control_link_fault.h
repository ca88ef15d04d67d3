// A fault of one direction of a control-network link, as a test, a command line or a machine
// description asks for it. switches/control/control_link_faults.h plays it; daemons/config/
// fault_spec.h is how people write it.
//
// A link is named by a leaf below it and how many links up it is on the leaf's way to the root, for
// that means something whatever partitions there are and whatever shape their trees have. A way that
// is shorter has no such link, and the fault strikes nothing.
#ifndef VCM5_SWITCHES_TOPOLOGY_CONTROL_LINK_FAULT_H_
#define VCM5_SWITCHES_TOPOLOGY_CONTROL_LINK_FAULT_H_

#include <cstdint>

#include "switches/topology/link_fault.h"

namespace vcm5 {

struct ControlLinkFault {
  static constexpr uint32_t kBits = 65;       // of a packet
  static constexpr uint32_t kHeightMax = 32;   // more than any tree of kLeavesMax leaves needs

  uint32_t leaf = 0;
  uint32_t height = 1;  // 1: the leaf's own link; 2: the one above its combining node; ...
  bool down = false;    // of the packets that come from the root
  uint32_t bit = 0;     // 0 to 50: of the body; 51 to 64: of the CRC
  uint64_t first = 1;   // as in LinkFault
  uint64_t every = 0;

  bool Strikes(uint64_t packet) const { return FaultStrikes(first, every, packet); }
  bool operator==(const ControlLinkFault&) const = default;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_CONTROL_LINK_FAULT_H_
