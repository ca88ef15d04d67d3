#include "switches/topology/concerned.h"

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
  Subtree lower = LeavesOf(tree);
  for (const LinkEnd& end : {from, to}) {
    if (end.kind == LinkEnd::Kind::kNothing) continue;
    const Subtree below =
        end.kind == LinkEnd::Kind::kLeaf ? Below(0, end.id) : LeavesBelow(tree, end.id);
    if (below.size < lower.size) lower = below;
  }
  return lower;
}

Subtree LeavesOf(const FatTree& tree) { return Below(tree.levels(), 0); }

std::vector<uint32_t> ConcernedBy(std::span<const Partition> partitions, Subtree below) {
  VCM5_CHECK(!partitions.empty());
  std::vector<uint32_t> concerned;
  // 64 bits: what another process says is below may be anything.
  uint64_t first = below.first;
  for (uint64_t size = below.size; concerned.empty(); size = size == 0 ? 1 : 4 * size) {
    if (size != 0) first = first / size * size;
    for (uint32_t i = 0; i < partitions.size(); ++i) {
      const Subtree mine = SubtreeOf(partitions[i]);
      if (first < uint64_t{mine.first} + mine.size && mine.first < first + size) {
        concerned.push_back(i);
      }
    }
  }
  return concerned;
}

}  // namespace vcm5
