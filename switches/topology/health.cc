#include "switches/topology/health.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

// The paper's bounds: 6% of the network, 1/64 of the nodes.
constexpr uint64_t kNetworkShare = 6;
constexpr uint64_t kNetworkOf = 100;
constexpr uint64_t kNodesOf = 64;

uint32_t LeavesLive(const std::vector<uint8_t>& live) {
  return std::accumulate(live.begin(), live.end(), 0u);
}

ChipId ChipOf(const FatTree& tree, const BrokenPart& part) {
  return tree.chip(part.level, 0, 0) + part.number;
}

// A link as its lower end has it: a leaf's, or a parent link of a chip.
BrokenPart FromBelow(const FatTree& tree, const BrokenPart& part) {
  if (part.halves == kControlNetwork || part.kind != BrokenPart::Kind::kLink ||
      part.port >= kChildren) {
    return part;
  }
  const FatTreePeer peer = tree.peer(ChipOf(tree, part), part.port);
  BrokenPart below = part;
  if (peer.kind == FatTreePeer::Kind::kLeaf) {
    below.kind = BrokenPart::Kind::kLeaf;
    below.leaf = peer.id;
    return below;
  }
  below.level = part.level - 1;
  below.number = peer.id - tree.chip(below.level, 0, 0);
  below.port = peer.port;
  return below;
}

}  // namespace

bool HasPart(const FatTree& tree, const BrokenPart& part) {
  if (part.halves < kLeftHalf || part.halves > kBothHalves) return false;
  if (part.kind == BrokenPart::Kind::kLeaf) return part.leaf < tree.leaves();
  if (part.level < 1 || part.level > tree.levels()) return false;
  if (part.number >= tree.nodes_at(part.level) * tree.chips_per_node(part.level)) return false;
  if (part.kind == BrokenPart::Kind::kChip) return true;
  return part.kind == BrokenPart::Kind::kLink && part.port < kChipPorts &&
         tree.peer(ChipOf(tree, part), part.port).kind != FatTreePeer::Kind::kNothing;
}

Health::Health(const MachineSpec& spec)
    : nodes_(spec.nodes),
      tree_(spec.leaves(), spec.parents_per_level),
      control_(spec),
      control_damage_(control_),
      broken_{BrokenHalf(tree_), BrokenHalf(tree_)},
      ways_{OpenWays(tree_), OpenWays(tree_)},
      whole_(tree_),
      nothing_(tree_),
      live_(tree_.leaves(), 1),
      decisions_(spec.broken.size()) {
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    // Each link once, at its lower end; two directions, two halves.
    for (unsigned port = 0; port < kChipPorts; ++port) {
      const FatTreePeer::Kind kind = tree_.peer(chip, port).kind;
      if (kind == FatTreePeer::Kind::kLeaf ||
          (kind == FatTreePeer::Kind::kChip && port >= kChildren)) {
        channels_ += 4;
      }
    }
  }
  std::vector<BrokenPart> parts;
  for (const BrokenPart& part : spec.broken) {
    VCM5_CHECK_MSG(HasPart(tree_, part) || control_.Has(part),
                   "a broken part that the machine does not have");
    parts.push_back(FromBelow(tree_, part));
  }
  // What leaves no choice comes first: it may decide others.
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!CutsOff(parts[i])) continue;
    Break(parts[i]);
    Live live = live_;
    MapOutBelow(parts[i], &live);
    decisions_[i].cut_off = true;
    MapOut(live, &decisions_[i]);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].halves == kControlNetwork) BreakControl(parts[i], &decisions_[i]);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (decisions_[i].cut_off || parts[i].halves == kControlNetwork) continue;
    Break(parts[i]);
    Decide(parts[i], &decisions_[i]);
  }
  // Nothing comes near a part below which no leaf is left, whatever was decided before.
  for (size_t i = 0; i < parts.size(); ++i) {
    Live below = live_;
    MapOutBelow(parts[i], &below);
    if (below != live_ || decisions_[i].way == HealthDecision::Way::kMappedOut) continue;
    decisions_[i].channels_lost = 0;
    decisions_[i].other_leaves.reset();
    decisions_[i].way = HealthDecision::Way::kMappedOut;
  }
  const std::optional<uint64_t> lost = Lost(live_);
  VCM5_CHECK_MSG(lost.has_value(), "leaves that remain do not reach each other");
  lost_ = *lost;
}

void Health::Break(const BrokenPart& part) {
  for (unsigned half = 0; half < 2; ++half) {
    if ((part.halves >> half & 1) == 0) continue;
    BrokenHalf& broken = broken_[half];
    if (part.kind == BrokenPart::Kind::kLeaf) {
      const FatTreePeer at = tree_.leaf_peer(part.leaf);
      broken.port[at.id] |= static_cast<uint8_t>(1u << at.port);
    } else if (part.kind == BrokenPart::Kind::kChip) {
      broken.chip[ChipOf(tree_, part)] = 1;
    } else {
      const ChipId chip = ChipOf(tree_, part);
      const FatTreePeer peer = tree_.peer(chip, part.port);
      broken.port[chip] |= static_cast<uint8_t>(1u << part.port);
      broken.port[peer.id] |= static_cast<uint8_t>(1u << peer.port);
    }
  }
}

void Health::BreakControl(const BrokenPart& part, HealthDecision* decision) {
  const uint32_t links = control_damage_.links();
  control_damage_.Break(part);
  decision->control_links_lost = links - control_damage_.links();
  const Live joined = LeavesOfOneTree(control_, control_damage_, live_);
  if (joined == live_) return;
  decision->cut_off = true;
  MapOut(joined, decision);
}

bool Health::CutsOff(const BrokenPart& part) const {
  return part.halves != kControlNetwork &&
         (part.kind == BrokenPart::Kind::kLeaf ||
          (part.kind == BrokenPart::Kind::kChip && part.level == 1));
}

void Health::MapOutBelow(const BrokenPart& part, Live* live) const {
  if (part.halves == kControlNetwork) {
    const ControlSwitches::Place place = control_.PlaceOf(part);
    const auto [first, end] = control_.leaves_below(place.level, place.s);
    std::fill(live->begin() + first, live->begin() + end, uint8_t{0});
    return;
  }
  if (part.kind == BrokenPart::Kind::kLeaf) {
    (*live)[part.leaf] = 0;
    return;
  }
  const uint32_t node = part.number / tree_.chips_per_node(part.level);
  const uint64_t span = uint64_t{1} << (2 * part.level);
  const uint64_t end = std::min<uint64_t>((node + 1) * span, tree_.leaves());
  std::fill(live->begin() + static_cast<ptrdiff_t>(node * span),
            live->begin() + static_cast<ptrdiff_t>(end), uint8_t{0});
}

void Health::KeepOnly(uint32_t first, uint32_t end, Live* live) const {
  for (uint32_t leaf = 0; leaf < live->size(); ++leaf) {
    if (leaf < first || leaf >= end) (*live)[leaf] = 0;
  }
}

// The leaves below the part; or, if then no node would be left, all others: those of one tree node
// whose messages among themselves do not need it.
std::vector<Health::Live> Health::WaysToMapOut(const BrokenPart& part) const {
  Live below = live_;
  MapOutBelow(part, &below);
  if (std::count(below.begin(), below.begin() + nodes_, 1) != 0) return {below};
  const uint32_t node = part.number / tree_.chips_per_node(part.level);
  if (part.kind == BrokenPart::Kind::kLink) {
    Live kept = live_;
    KeepOnly(node << (2 * part.level), (node + 1) << (2 * part.level), &kept);
    return {kept};
  }
  std::vector<Live> ways;
  for (uint32_t child = node * kChildren; child < (node + 1) * kChildren; ++child) {
    Live& kept = ways.emplace_back(live_);
    KeepOnly(child << (2 * (part.level - 1)), (child + 1) << (2 * (part.level - 1)), &kept);
  }
  return ways;
}

std::optional<uint64_t> Health::Lost(const Live& live) {
  whole_.Compute(nothing_, live);
  uint64_t lost = 0;
  for (unsigned half = 0; half < 2; ++half) {
    ways_[half].Compute(broken_[half], live);
    if (!ways_[half].connected()) return std::nullopt;
    lost += whole_.channels() - ways_[half].channels();
  }
  return lost;
}

// Both losses as parts of what the paper allows, summed, times what makes them whole numbers.
uint64_t Health::Cost(uint64_t channels, uint32_t leaves) const {
  return channels * kNetworkOf * tree_.leaves() + leaves * kNodesOf * kNetworkShare * channels_;
}

void Health::Decide(const BrokenPart& part, HealthDecision* decision) {
  const uint32_t live_before = LeavesLive(live_);
  const uint32_t gone = tree_.leaves() - live_before;
  const std::optional<uint64_t> around = Lost(live_);

  Live best;
  uint64_t best_cost = ~uint64_t{0};
  for (const Live& live : WaysToMapOut(part)) {
    const std::optional<uint64_t> lost = Lost(live);
    VCM5_CHECK_MSG(lost.has_value(), "mapping out the leaves of a part does not help");
    const uint64_t cost = Cost(*lost, tree_.leaves() - LeavesLive(live));
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = live;
  }
  decision->cut_off = !around.has_value();
  if (around.has_value() && Cost(*around, gone) <= best_cost) {
    decision->channels_lost = *around - std::min(*around, lost_);
    decision->other_leaves = live_before - LeavesLive(best);
    lost_ = *around;
    return;
  }
  if (around.has_value()) decision->other_channels = *around - std::min(*around, lost_);
  MapOut(best, decision);
  lost_ = Lost(live_).value_or(0);
}

void Health::MapOut(const Live& live, HealthDecision* decision) {
  decision->way = HealthDecision::Way::kMappedOut;
  for (uint32_t leaf = 0; leaf < live.size(); ++leaf) {
    if (live_[leaf] != 0 && live[leaf] == 0) decision->leaves.push_back(leaf);
  }
  live_ = live;
}

std::vector<uint32_t> Health::Nodes() const {
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < nodes_; ++node) {
    if (usable(node)) nodes.push_back(node);
  }
  return nodes;
}

uint32_t Health::leaves_lost() const { return tree_.leaves() - LeavesLive(live_); }

std::vector<uint32_t> UsableNodes(const MachineSpec& spec) {
  if (!spec.broken.empty()) return Health(spec).Nodes();
  std::vector<uint32_t> nodes(spec.nodes);
  std::iota(nodes.begin(), nodes.end(), 0u);
  return nodes;
}

std::vector<uint32_t> UsableControlProcessors(const MachineSpec& spec) {
  std::vector<uint32_t> leaves(spec.control_processors);
  std::iota(leaves.begin(), leaves.end(), spec.nodes);
  if (spec.broken.empty()) return leaves;
  const Health health(spec);
  std::erase_if(leaves, [&](uint32_t leaf) { return !health.usable(leaf); });
  return leaves;
}

std::vector<ChipWays> WaysOfChips(const MachineSpec& spec, int half) {
  if (spec.broken.empty()) return {};
  const Health health(spec);
  const auto ways = health.ways(half);
  return {ways.begin(), ways.end()};
}

}  // namespace vcm5
