// The switches of the control network (paper section 5, CN9): "each switch of the control network has
// 2 parents and 4 children and contains two binary-tree nodes", connected "in a manner similar to the
// data network fat-tree". What they are set to: control_settings.h.
//
// The leaves lie in a binary tree: processing nodes from position 0 on; control processors and I/O
// channels have the other half of the machine to themselves, so that a subtree has either nodes below
// it or these. The subtree (level, s) has the positions [s * 2^level, (s + 1) * 2^level); one of level
// 0 is a leaf. Subtrees without leaves do not exist. At the top of a subtree are its chips: one at
// level 1, for a leaf has but one link, and two above. Each chip has a link to each chip of the two
// subtrees below and a link to each chip of the subtree above:
//
//                      4    5            4    5       parent links, to chips 0 and 1 of the subtree
//                     ┌┴────┴┐          ┌┴────┴┐      above
//     subtree (3, 0)  │chip 0│          │chip 1│
//                     └┬┬──┬┬┘          └┬┬──┬┬┘
//                      01  23            01  23       child links: 0 and 1 from chips 0 and 1 of
//                                                     (2, 0), 2 and 3 from those of (2, 1)
//                      4    5            4    5
//                     ┌┴────┴┐          ┌┴────┴┐
//     subtree (2, 0)  │chip 0│          │chip 1│
//                     └┬────┬┘          └┬────┬┘
//                      0    2            0    2       from chip 0 of (1, 0), chip 0 of (1, 1)
//
//                               4    5
//                              ┌┴────┴┐
//     subtree (1, 0)           │chip 0│
//                              └┬────┬┘
//                               0    2                from leaf 0, leaf 1
//
// Parent port 4 + j of chip i leads to chip j above, to its child port 2 * side + i; side is 0 from the
// left subtree and 1 from the right one.
//
// So a channel joins a leaf to the rest, two a pair of leaves, and four every larger subtree: a switch
// has half as many parents as children, and a subtree twice as many leaves as those below it. Of a
// chip of level 1 or 2 the child ports 1 and 3 have no links.
#ifndef VCM5_SWITCHES_TOPOLOGY_CONTROL_SWITCHES_H_
#define VCM5_SWITCHES_TOPOLOGY_CONTROL_SWITCHES_H_

#include <cstdint>
#include <vector>

#include "switches/topology/broken_part.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

class ControlSwitches {
 public:
  static constexpr unsigned kChildPorts = 4;  // 2 * side + chip of the child
  static constexpr unsigned kPorts = 6;       // and parent ports: 4 + chip of the parent
  static constexpr unsigned kChannelsMax = 4;

  explicit ControlSwitches(const MachineSpec& spec);

  uint32_t nodes() const { return nodes_; }
  uint32_t leaves() const { return nodes_ + others_; }
  unsigned levels() const { return static_cast<unsigned>(level_.size()) - 1; }
  uint32_t switches() const { return switches_; }
  uint32_t links() const { return links_; }

  // Where a leaf lies, by its address.
  uint32_t position(uint32_t leaf) const {
    return leaf < nodes_ ? leaf : half_ + (leaf - nodes_);
  }

  // ---- subtrees; those of a level are numbered without gaps, and so are all of them ----

  bool exists(unsigned level, uint32_t s) const;
  uint32_t subtrees() const { return subtrees_; }
  uint32_t subtrees_at(unsigned level) const { return level_[level].left + level_[level].right; }
  uint32_t number(unsigned level, uint32_t s) const {
    return s < level_[level].left ? s : s - (half_ >> level) + level_[level].left;
  }
  uint32_t subtree(unsigned level, uint32_t s) const {
    return level_[level].first_subtree + number(level, s);
  }
  // The s of the subtree of this number in its level.
  uint32_t SubtreeAt(unsigned level, uint32_t number) const {
    return number < level_[level].left ? number : number - level_[level].left + (half_ >> level);
  }
  // Addresses of the leaves below: [first, end).
  struct Leaves {
    uint32_t first;
    uint32_t end;
  };
  Leaves leaves_below(unsigned level, uint32_t s) const;

  // ---- chips, numbered within a level, those of a subtree together; a leaf counts as one ----

  unsigned chips(unsigned level) const { return level < 2 ? 1 : 2; }  // of a subtree
  unsigned parents(unsigned level) const { return level == levels() ? 0 : chips(level + 1); }
  uint32_t chips_at(unsigned level) const { return subtrees_at(level) * chips(level); }
  bool HasPort(unsigned level, uint32_t chip, unsigned port) const;
  // Among all switches: 0 .. switches() - 1.
  uint32_t switch_id(unsigned level, uint32_t s, unsigned chip) const {
    return level_[level].first_switch + number(level, s) * chips(level) + chip;
  }

  // ---- broken parts ----

  // Whether it has such a part; false for parts of the data network.
  bool Has(const BrokenPart& part) const;

  // The subtree that a part is the top of, or, of a link, its lower end.
  struct Place {
    unsigned level;
    uint32_t s;
    unsigned chip;  // of the subtree
    unsigned port;  // of a link: 0 or 1, which parent
  };
  Place PlaceOf(const BrokenPart& part) const;  // Has(part)

 private:
  struct Level {
    uint32_t left = 0;  // subtrees of nodes; at the top: the one
    uint32_t right = 0;
    uint32_t first_subtree = 0;
    uint32_t first_switch = 0;
  };

  uint32_t nodes_;
  uint32_t others_;
  uint32_t half_;  // position of the first leaf that is no node
  uint32_t subtrees_ = 0;
  uint32_t switches_ = 0;
  uint32_t links_ = 0;
  std::vector<Level> level_;  // [0]: the leaves
};

// What does not work in a control network.
class ControlDamage {
 public:
  explicit ControlDamage(const ControlSwitches& switches)
      : switches_(&switches), chips_(switches.subtrees()), links_(switches.subtrees()) {}
  // With the parts of the control network among `parts`, which it has.
  ControlDamage(const ControlSwitches& switches, const std::vector<BrokenPart>& parts);

  void Break(const BrokenPart& part);

  bool ChipWorks(unsigned level, uint32_t s, unsigned chip) const {
    return (chips_[switches_->subtree(level, s)] >> chip & 1) == 0;
  }
  // The link from chip `chip` of a subtree to chip `above` of the next, and the chips at its ends.
  bool LinkWorks(unsigned level, uint32_t s, unsigned chip, unsigned above) const;
  // Channels between a subtree, which is not the whole, and the rest.
  unsigned Channels(unsigned level, uint32_t s) const;
  // Of all: links() less those that do not work.
  uint32_t links() const;

 private:
  const ControlSwitches* switches_;
  std::vector<uint8_t> chips_;  // by subtree: bit i: chip i is broken
  std::vector<uint8_t> links_;  // by subtree: bit 2 * i + p: parent port p of chip i is broken
};

// The most of these leaves (1 at their address) that one tree can join past the damage, nodes before
// others; where several sets are as good, always the same. Every subtree can choose for itself by
// which of its chips it joins the rest, so the best choice for all is the best one of each.
std::vector<uint8_t> LeavesOfOneTree(const ControlSwitches& switches, const ControlDamage& damage,
                                     const std::vector<uint8_t>& live);

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_CONTROL_SWITCHES_H_
