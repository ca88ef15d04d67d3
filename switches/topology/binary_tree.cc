#include "switches/topology/binary_tree.h"

#include <algorithm>
#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

BinaryTree::BinaryTree(uint32_t leaves) : leaves_(leaves), up_(2 * leaves - 1, kNone) {
  children_.reserve(leaves - 1);
}

// Walks from the root, left before right. `children_of(reference)` gives the children of a node as
// references, and the reference of leaf n is n.
template <class GetChildren>
bool BinaryTree::Build(uint32_t root, GetChildren&& children_of) {
  struct Visit {
    uint32_t reference;
    uint32_t up;
    unsigned depth;
  };
  std::vector<Visit> visits = {{root, kNone, 0}};
  uint32_t next_leaf = 0;
  while (!visits.empty()) {
    const Visit visit = visits.back();
    visits.pop_back();
    uint32_t id;
    if (visit.reference < leaves_) {
      if (visit.reference != next_leaf) return false;
      id = next_leaf++;
    } else {
      // A node reached twice would make more nodes than there are.
      if (nodes() == leaves_ - 1) return false;
      id = leaves_ + nodes();
      children_.push_back({kNone, kNone});
      const Children below = children_of(visit.reference);
      visits.push_back({below[kRight], 2 * id + kRight, visit.depth + 1});
      visits.push_back({below[kLeft], 2 * id + kLeft, visit.depth + 1});
    }
    up_[id] = visit.up;
    if (visit.up != kNone) children_[(visit.up >> 1) - leaves_][visit.up & 1] = id;
    height_ = std::max(height_, visit.depth);
  }
  return next_leaf == leaves_ && nodes() == leaves_ - 1;
}

BinaryTree BinaryTree::Balanced(uint32_t leaves) {
  VCM5_CHECK(leaves >= 1 && leaves <= kLeavesMax);
  BinaryTree tree(leaves);
  // A reference names a node by the range of its leaves: references.size() + leaves while growing.
  std::vector<Children> ranges = {{0, leaves}};
  const auto reference = [&](uint32_t first, uint32_t end) {
    if (end - first == 1) return first;
    ranges.push_back({first, end});
    return leaves + static_cast<uint32_t>(ranges.size()) - 1;
  };
  const bool built = tree.Build(leaves == 1 ? 0 : leaves, [&](uint32_t node) {
    const auto [first, end] = ranges[node - leaves];
    const uint32_t left_leaves = std::bit_ceil(end - first) / 2;
    const uint32_t left = reference(first, first + left_leaves);
    return Children{left, reference(first + left_leaves, end)};
  });
  VCM5_CHECK(built);
  return tree;
}

absl::StatusOr<BinaryTree> BinaryTree::FromNodes(std::span<const Children> nodes) {
  if (nodes.size() >= kLeavesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a control network of ", nodes.size() + 1, " leaves: at most ", kLeavesMax));
  }
  const auto leaves = static_cast<uint32_t>(nodes.size()) + 1;
  std::vector<bool> has_parent(2 * leaves - 1);
  for (const Children& pair : nodes) {
    for (const uint32_t child : pair) {
      if (child >= has_parent.size() || has_parent[child]) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a control network in which ", child,
            child >= has_parent.size() ? " is no leaf or node" : " has two parents"));
      }
      has_parent[child] = true;
    }
  }
  const auto root = std::find(has_parent.begin(), has_parent.end(), false) - has_parent.begin();
  BinaryTree tree(leaves);
  if (!tree.Build(static_cast<uint32_t>(root), [&](uint32_t node) { return nodes[node - leaves]; })) {
    return absl::InvalidArgumentError(
        "a control network that is not one binary tree with its leaves in order");
  }
  return tree;
}

}  // namespace vcm5
