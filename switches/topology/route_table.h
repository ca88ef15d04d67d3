// Routing instructions for every member of a partition, ready to be put into headers: what the NI
// looks up for each message instead of walking the tree. DN2, NI8.
#ifndef VCM5_SWITCHES_TOPOLOGY_ROUTE_TABLE_H_
#define VCM5_SWITCHES_TOPOLOGY_ROUTE_TABLE_H_

#include <cstdint>
#include <vector>

#include "runtime/base/routing_instructions.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

class RouteTable {
 public:
  // `members[r]` is the physical address of relative address r, below `leaves`.
  RouteTable(uint32_t leaves, const std::vector<uint32_t>& members)
      : levels_(FatTree::CommonLevel(0, leaves - 1)) {
    members_.reserve(members.size());
    for (const uint32_t physical : members) {
      uint32_t path = 0;
      for (unsigned digit = 0; digit < levels_; ++digit) {
        path = (path << 2) | ((physical >> (2 * digit)) & 3);
      }
      members_.push_back({physical, path});
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(members_.size()); }
  uint32_t physical(uint32_t relative) const { return members_[relative].physical; }

  // The same as FatTree::Route(source, physical(relative)); `relative` < size().
  uint32_t Route(uint32_t source, uint32_t relative) const {
    const Member& to = members_[relative];
    const unsigned level = FatTree::CommonLevel(source, to.physical);
    return RoutingInstructions(level - 1, to.path >> (2 * (levels_ - level)));
  }

 private:
  struct Member {
    uint32_t physical;
    uint32_t path;  // all digits, the highest level's lowest
  };
  unsigned levels_;
  std::vector<Member> members_;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_ROUTE_TABLE_H_
