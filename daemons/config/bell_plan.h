// Who rings which bell of a daemon's doorbell. The launcher writes the numbers into node pages and
// tells peers; the daemon derives the same ones.
//
//   data daemon     [leaves of its part, left] [the same, right] [parts: the peers' links] [launcher]
//   control daemon  [nodes of a partition, for each control FIFO] for each partition       [launcher]
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
  static BellPlan ForDataDaemon(const FatTree& tree, uint32_t parts, uint32_t part) {
    BellPlan plan;
    while (plan.first_leaf_ < tree.leaves() && tree.PartOfLeaf(plan.first_leaf_, parts) != part) {
      ++plan.first_leaf_;
    }
    while (plan.first_leaf_ + plan.leaves_ < tree.leaves() &&
           tree.PartOfLeaf(plan.first_leaf_ + plan.leaves_, parts) == part) {
      ++plan.leaves_;
    }
    plan.others_ = 2 * RoundUp(plan.leaves_);
    plan.launcher_ = plan.others_ + RoundUp(parts);
    return plan;
  }

  static BellPlan ForControlDaemon(std::span<const Partition> partitions) {
    BellPlan plan;
    for (const Partition& partition : partitions) {
      plan.control_.push_back(plan.others_);
      plan.others_ += vcm5_control_bells(static_cast<uint32_t>(partition.size()));
    }
    plan.launcher_ = plan.others_;
    return plan;
  }

  uint32_t first_leaf() const { return first_leaf_; }
  uint32_t leaves() const { return leaves_; }
  bool has_leaf(uint32_t leaf) const { return leaf - first_leaf_ < leaves_; }

  uint32_t first_bell(int half) const { return half == 0 ? 0 : RoundUp(leaves_); }
  uint32_t bell(int half, uint32_t leaf) const { return first_bell(half) + leaf - first_leaf_; }

  // The first of a partition's bells at the control daemon.
  uint32_t control_bell(size_t partition) const { return control_[partition]; }

  // Bells from here on are not for agents: the peers', then the launcher's.
  uint32_t others() const { return others_; }
  uint32_t peer(uint32_t part) const { return others_ + part; }
  uint32_t launcher() const { return launcher_; }
  uint32_t bells() const { return launcher_ + 8; }

 private:
  static constexpr uint32_t RoundUp(uint32_t count) { return (count + 7) & ~7u; }

  uint32_t first_leaf_ = 0;
  uint32_t leaves_ = 0;
  uint32_t others_ = 0;
  uint32_t launcher_ = 0;
  std::vector<uint32_t> control_;  // by partition
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_BELL_PLAN_H_
