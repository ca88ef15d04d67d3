// Faults of the links of a control network, as somebody asked for them: which packet of which link
// arrives damaged. Every hop checks the CRC, so the far end finds it (paper section 5).
//
// Links are numbered as the owner likes, a number for each direction. Owned and called by one network.
#ifndef VCM5_SWITCHES_CONTROL_CONTROL_LINK_FAULTS_H_
#define VCM5_SWITCHES_CONTROL_CONTROL_LINK_FAULTS_H_

#include <cstdint>
#include <vector>

#include "netif/wire/control_packet.h"
#include "switches/topology/control_link_fault.h"

namespace vcm5 {

class ControlLinkFaults {
 public:
  explicit ControlLinkFaults(uint32_t links) : place_(links, kNone) {}

  void Add(uint32_t link, const ControlLinkFault& fault);

  // A packet goes by a link: counts it, and returns it as it arrives.
  ControlPacket Carry(uint32_t link, ControlPacket packet) {
    if (place_[link] != kNone) Strike(afflicted_[place_[link]], &packet);
    return packet;
  }

  uint64_t flipped() const { return flipped_; }  // bits

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  struct Afflicted {
    std::vector<ControlLinkFault> faults;
    uint64_t packets = 0;
  };

  void Strike(Afflicted& at, ControlPacket* packet);

  std::vector<uint32_t> place_;  // by link: index into afflicted_, or kNone
  std::vector<Afflicted> afflicted_;
  uint64_t flipped_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_CONTROL_CONTROL_LINK_FAULTS_H_
