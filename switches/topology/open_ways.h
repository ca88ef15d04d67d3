// Which parent links of one half of the data network messages may still climb when some of its parts
// are broken (paper section 3: "the network can be configured to route messages away from the
// failure"). DN8.
//
// A climbing message carries only how high it goes, so a chip may send it up any open parent link; and
// from the chip where it turns round there is one way down. So a climb must not reach a chip that
// could not serve every message that may come by that link. From child c of a chip, that is: the chip
// works and the link does; going down by every other child, it reaches all live leaves there; and if
// leaves live outside its tree node, it has an open parent link itself, by the same rule. (Nothing
// turns round into the child that it came from: it would have turned there. And it could: what could
// climb out of a child can, by the same rule, come down into it. So messages that fall, DN7, are safe
// in every chip that is climbed, too.) The first part follows from the leaves up, the second from the
// top down. Each chip needs to know only which of its own parent links are closed.
#ifndef VCM5_SWITCHES_TOPOLOGY_OPEN_WAYS_H_
#define VCM5_SWITCHES_TOPOLOGY_OPEN_WAYS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "switches/topology/fat_tree.h"

namespace vcm5 {

// What does not work in one half.
struct BrokenHalf {
  std::vector<uint8_t> chip;  // by ChipId: 1 if broken
  std::vector<uint8_t> port;  // by ChipId: bit p if the link of port p is broken; marked at both ends

  explicit BrokenHalf(const FatTree& tree) : chip(tree.chips()), port(tree.chips()) {}
};

class OpenWays {
 public:
  // `tree` must outlive this.
  explicit OpenWays(const FatTree& tree);

  // `live[leaf]` is 1 if the leaf is part of the machine. May be called again.
  void Compute(const BrokenHalf& broken, std::span<const uint8_t> live);

  // ---- results of the last Compute() ----

  // Every two live leaves reach each other, whatever open links are chosen.
  bool connected() const { return connected_; }

  // By ChipId: bits 4 to 7 are the parent ports that no message may climb.
  std::span<const uint8_t> closed() const { return closed_; }

  // By ChipId: ports whose link no message between live leaves takes, up or down. All closed ones are
  // among them: a chip that may not be climbed from a child is not one that messages come down from.
  std::span<const uint8_t> idle() const { return idle_; }

  // Directions of links (two a link) that some message between live leaves may take.
  uint64_t channels() const { return channels_; }

 private:
  uint32_t LiveBelow(ChipId chip) const { return live_below_[node_[chip]]; }
  bool LiveOutside(ChipId chip) const { return LiveBelow(chip) != live_; }
  const FatTreePeer& Peer(ChipId chip, unsigned port) const {
    return peers_[size_t{chip} * kChipPorts + port];
  }
  bool ChildHasLive(ChipId chip, unsigned port, std::span<const uint8_t> live) const;

  void CountLive(std::span<const uint8_t> live);
  void LookDown(const BrokenHalf& broken, std::span<const uint8_t> live);
  void LookUp(const BrokenHalf& broken);
  void CountChannels(std::span<const uint8_t> live);
  void Use(ChipId chip, unsigned port);

  const FatTree& tree_;
  std::vector<FatTreePeer> peers_;  // kChipPorts a chip
  std::vector<uint32_t> node_;      // by ChipId: its tree node, numbered level by level
  std::vector<uint32_t> live_below_;  // by tree node
  uint32_t live_ = 0;
  std::vector<uint8_t> full_;    // by ChipId: bit c: reaches all live leaves below child c
  std::vector<uint8_t> open_;    // by ChipId: bit p (4 to 7): may be climbed
  std::vector<uint8_t> closed_;
  std::vector<uint8_t> idle_;
  std::vector<uint8_t> from_;     // by ChipId: children from which messages climb into it
  std::vector<uint8_t> entered_;  // by ChipId: messages come down into it
  bool connected_ = false;
  uint64_t channels_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_OPEN_WAYS_H_
