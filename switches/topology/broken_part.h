// A part of a network that does not work (paper section 3: "a faulty processor node, network chip, or
// interconnection link"), by its place. Which places a machine has, FatTree and ControlSwitches say.
#ifndef VCM5_SWITCHES_TOPOLOGY_BROKEN_PART_H_
#define VCM5_SWITCHES_TOPOLOGY_BROKEN_PART_H_

#include <cstdint>

namespace vcm5 {

// The halves that a broken part is broken in; bit 0 is the left one, as VCM5_LEFT is 0.
inline constexpr uint8_t kLeftHalf = 1;
inline constexpr uint8_t kRightHalf = 2;
inline constexpr uint8_t kBothHalves = 3;
// Instead of halves: a part of the control network.
inline constexpr uint8_t kControlNetwork = 4;

struct BrokenPart {
  enum class Kind : uint8_t {
    kChip,  // a router chip; a switch of the control network
    kLink,  // both directions of the link of a chip's port: child links 0 to 3, parent links from 4
    kLeaf,  // the link of a leaf; in both halves: the leaf itself
  };
  Kind kind = Kind::kLeaf;
  uint8_t halves = kBothHalves;
  uint32_t level = 0;   // of the chip, from 1
  uint32_t number = 0;  // of the chip in its level, those of a tree node or subtree together
  uint32_t port = 0;    // kLink
  uint32_t leaf = 0;    // kLeaf

  bool operator==(const BrokenPart&) const = default;
};

// The most that a machine description may name.
inline constexpr uint32_t kBrokenPartsMax = 64;

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_BROKEN_PART_H_
