// The search for what is broken, over ever smaller regions of one half of the data network (paper,
// section 3: "the number of messages entering any region of the network, including the entire network
// or a single chip, must eventually equal the number of messages leaving the region"; section 5). DN5.
//
// The whole network is asked first, then the subtrees of its top and the chips in which these meet,
// and so on downwards; nothing is asked inside of a region that balances. The smallest regions are
// cells: a chip and the links to its children. Each chip and each link is in one cell. Of a network of
// h levels, with c chips in its top node, f unbalanced cells are found by at most
// 1 + f (5 h + 2 log2 c) questions.
//
// A region must not be called balanced if one cell in it is not; so a sum in which a message lost here
// hides one made there would not do. Pure: the answers are the caller's.
#ifndef VCM5_SWITCHES_DATA_REGION_SEARCH_H_
#define VCM5_SWITCHES_DATA_REGION_SEARCH_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "switches/topology/fat_tree.h"

namespace vcm5 {

class RegionSearch {
 public:
  // Whether the cells of chips [first, last) of one level balance.
  using Balances = std::function<bool(ChipId first, ChipId last)>;

  // Both must outlive the search.
  RegionSearch(const FatTree& tree, const Balances& balances) : tree_(tree), balances_(balances) {}

  // The cells that do not balance, by their chips, ascending.
  std::vector<ChipId> Find();
  // Regions asked.
  uint64_t asked() const { return asked_; }

 private:
  void Subtree(unsigned level, uint32_t node);
  void Chips(ChipId first, ChipId last);

  const FatTree& tree_;
  const Balances& balances_;
  std::vector<ChipId> found_;
  uint64_t asked_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_DATA_REGION_SEARCH_H_
