#include "switches/control/multi_source_stream.h"

#include <bit>

#include "runtime/base/check.h"

namespace vcm5 {

MultiSourceStream::MultiSourceStream(ControlStream stream, uint32_t depth)
    : stream_(stream),
      mask_(depth - 1),
      words_(new uint64_t[3 * size_t{depth}]) {
  VCM5_CHECK(std::has_single_bit(depth));
}

void MultiSourceStream::Activate(unsigned bit) {
  active_ |= static_cast<uint8_t>(bit);
  // A message begun without this child goes on without it.
  if (!in_message_) needed_ = active_;
  // The parent takes an operation, too, as the end of abstaining.
  told_abstain_ = false;
}

ControlFault MultiSourceStream::HandleAbstain(unsigned side, bool abstain) {
  if (broken_) return ControlFault::kNone;
  const unsigned bit = 1u << side;
  if (abstain == ((active_ & bit) == 0)) return ControlFault::kNone;
  const uint64_t body = control_body::MakeAbstain(stream_, abstain);
  if (!abstain) {
    const bool parent_must_know = told_abstain_;
    Activate(bit);
    if (parent_must_know) tell_ = Tell::kTakePart;
    return ControlFault::kNone;
  }
  const bool in_flight = waiting(side) != 0 || (in_message_ && (needed_ & bit) != 0);
  if (in_flight) return Break(ControlFault::kAbstainOutOfTurn, body, body);
  active_ &= static_cast<uint8_t>(~bit);
  if (!in_message_) needed_ = active_;
  if (active_ == 0) {
    if (put_aside() != 0) return Break(ControlFault::kAbstainOutOfTurn, body, body);
    told_abstain_ = true;
    tell_ = Tell::kAbstain;
  }
  return ControlFault::kNone;
}

ControlFault MultiSourceStream::Break(ControlFault fault, uint64_t left, uint64_t right) {
  constexpr uint64_t kBody = ~control_body::kZeroMask;
  fault_body_[0] = left & kBody;
  fault_body_[1] = right & kBody;
  broken_ = true;
  needed_ = 0;
  tell_ = Tell::kNothing;
  return fault;
}

void MultiSourceStream::Stop() {
  Restart();
  broken_ = true;
  needed_ = 0;
}

void MultiSourceStream::Restart() {
  first_[0] = first_[1] = first_[kAside] = 0;
  for (Positions& behind : behind_) behind = {};
  active_ = needed_ = 3;
  ready_ = 0;
  in_message_ = told_abstain_ = broken_ = false;
  tell_ = Tell::kNothing;
  up_residue_ = down_residue_ = {};
}

void MultiSourceStream::CheckInvariants() const {
  for (unsigned side = 0; side < 2; ++side) {
    VCM5_CHECK(waiting(side) <= mask_ + 1);
    VCM5_CHECK(((ready_ >> side) & 1) != 0 || behind_[side].count() == 0);
    // Whoever has a word waiting takes part.
    VCM5_CHECK(waiting(side) == 0 || ((active_ >> side) & 1) != 0);
  }
  VCM5_CHECK(put_aside() <= mask_ + 1);
  VCM5_CHECK(broken_ || in_message_ || needed_ == active_);
  VCM5_CHECK((needed_ & ~active_) == 0);
  VCM5_CHECK(needed_ != 3 || tell_ == Tell::kNothing);
  VCM5_CHECK(!in_message_ || broken_ || needed_ != 0);
  VCM5_CHECK(!told_abstain_ || active_ == 0);
  VCM5_CHECK(first_[kAside] != 0 || behind_[kAside].count() == 0);
  for (uint32_t at = behind_[kAside].head; at != behind_[kAside].tail; ++at) {
    VCM5_CHECK(Slot(at, kAside) >> kAsideSidesShift != 0);
  }
}

}  // namespace vcm5
