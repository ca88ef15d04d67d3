#include "daemons/driver/data_agent.h"
#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

uint32_t WiresBetween(const MachineSpec& spec, uint32_t parts, uint32_t part, uint32_t other) {
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  uint32_t wires = 0;
  for (const CutWire& wire : CutWires(tree, parts)) {
    if ((wire.child_part == part && wire.parent_part == other) ||
        (wire.child_part == other && wire.parent_part == part)) {
      ++wires;
    }
  }
  return wires;
}

}  // namespace vcm5
