#include "tests/support/control_oracle.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

namespace vcm5 {
namespace {

using Chip = ControlOracle::Chip;

std::string Name(const Chip& chip) {
  return "(" + std::to_string(chip.level) + ", " + std::to_string(chip.s) + ") chip " +
         std::to_string(chip.chip);
}

// The shape of a tree over leaves at these positions: "(0 (1 2))".
std::string Shape(const std::vector<uint32_t>& positions, size_t first, size_t end, uint32_t bit) {
  if (end - first == 1) return std::to_string(first);
  size_t middle = first;
  while (middle < end && (positions[middle] & bit) == 0) ++middle;
  if (middle == first || middle == end) return Shape(positions, first, end, bit / 2);
  return "(" + Shape(positions, first, middle, bit / 2) + " " +
         Shape(positions, middle, end, bit / 2) + ")";
}

std::string Shape(const BinaryTree& tree, uint32_t id) {
  if (tree.is_leaf(id)) return std::to_string(id);
  return "(" + Shape(tree, tree.child(id, 0)) + " " + Shape(tree, tree.child(id, 1)) + ")";
}

}  // namespace

ControlOracle::ControlOracle(const MachineSpec& spec) : spec_(spec) {
  const uint32_t others = spec.leaves() - spec.nodes;
  while (half_ < spec.nodes || half_ < others) half_ *= 2;
  while ((1u << levels_) < (others == 0 ? half_ : 2 * half_)) ++levels_;
  subtrees_.resize(levels_ + 1);
  for (unsigned level = 0; level <= levels_; ++level) {
    std::set<uint32_t> there;
    for (uint32_t leaf = 0; leaf < spec.leaves(); ++leaf) there.insert(Position(leaf) >> level);
    subtrees_[level].assign(there.begin(), there.end());
  }
  const auto chips = [](unsigned level) { return level < 2 ? 1u : 2u; };
  const auto number = [&](unsigned level, uint32_t s, unsigned chip) {
    const auto& at = subtrees_[level];
    return static_cast<uint32_t>(std::find(at.begin(), at.end(), s) - at.begin()) * chips(level) + chip;
  };
  std::vector<Wire> wires;
  std::map<std::pair<uint32_t, uint32_t>, Chip> by_number;  // level, number
  for (unsigned level = 0; level <= levels_; ++level) {
    uint32_t next = 0;
    for (const uint32_t s : subtrees_[level]) {
      for (unsigned chip = 0; chip < chips(level); ++chip) {
        const Chip here{level, s, chip};
        by_number[{level, next}] = here;
        if (level != 0) {
          parts_.push_back({.kind = BrokenPart::Kind::kChip, .halves = kControlNetwork, .level = level,
                            .number = next});
        }
        ++next;
        if (level == levels_) continue;
        for (unsigned above = 0; above < chips(level + 1); ++above) {
          const Wire wire{here, 4 + above, {level + 1, s / 2, above}, 2 * (s % 2) + chip};
          wires.push_back(wire);
          BrokenPart part{.kind = BrokenPart::Kind::kLink, .halves = kControlNetwork,
                          .level = level + 1, .number = number(level + 1, s / 2, above),
                          .port = wire.child_port};
          parts_.push_back(part);
          if (level == 0) {
            part = {.halves = kControlNetwork, .leaf = Leaf(s)};
          } else {
            part.level = level;
            part.number = next - 1;
            part.port = wire.parent_port;
          }
          parts_.push_back(part);
        }
      }
    }
  }
  std::set<std::pair<Chip, unsigned>> broken_ends;
  for (const BrokenPart& part : spec.broken) {
    if (part.halves != kControlNetwork) continue;
    if (part.kind == BrokenPart::Kind::kLeaf) {
      broken_ends.insert({{0, Position(part.leaf), 0}, 4});
    } else if (part.kind == BrokenPart::Kind::kChip) {
      broken_.insert(by_number.at({part.level, part.number}));
    } else {
      broken_ends.insert({by_number.at({part.level, part.number}), part.port});
    }
  }
  for (const Wire& wire : wires) {
    if (Broken(wire.below) || Broken(wire.above) ||
        broken_ends.contains({wire.below, wire.parent_port}) ||
        broken_ends.contains({wire.above, wire.child_port})) {
      continue;
    }
    wire_of_[{wire.below, wire.above}] = wires_.size();
    wire_at_[{wire.above, wire.child_port}] = wires_.size();
    wires_.push_back(wire);
  }
}

uint32_t ControlOracle::Position(uint32_t leaf) const {
  return leaf < spec_.nodes ? leaf : half_ + leaf - spec_.nodes;
}

uint32_t ControlOracle::Leaf(uint32_t position) const {
  return position < spec_.nodes ? position : position - half_ + spec_.nodes;
}

bool ControlOracle::Broken(const Chip& chip) const { return broken_.contains(chip); }

const ControlOracle::Wire* ControlOracle::WireOf(const Chip& below, const Chip& above) const {
  const auto found = wire_of_.find({below, above});
  return found == wire_of_.end() ? nullptr : &wires_[found->second];
}

// Positions of the leaves of each tree.
std::vector<std::vector<uint32_t>> ControlOracle::Trees(
    const std::vector<Partition>& partitions) const {
  std::vector<std::vector<uint32_t>> trees;
  for (const Partition& partition : partitions) {
    std::vector<uint32_t>& tree = trees.emplace_back();
    for (const uint32_t member : partition) tree.push_back(Position(member));
  }
  return trees;
}

std::string ControlOracle::Wrong(const ControlSettings& settings,
                                 const std::vector<Partition>& partitions) const {
  // Tree nodes by the ends of links that they use.
  std::map<std::pair<Chip, unsigned>, const ControlTreeNode*> at_port;
  std::vector<std::pair<Chip, const ControlTreeNode*>> roots;
  size_t id = 0;
  for (unsigned level = 1; level <= levels_; ++level) {
    for (const uint32_t s : subtrees_[level]) {
      for (unsigned chip = 0; chip < (level < 2 ? 1u : 2u); ++chip) {
        const Chip here{level, s, chip};
        if (id >= settings.switches.size()) return "there are fewer settings than chips";
        for (const ControlTreeNode& node : settings.switches[id++]) {
          if (!node.used()) {
            if (node.parent != ControlTreeNode::kNoPort) return Name(here) + " passes up nothing";
            continue;
          }
          if (Broken(here)) return Name(here) + " is broken, and used";
          for (unsigned side = 0; side < 2; ++side) {
            const unsigned port = node.child[side];
            if (port == ControlTreeNode::kNoPort) continue;
            if (port / 2 != side) return Name(here) + " has its children crosswise";
            if (!at_port.insert({{here, port}, &node}).second) return Name(here) + " uses a child twice";
          }
          if (node.parent == ControlTreeNode::kNoPort) {
            roots.emplace_back(here, &node);
          } else if (!at_port.insert({{here, node.parent}, &node}).second) {
            return Name(here) + " uses a parent twice";
          }
        }
      }
    }
  }
  if (id != settings.switches.size()) return "there are more settings than chips";
  // Down from each root.
  std::set<std::pair<Chip, unsigned>> seen;
  std::vector<std::vector<uint32_t>> found;
  std::string wrong;
  const std::function<void(const Chip&, const ControlTreeNode&)> walk = [&](const Chip& chip,
                                                                           const ControlTreeNode& node) {
    for (const unsigned port : node.child) {
      if (port == ControlTreeNode::kNoPort) continue;
      seen.insert({chip, port});
      const auto at = wire_at_.find({chip, port});
      if (at == wire_at_.end()) {
        wrong = Name(chip) + " uses a link that does not work";
        return;
      }
      const Wire& wire = wires_[at->second];
      if (wire.below.level == 0) {
        found.back().push_back(wire.below.s);
        continue;
      }
      const auto below = at_port.find({wire.below, wire.parent_port});
      if (below == at_port.end()) {
        wrong = Name(wire.below) + " sends nothing up where something is expected";
        return;
      }
      seen.insert(below->first);
      walk(wire.below, *below->second);
    }
  };
  for (const auto& [chip, node] : roots) {
    found.emplace_back();
    walk(chip, *node);
    if (!wrong.empty()) return wrong;
  }
  if (seen.size() != at_port.size()) return "there are tree nodes of no tree";
  std::vector<std::vector<uint32_t>> trees = Trees(partitions);
  if (settings.trees.size() != trees.size()) return "there is not one tree for each partition";
  for (size_t i = 0; i < trees.size(); ++i) {
    if (settings.trees[i].leaves() != trees[i].size()) return "a tree of too many or too few leaves";
    const std::string shape = Shape(trees[i], 0, trees[i].size(), 1u << 31);
    const std::string is = Shape(settings.trees[i], settings.trees[i].root());
    if (is != shape) return "a tree of shape " + is + ", not " + shape;
  }
  std::erase_if(trees, [](const auto& tree) { return tree.size() == 1; });
  std::sort(trees.begin(), trees.end());
  std::sort(found.begin(), found.end());
  return found == trees ? "" : "the switches join other leaves than those of the partitions";
}

bool ControlOracle::CanConnect(const std::vector<Partition>& partitions) const {
  // What must choose a chip: a tree in a subtree that has leaves of it. Parents come first.
  struct Choice {
    size_t tree;
    unsigned level;
    uint32_t s;
    std::optional<size_t> above;  // choice
  };
  std::vector<Choice> choices;
  const auto trees = Trees(partitions);
  for (size_t tree = 0; tree < trees.size(); ++tree) {
    unsigned top = 0;
    while (trees[tree].front() >> top != trees[tree].back() >> top) ++top;
    std::map<std::pair<unsigned, uint32_t>, size_t> made;
    for (unsigned level = top + 1; level-- > 0;) {
      for (const uint32_t position : trees[tree]) {
        const uint32_t s = position >> level;
        if (made.contains({level, s})) continue;
        made[{level, s}] = choices.size();
        Choice choice{tree, level, s, std::nullopt};
        if (level != top) choice.above = made.at({level + 1, s / 2});
        choices.push_back(choice);
      }
    }
  }
  // More trees than wires that lead out of a subtree: no need to try.
  std::map<std::pair<unsigned, uint32_t>, size_t> out;
  for (const Wire& wire : wires_) ++out[{wire.below.level, wire.below.s}];
  for (const Choice& choice : choices) {
    if (choice.above.has_value() && out[{choice.level, choice.s}]-- == 0) return false;
  }
  std::vector<Chip> chosen(choices.size());
  std::set<std::pair<Chip, Chip>> taken;
  const std::function<bool(size_t)> choose = [&](size_t next) {
    if (next == choices.size()) return true;
    const Choice& choice = choices[next];
    for (unsigned chip = 0; chip < (choice.level < 2 ? 1u : 2u); ++chip) {
      chosen[next] = {choice.level, choice.s, chip};
      if (!choice.above.has_value()) {
        if (!Broken(chosen[next]) && choose(next + 1)) return true;
        continue;
      }
      const std::pair<Chip, Chip> link{chosen[next], chosen[*choice.above]};
      if (WireOf(link.first, link.second) == nullptr || !taken.insert(link).second) continue;
      if (choose(next + 1)) return true;
      taken.erase(link);
    }
    return false;
  };
  return choose(0);
}

std::set<std::vector<uint32_t>> ControlOracle::SetsOfOneTree(
    const std::vector<uint8_t>& live) const {
  std::vector<std::pair<unsigned, uint32_t>> choosers;
  for (unsigned level = 2; level <= levels_; ++level) {
    for (const uint32_t s : subtrees_[level]) choosers.emplace_back(level, s);
  }
  std::set<std::vector<uint32_t>> sets;
  for (uint32_t choice = 0; choice < 1u << choosers.size(); ++choice) {
    const auto chip_of = [&](unsigned level, uint32_t s) {
      const auto at = std::find(choosers.begin(), choosers.end(), std::pair(level, s));
      const unsigned chip = at == choosers.end() ? 0 : choice >> (at - choosers.begin()) & 1;
      return Chip{level, s, chip};
    };
    for (unsigned top = 1; top <= levels_; ++top) {
      for (const uint32_t root : subtrees_[top]) {
        std::vector<uint32_t> joined;
        for (uint32_t leaf = 0; leaf < spec_.leaves(); ++leaf) {
          const uint32_t position = Position(leaf);
          bool reaches = live[leaf] != 0 && position >> top == root;
          for (unsigned level = 0; reaches && level < top; ++level) {
            reaches = WireOf(chip_of(level, position >> level),
                             chip_of(level + 1, position >> (level + 1))) != nullptr;
          }
          if (reaches) joined.push_back(leaf);
        }
        sets.insert(joined);
      }
    }
  }
  return sets;
}

}  // namespace vcm5
