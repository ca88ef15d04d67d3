// Partitions (paper section 1 and section 3, DN9): groups of processing nodes that run programs of
// their own. Messages of a partition climb no higher than its subtree, so partitions whose subtrees
// have no leaf in common use no chip and no link in common either.
#ifndef VCM5_SWITCHES_TOPOLOGY_PARTITION_H_
#define VCM5_SWITCHES_TOPOLOGY_PARTITION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"

namespace vcm5 {

// Relative address r is physical address members[r]; ascending.
using Partition = std::vector<uint32_t>;

// All of the leaves below the least tree node that has all members below it: [first, first + size).
struct Subtree {
  uint32_t first;
  uint32_t size;  // a power of 4
};
Subtree SubtreeOf(const Partition& partition);

// Whether these can be the partitions of a machine of `nodes` nodes: not empty, ascending, in range,
// and in subtrees that have no leaf in common. Says which are not.
absl::Status CheckPartitions(std::span<const Partition> partitions, uint32_t nodes);

// Partitions of the given sizes (each > 0) among the nodes of these addresses (ascending): each takes
// the first nodes of the first free subtree that has enough, of the smallest size that there is, in
// the order given. Nothing if they do not fit.
std::optional<std::vector<Partition>> PlacePartitions(std::span<const uint32_t> sizes,
                                                      std::span<const uint32_t> nodes);
// The members of all, ascending.
Partition AllMembers(std::span<const Partition> partitions);

// The nodes of the smallest machine that has them all.
uint32_t PlacedNodes(std::span<const Partition> partitions);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_PARTITION_H_
