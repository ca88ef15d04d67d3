#include "switches/data/router_chip.h"

namespace vcm5 {

RouterChip::RouterChip(const Options& options, PacketUnit* storage)
    : slots_(storage),
      depth_(options.depth),
      slot_units_(PacketUnits(options.words_max)),
      words_max_(options.words_max),
      up_routing_(options.seed),
      fall_down_(options.children_mask),
      closed_(options.closed) {
  VCM5_CHECK(options.depth > 0 && (options.depth & (options.depth - 1)) == 0);
  VCM5_CHECK(options.words_max >= 1 && options.words_max <= kCm5eWordsMax);
  VCM5_CHECK(options.parents <= kParentsMax);
  const unsigned parents = ((1u << options.parents) - 1) << kChildren;
  unsigned closed = parents;  // to all
  for (const uint8_t ports : closed_) {
    VCM5_CHECK_MSG((ports & ~kParents) == 0, "parent ports only can be closed");
    closed &= ports;
    if (ports != closed_[1]) special_ |= kWaysDiffer;
  }
  linked_ = static_cast<uint8_t>((options.children_mask & 0xfu) | (parents & ~closed));
  for (unsigned port = 0; port < kChipPorts; ++port) {
    if ((linked_ & (1u << port)) != 0) SetCredit(port, options.depth);
    // Credit that is never spent: a peer that gives more for this link cannot be trusted.
    if ((closed & (1u << port)) != 0) credit_[port] = options.depth;
  }
}

void RouterChip::SetCredit(unsigned port, uint32_t credits) {
  VCM5_CHECK((linked_ & (1u << port)) != 0);
  credit_[port] = credits;
  open_ = static_cast<uint8_t>(credits != 0 ? open_ | (1u << port) : open_ & ~(1u << port));
}

void RouterChip::SetAllFallDown(bool on) {
  special_ = static_cast<uint8_t>(on ? special_ | kAllFallDown : special_ & ~kAllFallDown);
  if (!on) fall_down_.Forget();
}

RouterChip::Special RouterChip::TakeSpecial(unsigned in, DataPacket& packet) {
  const uint64_t header = packet.header;
  const bool falls = data_header::Falls(header);
  if (data_header::FallsAndIsDealt(header) || (!falls && !all_fall_down())) {
    return {header, kParents & ~unsigned{closed_[data_header::Up(header)]}};
  }
  // It waits no longer for what it may have waited for until now.
  for (uint8_t& inputs : waiting_) inputs &= static_cast<uint8_t>(~(1u << in));
  if (!falls) began_to_fall_++;
  // A packet with a bad CRC falls too; the change of its header leaves it bad.
  packet.header = fall_down_.Deal(header);
  packet.crc = CrcAfterHeaderChange(packet.crc, header, packet.header);
  return {packet.header, 0};
}

RouterChipStats RouterChip::stats() const {
  RouterChipStats stats{};
  for (unsigned port = 0; port < kChipPorts; ++port) {
    stats.in[port] = in_tail_[port];
    stats.out[port] = out_[port];
  }
  stats.stalled_up = stalled_up_;
  stats.stalled_down = stalled_down_;
  stats.primary_errors = primary_errors_;
  stats.secondary_errors = secondary_errors_;
  stats.misrouted = misrouted_;
  stats.dropped = dropped_;
  stats.began_to_fall = began_to_fall_;
  return stats;
}

bool RouterChip::HandleDamage(DataPacket* packet, unsigned port) {
  const unsigned length = data_header::Length(packet->header);
  const bool readable = length - 1 < words_max_;
  const uint32_t mark = readable ? ~DataPacketCrc(*packet, length, packet->header) : 0;
  if (readable && packet->crc == mark) {
    secondary_errors_++;
    return true;
  }
  primary_errors_++;
  NoteFault(RouterChipFault::kPrimary, port);
  packet->crc = mark;
  return readable;
}

bool RouterChip::Head(unsigned port, uint64_t* header) const {
  if (Waiting(port) == 0) return false;
  *header = Slot(port, in_head_[port])->header;
  return true;
}

void RouterChip::CheckInvariants() const {
  uint64_t in = 0;
  uint64_t out = 0;
  for (unsigned port = 0; port < kChipPorts; ++port) {
    VCM5_CHECK(Waiting(port) <= depth_);
    VCM5_CHECK(((occupied_ >> port) & 1) == (Waiting(port) != 0 ? 1 : 0));
    const bool linked = ((linked_ >> port) & 1) != 0;
    VCM5_CHECK(((open_ >> port) & 1) == (linked && credit_[port] != 0 ? 1 : 0));
    in += in_head_[port];
    out += out_[port];
  }
  // Kirchhoff: what left the input buffers left the chip, or was dropped; and only what was found
  // bad is dropped.
  VCM5_CHECK(in == out + dropped_);
  VCM5_CHECK(dropped_ >= misrouted_ &&
             dropped_ <= misrouted_ + primary_errors_ + secondary_errors_);
  for (unsigned queue = 0; queue <= kChildren; ++queue) {
    VCM5_CHECK((waiting_[queue] & ~occupied_) == 0);
  }
}

}  // namespace vcm5
