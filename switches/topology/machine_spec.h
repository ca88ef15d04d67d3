// What a machine is made of, as plain numbers: the checked contents of a machine description
// (daemons/config). Every part of the project that builds a machine takes one of these.
#ifndef VCM5_SWITCHES_TOPOLOGY_MACHINE_SPEC_H_
#define VCM5_SWITCHES_TOPOLOGY_MACHINE_SPEC_H_

#include <cstdint>
#include <vector>

#include "switches/topology/broken_part.h"
#include "switches/topology/control_link_fault.h"
#include "switches/topology/link_fault.h"

namespace vcm5 {

inline constexpr uint32_t kNodesMax = 16384;  // the largest CM-5 (section 3)
inline constexpr uint32_t kControlProcessorsMax = 1024;
inline constexpr uint32_t kLeavesMax = 20000; // nodes, control processors and I/O channels

struct MachineSpec {
  // Leaves share one address space (DN10): nodes first, then control processors, then I/O.
  uint32_t nodes = 32;
  uint32_t control_processors = 1;
  uint32_t io_channels = 0;

  // Parent links of a router chip, for level 1, 2, ...; levels above the list use its last entry.
  // The CM-5's are {2, 2, 4} (section 3).
  std::vector<uint32_t> parents_per_level = {2, 2, 4};

  uint32_t words_max = 5;           // longest message: 5 (CM-5) or 18 (CM-5E)
  uint32_t data_fifo_depth = 128;   // messages in each data FIFO of an NI; a power of two
  uint32_t link_depth = 32;         // packets buffered at each input port of a router chip; a power
                                    // of two
  uint32_t combine_depth = 64;      // words in flight of combine operations; a power of two
  uint32_t broadcast_depth = 256;   // words in flight of user broadcasts; a power of two
  uint64_t seed = 1;                // of the pseudorandom choice among parent links
  std::vector<LinkFault> link_faults = {};  // what is broken, on purpose: checked against the rest
  std::vector<ControlLinkFault> control_link_faults = {};

  std::vector<BrokenPart> broken;   // to be mapped out: see health.h

  uint32_t leaves() const { return nodes + control_processors + io_channels; }
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_MACHINE_SPEC_H_
