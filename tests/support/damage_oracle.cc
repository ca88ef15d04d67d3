#include "tests/support/damage_oracle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

void Add(std::vector<uint64_t>& set, const std::vector<uint64_t>& more) {
  for (size_t i = 0; i < set.size(); ++i) set[i] |= more[i];
}

void AddLeaf(std::vector<uint64_t>& set, uint32_t leaf) {
  set[leaf / 64] |= uint64_t{1} << (leaf % 64);
}

}  // namespace

Damage::Damage(const FatTree& tree, const std::vector<BrokenPart>& parts, int half) {
  for (const BrokenPart& part : parts) {
    if ((part.halves >> half & 1) == 0) continue;
    if (part.kind == BrokenPart::Kind::kLeaf) {
      ports.insert({tree.leaf_peer(part.leaf).id, tree.leaf_peer(part.leaf).port});
      continue;
    }
    ChipId chip = part.number;
    for (unsigned level = 1; level < part.level; ++level) {
      chip += tree.nodes_at(level) * tree.chips_per_node(level);
    }
    if (part.kind == BrokenPart::Kind::kChip) {
      chips.insert(chip);
      continue;
    }
    const FatTreePeer peer = tree.peer(chip, part.port);
    ports.insert({chip, part.port});
    if (peer.kind == FatTreePeer::Kind::kChip) ports.insert({peer.id, peer.port});
  }
}

DamageOracle::DamageOracle(const FatTree& tree, const Damage& damage,
                           std::span<const ChipWays> ways)
    : tree_(tree), damage_(damage), ways_(ways) {
  const Set none((tree.leaves() + 63) / 64);
  below_.assign(size_t{tree.chips()} * kChildren, none);
  reached_.assign(tree.chips(), none);
  for (ChipId chip = 0; chip < tree.chips(); ++chip) {
    for (unsigned port = 0; port < kChildren; ++port) {
      const FatTreePeer peer = tree.peer(chip, port);
      Set& below = below_[size_t{chip} * kChildren + port];
      const bool works = Crosses(chip, port).empty();
      if (peer.kind == FatTreePeer::Kind::kLeaf) {
        AddLeaf(below, peer.id);
        if (works) AddLeaf(reached_[chip], peer.id);
      } else if (peer.kind == FatTreePeer::Kind::kChip) {
        for (unsigned child = 0; child < kChildren; ++child) {
          Add(below, below_[size_t{peer.id} * kChildren + child]);
        }
        if (works) Add(reached_[chip], reached_[peer.id]);
      }
    }
  }
}

// What is wrong with a packet that leaves a chip by a port.
std::string DamageOracle::Crosses(ChipId chip, unsigned port) const {
  if (damage_.Chip(chip)) return absl::StrCat("comes to broken chip ", chip);
  if (damage_.Port(chip, port)) return absl::StrCat("takes broken port ", port, " of chip ", chip);
  const FatTreePeer peer = tree_.peer(chip, port);
  if (peer.kind == FatTreePeer::Kind::kNothing) return "takes a port without a link";
  if (peer.kind == FatTreePeer::Kind::kChip && damage_.Chip(peer.id)) {
    return absl::StrCat("comes to broken chip ", peer.id);
  }
  return "";
}

std::string DamageOracle::AllReachAll(const std::vector<uint32_t>& live) {
  live_.assign((tree_.leaves() + 63) / 64, 0);
  seen_.assign(size_t{tree_.chips()} * kChildren, 0);
  fell_.assign(tree_.chips(), 0);
  for (const uint32_t leaf : live) AddLeaf(live_, leaf);
  for (const uint32_t leaf : live) {
    const FatTreePeer at = tree_.leaf_peer(leaf);
    std::string wrong = Crosses(at.id, at.port);
    if (wrong.empty()) wrong = Climb(at.id, at.port, 1);
    uint32_t before = 1;  // live leaves of the subtree of the level below
    for (unsigned t = 1; wrong.empty() && t <= tree_.levels(); ++t) {
      const auto end = std::lower_bound(live.begin(), live.end(), ((leaf >> (2 * t)) + 1) << (2 * t));
      const auto first = std::lower_bound(live.begin(), end, leaf >> (2 * t) << (2 * t));
      const auto here = static_cast<uint32_t>(end - first);
      if (here != before) wrong = Climb(at.id, at.port, t);
      before = here;
    }
    if (!wrong.empty()) return absl::StrCat("leaf ", leaf, ": ", wrong);
  }
  return "";
}

bool DamageOracle::Climbs(ChipId chip, unsigned port, unsigned climb) const {
  return tree_.peer(chip, port).kind != FatTreePeer::Kind::kNothing &&
         (ways_[chip].closed[climb] >> port & 1) == 0;
}

// A packet that turns round at level t has come up into a chip by a child port, with any destination;
// and may begin to fall there.
std::string DamageOracle::Climb(ChipId chip, unsigned from_port, unsigned t) {
  uint16_t& seen = seen_[size_t{chip} * kChildren + from_port];
  if ((seen >> t & 1) != 0) return "";
  seen |= static_cast<uint16_t>(1u << t);
  if (std::string wrong = Fall(chip); !wrong.empty()) return wrong;
  const unsigned level = tree_.place(chip).level;
  if (level == t) return Turn(chip, from_port);
  bool climbs = false;
  for (unsigned port = kChildren; port < kChipPorts; ++port) {
    if (!Climbs(chip, port, t - level)) continue;
    climbs = true;
    const FatTreePeer peer = tree_.peer(chip, port);
    std::string wrong = Crosses(chip, port);
    if (wrong.empty()) wrong = Climb(peer.id, peer.port, t);
    if (!wrong.empty()) return wrong;
  }
  return climbs ? "" : absl::StrCat("all parent links of chip ", chip, " are closed");
}

// Only a leaf sends back to where it came from.
std::string DamageOracle::Turn(ChipId chip, unsigned from_port) const {
  for (unsigned port = 0; port < kChildren; ++port) {
    if (port == from_port && tree_.peer(chip, port).kind == FatTreePeer::Kind::kChip) continue;
    const Set& below = below_[size_t{chip} * kChildren + port];
    for (size_t i = 0; i < live_.size(); ++i) {
      if ((below[i] & live_[i] & ~reached_[chip][i]) != 0) {
        return absl::StrCat("turns at chip ", chip, ", which misses leaves");
      }
    }
  }
  return "";
}

std::string DamageOracle::Fall(ChipId chip) {
  if (fell_[chip] != 0) return "";
  fell_[chip] = 1;
  bool falls = false;
  for (unsigned port = 0; port < kChildren; ++port) {
    const FatTreePeer peer = tree_.peer(chip, port);
    if (peer.kind == FatTreePeer::Kind::kNothing || (ways_[chip].no_fall >> port & 1) != 0) continue;
    falls = true;
    std::string wrong = Crosses(chip, port);
    if (peer.kind == FatTreePeer::Kind::kLeaf) {
      const bool live = (live_[peer.id / 64] >> (peer.id % 64) & 1) != 0;
      if (wrong.empty() && !live) wrong = absl::StrCat("falls on leaf ", peer.id, ", which is out");
    } else if (wrong.empty()) {
      wrong = Fall(peer.id);
    }
    if (!wrong.empty()) return wrong;
  }
  return falls ? "" : absl::StrCat("nothing can fall from chip ", chip);
}

std::string DamageOracle::FollowEveryWay(uint32_t source, uint32_t destination,
                                         uint32_t route) const {
  const FatTreePeer at = tree_.leaf_peer(source);
  const std::string wrong = Crosses(at.id, at.port);
  return wrong.empty() ? Follow(at.id, destination, route) : wrong;
}

std::string DamageOracle::Follow(ChipId chip, uint32_t destination, uint32_t route) const {
  if ((route & 0xf) == 0) {
    const unsigned port = (route >> 4) & 3;
    const FatTreePeer peer = tree_.peer(chip, port);
    if (std::string wrong = Crosses(chip, port); !wrong.empty()) return wrong;
    if (peer.kind == FatTreePeer::Kind::kChip) {
      return Follow(peer.id, destination, route >> 6 << 4);
    }
    return peer.id == destination ? "" : absl::StrCat("arrives at leaf ", peer.id);
  }
  bool climbs = false;
  for (unsigned port = kChildren; port < kChipPorts; ++port) {
    if (!Climbs(chip, port, route & 0xf)) continue;
    climbs = true;
    const FatTreePeer peer = tree_.peer(chip, port);
    std::string wrong = Crosses(chip, port);
    if (wrong.empty()) wrong = Follow(peer.id, destination, route - 1);
    if (!wrong.empty()) return wrong;
  }
  return climbs ? "" : absl::StrCat("all parent links of chip ", chip, " are closed");
}

}  // namespace vcm5
