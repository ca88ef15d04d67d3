// Making a node's NI memory: the one creator of DESIGN.md section 5.
#ifndef VCM5_DAEMONS_DRIVER_NODE_MEMORY_H_
#define VCM5_DAEMONS_DRIVER_NODE_MEMORY_H_

#include <cstdint>

#include "netif/ni/ni_geometry.h"
#include "netif/shm/ni_page.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

// The sizes of the FIFOs of a machine's NIs.
NiGeometry GeometryOf(const MachineSpec& spec);

// Bytes of a node's NI memory: whole pages.
inline uint32_t NodeMemoryBytes(const MachineSpec& spec) { return GeometryOf(spec).Offsets().bytes; }

struct NodeIdentity {
  uint32_t self = 0;            // relative address
  uint32_t partition_size = 0;  // nodes
  bool has_host = false;        // whose relative address is partition_size
  uint32_t processors = 1;      // of the host
  uint32_t runners = 1;         // processes of the job
  uint32_t data_bell[VCM5_HALVES] = {0, 0};
  uint32_t control_bell = 0;
};

// Writes the identity into zeroed memory of NodeMemoryBytes bytes.
void InitializeNodePage(void* memory, const MachineSpec& spec, const NodeIdentity& identity);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_NODE_MEMORY_H_
