// What the switches of the control network are set to, and the off-line algorithm that sets them
// (paper section 5, CN9, DG8): "each switch ... contains two binary-tree nodes which can be statically
// configured so that either can connect to any pair of children."
//
//      parent  4             5
//              │             │
//            ╭─┴─╮         ╭─┴─╮     Tree node A joins what comes by child links 0 and 2 and goes up by
//            │ A │         │ B │     parent link 4. B passes what comes by 3 on by 5: the left subtree
//            ╰┬─┬╯         ╰──┬╯     has nothing for its tree. One without a parent link is the root
//             │ ╰───────╮     │      of its tree, where packets turn round.
//      child  0    1    2     3
//
// A pair is a child link from the left subtree (0 or 1) and one from the right (2 or 3), so leaves keep
// their order from left to right: that is the order of scans, the nodes of a partition and then its
// control processor. The tree of a partition is what one finds in going down from its root by tree
// nodes and links; nodes that only pass are wires in it. So it has the shape of the machine whatever
// chips were chosen, and on a whole machine that of BinaryTree::Balanced().
//
// How switches are set. A tree crosses the top of a subtree if it has leaves on both sides, and then it
// takes one channel there. Below the subtree of its partition (partition.h) a tree is alone. Above it
// goes up to the whole machine's root, for control processors are in the other half, and so trees that
// meet do so all the way up: at most four, or there are not channels enough ("if there are only 4
// control network channels into a subtree, one cannot connect 5 control processors to 5 partitions in
// the subtree").
//
// A *placing* of a subtree gives each tree there a chip of its top: 2 for each tree, so at most 16.
// Level by level from the leaves up, all placings are kept that links allow: a placing of a subtree is
// possible if for each of its two children there is a possible placing from which every tree can go up
// by a link of its own that works, and so do the chips at its ends. The two children do not matter to
// each other. From the root down one possible placing is then chosen for each subtree.
//
// So the algorithm is complete: if it finds nothing, there is nothing, whatever is broken. And where
// nothing is broken, channels are the only bound. Give each of the (at most four) trees that have control
// processors a number of its own in 0..3, written b1 b0, so that two whose control processors are a pair
// of leaves differ in b0; pairs have no leaf in common, so there is such a numbering. Place each in chip
// b0 at even levels, in b1 at odd ones, and in the one chip there is at level 1. From level 2 on a link is
// named by the chips at its ends, (b0, b1) or (b1, b0), and so no two trees have the same; from level 1,
// where at most a pair meets, by b0. (Leiserson's theorem 1 halves a set of messages until each channel
// has one left, pairing their ends level by level; here all channels meet at the root, and pairing at
// level 1 is enough.)
#ifndef VCM5_SWITCHES_TOPOLOGY_CONTROL_SETTINGS_H_
#define VCM5_SWITCHES_TOPOLOGY_CONTROL_SETTINGS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "switches/topology/binary_tree.h"
#include "switches/topology/control_switches.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

// What a binary-tree node of a switch is set to.
struct ControlTreeNode {
  static constexpr uint8_t kNoPort = 0xff;
  std::array<uint8_t, 2> child = {kNoPort, kNoPort};  // ports: 0 or 1, 2 or 3
  uint8_t parent = kNoPort;                           // port 4 or 5; none: the root of its tree

  bool used() const { return child[0] != kNoPort || child[1] != kNoPort; }
  bool operator==(const ControlTreeNode&) const = default;
};

using SwitchSetting = std::array<ControlTreeNode, 2>;

struct ControlSettings {
  std::vector<SwitchSetting> switches;  // by ControlSwitches::switch_id()
  std::vector<BinaryTree> trees;        // of each partition, by relative address
};

// Connects the members of each partition, its host with them. Partitions are as CheckPartitions() has
// them. The error says what is wrong with them, or which subtree has too few channels that work.
absl::StatusOr<ControlSettings> SetControlSwitches(const MachineSpec& spec,
                                                   std::span<const Partition> partitions);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_CONTROL_SETTINGS_H_
