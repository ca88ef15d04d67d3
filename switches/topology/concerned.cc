#include "switches/topology/concerned.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

Subtree Below(unsigned level, uint32_t node) {
  return {node << (2 * level), uint32_t{1} << (2 * level)};
}

}  // namespace

Subtree LeavesBelow(const FatTree& tree, ChipId chip) {
  const ChipPlace place = tree.place(chip);
  return Below(place.level, place.node);
}

Subtree LeavesBelowLink(const FatTree& tree, const LinkEnd& from) {
  const LinkEnd to = FarEnd(tree, from);
  Subtree lower = Below(tree.levels(), 0);
  for (const LinkEnd& end : {from, to}) {
    if (end.kind == LinkEnd::Kind::kNothing) continue;
    const Subtree below =
        end.kind == LinkEnd::Kind::kLeaf ? Below(0, end.id) : LeavesBelow(tree, end.id);
    if (below.size < lower.size) lower = below;
  }
  return lower;
}

std::vector<uint32_t> ConcernedBy(std::span<const Partition> partitions, Subtree below) {
  VCM5_CHECK(!partitions.empty());
  std::vector<uint32_t> above;   // partitions that have a member below the part,
  std::vector<uint32_t> passed;  // and those of them whose messages pass it
  // 64 bits: what another process says is below may be anything.
  uint64_t first = below.first;
  for (uint64_t size = below.size; above.empty(); size = size == 0 ? 1 : 4 * size) {
    if (size != 0) first = first / size * size;
    for (uint32_t i = 0; i < partitions.size(); ++i) {
      const Partition& members = partitions[i];
      const auto member = std::lower_bound(members.begin(), members.end(), first);
      if (member == members.end() || *member >= first + size) continue;
      above.push_back(i);
      // Even what a node sends to itself passes a chip.
      if (std::max(SubtreeOf(members).size, kChildren) >= size) passed.push_back(i);
    }
  }
  return passed.empty() ? above : passed;
}

}  // namespace vcm5
