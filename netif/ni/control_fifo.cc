#include "netif/ni/control_fifo.h"

#include <bit>

#include "runtime/base/check.h"

namespace vcm5 {
namespace {

constexpr uint32_t kCombineFields = VCM5_ENTRY_SEGMENT | (7u << VCM5_ENTRY_COMBINER_SHIFT) |
                                    (3u << VCM5_ENTRY_PATTERN_SHIFT);

}  // namespace

const char* ControlPortErrorName(ControlPortError error) {
  switch (error) {
    case ControlPortError::kNone:
      return "none";
    case ControlPortError::kOutgoingTail:
      return "more pushed than the outgoing FIFO holds";
    case ControlPortError::kIncomingHead:
      return "read more than the incoming FIFO held";
    case ControlPortError::kEntry:
      return "a pushed entry that is no part of a message";
    case ControlPortError::kOperation:
      return "a pushed operation that does not exist";
  }
  return "unknown";
}

ControlFifo::ControlFifo(vcm5_ni_page* page, unsigned fifo, const NiGeometry& geometry)
    : out_tail_(&page->node_control.out_tail[fifo]),
      in_head_(&page->node_control.in_head[fifo]),
      out_head_(&page->control.out_head[fifo]),
      in_tail_(&page->control.in_tail[fifo]),
      fifo_(fifo),
      depth_(geometry.control_depth[fifo]) {
  VCM5_CHECK(std::has_single_bit(depth_));
  const vcm5_ni_offsets offsets = geometry.Offsets();
  auto* base = reinterpret_cast<uint8_t*>(page);
  out_ = reinterpret_cast<const vcm5_control_entry*>(base + offsets.control_out[fifo]);
  in_ = reinterpret_cast<vcm5_control_entry*>(base + offsets.control_in[fifo]);
}

ControlPortError ControlFifo::Validate(const ControlEntry& entry) const {
  const uint32_t length = entry.length();
  const uint32_t left = entry.first() ? length : words_left_;
  if (entry.first() == in_message() || entry.last() != (left == 1) ||
      (!entry.first() && (entry.control & ~kFraming) != control_)) {
    return ControlPortError::kEntry;
  }
  if (!entry.first()) return ControlPortError::kNone;
  const bool any_length = fifo_ == VCM5_FIFO_COMBINE || fifo_ == VCM5_FIFO_BROADCAST;
  const uint32_t length_max = any_length ? std::min(VCM5_CONTROL_WORDS_MAX, depth_) : 1;
  const uint32_t fields = VCM5_ENTRY_LENGTH(0xff) | kFraming |
                          (fifo_ == VCM5_FIFO_COMBINE ? kCombineFields : 0);
  if (length - 1 >= length_max || (entry.control & ~fields) != 0) return ControlPortError::kEntry;
  if (VCM5_ENTRY_COMBINER_OF(entry.control) >= VCM5_COMBINERS ||
      VCM5_ENTRY_PATTERN_OF(entry.control) >= VCM5_PATTERNS) {
    return ControlPortError::kOperation;
  }
  return ControlPortError::kNone;
}

void ControlFifo::CheckInvariants() const {
  VCM5_CHECK(unpublished() <= depth_);
  VCM5_CHECK(in_flight() <= depth_);
  VCM5_CHECK(sent_ - read_ <= depth_);
  VCM5_CHECK(published_ - read_ <= depth_);
  VCM5_CHECK(words_left_ < VCM5_CONTROL_WORDS_MAX);
  VCM5_CHECK(taken_ == taken_told_);
}

}  // namespace vcm5
