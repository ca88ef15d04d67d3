#include "netif/ni/control_fifo.h"

#include <bit>

#include "runtime/base/check.h"

namespace vcm5 {
const char* ControlPortErrorName(ControlPortError error) {
  switch (error) {
    case ControlPortError::kNone:
      return "none";
    case ControlPortError::kHeld:
      return "held by a flush";
    case ControlPortError::kOutgoingTail:
      return "more pushed than the outgoing FIFO holds";
    case ControlPortError::kIncomingHead:
      return "read more than the incoming FIFO held";
    case ControlPortError::kEntry:
      return "a pushed entry that is no part of a message";
    case ControlPortError::kOperation:
      return "a pushed operation that does not exist";
    case ControlPortError::kPrivileged:
      return "a broadcast of a kind that only the supervisor may send";
  }
  return "unknown";
}

ControlFifo::ControlFifo(vcm5_ni_page* page, unsigned fifo, const NiGeometry& geometry,
                         uint32_t window)
    : by_program_(&page->node_control),
      to_program_(&page->control),
      depth_(geometry.control_depth[fifo]),
      fifo_(static_cast<uint8_t>(fifo)),
      words_max_(fifo == VCM5_FIFO_COMBINE || fifo == VCM5_FIFO_BROADCAST ? VCM5_CONTROL_WORDS_MAX
                                                                          : 1),
      window_(window),
      awaited_(window == 0 ? 0 : depth_) {
  static_assert(sizeof(ControlFifo) == 128);
  VCM5_CHECK(std::has_single_bit(depth_));
  const vcm5_ni_offsets offsets = geometry.Offsets();
  auto* base = reinterpret_cast<uint8_t*>(page);
  out_ = reinterpret_cast<const vcm5_control_entry*>(base + offsets.control_out[fifo]);
  in_ = reinterpret_cast<vcm5_control_entry*>(base + offsets.control_in[fifo]);
}

ControlFifo::ControlFifo(vcm5_supervisor_page* page, unsigned kind)
    : out_(page->out[kind]),
      in_(page->in[kind]),
      by_program_(&page->supervisor),
      to_program_(&page->control),
      depth_(VCM5_SUPERVISOR_DEPTH),
      fifo_(static_cast<uint8_t>(kind)),
      words_max_(VCM5_SUPERVISOR_WORDS_MAX),
      window_(0) {
  VCM5_CHECK(kind != VCM5_BROADCAST_USER && kind < VCM5_BROADCAST_KINDS);
}

ControlPortError ControlFifo::ValidateLonger(const ControlEntry& entry) const {
  const uint32_t length = entry.length();
  const uint32_t left = entry.first() ? length : words_left_;
  if (entry.first() == in_message() || entry.last() != (left == 1) ||
      (!entry.first() && (entry.control & ~kFraming) != control_)) {
    return ControlPortError::kEntry;
  }
  if (!entry.first()) return ControlPortError::kNone;
  const uint32_t length_max = std::min<uint32_t>(words_max_, depth_);
  if (length - 1 >= length_max) return ControlPortError::kEntry;
  return ValidateOperation(entry.control);
}

void ControlFifo::CheckInvariants() const {
  VCM5_CHECK(unpublished() <= depth_);
  VCM5_CHECK(in_flight() <= depth_);
  VCM5_CHECK(sent_ - read_ <= depth_);
  VCM5_CHECK(published_ - read_ <= depth_);
  VCM5_CHECK(words_left_ < VCM5_CONTROL_WORDS_MAX);
  VCM5_CHECK(window_ == 0 || in_flight() <= window_);
}

}  // namespace vcm5
