#include "tests/campaign/cutter.h"

#include <numeric>
#include <utility>

#include "netif/shm/ni_page.h"

namespace vcm5::campaign {

void Cutter::OnSwitch(Embedded& machine) {
  if (!failure_.empty()) return;
  if (!fall_) {
    if (prng_.Chance(1, pause_)) Begin(machine);
  } else if (!saved_) {
    if (prng_.Chance(1, hurry_)) EnterSome(machine);
  } else if (prng_.Chance(1, pause_)) {
    fall_->Leave(std::move(*saved_));
    saved_.reset();
    fall_.reset();
  }
}

void Cutter::Begin(Embedded& machine) {
  fall_.emplace(machine.MakeAllFallDown());
  order_.resize(fall_->chips());
  std::iota(order_.begin(), order_.end(), 0u);
  for (size_t i = order_.size(); i > 1; --i) {
    std::swap(order_[i - 1], order_[prng_.Below(static_cast<uint32_t>(i))]);
  }
  // Sometimes the last of them enter when all is held.
  order_.resize(order_.size() - prng_.Below(static_cast<uint32_t>(order_.size())));
}

void Cutter::EnterSome(Embedded& machine) {
  for (uint32_t i = 1 + prng_.Below(10); i != 0 && !order_.empty(); --i) {
    fall_->Enter(order_.back());
    order_.pop_back();
  }
  if (order_.empty()) Drain(machine);
}

void Cutter::Drain(Embedded& machine) {
  ++cuts_;
  if (const absl::Status status = fall_->Drain(); !status.ok()) {
    failure_ = std::string(status.message());
    return;
  }
  saved_ = fall_->TakeCaptured();
  for (const auto& part : *saved_) captured_ += part.size();
  for (const int half : {VCM5_LEFT, VCM5_RIGHT}) {
    uint32_t taken = 0;
    uint32_t put = 0;
    const DataCounts counts = fall_->Counts(half);
    for (const uint32_t node : members_) {
      taken += machine.page(node)->data[half].out_head;
      put += machine.page(node)->data[half].in_tail;
    }
    // Of what was captured, that is what was not sent again before; a damaged one is in no store.
    const auto gone = static_cast<uint32_t>(counts.captured - counts.resent + counts.lost);
    books_agree_ = books_agree_ && gone == taken - put;
  }
}

}  // namespace vcm5::campaign
