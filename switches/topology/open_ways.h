// Which links of one half of the data network messages may still take when some of its parts are
// broken (paper section 3: "the network can be configured to route messages away from the failure").
// DN8.
//
// A climbing message carries only how high it goes, so a chip may send it up any link that is open for
// that height; and from the chip where it turns round there is one way down. So a link is open for
// messages that turn round at level t if it works, as do both chips, and
//   - if the chip above is of level t: going down by every other child, that chip reaches all live
//     leaves there (nothing turns round into the child that it came from);
//   - if it is lower: it has a link itself that is open for messages that turn round at t.
// The first follows from the leaves up, the second from the top down. So a chip that cannot serve as
// the place to turn round can still be passed on the way to a higher one, and what is below a broken
// part is no reason to shun what leads elsewhere.
//
// A message that falls (DN7) does so wherever it is, so in a chip that may only be passed, too. It
// is dealt to any child link that works and leads to a chip that has such a link itself, or to a live
// leaf. A chip that a message climbed into has one: the message came up by it.
#ifndef VCM5_SWITCHES_TOPOLOGY_OPEN_WAYS_H_
#define VCM5_SWITCHES_TOPOLOGY_OPEN_WAYS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/routing_instructions.h"
#include "switches/topology/chip_ways.h"
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

  // By ChipId. A link that no message between live leaves would climb to some height is closed for
  // it only if it is for all that some would.
  std::span<const ChipWays> ways() const { return ways_; }

  // Directions of links (two a link) that some message between live leaves may take.
  uint64_t channels() const { return channels_; }

 private:
  using Levels = uint16_t;  // bit t: messages that turn round at level t

  const FatTreePeer& Peer(ChipId chip, unsigned port) const {
    return peers_[size_t{chip} * kChipPorts + port];
  }
  uint32_t LiveBelow(unsigned level, uint32_t node) const {
    return live_below_[first_node_[level] + node];
  }
  // At which levels messages of the live leaves below a tree node turn round, of those above it.
  Levels TurnsAbove(unsigned level, uint32_t node) const;
  bool ChildHasLive(ChipId chip, unsigned port, std::span<const uint8_t> live) const;
  // Parent ports of a chip by which messages that turn round at level t may leave.
  uint8_t Open(ChipId chip, unsigned t) const { return open_[chip][t - place_[chip].level]; }

  void CountLive(std::span<const uint8_t> live);
  void LookDown(const BrokenHalf& broken, std::span<const uint8_t> live);
  void LookUp(const BrokenHalf& broken);
  void Close(ChipId chip, Levels turns);
  void CountChannels(std::span<const uint8_t> live);
  void Use(ChipId chip, unsigned port);

  const FatTree& tree_;
  std::vector<FatTreePeer> peers_;  // kChipPorts a chip
  std::vector<ChipPlace> place_;    // by ChipId
  std::vector<uint32_t> first_node_;  // by level: the first of its tree nodes in live_below_
  std::vector<uint32_t> live_below_;  // by tree node
  std::vector<uint8_t> full_;    // by ChipId: bit c: reaches all live leaves below child c
  std::vector<uint8_t> linked_;  // by ChipId: parent ports
  std::vector<std::array<uint8_t, kLevelsMax>> open_;  // by ChipId and climb: parent ports
  std::vector<ChipWays> ways_;
  std::vector<Levels> from_;      // by ChipId * kChildren + child: of what climbs into it there
  std::vector<uint8_t> entered_;  // by ChipId: messages come down into it
  bool connected_ = false;
  uint64_t channels_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_OPEN_WAYS_H_
