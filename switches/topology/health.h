// What a machine does about the broken parts of its networks (paper section 3; DN8, NI8): "either
// the network can be configured to route messages away from the failure, or processing nodes that
// might use the chip or link can be mapped out", whichever is better.
//
// Routing away closes parent links to some messages (open_ways.h). Mapping out takes leaves out of the machine: those
// below the broken part. A leaf whose link is broken, or the chip of level 1 that it hangs on, in
// either half, must be mapped out, for a node needs both halves. For every other part the loss of
// each way is measured against the most that the paper allows of it: directions of links that no
// message can take any more, of all those of both halves, against 6%; leaves, of all leaves, against
// 1/64. The smaller ratio wins, so if either keeps to its bound, what is chosen does. On the CM-5's
// tree, full, of 64 leaves or more that is so for any one part, but one: a chip of level 1 has four
// leaves that hang on nothing else, which of 64 is a sixteenth. (The most that is lost by routing
// around is 5.4%, for a chip of level 2 in a machine of 64.) Parts are considered in the order of the
// description, each on top of what was decided before; so whatever is broken, in the end all leaves
// that remain reach each other.
//
// The control network (paper section 5, CN9) has no such choice to make. Its trees take the other chip
// of a subtree, or another link, which costs channels for control processors and no leaves; leaves that
// no tree can join with the rest are mapped out, as few nodes as can be (control_switches.h). As they
// leave both networks, its parts are considered before those of the data network that leave a choice.
#ifndef VCM5_SWITCHES_TOPOLOGY_HEALTH_H_
#define VCM5_SWITCHES_TOPOLOGY_HEALTH_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "switches/topology/control_switches.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/open_ways.h"

namespace vcm5 {

// Whether a data network has such a part.
bool HasPart(const FatTree& tree, const BrokenPart& part);

// What was decided about one broken part.
struct HealthDecision {
  enum class Way : uint8_t { kRoutedAround, kMappedOut };
  Way way = Way::kRoutedAround;
  bool cut_off = false;          // there was no choice: some leaves have no way past it
  uint64_t channels_lost = 0;    // directions of links of the data network, if routed around
  uint64_t control_links_lost = 0;  // links that do not work for it and did for earlier parts
  std::vector<uint32_t> leaves;  // mapped out for it and not for an earlier part; ascending
  // What the other way would have lost, if there was one.
  std::optional<uint64_t> other_channels;
  std::optional<uint32_t> other_leaves;
};

class Health {
 public:
  // Every part of spec.broken must be one of the machine's.
  explicit Health(const MachineSpec& spec);
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  const FatTree& tree() const { return tree_; }
  const ControlSwitches& control() const { return control_; }
  // By the order of spec.broken.
  const std::vector<HealthDecision>& decisions() const { return decisions_; }

  bool usable(uint32_t leaf) const { return live_[leaf] != 0; }
  // Physical addresses of the nodes that remain, ascending: by relative address (NI8).
  std::vector<uint32_t> Nodes() const;
  uint32_t leaves_lost() const;

  // By ChipId: what a half's chips must not use.
  std::span<const ChipWays> ways(int half) const { return ways_[half].ways(); }

  // Directions of links in both halves, and how many of them no message can take, beyond those that
  // only led to leaves that are mapped out.
  uint64_t channels() const { return channels_; }
  uint64_t channels_lost() const { return lost_; }
  // Links of the control network that do not work, or whose chips do not.
  uint64_t control_links_lost() const { return control_.links() - control_damage_.links(); }

 private:
  using Live = std::vector<uint8_t>;

  void Break(const BrokenPart& part);
  void BreakControl(const BrokenPart& part, HealthDecision* decision);
  bool CutsOff(const BrokenPart& part) const;
  void MapOutBelow(const BrokenPart& part, Live* live) const;
  void KeepOnly(uint32_t first, uint32_t end, Live* live) const;
  std::vector<Live> WaysToMapOut(const BrokenPart& part) const;
  // Channels that are lost with these leaves and all that Break() was told of; nothing if some
  // leaves could not reach each other.
  std::optional<uint64_t> Lost(const Live& live);
  uint64_t Cost(uint64_t channels, uint32_t leaves) const;
  void Decide(const BrokenPart& part, HealthDecision* decision);
  void MapOut(const Live& live, HealthDecision* decision);

  const uint32_t nodes_;
  const FatTree tree_;
  const ControlSwitches control_;
  ControlDamage control_damage_;
  uint64_t channels_ = 0;
  std::array<BrokenHalf, 2> broken_;
  std::array<OpenWays, 2> ways_;
  OpenWays whole_;           // of a half in which nothing is broken
  const BrokenHalf nothing_;
  Live live_;
  uint64_t lost_ = 0;
  std::vector<HealthDecision> decisions_;
};

// Physical addresses of the nodes of a machine that are not mapped out, by relative address.
std::vector<uint32_t> UsableNodes(const MachineSpec& spec);
// And of its control processors, ascending.
std::vector<uint32_t> UsableControlProcessors(const MachineSpec& spec);

// What the chips of a half must not use, by ChipId; empty if nothing is broken.
std::vector<ChipWays> WaysOfChips(const MachineSpec& spec, int half);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_HEALTH_H_
