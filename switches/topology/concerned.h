// Whom a broken part of the data network concerns: the partitions whose messages pass it (DN9, SY6).
// A message climbs no higher than the least common ancestor of its ends, and both are members of one
// partition. So what passes a chip or a link belongs to a partition that has a member below it and
// whose least subtree, that of its host too, reaches as high.
#ifndef VCM5_SWITCHES_TOPOLOGY_CONCERNED_H_
#define VCM5_SWITCHES_TOPOLOGY_CONCERNED_H_

#include <cstdint>
#include <span>
#include <vector>

#include "switches/topology/fat_tree.h"
#include "switches/topology/link_names.h"
#include "switches/topology/partition.h"

namespace vcm5 {

// The leaves below a chip, and below the lower end of a link (a leaf's link: that leaf).
Subtree LeavesBelow(const FatTree& tree, ChipId chip);
Subtree LeavesBelowLink(const FatTree& tree, const LinkEnd& from);

// Of what every partition may have messages in, wherever they lie: higher than any chip.
inline constexpr Subtree kEverywhere{0, uint32_t{1} << 30};

// The partitions (at least one, ascending, by index) that a part concerns that has these leaves below
// it: those whose messages pass it. Where no message of a sound network comes, those that have a
// member below it; where there is none, the same of the least tree node above it that has any.
std::vector<uint32_t> ConcernedBy(std::span<const Partition> partitions, Subtree below);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_CONCERNED_H_
