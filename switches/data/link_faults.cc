#include "switches/data/link_faults.h"

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

// In a packet that has fewer bits they are counted round, so that every message can be struck.
void FlipBit(DataPacket* packet, unsigned length, uint32_t bit) {
  bit %= 8 * (12 + 4 * length);
  auto* bytes = reinterpret_cast<uint8_t*>(packet);
  bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << bit % 8));
}

}  // namespace

LinkFaults::LinkFaults(uint32_t links, const std::vector<uint32_t>& link,
                       const std::vector<LinkFault>& fault)
    : place_(links, kNone) {
  VCM5_CHECK(link.size() == fault.size());
  for (size_t i = 0; i < link.size(); ++i) {
    uint32_t& place = place_[link[i]];
    if (place == kNone) {
      place = static_cast<uint32_t>(afflicted_.size());
      afflicted_.emplace_back();
    }
    afflicted_[place].faults.push_back(fault[i]);
  }
}

LinkFaults::Verdict LinkFaults::Pass(uint32_t link, DataPacket* packet, unsigned length) {
  Afflicted& at = afflicted_[place_[link]];
  ++at.messages;
  Verdict verdict = Verdict::kArrives;
  for (const LinkFault& fault : at.faults) {
    if (!fault.Strikes(at.messages)) continue;
    switch (fault.kind) {
      case LinkFault::Kind::kFlip:
        FlipBit(packet, length, fault.bit);
        ++counts_.flipped;
        break;
      case LinkFault::Kind::kLose:
        verdict = Verdict::kLost;
        break;
      case LinkFault::Kind::kDuplicate:
        if (verdict == Verdict::kArrives) verdict = Verdict::kArrivesTwice;
        break;
    }
  }
  if (verdict == Verdict::kLost) ++counts_.lost;
  if (verdict == Verdict::kArrivesTwice) ++counts_.duplicated;
  return verdict;
}

void LinkFaults::Keep(uint32_t link, const DataPacket& packet, unsigned length) {
  Copy& copy = afflicted_[place_[link]].copy;
  VCM5_CHECK_MSG(!copy.waits, "a packet overtook a copy that waits for credit");
  CopyPacket(&copy.packet, &packet, length);
  copy.length = length;
  copy.waits = true;
  ++waiting_;
}

void LinkFaults::Release(uint32_t link) {
  Copy& copy = afflicted_[place_[link]].copy;
  VCM5_CHECK(copy.waits);
  copy.waits = false;
  --waiting_;
}

}  // namespace vcm5
