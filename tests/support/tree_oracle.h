// A dumb second opinion about the fat tree: it follows wires (FatTree::peer) and lists what it
// finds, and knows nothing of address digits.
#ifndef VCM5_TESTS_SUPPORT_TREE_ORACLE_H_
#define VCM5_TESTS_SUPPORT_TREE_ORACLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "switches/topology/fat_tree.h"

namespace vcm5 {

class TreeOracle {
 public:
  explicit TreeOracle(const FatTree& tree) : tree_(tree) {}

  // Leaves that can be reached from a chip by going down only, ascending; each as often as there
  // are ways to it.
  const std::vector<uint32_t>& Below(ChipId chip);
  bool Covers(ChipId chip, uint32_t leaf);

  // Follows routing instructions from `source`, at each level up by the parent link that
  // choose(links) names. Returns "" if the packet climbs to the first chip that covers the
  // destination and no higher, follows existing links, goes down only after it has gone up, and
  // ends at `destination` with its instructions used up; otherwise what went wrong.
  std::string Follow(uint32_t source, uint32_t destination, uint32_t route,
                     const std::function<unsigned(unsigned links)>& choose);

  // The same for every possible choice of parent links.
  std::string FollowEveryWay(uint32_t source, uint32_t destination, uint32_t route);

 private:
  std::string Step(ChipId chip, uint32_t destination, uint32_t route,
                   const std::function<std::string(ChipId chip, uint32_t route)>& go_up);

  const FatTree& tree_;
  std::map<ChipId, std::vector<uint32_t>> below_;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_TREE_ORACLE_H_
