// The shape of the control network (paper section 5, CN1, CN9): a binary tree over the leaves of a
// partition. Computations on it need only *a* binary tree, not a complete one, so any shape whose
// leaves read 0, 1, 2, ... from left to right will do: that is the order of scans.
//
// Leaves and combining nodes share one range of ids: leaves are 0 .. leaves() - 1, the nodes follow.
// Parents have smaller ids than their child nodes, and the root, if there is a node, comes first. A
// link is named by its lower end. A tree of one leaf has no nodes: that leaf is the root.
#ifndef VCM5_SWITCHES_TOPOLOGY_BINARY_TREE_H_
#define VCM5_SWITCHES_TOPOLOGY_BINARY_TREE_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace vcm5 {

class BinaryTree {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr unsigned kLeft = 0;
  static constexpr unsigned kRight = 1;

  using Children = std::array<uint32_t, 2>;  // left, right

  // The least deep tree in which every subtree but those at the right edge is complete: that of a whole
  // machine (control_settings.h).
  static BinaryTree Balanced(uint32_t leaves);

  // Any shape (CN9): `nodes[i]` has the children of id leaves + i; nodes.size() + 1 leaves. Fails
  // unless that is one tree with its leaves in order. Ids are given anew.
  static absl::StatusOr<BinaryTree> FromNodes(std::span<const Children> nodes);

  uint32_t leaves() const { return leaves_; }
  uint32_t nodes() const { return static_cast<uint32_t>(children_.size()); }
  uint32_t ids() const { return static_cast<uint32_t>(up_.size()); }
  uint32_t root() const { return nodes() == 0 ? 0 : leaves_; }
  unsigned height() const { return height_; }  // links from the root to the deepest leaf

  bool is_leaf(uint32_t id) const { return id < leaves_; }
  Children children(uint32_t node) const { return children_[node - leaves_]; }
  uint32_t child(uint32_t node, unsigned side) const { return children_[node - leaves_][side]; }
  uint32_t parent(uint32_t id) const { return up_[id] == kNone ? kNone : up_[id] >> 1; }
  unsigned side(uint32_t id) const { return up_[id] & 1; }  // which child of its parent

 private:
  explicit BinaryTree(uint32_t leaves);

  // Numbers the nodes below a root; false if they are not a tree with its leaves in order.
  template <class GetChildren>
  bool Build(uint32_t root, GetChildren&& children_of);

  uint32_t leaves_;
  unsigned height_ = 0;
  std::vector<Children> children_;  // by node - leaves_
  std::vector<uint32_t> up_;        // parent * 2 + side, by id; kNone at the root
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_BINARY_TREE_H_
