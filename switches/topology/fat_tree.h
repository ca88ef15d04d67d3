// The shape of one half of the data network (paper section 3, figure 3): a 4-ary fat tree whose
// inner nodes are made of several router chips. DN1, DN2.
//
// Level 1 is next to the leaves. Tree node (level, node) covers the leaves
// [node * 4^level, (node + 1) * 4^level). It consists of chips_per_node(level) chips. Chip `index` of
// the node is wired
//   down: its child port c goes to the child node 4 * node + c, to that child's chip
//         index / parents(level - 1), to that chip's parent port index % parents(level - 1);
//   up:   its parent port p goes to the parent node's chip index * parents(level) + p, child port
//         node % 4.
// So each chip of a node has one link to each of the node's children, and whichever way a packet
// went up, there is exactly one way down to a leaf. Subtrees without leaves do not exist; a machine
// may have any number of leaves.
#ifndef VCM5_SWITCHES_TOPOLOGY_FAT_TREE_H_
#define VCM5_SWITCHES_TOPOLOGY_FAT_TREE_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace vcm5 {

// Ports of a router chip: child links 0..3, parent links 4..7.
inline constexpr unsigned kChildren = 4;
inline constexpr unsigned kParentsMax = 4;
inline constexpr unsigned kChipPorts = kChildren + kParentsMax;

using ChipId = uint32_t;

struct ChipPlace {
  unsigned level;  // 1 is next to the leaves
  uint32_t node;   // which subtree of that level
  uint32_t index;  // which chip of the node
};

// Where the link of a port leads.
struct FatTreePeer {
  enum class Kind : uint8_t { kNothing, kChip, kLeaf };
  Kind kind = Kind::kNothing;
  uint8_t port = 0;  // of the peer chip
  uint32_t id = 0;   // ChipId or leaf
  bool operator==(const FatTreePeer&) const = default;
};

class FatTree {
 public:
  // `leaves` in 1..kLeavesMax; entries of parents_per_level in 1..kParentsMax.
  FatTree(uint32_t leaves, const std::vector<uint32_t>& parents_per_level);

  uint32_t leaves() const { return leaves_; }
  unsigned levels() const { return static_cast<unsigned>(level_.size()) - 1; }
  uint32_t chips() const { return chips_; }

  uint32_t nodes_at(unsigned level) const { return level_[level].nodes; }
  uint32_t chips_per_node(unsigned level) const { return level_[level].chips_per_node; }
  // Parent links in use of each chip of a level; 0 at the top.
  uint32_t parents(unsigned level) const { return level_[level].parents; }

  // Chips are numbered level by level from the leaves up.
  ChipId chip(unsigned level, uint32_t node, uint32_t index) const {
    return level_[level].first_chip + node * level_[level].chips_per_node + index;
  }
  ChipPlace place(ChipId chip) const;

  FatTreePeer peer(ChipId chip, unsigned port) const;
  // The chip and child port that a leaf is wired to.
  FatTreePeer leaf_peer(uint32_t leaf) const {
    return {FatTreePeer::Kind::kChip, static_cast<uint8_t>(leaf % kChildren),
            chip(1, leaf / kChildren, 0)};
  }

  // Level of the least common ancestor of two leaves: 1 if they hang on one chip.
  static unsigned CommonLevel(uint32_t a, uint32_t b) {
    return std::max(1u, (static_cast<unsigned>(std::bit_width(a ^ b)) + 1) / 2);
  }

  // Routing instructions from one leaf to another: bits 0-23 of the packet header.
  static uint32_t Route(uint32_t source, uint32_t destination);

  // Which of `parts` drivers plays a chip, and which a leaf is attached to. A part holds a
  // contiguous run of level-1 chips and all chips whose leaves are all its own; the chips of other
  // nodes are spread over the parts below the node.
  uint32_t PartOfChip(ChipId chip, uint32_t parts) const;
  uint32_t PartOfLeaf(uint32_t leaf, uint32_t parts) const;

 private:
  struct Level {
    uint32_t nodes = 0;
    uint32_t chips_per_node = 0;
    uint32_t parents = 0;
    ChipId first_chip = 0;
  };

  uint32_t leaves_;
  uint32_t chips_ = 0;
  std::vector<Level> level_;  // [0] unused
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_FAT_TREE_H_
