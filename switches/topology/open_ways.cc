#include "switches/topology/open_ways.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

constexpr uint8_t kAllChildren = (1u << kChildren) - 1;

constexpr uint8_t Bit(unsigned port) { return static_cast<uint8_t>(1u << port); }

}  // namespace

OpenWays::OpenWays(const FatTree& tree)
    : tree_(tree),
      peers_(size_t{tree.chips()} * kChipPorts),
      place_(tree.chips()),
      first_node_(tree.levels() + 1),
      full_(tree.chips()),
      linked_(tree.chips()),
      open_(tree.chips()),
      ways_(tree.chips()),
      from_(size_t{tree.chips()} * kChildren),
      entered_(tree.chips()) {
  VCM5_CHECK(tree.levels() <= kLevelsMax);
  uint32_t nodes = 0;
  for (unsigned level = 1; level <= tree.levels(); ++level) {
    first_node_[level] = nodes;
    nodes += tree.nodes_at(level);
  }
  live_below_.resize(nodes);
  for (ChipId chip = 0; chip < tree.chips(); ++chip) {
    place_[chip] = tree.place(chip);
    for (unsigned port = 0; port < kChipPorts; ++port) {
      const FatTreePeer peer = tree.peer(chip, port);
      peers_[size_t{chip} * kChipPorts + port] = peer;
      if (port >= kChildren && peer.kind == FatTreePeer::Kind::kChip) linked_[chip] |= Bit(port);
    }
  }
}

void OpenWays::Compute(const BrokenHalf& broken, std::span<const uint8_t> live) {
  VCM5_CHECK(live.size() == tree_.leaves());
  CountLive(live);
  LookDown(broken, live);
  LookUp(broken);
  CountChannels(live);
}

void OpenWays::CountLive(std::span<const uint8_t> live) {
  std::fill(live_below_.begin(), live_below_.end(), 0u);
  for (unsigned level = 1; level <= tree_.levels(); ++level) {
    for (uint32_t leaf = 0; leaf < tree_.leaves(); ++leaf) {
      live_below_[first_node_[level] + (leaf >> (2 * level))] += live[leaf];
    }
  }
}

OpenWays::Levels OpenWays::TurnsAbove(unsigned level, uint32_t node) const {
  Levels turns = 0;
  if (LiveBelow(level, node) == 0) return turns;
  for (; level < tree_.levels(); ++level, node /= kChildren) {
    const bool others = LiveBelow(level + 1, node / kChildren) != LiveBelow(level, node);
    if (others) turns |= static_cast<Levels>(1u << (level + 1));
  }
  return turns;
}

bool OpenWays::ChildHasLive(ChipId chip, unsigned port, std::span<const uint8_t> live) const {
  const FatTreePeer& peer = Peer(chip, port);
  if (peer.kind == FatTreePeer::Kind::kLeaf) return live[peer.id] != 0;
  return peer.kind == FatTreePeer::Kind::kChip &&
         LiveBelow(place_[peer.id].level, place_[peer.id].node) != 0;
}

// Chips are numbered from the leaves up: children come first.
void OpenWays::LookDown(const BrokenHalf& broken, std::span<const uint8_t> live) {
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    full_[chip] = 0;
    uint8_t no_fall = 0;
    for (unsigned port = 0; port < kChildren; ++port) {
      const FatTreePeer& peer = Peer(chip, port);
      const bool lives = ChildHasLive(chip, port, live);
      const bool works = broken.chip[chip] == 0 && (broken.port[chip] & Bit(port)) == 0;
      const bool is_leaf = peer.kind == FatTreePeer::Kind::kLeaf;
      if (!lives || (works && (is_leaf || full_[peer.id] == kAllChildren))) full_[chip] |= Bit(port);
      const bool falls =
          lives && works && (is_leaf || ways_[peer.id].no_fall != kAllChildren);
      if (!falls) no_fall |= Bit(port);
    }
    ways_[chip].no_fall = no_fall;
  }
}

void OpenWays::LookUp(const BrokenHalf& broken) {
  connected_ = true;
  for (ChipId chip = tree_.chips(); chip-- > 0;) {
    const unsigned level = place_[chip].level;
    open_[chip] = {};
    for (unsigned port = kChildren; port < kChipPorts; ++port) {
      if ((linked_[chip] & Bit(port)) == 0) continue;
      const FatTreePeer& peer = Peer(chip, port);
      if (broken.chip[chip] != 0 || broken.chip[peer.id] != 0 ||
          (broken.port[chip] & Bit(port)) != 0) {
        continue;
      }
      if ((full_[peer.id] | Bit(peer.port)) == kAllChildren) open_[chip][1] |= Bit(port);
      for (unsigned t = level + 2; t <= tree_.levels(); ++t) {
        if (Open(peer.id, t) != 0) open_[chip][t - level] |= Bit(port);
      }
    }
    const Levels turns = TurnsAbove(level, place_[chip].node);
    Close(chip, turns);
    // A chip of level 1 is the only one of its leaves.
    if (level != 1 || LiveBelow(1, place_[chip].node) == 0) continue;
    if (full_[chip] != kAllChildren) connected_ = false;
    for (unsigned t = 2; t <= tree_.levels(); ++t) {
      if ((turns >> t & 1) != 0 && Open(chip, t) == 0) connected_ = false;
    }
  }
}

void OpenWays::Close(ChipId chip, Levels turns) {
  const unsigned level = place_[chip].level;
  ChipWays& ways = ways_[chip];
  uint8_t open = 0;  // for some height
  for (unsigned t = level + 1; t <= tree_.levels(); ++t) {
    if ((turns >> t & 1) != 0) open |= Open(chip, t);
  }
  ways.closed.fill(static_cast<uint8_t>(linked_[chip] & ~open));
  for (unsigned t = level + 1; t <= tree_.levels(); ++t) {
    if ((turns >> t & 1) == 0) continue;
    ways.closed[t - level] = static_cast<uint8_t>(linked_[chip] & ~Open(chip, t));
  }
}

// A message may leave by this port.
void OpenWays::Use(ChipId chip, unsigned port) {
  const FatTreePeer& peer = Peer(chip, port);
  ways_[chip].idle &= static_cast<uint8_t>(~Bit(port));
  if (peer.kind == FatTreePeer::Kind::kChip) {
    ways_[peer.id].idle &= static_cast<uint8_t>(~Bit(peer.port));
  }
  ++channels_;
}

void OpenWays::CountChannels(std::span<const uint8_t> live) {
  channels_ = 0;
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    ways_[chip].idle = linked_[chip];
    for (unsigned port = 0; port < kChildren; ++port) {
      if (Peer(chip, port).kind != FatTreePeer::Kind::kNothing) ways_[chip].idle |= Bit(port);
    }
  }
  std::fill(from_.begin(), from_.end(), Levels{0});
  std::fill(entered_.begin(), entered_.end(), uint8_t{0});
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    const unsigned level = place_[chip].level;
    Levels climbs = 0;
    for (unsigned port = 0; port < kChildren; ++port) {
      const FatTreePeer& peer = Peer(chip, port);
      Levels& from = from_[size_t{chip} * kChildren + port];
      if (peer.kind == FatTreePeer::Kind::kLeaf && live[peer.id] != 0) {
        // A leaf may send to itself.
        from = static_cast<Levels>(TurnsAbove(1, place_[chip].node) | 1u << 1);
        Use(chip, port);
      }
      climbs |= from;
    }
    for (unsigned port = kChildren; port < kChipPorts; ++port) {
      Levels takes = 0;
      for (unsigned t = level + 1; t <= tree_.levels(); ++t) {
        if ((Open(chip, t) & Bit(port)) != 0) takes |= static_cast<Levels>(climbs & 1u << t);
      }
      if (takes == 0) continue;
      const FatTreePeer& peer = Peer(chip, port);
      from_[size_t{peer.id} * kChildren + peer.port] |= takes;
      Use(chip, port);
    }
  }
  for (ChipId chip = tree_.chips(); chip-- > 0;) {
    uint8_t turning = 0;  // children from which messages come that turn round here
    for (unsigned port = 0; port < kChildren; ++port) {
      const Levels from = from_[size_t{chip} * kChildren + port];
      if ((from >> place_[chip].level & 1) != 0) turning |= Bit(port);
    }
    for (unsigned port = 0; port < kChildren; ++port) {
      if (!ChildHasLive(chip, port, live)) continue;
      const FatTreePeer& peer = Peer(chip, port);
      const bool is_leaf = peer.kind == FatTreePeer::Kind::kLeaf;
      const uint8_t into = is_leaf ? turning : turning & static_cast<uint8_t>(~Bit(port));
      if (into == 0 && entered_[chip] == 0) continue;
      Use(chip, port);
      if (!is_leaf) entered_[peer.id] = 1;
    }
  }
}

}  // namespace vcm5
