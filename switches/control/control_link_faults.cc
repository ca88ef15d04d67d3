#include "switches/control/control_link_faults.h"

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

constexpr uint32_t kBodyBits = 51;

void FlipBit(ControlPacket* packet, uint32_t bit) {
  if (bit < kBodyBits) {
    packet->body ^= uint64_t{1} << bit;
  } else {
    packet->crc ^= 1u << (bit - kBodyBits);
  }
}

}  // namespace

void ControlLinkFaults::Add(uint32_t link, const ControlLinkFault& fault) {
  VCM5_CHECK(link < place_.size() && fault.bit < ControlLinkFault::kBits);
  uint32_t& place = place_[link];
  if (place == kNone) {
    place = static_cast<uint32_t>(afflicted_.size());
    afflicted_.emplace_back();
  }
  afflicted_[place].faults.push_back(fault);
}

void ControlLinkFaults::Strike(Afflicted& at, ControlPacket* packet) {
  ++at.packets;
  for (const ControlLinkFault& fault : at.faults) {
    if (!fault.Strikes(at.packets)) continue;
    FlipBit(packet, fault.bit);
    ++flipped_;
  }
}

}  // namespace vcm5
