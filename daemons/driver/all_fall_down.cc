#include "daemons/driver/all_fall_down.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/data_reports.h"
#include "netif/shm/ni_page.h"
#include "runtime/base/check.h"

namespace vcm5 {

AllFallDown::AllFallDown(std::vector<DataNetworkAgent*> agents) : agents_(std::move(agents)) {
  for (DataNetworkAgent* agent : agents_) {
    for (uint32_t chip = 0; chip < agent->chips(); ++chip) chips_.emplace_back(agent, chip);
  }
}

void AllFallDown::Set(uint32_t chip, bool on) {
  VCM5_CHECK(chip < chips_.size());
  chips_[chip].first->SetAllFallDown(chips_[chip].second, on);
}

absl::Status AllFallDown::Drain() {
  for (DataNetworkAgent* agent : agents_) agent->HoldInjection(true);
  for (uint32_t chip = 0; chip < chips(); ++chip) Set(chip, true);
  // Each turn with work in it moves a message a hop, takes one from a link, or gives credit back.
  uint64_t turns_max = 1000;
  for (const int half : {VCM5_LEFT, VCM5_RIGHT}) turns_max += 100 * (Counts(half).held + 1);
  unsigned work = 1;
  for (uint64_t turn = 0; work != 0; ++turn) {
    if (turn == turns_max + 100 * chips_.size()) {
      return absl::InternalError("the data network does not get empty in all-fall-down mode");
    }
    work = 0;
    for (DataNetworkAgent* agent : agents_) work += agent->DoWork();
  }
  for (const int half : {VCM5_LEFT, VCM5_RIGHT}) {
    if (absl::Status status = Prove(half); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Captured = injected - ejected, by the NIs' counts and by those of the chips next to them. What
// was captured before and sent again has been injected twice.
absl::Status AllFallDown::Prove(int half) const {
  const DataCounts counts = Counts(half);
  const uint64_t in = counts.injected + counts.resent;
  const uint64_t out = counts.ejected + counts.captured + counts.lost;
  if (counts.held == 0 && in == out && counts.chips_in == in &&
      counts.chips_out == out - counts.lost_in_chips) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(
      "the ", HalfName(half), " data network has messages too many or too few: ", counts.injected,
      " injected and ", counts.resent, " again, ", counts.ejected, " ejected, ", counts.captured,
      " captured, ", counts.lost, " lost, ", counts.held, " still in chips; the chips counted ",
      counts.chips_in, " in and ", counts.chips_out, " out"));
}

AllFallDown::Captured AllFallDown::TakeCaptured() {
  Captured captured;
  for (DataNetworkAgent* agent : agents_) captured.push_back(agent->TakeCaptured());
  return captured;
}

void AllFallDown::Leave(Captured captured) {
  VCM5_CHECK_MSG(captured.size() == agents_.size(), "captured on another machine");
  for (uint32_t chip = 0; chip < chips(); ++chip) Set(chip, false);
  for (size_t i = 0; i < agents_.size(); ++i) {
    agents_[i]->Resend(std::move(captured[i]));
    agents_[i]->HoldInjection(false);
  }
}

DataCounts AllFallDown::Counts(int half) const {
  DataCounts sum;
  for (const DataNetworkAgent* agent : agents_) {
    const DataCounts counts = agent->Counts();
    if (counts.half != half) continue;
    sum.injected += counts.injected;
    sum.resent += counts.resent;
    sum.ejected += counts.ejected;
    sum.captured += counts.captured;
    sum.lost += counts.lost;
    sum.lost_in_chips += counts.lost_in_chips;
    sum.held += counts.held;
    sum.chips_in += counts.chips_in;
    sum.chips_out += counts.chips_out;
  }
  sum.half = half;
  return sum;
}

}  // namespace vcm5
