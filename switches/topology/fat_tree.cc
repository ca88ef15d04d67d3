#include "switches/topology/fat_tree.h"

#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/base/routing_instructions.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

FatTree::FatTree(uint32_t leaves, const std::vector<uint32_t>& parents_per_level)
    : leaves_(leaves), level_(1) {
  VCM5_CHECK(leaves >= 1 && leaves <= kLeavesMax);
  VCM5_CHECK(!parents_per_level.empty());
  uint32_t nodes = leaves;
  uint32_t chips_per_node = 1;
  do {
    const unsigned level = static_cast<unsigned>(level_.size());
    nodes = (nodes + kChildren - 1) / kChildren;
    const uint32_t parents =
        parents_per_level[std::min<size_t>(level, parents_per_level.size()) - 1];
    VCM5_CHECK(parents >= 1 && parents <= kParentsMax);
    level_.push_back({nodes, chips_per_node, nodes == 1 ? 0 : parents, chips_});
    chips_ += nodes * chips_per_node;
    chips_per_node *= parents;
  } while (nodes > 1);
  VCM5_CHECK(levels() <= kLevelsMax);
}

ChipPlace FatTree::place(ChipId chip) const {
  VCM5_CHECK(chip < chips_);
  unsigned level = levels();
  while (chip < level_[level].first_chip) --level;
  const uint32_t offset = chip - level_[level].first_chip;
  return {level, offset / level_[level].chips_per_node, offset % level_[level].chips_per_node};
}

FatTreePeer FatTree::peer(ChipId id, unsigned port) const {
  const ChipPlace at = place(id);
  if (port >= kChildren) {
    const uint32_t parent_port = port - kChildren;
    if (parent_port >= parents(at.level)) return {};
    return {FatTreePeer::Kind::kChip, static_cast<uint8_t>(at.node % kChildren),
            chip(at.level + 1, at.node / kChildren, at.index * parents(at.level) + parent_port)};
  }
  const uint32_t child = at.node * kChildren + port;
  if (at.level == 1) {
    if (child >= leaves_) return {};
    return {FatTreePeer::Kind::kLeaf, 0, child};
  }
  if (child >= nodes_at(at.level - 1)) return {};
  const uint32_t below = parents(at.level - 1);
  return {FatTreePeer::Kind::kChip, static_cast<uint8_t>(kChildren + at.index % below),
          chip(at.level - 1, child, at.index / below)};
}

uint32_t FatTree::Route(uint32_t source, uint32_t destination) {
  const unsigned level = CommonLevel(source, destination);
  uint32_t path = 0;
  for (unsigned i = 0; i < level; ++i) {
    path = (path << 2) | ((destination >> (2 * i)) & 3);
  }
  return RoutingInstructions(level - 1, path);
}

uint32_t FatTree::PartOfLeaf(uint32_t leaf, uint32_t parts) const {
  const uint64_t bottom = leaf / kChildren;
  return static_cast<uint32_t>(bottom * parts / level_[1].nodes);
}

uint32_t FatTree::PartOfChip(ChipId id, uint32_t parts) const {
  const ChipPlace at = place(id);
  const uint64_t span = uint64_t{1} << (2 * at.level);
  const uint64_t first_leaf = at.node * span;
  const uint64_t last_leaf = std::min<uint64_t>(first_leaf + span, leaves_) - 1;
  const uint32_t first = PartOfLeaf(static_cast<uint32_t>(first_leaf), parts);
  const uint32_t last = PartOfLeaf(static_cast<uint32_t>(last_leaf), parts);
  return first + at.index % (last - first + 1);
}

}  // namespace vcm5
