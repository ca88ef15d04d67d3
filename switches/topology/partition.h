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

// The members: relative address r is physical address members[r]; ascending. They are nodes and, if the
// partition has a host, one control processor: the last member, the only one that is none of the
// machine's nodes, for control processors' addresses come after theirs.
using Partition = std::vector<uint32_t>;

// On a machine of `nodes` nodes: whether there is a host, and how many members are not it.
inline bool HasHost(const Partition& partition, uint32_t nodes) { return partition.back() >= nodes; }
inline uint32_t NodesOf(const Partition& partition, uint32_t nodes) {
  return static_cast<uint32_t>(partition.size()) - (HasHost(partition, nodes) ? 1 : 0);
}

// All of the leaves below the least tree node that has these nodes below it: [first, first + size).
struct Subtree {
  uint32_t first;
  uint32_t size;  // a power of 4
};
Subtree SubtreeOf(std::span<const uint32_t> nodes);

// Whether these can be the partitions of a machine of `nodes` nodes: not empty, ascending, in range,
// their nodes in subtrees that have no leaf in common, and no host of two. Says which are not.
absl::Status CheckPartitions(std::span<const Partition> partitions, uint32_t nodes,
                             uint32_t control_processors = 0);

// Partitions of the given sizes (each > 0) among the nodes of these addresses (ascending): each takes
// the first nodes of the first free subtree that has enough, of the smallest size that there is, in
// the order given. Nothing if they do not fit.
std::optional<std::vector<Partition>> PlacePartitions(std::span<const uint32_t> sizes,
                                                      std::span<const uint32_t> nodes);

// Gives each partition that wants one a host, of these control processors (ascending). Messages between
// a partition and its host pass through the tree above the partition, so what is shared is kept small:
// first come control processors in a partition's own subtree, then those in no partition's, then the
// rest. False, and nothing changed, if there are too few.
bool PlaceHosts(std::span<const uint32_t> control_processors, const std::vector<bool>& wanted,
                std::vector<Partition>* partitions);

// The members of all, ascending.
Partition AllMembers(std::span<const Partition> partitions);

// The nodes of the smallest machine that has them all (without hosts); and of the smallest in which,
// besides, no control processor is in the subtree of a partition.
uint32_t PlacedNodes(std::span<const Partition> partitions);
uint32_t PlacedNodesApart(std::span<const Partition> partitions);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_PARTITION_H_
