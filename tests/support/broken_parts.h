// Every place of a machine that can break, and random ones.
#ifndef VCM5_TESTS_SUPPORT_BROKEN_PARTS_H_
#define VCM5_TESTS_SUPPORT_BROKEN_PARTS_H_

#include <vector>

#include "runtime/base/prng.h"
#include "switches/topology/broken_part.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

// Every chip, and every link, by its lower end, of the given halves.
inline std::vector<BrokenPart> EveryPart(const FatTree& tree, uint8_t halves) {
  std::vector<BrokenPart> parts;
  for (unsigned level = 1; level <= tree.levels(); ++level) {
    const uint32_t chips = tree.nodes_at(level) * tree.chips_per_node(level);
    for (uint32_t number = 0; number < chips; ++number) {
      BrokenPart part{.kind = BrokenPart::Kind::kChip, .halves = halves, .level = level,
                      .number = number};
      parts.push_back(part);
      part.kind = BrokenPart::Kind::kLink;
      for (unsigned up = 0; up < tree.parents(level); ++up) {
        part.port = kChildren + up;
        parts.push_back(part);
      }
    }
  }
  for (uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    parts.push_back({.kind = BrokenPart::Kind::kLeaf, .halves = halves, .leaf = leaf});
  }
  return parts;
}

// Chips and links of high levels as often as those of low ones; some links by their upper end.
inline BrokenPart RandomPart(const FatTree& tree, Prng& prng) {
  static constexpr uint8_t kHalves[] = {kLeftHalf, kRightHalf, kBothHalves};
  BrokenPart part;
  part.halves = kHalves[prng.Below(3)];
  if (prng.Chance(1, 8)) {
    part.leaf = prng.Below(tree.leaves());
    return part;
  }
  part.level = 1 + prng.Below(tree.levels());
  part.number = prng.Below(tree.nodes_at(part.level) * tree.chips_per_node(part.level));
  part.kind = BrokenPart::Kind::kChip;
  if (prng.Chance(1, 2)) return part;
  part.kind = BrokenPart::Kind::kLink;
  const ChipId chip = tree.chip(part.level, 0, 0) + part.number;
  do {
    part.port = prng.Below(kChipPorts);
  } while (tree.peer(chip, part.port).kind == FatTreePeer::Kind::kNothing);
  return part;
}

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_BROKEN_PARTS_H_
