// What a job asks its daemons, and what it says of their answers: who waits for whom when --timeout
// strikes, counters when all nodes have ended, and in both cases where messages got lost.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/launch/job.h"

namespace vcm5 {

void Job::AskDaemons(const config::ToDaemon& message) {
  answers_due_ = 0;
  for (const auto& daemon : daemons_) {
    if (!daemon->alive()) continue;
    ++answers_due_;
    daemon->Send(message);
    fabric_->Wake(daemon->index());
  }
}

// One more answer to what was asked last.
void Job::Answered() {
  if (answers_due_ == 0 || --answers_due_ != 0) return;
  if (wires_.EndRound()) {
    config::ToDaemon again;
    again.mutable_counts();
    AskDaemons(again);
    // Each round has the time that the first one had.
    if (reporting_) After(report_timer_, kReportTime, [this] { ReportTooSlow(); });
    if (phase_ == Phase::kFinishing) After(finish_timer_, kFinishTime, [this] { Drain(); });
  } else if (reporting_) {
    Report();
  } else {
    CheckProgress();
  }
}

void Job::OnCounts(DaemonHandle& daemon, const config::Counts& counts) {
  wires_.Take(daemon.index(), counts.wires());
  Answered();
}

// ---- --timeout -----------------------------------------------------------------------------------

void Job::OnTimeout() {
  if (phase_ != Phase::kRunning) return;
  reporting_ = true;
  wires_.Begin();
  config::ToDaemon request;
  request.mutable_waiting();
  AskDaemons(request);
  After(report_timer_, kReportTime, [this] { ReportTooSlow(); });
}

void Job::OnWaiting(DaemonHandle& daemon, const config::Waiting& waiting) {
  for (const std::string& line : waiting.lines()) waiting_.push_back(line);
  wires_.Take(daemon.index(), waiting.wires());
  Answered();
}

void Job::ReportTooSlow() {
  waiting_.push_back("(not all daemons answered)");
  Report();
}

void Job::Report() {
  if (phase_ != Phase::kRunning || !std::exchange(reporting_, false)) return;
  report_timer_.cancel();
  bool hosts = false;
  for (const ProgramRun& program : options_.programs) hosts |= program.host.has_value();
  End(kExitTimeout, absl::StrCat("no end after ", absl::StrFormat("%g", options_.timeout_seconds),
                                 " s (--timeout): ", nodes_.alive(), " of ", options_.nodes(),
                                 hosts ? " nodes and hosts" : " nodes", " still ran; the job has ended"));
  for (const std::string& line : waiting_) output_.Say(absl::StrCat("  ", line));
  for (const FabricError& loss : wires_.Losses()) output_.Say(absl::StrCat("  ", loss.message));
}

// ---- when all nodes have ended -------------------------------------------------------------------

void Job::AskForTheLast() {
  wires_.Begin();
  config::ToDaemon request;
  request.mutable_finish();
  AskDaemons(request);
}

void Job::OnFinished(DaemonHandle& daemon, const config::Finished& finished) {
  if (phase_ != Phase::kFinishing) return;
  for (const config::Fault& fault : finished.faults()) late_faults_.push_back(Unpack(fault));
  for (const config::Stat& stat : finished.stats()) {
    stats_.push_back({.name = stat.name(),
                      .value = stat.value(),
                      .is_link = stat.is_link(),
                      .arm_links = stat.arm_links()});
  }
  for (const config::Fault& loss : finished.unbalanced()) unbalanced_.push_back(Unpack(loss));
  wires_.Take(daemon.index(), finished.wires());
  Answered();
}

FabricError Job::Unpack(const config::Fault& fault) {
  return {fault.leaf(), fault.message(), {fault.first_below(), fault.below()}};
}

// Whether one of the programs that it concerns has not failed before.
bool Job::EndedWell(const FabricError& error) const {
  for (const uint32_t i : fabric_->ConcernedBy(error)) {
    if (!parties_[i].ending) return true;
  }
  return false;
}

void Job::SayLate(const FabricError& error) {
  reason_given_ = true;
  if (exit_status_ == 0) exit_status_ = kExitFailure;
  output_.Say(fabric_->LineOf(error));
}

// A program whose nodes all ended well has failed all the same if a network says at the last that it
// did something wrong, or that a message of its was damaged, lost or made.
void Job::EndLate() {
  for (const FabricError& loss : wires_.Losses()) unbalanced_.push_back(loss);
  if (reason_given_) return;
  for (const FabricError& fault : late_faults_) {
    if (!EndedWell(fault)) continue;
    SayLate(fault);
    for (const uint32_t i : fabric_->ConcernedBy(fault)) parties_[i].ending = true;
  }
  std::erase_if(unbalanced_, [this](const FabricError& loss) { return !EndedWell(loss); });
  for (const FabricError& loss : unbalanced_) SayLate(loss);
}

}  // namespace vcm5
