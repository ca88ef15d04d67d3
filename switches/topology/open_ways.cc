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
      node_(tree.chips()),
      full_(tree.chips()),
      open_(tree.chips()),
      closed_(tree.chips()),
      idle_(tree.chips()),
      from_(tree.chips()),
      entered_(tree.chips()) {
  uint32_t nodes = 0;
  for (unsigned level = 1; level <= tree.levels(); ++level) {
    for (uint32_t node = 0; node < tree.nodes_at(level); ++node) {
      for (uint32_t index = 0; index < tree.chips_per_node(level); ++index) {
        node_[tree.chip(level, node, index)] = nodes;
      }
      ++nodes;
    }
  }
  live_below_.resize(nodes);
  for (ChipId chip = 0; chip < tree.chips(); ++chip) {
    for (unsigned port = 0; port < kChipPorts; ++port) {
      peers_[size_t{chip} * kChipPorts + port] = tree.peer(chip, port);
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
  live_ = 0;
  std::fill(live_below_.begin(), live_below_.end(), 0u);
  uint32_t first = 0;  // tree node of the level
  for (unsigned level = 1; level <= tree_.levels(); ++level) {
    for (uint32_t leaf = 0; leaf < tree_.leaves(); ++leaf) {
      live_below_[first + (leaf >> (2 * level))] += live[leaf];
    }
    first += tree_.nodes_at(level);
  }
  live_ = live_below_.back();
}

bool OpenWays::ChildHasLive(ChipId chip, unsigned port, std::span<const uint8_t> live) const {
  const FatTreePeer& peer = Peer(chip, port);
  return peer.kind == FatTreePeer::Kind::kLeaf   ? live[peer.id] != 0
         : peer.kind == FatTreePeer::Kind::kChip ? LiveBelow(peer.id) != 0
                                                 : false;
}

// Chips are numbered from the leaves up: children come first.
void OpenWays::LookDown(const BrokenHalf& broken, std::span<const uint8_t> live) {
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    full_[chip] = 0;
    for (unsigned port = 0; port < kChildren; ++port) {
      const FatTreePeer& peer = Peer(chip, port);
      const bool works = broken.chip[chip] == 0 && (broken.port[chip] & Bit(port)) == 0;
      const bool reaches = !ChildHasLive(chip, port, live) ||
                           (works && (peer.kind == FatTreePeer::Kind::kLeaf ||
                                      full_[peer.id] == kAllChildren));
      if (reaches) full_[chip] |= Bit(port);
    }
  }
}

void OpenWays::LookUp(const BrokenHalf& broken) {
  connected_ = true;
  for (ChipId chip = tree_.chips(); chip-- > 0;) {
    open_[chip] = 0;
    uint8_t linked = 0;
    for (unsigned port = kChildren; port < kChipPorts; ++port) {
      const FatTreePeer& peer = Peer(chip, port);
      if (peer.kind != FatTreePeer::Kind::kChip) continue;
      linked |= Bit(port);
      const bool works = broken.chip[chip] == 0 && broken.chip[peer.id] == 0 &&
                         (broken.port[chip] & Bit(port)) == 0;
      const bool down = (full_[peer.id] | Bit(peer.port)) == kAllChildren;
      const bool up = !LiveOutside(peer.id) || open_[peer.id] != 0;
      if (works && down && up) open_[chip] |= Bit(port);
    }
    closed_[chip] = static_cast<uint8_t>(linked & ~open_[chip]);
    if (tree_.chip(1, tree_.nodes_at(1) - 1, 0) < chip || LiveBelow(chip) == 0) continue;
    // A chip of level 1 is the only one of its leaves.
    if (full_[chip] != kAllChildren || (LiveOutside(chip) && open_[chip] == 0)) connected_ = false;
  }
}

// A message may pass this port.
void OpenWays::Use(ChipId chip, unsigned port) {
  const FatTreePeer& peer = Peer(chip, port);
  idle_[chip] &= static_cast<uint8_t>(~Bit(port));
  if (peer.kind == FatTreePeer::Kind::kChip) {
    idle_[peer.id] &= static_cast<uint8_t>(~Bit(peer.port));
  }
  ++channels_;
}

void OpenWays::CountChannels(std::span<const uint8_t> live) {
  channels_ = 0;
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    idle_[chip] = 0;
    for (unsigned port = 0; port < kChipPorts; ++port) {
      if (Peer(chip, port).kind != FatTreePeer::Kind::kNothing) idle_[chip] |= Bit(port);
    }
  }
  std::fill(from_.begin(), from_.end(), uint8_t{0});
  std::fill(entered_.begin(), entered_.end(), uint8_t{0});
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    for (unsigned port = 0; port < kChildren; ++port) {
      const FatTreePeer& peer = Peer(chip, port);
      if (peer.kind != FatTreePeer::Kind::kLeaf || live[peer.id] == 0) continue;
      from_[chip] |= Bit(port);
      Use(chip, port);
    }
    if (from_[chip] == 0 || !LiveOutside(chip)) continue;
    for (unsigned port = kChildren; port < kChipPorts; ++port) {
      if ((open_[chip] & Bit(port)) == 0) continue;
      from_[Peer(chip, port).id] |= Bit(Peer(chip, port).port);
      Use(chip, port);
    }
  }
  for (ChipId chip = tree_.chips(); chip-- > 0;) {
    for (unsigned port = 0; port < kChildren; ++port) {
      if (!ChildHasLive(chip, port, live)) continue;
      const FatTreePeer& peer = Peer(chip, port);
      const bool is_leaf = peer.kind == FatTreePeer::Kind::kLeaf;
      // A leaf may send to itself.
      const uint8_t turning = is_leaf ? from_[chip] : from_[chip] & static_cast<uint8_t>(~Bit(port));
      if (turning == 0 && entered_[chip] == 0) continue;
      Use(chip, port);
      if (!is_leaf) entered_[peer.id] = 1;
    }
  }
}

}  // namespace vcm5
