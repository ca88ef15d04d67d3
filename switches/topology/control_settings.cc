#include "switches/topology/control_settings.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace vcm5 {
namespace {

constexpr unsigned kTreesMax = ControlSwitches::kChannelsMax;

// One chip for each tree of a subtree: bit t is that of its tree t.
using Placing = uint8_t;

constexpr unsigned ChipOf(Placing placing, unsigned tree) { return placing >> tree & 1; }

// A tree to be made: of one partition.
struct Wanted {
  uint32_t first;  // positions of its first and last leaf
  uint32_t last;
  unsigned top;    // level of the least subtree that has them all
};

// The trees that have leaves in a subtree.
struct Station {
  std::array<uint32_t, kTreesMax> tree{};
  unsigned trees = 0;
  uint16_t possible = 0;  // bit p: placing p is possible
  Placing chosen = 0;
  Placing above = 0;      // where its trees are placed in the subtree above, by its own numbers
};

class Setter {
 public:
  Setter(const ControlSwitches& switches, const ControlDamage& damage)
      : switches_(switches), damage_(damage), stations_(switches.subtrees()) {
    settings_.switches.resize(switches.switches());
  }

  absl::Status Connect(std::span<const Partition> partitions);
  ControlSettings Take() { return std::move(settings_); }

 private:
  Station& At(unsigned level, uint32_t s) { return stations_[switches_.subtree(level, s)]; }
  const Station& At(unsigned level, uint32_t s) const {
    return stations_[switches_.subtree(level, s)];
  }
  // Calls visit(side, child) for each subtree below one.
  template <class Visit>
  void ForEachChild(unsigned level, uint32_t s, Visit&& visit) const {
    for (unsigned side = 0; side < 2; ++side) {
      if (switches_.exists(level - 1, 2 * s + side)) visit(side, 2 * s + side);
    }
  }

  absl::Status GoUp(unsigned level, uint32_t s);
  absl::Status TooFew(unsigned level, uint32_t s) const;
  void FindPossible(unsigned level, uint32_t s);
  bool Fits(unsigned level, uint32_t s, Placing below, Placing above) const;
  std::optional<Placing> PlacingBelow(unsigned level, uint32_t s, Placing above) const;
  Placing AboveOf(const Station& child, const Station& at, Placing placing) const;
  void GoDown(unsigned level, uint32_t s);
  BinaryTree TreeBelow(const Wanted& wanted, uint32_t index, uint32_t leaves) const;

  const ControlSwitches& switches_;
  const ControlDamage& damage_;
  std::vector<Wanted> wanted_;  // by partition
  std::vector<Station> stations_;  // by subtree
  ControlSettings settings_;
};

absl::Status Setter::Connect(std::span<const Partition> partitions) {
  for (uint32_t index = 0; index < partitions.size(); ++index) {
    const Partition& members = partitions[index];
    const uint32_t first = switches_.position(members.front());
    const uint32_t last = switches_.position(members.back());
    wanted_.push_back({first, last, static_cast<unsigned>(std::bit_width(first ^ last))});
    for (const uint32_t leaf : members) {
      Station& at = At(0, switches_.position(leaf));
      at.tree[at.trees++] = index;
      at.possible = 1;
    }
  }
  for (unsigned level = 0; level <= switches_.levels(); ++level) {
    for (uint32_t number = 0; number < switches_.subtrees_at(level); ++number) {
      const uint32_t s = switches_.SubtreeAt(level, number);
      if (absl::Status status = GoUp(level, s); !status.ok()) return status;
    }
  }
  for (unsigned level = switches_.levels(); level >= 1; --level) {
    for (uint32_t number = 0; number < switches_.subtrees_at(level); ++number) {
      GoDown(level, switches_.SubtreeAt(level, number));
    }
  }
  for (uint32_t index = 0; index < partitions.size(); ++index) {
    const auto leaves = static_cast<uint32_t>(partitions[index].size());
    settings_.trees.push_back(TreeBelow(wanted_[index], index, leaves));
  }
  return absl::OkStatus();
}

// Which trees a subtree has, and how they can be placed.
absl::Status Setter::GoUp(unsigned level, uint32_t s) {
  Station& at = At(level, s);
  if (level != 0) {
    ForEachChild(level, s, [&](unsigned, uint32_t child) {
      const Station& below = At(level - 1, child);
      for (unsigned t = 0; t < below.trees; ++t) {
        const uint32_t tree = below.tree[t];
        if (wanted_[tree].top < level) continue;
        const auto end = at.tree.begin() + at.trees;
        if (std::find(at.tree.begin(), end, tree) != end) continue;
        // Trees of both children go on up, so what is too much here is too much above.
        if (at.trees < kTreesMax) at.tree[at.trees] = tree;
        ++at.trees;
      }
    });
    if (at.trees > kTreesMax) return TooFew(level, s);
    if (at.trees != 0) FindPossible(level, s);
  }
  if (at.trees == 0) return absl::OkStatus();
  // Above its partition a tree meets only those that go to the root of the machine, as it does.
  const bool ends = wanted_[at.tree[0]].top == level;
  for (unsigned t = 0; t < at.trees; ++t) VCM5_CHECK((wanted_[at.tree[t]].top == level) == ends);
  const bool enough = ends || at.trees <= damage_.Channels(level, s);
  return at.possible != 0 && enough ? absl::OkStatus() : TooFew(level, s);
}

absl::Status Setter::TooFew(unsigned level, uint32_t s) const {
  const auto [first, end] = switches_.leaves_below(level, s);
  const bool nodes = end <= switches_.nodes();
  const std::string where =
      first + 1 == end ? absl::StrCat(nodes ? "node " : "leaf ", first)
                       : absl::StrCat(nodes ? "nodes " : "leaves ", first, " to ", end - 1);
  const Station& at = At(level, s);
  if (at.trees <= kTreesMax && at.possible == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the control network cannot join what is in the subtree of ", where,
                     ": too many of its chips and links there are broken"));
  }
  const unsigned channels = damage_.Channels(level, s);
  return absl::ResourceExhaustedError(
      absl::StrCat(channels, channels == 1 ? " channel" : " channels",
                   " of the control network into the subtree of ", where,
                   at.trees == 1 ? ", but a partition needs one"
                                 : absl::StrCat(", ", at.trees, " control processors wanted")));
}

// Whether the trees of a subtree that are placed so can go up to where they are placed above.
bool Setter::Fits(unsigned level, uint32_t s, Placing below, Placing above) const {
  const Station& at = At(level, s);
  unsigned taken = 0;  // links
  for (unsigned t = 0; t < at.trees; ++t) {
    const unsigned link = 1u << (2 * ChipOf(below, t) + ChipOf(above, t));
    if ((taken & link) != 0 || !damage_.LinkWorks(level, s, ChipOf(below, t), ChipOf(above, t))) {
      return false;
    }
    taken |= link;
  }
  return true;
}

std::optional<Placing> Setter::PlacingBelow(unsigned level, uint32_t s, Placing above) const {
  for (unsigned possible = At(level, s).possible; possible != 0; possible &= possible - 1) {
    const auto placing = static_cast<Placing>(std::countr_zero(possible));
    if (Fits(level, s, placing, above)) return placing;
  }
  return std::nullopt;
}

// A placing of `at` as the child numbers its trees.
Placing Setter::AboveOf(const Station& child, const Station& at, Placing placing) const {
  Placing above = 0;
  for (unsigned t = 0; t < child.trees; ++t) {
    const auto found = std::find(at.tree.begin(), at.tree.begin() + at.trees, child.tree[t]);
    const unsigned chip = ChipOf(placing, static_cast<unsigned>(found - at.tree.begin()));
    above |= static_cast<Placing>(chip << t);
  }
  return above;
}

void Setter::FindPossible(unsigned level, uint32_t s) {
  Station& at = At(level, s);
  const unsigned placings = switches_.chips(level) == 1 ? 1 : 1u << at.trees;
  for (unsigned placing = 0; placing < placings; ++placing) {
    bool possible = true;
    ForEachChild(level, s, [&](unsigned, uint32_t child) {
      const Station& below = At(level - 1, child);
      if (!possible || below.trees == 0 || wanted_[below.tree[0]].top < level) return;
      possible = PlacingBelow(level - 1, child, AboveOf(below, at, static_cast<Placing>(placing)))
                     .has_value();
    });
    if (possible) at.possible |= static_cast<uint16_t>(1u << placing);
  }
}

// Chooses placings for the subtrees below one that has its own, and sets its chips.
void Setter::GoDown(unsigned level, uint32_t s) {
  Station& at = At(level, s);
  if (at.trees == 0) return;
  const bool root = wanted_[at.tree[0]].top == level;
  if (root) at.chosen = static_cast<Placing>(std::countr_zero(at.possible));
  ForEachChild(level, s, [&](unsigned, uint32_t child) {
    Station& below = At(level - 1, child);
    if (below.trees == 0 || wanted_[below.tree[0]].top < level) return;
    below.above = AboveOf(below, at, at.chosen);
    below.chosen = PlacingBelow(level - 1, child, below.above).value();
  });
  for (unsigned t = 0; t < at.trees; ++t) {
    SwitchSetting& setting = settings_.switches[switches_.switch_id(level, s, ChipOf(at.chosen, t))];
    ControlTreeNode& node = setting[setting[0].used() ? 1 : 0];
    VCM5_CHECK(!node.used());
    if (!root) {
      node.parent = static_cast<uint8_t>(ControlSwitches::kChildPorts + ChipOf(at.above, t));
    }
    ForEachChild(level, s, [&](unsigned side, uint32_t child) {
      const Station& below = At(level - 1, child);
      for (unsigned b = 0; b < below.trees; ++b) {
        if (below.tree[b] != at.tree[t]) continue;
        node.child[side] = static_cast<uint8_t>(2 * side + ChipOf(below.chosen, b));
      }
    });
  }
}

// Follows the settings from the root of a tree down.
class TreeWalk {
 public:
  TreeWalk(const ControlSwitches& switches, const std::vector<SwitchSetting>& settings,
           uint32_t leaves)
      : switches_(switches), settings_(settings), leaves_(leaves) {}

  // What is below a tree node: leaf n is n, nodes follow.
  uint32_t Below(unsigned level, uint32_t s, const ControlTreeNode& node, unsigned chip) {
    uint32_t found[2] = {BinaryTree::kNone, BinaryTree::kNone};
    for (unsigned side = 0; side < 2; ++side) {
      if (node.child[side] == ControlTreeNode::kNoPort) continue;
      found[side] = BelowLink(level - 1, 2 * s + side, node.child[side] & 1u, chip);
    }
    if (found[0] == BinaryTree::kNone) return found[1];
    if (found[1] == BinaryTree::kNone) return found[0];
    nodes_.push_back({found[0], found[1]});
    return leaves_ + static_cast<uint32_t>(nodes_.size()) - 1;
  }

  const std::vector<BinaryTree::Children>& nodes() const { return nodes_; }

 private:
  uint32_t BelowLink(unsigned level, uint32_t s, unsigned chip, unsigned above) {
    if (level == 0) return next_leaf_++;
    const SwitchSetting& setting = settings_[switches_.switch_id(level, s, chip)];
    const unsigned parent = ControlSwitches::kChildPorts + above;
    const ControlTreeNode& node = setting[setting[0].parent == parent ? 0 : 1];
    VCM5_CHECK(node.parent == parent);
    return Below(level, s, node, chip);
  }

  const ControlSwitches& switches_;
  const std::vector<SwitchSetting>& settings_;
  const uint32_t leaves_;
  uint32_t next_leaf_ = 0;
  std::vector<BinaryTree::Children> nodes_;
};

BinaryTree Setter::TreeBelow(const Wanted& wanted, uint32_t index, uint32_t leaves) const {
  if (wanted.top == 0) return BinaryTree::Balanced(1);
  const uint32_t s = wanted.first >> wanted.top;
  const Station& at = At(wanted.top, s);
  const auto tree = static_cast<unsigned>(
      std::find(at.tree.begin(), at.tree.begin() + at.trees, index) - at.tree.begin());
  const unsigned chip = ChipOf(at.chosen, tree);
  // Where two trees have their roots in one chip, the first has its first tree node.
  unsigned slot = 0;
  for (unsigned t = 0; t < tree; ++t) slot += ChipOf(at.chosen, t) == chip ? 1 : 0;
  TreeWalk walk(switches_, settings_.switches, leaves);
  walk.Below(wanted.top, s, settings_.switches[switches_.switch_id(wanted.top, s, chip)][slot], chip);
  absl::StatusOr<BinaryTree> made = BinaryTree::FromNodes(walk.nodes());
  VCM5_CHECK_MSG(made.ok() && made->leaves() == leaves, "switches that are not set to a tree");
  return *std::move(made);
}

}  // namespace

absl::StatusOr<ControlSettings> SetControlSwitches(const MachineSpec& spec,
                                                   std::span<const Partition> partitions) {
  absl::Status status = CheckPartitions(partitions, spec.nodes, spec.control_processors);
  if (!status.ok()) return status;
  const ControlSwitches switches(spec);
  const ControlDamage damage(switches, spec.broken);
  Setter setter(switches, damage);
  status = setter.Connect(partitions);
  if (!status.ok()) return status;
  return setter.Take();
}

}  // namespace vcm5
