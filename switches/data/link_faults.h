// Faults of the links of a region, as somebody asked for them: which message of which link arrives
// damaged, does not arrive, or arrives twice. They strike between a packet's leaving one end and its
// arriving at the other, behind all counters of the one and before those of the other.
//
// What they do to flow control is what they would do on the CM-5, where the far end says how much
// room its buffer has: a packet that got lost took no room there, so its credit is good again at
// once; one that was doubled takes room twice, so its copy needs a credit of its own. If there is
// none, the copy waits at the near end and takes the next credit, ahead of all later packets of that
// link. So nothing is ever sent without credit, no credit is lost, and traffic goes on.
//
// Links are numbered by the owner, from 0. Owned and called by one region.
#ifndef VCM5_SWITCHES_DATA_LINK_FAULTS_H_
#define VCM5_SWITCHES_DATA_LINK_FAULTS_H_

#include <cstdint>
#include <vector>

#include "netif/wire/data_packet.h"
#include "switches/topology/link_fault.h"

namespace vcm5 {

struct LinkFaultCounts {
  uint64_t flipped = 0;     // bits
  uint64_t lost = 0;        // messages
  uint64_t duplicated = 0;  // messages
};

class LinkFaults {
 public:
  enum class Verdict : uint8_t { kArrives, kLost, kArrivesTwice };

  // A packet that waits to arrive for the second time.
  struct Copy {
    DataPacket packet;
    unsigned length = 0;
    bool waits = false;
  };

  // `fault` is of link number link[i] for each i: the two have the same size.
  LinkFaults(uint32_t links, const std::vector<uint32_t>& link, const std::vector<LinkFault>& fault);

  bool Afflicts(uint32_t link) const { return place_[link] != kNone; }

  // A packet of `length` words leaves over an afflicted link. Counts it and flips its bits. Several
  // faults may strike it: one that is lost does not arrive whatever else, and none arrives thrice.
  Verdict Pass(uint32_t link, DataPacket* packet, unsigned length);

  // Keeps a copy of a packet until Release. There is never more than one for a link, since no later
  // packet can leave before it has found its credit.
  void Keep(uint32_t link, const DataPacket& packet, unsigned length);
  // Of an afflicted link; null if none waits.
  const Copy* Waiting(uint32_t link) const {
    const Copy& copy = afflicted_[place_[link]].copy;
    return copy.waits ? &copy : nullptr;
  }
  void Release(uint32_t link);
  uint32_t waiting() const { return waiting_; }  // copies, of all links

  const LinkFaultCounts& counts() const { return counts_; }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  struct Afflicted {
    std::vector<LinkFault> faults;
    uint64_t messages = 0;
    Copy copy;
  };

  std::vector<uint32_t> place_;  // by link: index into afflicted_, or kNone
  std::vector<Afflicted> afflicted_;
  uint32_t waiting_ = 0;
  LinkFaultCounts counts_;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_DATA_LINK_FAULTS_H_
