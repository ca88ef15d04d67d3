// Where an all-fall-down message goes (paper section 3): a chip deals such messages to its child
// links in a fixed order, which the driver programs so that every leaf gets its share. DN7.
//
// The register holds how many leaves that capture messages lie below each child link, and which
// link comes first. The next message goes to the link that then has the fewest for its leaves, the
// first in circular order if there are several: in a full chip a plain permutation of the four,
// over and over. That a message has come in by this port or that plays no part, so nobody can aim.
//
// A message that begins to fall on its way down is turned away from the link that it was to take
// (where the four links have equally many leaves, so that the other three can bear it): those that
// wait in front of one leaf are the ones that have no room there.
//
// How evenly. Let S(v) messages begin to fall in the chips of tree node v, K(v) be these chips and
// L(v) the leaves below. Of the T messages that one of these chips deals, a child link with share s
// of W gets at most
//
//   unequal links:  (T + 3) s/W: when the link got its last, each of at most three others had at
//                   least its own share of that, less one;
//   equal links:    (T - A)/4 + A/3 + 11/12, where A of the T were turned away. Proof: let h be the
//                   most a link has and y the least. When the highest link got its last one, two
//                   others had h - 1 or more, so T >= y + 3h - 2; and each message that made a link
//                   y + 2 or higher passed over the lowest, so it was turned away from that:
//                   A >= 3(h - y) - 5. Then 12h <= 3T + A + 11.
//
// On the way to a leaf the fractions multiply to 1/L(v). So a leaf below the nodes v gets at most
// the sum of (4/3 S(v) + 11/3 K(v)) / L(v): four thirds of its share of what began to fall above
// it, and where the tree is full less than one message more a level, two in all on a CM-5 of 1,024
// nodes. A share of all messages nobody can promise: what waits above four leaves must come down to
// these four. But if every buffer is full of messages for one node, those above it hold the most,
// and the turning away evens that out: no leaf of a full tree gets more than 1.5 times the mean and
// two (tests/property/data/all_fall_down_test.cc).
#ifndef VCM5_SWITCHES_DATA_FALL_DOWN_H_
#define VCM5_SWITCHES_DATA_FALL_DOWN_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "netif/wire/data_packet.h"
#include "runtime/base/check.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

// The register: leaves below each child link that capture, and the link that gets the first
// message.
struct FallProgram {
  std::array<uint32_t, kChildren> share = {};
  uint8_t first = 0;
};

class FallDown {
 public:
  // Bit c of `children_mask`: child port c has a link. Until it is programmed all have equal
  // shares.
  explicit FallDown(uint8_t children_mask) : children_mask_(children_mask) { Program({}); }

  // A program without any share stands for equal shares: a marked message may come at any time. (To
  // a chip without children too, which then has no link to follow.)
  void Program(const FallProgram& program) {
    program_ = program;
    VCM5_CHECK(program.first < kChildren);
    const bool none = program.share == FallProgram{}.share;
    for (unsigned child = 0; child < kChildren; ++child) {
      const bool linked = ((children_mask_ >> child) & 1) != 0;
      VCM5_CHECK_MSG(linked || program.share[child] == 0, "messages to fall where no link is");
      if (none && (linked || children_mask_ == 0)) program_.share[child] = 1;
    }
    equal_ = std::count(program_.share.begin(), program_.share.end(), program_.share[0]) ==
             static_cast<int>(kChildren);
    Forget();
  }

  // Begins anew: the messages that fall from here on are one lot to be dealt evenly.
  void Forget() { dealt_ = {}; }

  // The header with which the message waits for the link that it is dealt to.
  uint64_t Deal(uint64_t header) {
    const bool turned = equal_ && !data_header::Falls(header) && data_header::Up(header) == 0;
    const unsigned avoided = turned ? data_header::NextChild(header) : kChildren;
    unsigned best = kChildren;
    for (unsigned i = 0; i < kChildren; ++i) {
      const unsigned child = (program_.first + i) % kChildren;
      if (program_.share[child] == 0 || child == avoided) continue;
      if (best == kChildren ||
          (dealt_[child] + 1) * program_.share[best] < (dealt_[best] + 1) * program_.share[child]) {
        best = child;
      }
    }
    dealt_[best]++;
    return data_header::DealtTo(header, best);
  }

 private:
  FallProgram program_;
  uint8_t children_mask_;
  bool equal_ = false;  // four links with equal shares
  std::array<uint64_t, kChildren> dealt_ = {};
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_DATA_FALL_DOWN_H_
