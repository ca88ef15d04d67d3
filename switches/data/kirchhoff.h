// Kirchhoff's law for the data network (paper section 3): "the number of messages entering any region
// of the network, including the entire network or a single chip, must eventually equal the number of
// messages leaving the region". Given what was counted at both ends of every link, and what chips
// hold and dropped, this says where messages were lost or made. DN5.
//
// The smallest regions there are: a chip (in = out + held + dropped) and a link (what left one end =
// what came to the other). Any larger region is a sum of these. But in the law's own sum one lost
// message hides behind one made elsewhere, so what is summed is how many messages each chip and link
// is off, lost or made: a region is off by 0 exactly if all its chips and links are, and the search
// (region_search.h) finds each that is not. A chip or link of which something is not known, because
// another driver plays it, is left to whoever knows both sides.
//
// Counters may be taken while messages move, as long as nothing is between the two ends of a link
// when its two counters are read. All counting is modulo 2^32.
#ifndef VCM5_SWITCHES_DATA_KIRCHHOFF_H_
#define VCM5_SWITCHES_DATA_KIRCHHOFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/link_names.h"

namespace vcm5 {

class Kirchhoff {
 public:
  // Messages that one end of a link counted.
  struct EndCounts {
    uint32_t in = 0;   // that came to it
    uint32_t out = 0;  // that left it
  };

  // A place where the law does not hold.
  struct Finding {
    bool in_chip = false;  // `from` names a chip; else the link that leaves it
    LinkEnd from;
    int32_t lost = 0;  // messages; negative: so many more than there were
    bool operator==(const Finding&) const = default;
  };

  explicit Kirchhoff(const FatTree& tree);

  // What is known: of a chip with all its ports, of one end of a link, of every chip of a region.
  void SetChip(ChipId chip, const RouterChip& counters);
  void SetEnd(const LinkEnd& end, const EndCounts& counts);
  void SetChips(const Region& region);

  // All places, chips first, in the order of chips and ports, then the links that leave leaves.
  // `asked`, if given: of how many regions, chips and links sums were looked at.
  std::vector<Finding> Find(uint64_t* asked = nullptr) const;

  // "1 message lost on the link from leaf 3 to level 1 chip 0 port 3", "2 messages duplicated on ...".
  std::string Describe(const Finding& finding) const;

 private:
  struct Chip {
    bool known = false;
    uint32_t kept = 0;  // held and dropped
  };
  struct End {
    bool known = false;
    EndCounts counts;
  };

  // Chips by port, then leaves.
  size_t Place(const LinkEnd& end) const {
    return end.kind == LinkEnd::Kind::kLeaf ? size_t{tree_.chips()} * kChipPorts + end.id
                                            : size_t{end.id} * kChipPorts + end.port;
  }
  // Messages lost in a chip, on the link that leaves `from`; 0 if not known.
  int32_t LostIn(ChipId chip) const;
  int32_t LostOn(const LinkEnd& from) const;
  // Calls visit(finding) for what is off of a chip and the links to its children.
  template <class Visit>
  void VisitCell(ChipId chip, Visit&& visit) const;

  const FatTree tree_;
  std::vector<Chip> chips_;
  std::vector<End> ends_;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_DATA_KIRCHHOFF_H_
