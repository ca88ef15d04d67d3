// Whom a broken part of the data network concerns: the partitions whose messages pass it (DN9, SY6).
// A message climbs no higher than the least common ancestor of its ends, and both are in one
// partition, so what passes a chip or a link has an end below it and belongs to the partition whose
// subtree holds the part, or, above all partitions, to one that lies below.
#ifndef VCM5_SWITCHES_TOPOLOGY_CONCERNED_H_
#define VCM5_SWITCHES_TOPOLOGY_CONCERNED_H_

#include <cstdint>
#include <span>
#include <vector>

#include "switches/topology/fat_tree.h"
#include "switches/topology/link_names.h"
#include "switches/topology/partition.h"

namespace vcm5 {

// The leaves below a chip, below the lower end of a link (a leaf's link: that leaf), of the tree.
Subtree LeavesBelow(const FatTree& tree, ChipId chip);
Subtree LeavesBelowLink(const FatTree& tree, const LinkEnd& from);
Subtree LeavesOf(const FatTree& tree);

// The partitions (at least one, ascending, by index) that a part concerns that has these leaves below
// it. Where none is below and none holds it, no message of a sound network comes: then those below
// the least tree node above it that has any, who are next to it.
std::vector<uint32_t> ConcernedBy(std::span<const Partition> partitions, Subtree below);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_CONCERNED_H_
