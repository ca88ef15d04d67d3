#include "switches/topology/control_switches.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

uint32_t SubtreesOf(uint32_t leaves, unsigned level) {
  return (leaves + (1u << level) - 1) >> level;
}

}  // namespace

ControlSwitches::ControlSwitches(const MachineSpec& spec)
    : nodes_(spec.nodes),
      others_(spec.control_processors + spec.io_channels),
      half_(std::bit_ceil(std::max(nodes_, others_))) {
  VCM5_CHECK(nodes_ >= 1 && leaves() <= kLeavesMax);
  const unsigned halves = others_ == 0 ? 1 : 2;
  const auto top = std::max(1u, static_cast<unsigned>(std::countr_zero(half_ * halves)));
  for (unsigned level = 0; level <= top; ++level) {
    Level& here = level_.emplace_back();
    here.first_subtree = subtrees_;
    here.first_switch = switches_;
    here.left = level == top ? 1 : SubtreesOf(nodes_, level);
    here.right = level == top ? 0 : SubtreesOf(others_, level);
    subtrees_ += here.left + here.right;
    if (level != 0) switches_ += (here.left + here.right) * chips(level);
  }
  for (unsigned level = 0; level < top; ++level) links_ += chips_at(level) * parents(level);
}

bool ControlSwitches::exists(unsigned level, uint32_t s) const {
  const uint32_t right = half_ >> level;
  return s < level_[level].left || (s >= right && s - right < level_[level].right);
}

ControlSwitches::Leaves ControlSwitches::leaves_below(unsigned level, uint32_t s) const {
  if (level == levels()) return {0, leaves()};
  const uint32_t first = s << level;
  const uint32_t end = (s + 1) << level;
  if (first < half_) return {first, std::min(end, nodes_)};
  return {first - half_ + nodes_, std::min(end - half_ + nodes_, leaves())};
}

bool ControlSwitches::HasPort(unsigned level, uint32_t chip, unsigned port) const {
  if (port >= kChildPorts) return port - kChildPorts < parents(level);
  const uint32_t s = SubtreeAt(level, chip / chips(level));
  return (port & 1) < chips(level - 1) && exists(level - 1, 2 * s + (port >> 1));
}

bool ControlSwitches::Has(const BrokenPart& part) const {
  if (part.halves != kControlNetwork) return false;
  if (part.kind == BrokenPart::Kind::kLeaf) return part.leaf < leaves();
  if (part.level < 1 || part.level > levels() || part.number >= chips_at(part.level)) return false;
  return part.kind == BrokenPart::Kind::kChip || HasPort(part.level, part.number, part.port);
}

ControlSwitches::Place ControlSwitches::PlaceOf(const BrokenPart& part) const {
  VCM5_CHECK_MSG(Has(part), "a part that the control network does not have");
  if (part.kind == BrokenPart::Kind::kLeaf) return {0, position(part.leaf), 0, 0};
  const unsigned chip = part.number % chips(part.level);
  const uint32_t s = SubtreeAt(part.level, part.number / chips(part.level));
  if (part.kind == BrokenPart::Kind::kChip) return {part.level, s, chip, 0};
  if (part.port >= kChildPorts) return {part.level, s, chip, part.port - kChildPorts};
  return {part.level - 1, 2 * s + (part.port >> 1), part.port & 1, chip};
}

ControlDamage::ControlDamage(const ControlSwitches& switches, const std::vector<BrokenPart>& parts)
    : ControlDamage(switches) {
  for (const BrokenPart& part : parts) {
    if (part.halves == kControlNetwork) Break(part);
  }
}

void ControlDamage::Break(const BrokenPart& part) {
  const ControlSwitches::Place place = switches_->PlaceOf(part);
  const uint32_t subtree = switches_->subtree(place.level, place.s);
  if (part.kind == BrokenPart::Kind::kChip) {
    chips_[subtree] |= static_cast<uint8_t>(1u << place.chip);
  } else {
    links_[subtree] |= static_cast<uint8_t>(1u << (2 * place.chip + place.port));
  }
}

bool ControlDamage::LinkWorks(unsigned level, uint32_t s, unsigned chip, unsigned above) const {
  return (links_[switches_->subtree(level, s)] >> (2 * chip + above) & 1) == 0 &&
         ChipWorks(level, s, chip) && ChipWorks(level + 1, s / 2, above);
}

unsigned ControlDamage::Channels(unsigned level, uint32_t s) const {
  unsigned channels = 0;
  for (unsigned chip = 0; chip < switches_->chips(level); ++chip) {
    for (unsigned above = 0; above < switches_->parents(level); ++above) {
      channels += LinkWorks(level, s, chip, above) ? 1 : 0;
    }
  }
  return channels;
}

uint32_t ControlDamage::links() const {
  uint32_t work = 0;
  for (unsigned level = 0; level < switches_->levels(); ++level) {
    for (uint32_t number = 0; number < switches_->subtrees_at(level); ++number) {
      work += Channels(level, switches_->SubtreeAt(level, number));
    }
  }
  return work;
}

namespace {

// By subtree and chip: how much is below that a tree can join there.
class OneTree {
 public:
  OneTree(const ControlSwitches& switches, const ControlDamage& damage,
          const std::vector<uint8_t>& live)
      : switches_(switches), damage_(damage), weight_(2 * size_t{switches.subtrees()}) {
    const auto leaves = static_cast<uint32_t>(live.size());
    for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
      // One node is worth more than all that is no node.
      if (live[leaf] != 0) Weight(0, switches.position(leaf), 0) = leaf < switches.nodes() ? leaves : 1;
    }
    for (unsigned level = 1; level <= switches.levels(); ++level) {
      for (uint32_t number = 0; number < switches.subtrees_at(level); ++number) {
        const uint32_t s = switches.SubtreeAt(level, number);
        for (unsigned chip = 0; chip < switches.chips(level); ++chip) {
          if (!damage.ChipWorks(level, s, chip)) continue;
          for (uint32_t child = 2 * s; child <= 2 * s + 1; ++child) {
            if (!switches.exists(level - 1, child)) continue;
            const unsigned best = BestChip(level - 1, child, chip);
            if (best != kNone) Weight(level, s, chip) += Weight(level - 1, child, best);
          }
        }
      }
    }
  }

  std::vector<uint8_t> Best() {
    uint64_t most = 0;
    ControlSwitches::Place root{};
    // A leaf without a chip is no part of the network.
    for (unsigned level = 1; level <= switches_.levels(); ++level) {
      for (uint32_t number = 0; number < switches_.subtrees_at(level); ++number) {
        const uint32_t s = switches_.SubtreeAt(level, number);
        for (unsigned chip = 0; chip < switches_.chips(level); ++chip) {
          if (Weight(level, s, chip) <= most) continue;
          most = Weight(level, s, chip);
          root = {level, s, chip, 0};
        }
      }
    }
    std::vector<uint8_t> joined(switches_.leaves());
    if (most != 0) Join(root.level, root.s, root.chip, &joined);
    return joined;
  }

 private:
  static constexpr unsigned kNone = 2;

  uint64_t& Weight(unsigned level, uint32_t s, unsigned chip) {
    return weight_[2 * size_t{switches_.subtree(level, s)} + chip];
  }

  // The chip of a subtree by which most goes up to chip `above`.
  unsigned BestChip(unsigned level, uint32_t s, unsigned above) {
    unsigned best = kNone;
    for (unsigned chip = 0; chip < switches_.chips(level); ++chip) {
      if (Weight(level, s, chip) == 0 || !damage_.LinkWorks(level, s, chip, above)) continue;
      if (best == kNone || Weight(level, s, chip) > Weight(level, s, best)) best = chip;
    }
    return best;
  }

  void Join(unsigned level, uint32_t s, unsigned chip, std::vector<uint8_t>* joined) {
    if (level == 0) {
      (*joined)[switches_.leaves_below(0, s).first] = 1;
      return;
    }
    for (uint32_t child = 2 * s; child <= 2 * s + 1; ++child) {
      if (!switches_.exists(level - 1, child)) continue;
      const unsigned best = BestChip(level - 1, child, chip);
      if (best != kNone) Join(level - 1, child, best, joined);
    }
  }

  const ControlSwitches& switches_;
  const ControlDamage& damage_;
  std::vector<uint64_t> weight_;
};

}  // namespace

std::vector<uint8_t> LeavesOfOneTree(const ControlSwitches& switches, const ControlDamage& damage,
                                     const std::vector<uint8_t>& live) {
  VCM5_CHECK(live.size() == switches.leaves());
  return OneTree(switches, damage, live).Best();
}

}  // namespace vcm5
