// What people call the chips and links of one half of the data network. Chips are numbered within
// their level from 0, tree node by tree node; ports 0 to 3 are a chip's child links, 4 to 7 its
// parent links. One direction of a link is named by the end that it leaves: a chip and a port, or a
// leaf, whose NI has one link into each half.
#ifndef VCM5_SWITCHES_TOPOLOGY_LINK_NAMES_H_
#define VCM5_SWITCHES_TOPOLOGY_LINK_NAMES_H_

#include <cstdint>
#include <string>

#include "switches/topology/fat_tree.h"

namespace vcm5 {

// An end of a link: a chip's port or a leaf.
using LinkEnd = FatTreePeer;

constexpr LinkEnd ChipEnd(ChipId chip, unsigned port) {
  return {FatTreePeer::Kind::kChip, static_cast<uint8_t>(port), chip};
}
constexpr LinkEnd LeafEnd(uint32_t leaf) { return {FatTreePeer::Kind::kLeaf, 0, leaf}; }

// The other end; kNothing if no link is there.
inline LinkEnd FarEnd(const FatTree& tree, const LinkEnd& end) {
  return end.kind == FatTreePeer::Kind::kLeaf ? tree.leaf_peer(end.id) : tree.peer(end.id, end.port);
}

// A chip's number within its level, and how many the level has.
inline uint32_t ChipNumber(const FatTree& tree, ChipId chip) {
  return chip - tree.chip(tree.place(chip).level, 0, 0);
}
inline uint32_t ChipsAt(const FatTree& tree, unsigned level) {
  return tree.nodes_at(level) * tree.chips_per_node(level);
}

std::string ChipName(const FatTree& tree, ChipId chip);            // "level 2 chip 3"
std::string LinkEndName(const FatTree& tree, const LinkEnd& end);  // "level 2 chip 3 port 5", "leaf 9"
// The direction that leaves `from`: "link from level 1 chip 3 port 5 to level 2 chip 3 port 1".
std::string LinkName(const FatTree& tree, const LinkEnd& from);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_LINK_NAMES_H_
