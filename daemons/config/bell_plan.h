// Who rings which bell. A daemon has a doorbell for each partition, which no other partition's nodes
// have mapped (NI13), and one of its own, which no node has. The launcher writes the numbers into node
// pages and tells peers; the daemon derives the same ones.
//
//   data daemon     a partition's: [its leaves in this part, left] [the same, right]
//                   its own:       [parts: the peers' links] [launcher]
//   control daemon  a partition's: [its nodes, for each control FIFO]
//                   its own:       [launcher]
//
// Each group begins at a multiple of 8, for Doorbell::Take.
#ifndef VCM5_DAEMONS_CONFIG_BELL_PLAN_H_
#define VCM5_DAEMONS_CONFIG_BELL_PLAN_H_

#include <cstdint>
#include <span>
#include <vector>

#include "netif/shm/ni_page.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/partition.h"

namespace vcm5 {

class BellPlan {
 public:
  static BellPlan ForDataDaemon(const FatTree& tree, uint32_t parts, uint32_t part,
                                std::span<const Partition> partitions) {
    BellPlan plan;
    for (const Partition& partition : partitions) {
      Group& group = plan.groups_.emplace_back();
      for (const uint32_t leaf : partition) {
        if (tree.PartOfLeaf(leaf, parts) != part) continue;
        if (group.leaves == 0) group.first_leaf = leaf;
        group.leaves = leaf - group.first_leaf + 1;
      }
      group.bells = 2 * RoundUp(group.leaves);
    }
    plan.launcher_ = RoundUp(parts);
    return plan;
  }

  static BellPlan ForControlDaemon(std::span<const Partition> partitions) {
    BellPlan plan;
    for (const Partition& partition : partitions) {
      plan.groups_.push_back(
          {.bells = vcm5_control_bells(static_cast<uint32_t>(partition.size()))});
    }
    return plan;
  }

  // Bells of a partition's doorbell; 0: it has none here, for it has no leaf in this part.
  uint32_t bells(size_t partition) const { return groups_[partition].bells; }

  // Of a data daemon: the leaves of a partition whose bells are here, members or not between them.
  uint32_t first_leaf(size_t partition) const { return groups_[partition].first_leaf; }
  uint32_t leaves(size_t partition) const { return groups_[partition].leaves; }
  uint32_t first_bell(size_t partition, int half) const {
    return half == 0 ? 0 : RoundUp(groups_[partition].leaves);
  }
  uint32_t bell(size_t partition, int half, uint32_t leaf) const {
    return first_bell(partition, half) + leaf - groups_[partition].first_leaf;
  }

  // Of the daemon's own doorbell.
  uint32_t peer(uint32_t part) const { return part; }
  uint32_t launcher() const { return launcher_; }
  uint32_t own_bells() const { return launcher_ + 8; }

 private:
  struct Group {
    uint32_t first_leaf = 0;
    uint32_t leaves = 0;
    uint32_t bells = 0;
  };

  static constexpr uint32_t RoundUp(uint32_t count) { return (count + 7) & ~7u; }

  std::vector<Group> groups_;  // by partition
  uint32_t launcher_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_BELL_PLAN_H_
