#include "switches/data/region_search.h"

#include <algorithm>
#include <utility>

namespace vcm5 {

std::vector<ChipId> RegionSearch::Find() {
  asked_ = 0;
  Subtree(tree_.levels(), 0);
  std::sort(found_.begin(), found_.end());
  return std::exchange(found_, {});
}

// A tree node, its chips and all that is below.
void RegionSearch::Subtree(unsigned level, uint32_t node) {
  ++asked_;
  bool balanced = true;
  for (unsigned below = level; balanced && below >= 1; --below) {
    const unsigned shift = 2 * (level - below);
    const uint32_t nodes = tree_.nodes_at(below);
    const uint32_t first = std::min(node << shift, nodes);
    const uint32_t last = std::min((node + 1) << shift, nodes);
    if (first == last) continue;
    const ChipId end = tree_.chip(below, last - 1, 0) + tree_.chips_per_node(below);
    balanced = balances_(tree_.chip(below, first, 0), end);
  }
  if (balanced) return;
  const ChipId chip = tree_.chip(level, node, 0);
  Chips(chip, chip + tree_.chips_per_node(level));
  if (level == 1) return;
  for (uint32_t child = kChildren * node; child < kChildren * (node + 1); ++child) {
    if (child < tree_.nodes_at(level - 1)) Subtree(level - 1, child);
  }
}

// Chips of one tree node, by halves.
void RegionSearch::Chips(ChipId first, ChipId last) {
  ++asked_;
  if (balances_(first, last)) return;
  if (last - first == 1) {
    found_.push_back(first);
    return;
  }
  const ChipId middle = first + (last - first) / 2;
  Chips(first, middle);
  Chips(middle, last);
}

}  // namespace vcm5
