#include "runtime/launch/job.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/launch/children.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/stats_report.h"

namespace vcm5 {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReadyTime{10000};
constexpr milliseconds kDrainTime{500};
constexpr milliseconds kFaultTime{20};
constexpr milliseconds kHardErrorTime{250};
// For the other nodes, after one has failed.
constexpr milliseconds kGraceTime{500};
// Between SIGTERM and SIGKILL.
constexpr milliseconds kTerminateTime{250};

// Nodes started between two looks at what else happens.
constexpr int kNodesPerTurn = 16;

}  // namespace

Job::Job(const RunOptions& options)
    : options_(options),
      spawner_({kNodeVariable, kBootVariable}),
      output_(io_, options.label, [this] { CheckProgress(); }),
      nodes_(options, spawner_, output_),
      signals_(io_, SIGCHLD),
      ready_timer_(io_),
      timeout_timer_(io_),
      report_timer_(io_),
      finish_timer_(io_),
      wires_(options.machine, options.partitions(), options.data_daemons) {
  uint32_t node = 0;
  for (const ProgramRun& program : options_.programs) {
    Party& party = parties_.emplace_back(io_);
    party.first_node = node;
    node += static_cast<uint32_t>(program.partition.size());
    party.last_node = node;
  }
}

int Job::Run() {
  // Nobody may end this process quietly; who ignores a signal (nohup) goes on ignoring it.
  signal(SIGPIPE, SIG_IGN);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      signals_.add(number);
    }
  }
  signals_.add(SIGUSR1);
  AdoptOrphans();
  spawner_.RaiseDescriptorLimit();
  WaitForSignal();
  if (const absl::Status status = Start(); !status.ok()) {
    End(absl::IsInvalidArgument(status) ? kExitUsage : kExitFailure, std::string(status.message()));
  }
  io_.run();
  if (output_.write_error() != 0 && !std::exchange(reason_given_, true)) {
    std::fprintf(stderr, "vcm5: %s\n", OutputLost().c_str());
    if (exit_status_ == 0) exit_status_ = kExitFailure;
  }
  return exit_status_;
}

std::string Job::OutputLost() const {
  return absl::StrCat("cannot write standard output: ", std::strerror(output_.write_error()));
}

// ---- starting ------------------------------------------------------------------------------------

absl::Status Job::Start() {
  const uint64_t files = JobFabric::FilesNeeded(options_);
  if (files > spawner_.descriptors_max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options_.nodes(), " nodes as processes need ", files, " open files, but only ",
        spawner_.descriptors_max(), " are allowed (ulimit -Hn); the engine `embedded` needs none"));
  }
  // Daemons first: they start on another processor while memory is made here.
  for (uint32_t index = 0; index <= options_.data_daemons; ++index) {
    auto daemon = DaemonHandle::Start(io_, spawner_, index, options_.data_daemons, *this);
    if (!daemon.ok()) return daemon.status();
    daemons_.push_back(std::move(*daemon));
  }
  absl::StatusOr<std::unique_ptr<JobFabric>> fabric = JobFabric::Create(options_);
  if (!fabric.ok()) return fabric.status();
  fabric_ = std::move(*fabric);
  for (const auto& daemon : daemons_) {
    // An error here means that it is gone, and its process tells how.
    [[maybe_unused]] const absl::Status sent =
        fabric_->Configure(daemon->index(), daemon->channel());
    daemon->FlushSoon();
    daemon->Listen();
  }
  After(ready_timer_, kReadyTime, [this] { DaemonsTooSlow(); });
  if (options_.timeout_seconds > 0) {
    After(timeout_timer_,
          milliseconds(static_cast<int64_t>(options_.timeout_seconds * 1000)),
          [this] { OnTimeout(); });
  }
  boost::asio::post(io_, [this] { StartNodes(); });
  return absl::OkStatus();
}

void Job::StartNodes() {
  if (phase_ != Phase::kRunning) return;
  for (int count = 0; count < kNodesPerTurn && !nodes_.all_started(); ++count) {
    if (parties_[fabric_->places()[nodes_.next()].partition].ending) {
      nodes_.SkipNext();
      continue;
    }
    if (const absl::Status status = nodes_.StartNext(*fabric_); !status.ok()) {
      End(absl::IsInvalidArgument(status) ? kExitUsage : kExitFailure,
          std::string(status.message()));
      return;
    }
  }
  if (nodes_.all_started()) {
    ReleaseDescriptors();
    CheckProgress();
  } else {
    boost::asio::post(io_, [this] { StartNodes(); });
  }
}

void Job::ReleaseDescriptors() {
  bool all_ready = nodes_.all_started();
  for (const auto& daemon : daemons_) all_ready = all_ready && daemon->ready();
  if (all_ready) fabric_->CloseDescriptors();
}

void Job::OnReady(DaemonHandle&) {
  for (const auto& daemon : daemons_) {
    if (!daemon->ready()) return;
  }
  ready_timer_.cancel();
  ReleaseDescriptors();
}

void Job::DaemonsTooSlow() {
  for (const auto& daemon : daemons_) {
    if (daemon->ready()) continue;
    End(kExitFailure, absl::StrCat(daemon->name(), " is not ready after ", kReadyTime.count() / 1000,
                                   " s; the job has ended"));
    return;
  }
}

// ---- what happens --------------------------------------------------------------------------------

void Job::WaitForSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    WaitForSignal();
    if (number == SIGCHLD) {
      ReapChildren();
    } else {
      OnSignal(number);
    }
  });
}

void Job::OnSignal(int number) {
  // Goes to all nodes at once; if earlier ones are still on their way, these will do.
  if (number == SIGUSR1) {
    for (size_t i = 0; fabric_ != nullptr && i < parties_.size(); ++i) {
      fabric_->supervisor(i).Interrupt(SIGUSR1);
    }
    return;
  }
  if (phase_ == Phase::kDraining) {
    // All processes are gone; whoever is to read the output does not.
    if (exit_status_ == 0) exit_status_ = 128 + number;
    Done();
    return;
  }
  if (phase_ != Phase::kRunning) {
    KillNodes();
    return;
  }
  End(128 + number, absl::StrCat("got signal ", number, " (", SignalName(number),
                                 "); the job has ended"));
}

void Job::ReapChildren() {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (const std::optional<uint32_t> node = nodes_.Ended(pid, status)) {
      OnNodeEnded(*node, status);
      continue;
    }
    for (const auto& daemon : daemons_) {
      if (daemon->pid() == pid) OnDaemonEnded(*daemon, status);
    }
    // Others are orphans that a node left behind.
  }
  CheckProgress();
}

void Job::OnNodeEnded(uint32_t node, int status) {
  if (phase_ != Phase::kRunning || status == 0) return;
  const JobFabric::Place place = fabric_->places()[node];
  Party& party = parties_[place.partition];
  if (party.ending) return;
  const std::string line =
      absl::StrCat(fabric_->NameOf(place.physical), " ", DescribeEnd(status), Outcome());
  if (WIFSIGNALED(status)) {
    if (party.fault_line != nullptr) {
      EndWithFault(party);
      return;
    }
    // A node that writes where nobody reads any more dies quietly, as without us.
    const bool quiet = WTERMSIG(status) == SIGPIPE && output_.broken();
    EndParty(party, ShellStatus(status), quiet ? std::string() : line);
    return;
  }
  if (std::exchange(party.failed, true)) return;
  if (exit_status_ == 0) exit_status_ = ShellStatus(status);
  After(party.grace_timer, kGraceTime,
        [this, &party, status, line] { EndParty(party, ShellStatus(status), line); });
}

const char* Job::Outcome() const {
  return parties_.size() == 1 ? "; the job has ended" : "; its program has ended";
}

void Job::OnDaemonEnded(DaemonHandle& daemon, int status) {
  daemon.SetDead();
  daemon.Close();
  // In the last phases we end them ourselves.
  if (phase_ == Phase::kDraining || phase_ == Phase::kDone) return;
  if (answers_due_ > 0) --answers_due_;
  End(kExitFailure,
      absl::StrCat(daemon.name(), " ", DescribeEnd(status), "; the job has ended"));
}

// A daemon that dies takes its links with it, and its peers may complain before its end is known:
// wait a moment for that, the better reason. Longer if the data network has a hard error: of that the
// nodes of a partition are told (CN8), and shall have time to hear it.
void Job::OnFault(DaemonHandle&, const config::Fault& fault) {
  const FabricError error = Unpack(fault);
  const bool is_network = error.leaf == FabricError::kNetwork;
  const auto line = std::make_shared<std::string>(fabric_->LineOf(error));
  for (const uint32_t i : fabric_->ConcernedBy(error)) {
    if (is_network) fabric_->supervisor(i).SetHardError(true);
    Party* party = &parties_[i];
    if (party->fault_line != nullptr) continue;
    party->fault_line = line;
    After(party->fault_timer, is_network ? kHardErrorTime : kFaultTime,
          [this, party] { EndWithFault(*party); });
  }
}

void Job::EndWithFault(Party& party) {
  if (!party.ending) EndParty(party, kExitFailure, std::exchange(*party.fault_line, {}));
}

void Job::OnFailed(DaemonHandle& daemon, const std::string& reason) {
  End(kExitFailure, absl::StrCat(daemon.name(), " failed: ", reason));
}

// ---- ending --------------------------------------------------------------------------------------

void Job::End(int status, const std::string& line) {
  if (phase_ == Phase::kDraining || phase_ == Phase::kDone) return;
  if (!std::exchange(reason_given_, true)) {
    if (exit_status_ == 0) exit_status_ = status;
    if (!line.empty()) output_.Say(line);
  }
  if (phase_ != Phase::kRunning) return;
  phase_ = Phase::kEnding;
  answers_due_ = 0;
  for (auto* timer : {&ready_timer_, &timeout_timer_, &report_timer_}) timer->cancel();
  for (Party& party : parties_) StopNodes(party);
}

// Ends one program of several; a job of one ends with it.
void Job::EndParty(Party& party, int status, const std::string& line) {
  const bool goes_on = phase_ == Phase::kRunning || phase_ == Phase::kFinishing;
  if (parties_.size() == 1 || !goes_on) return End(status, line);
  if (party.ending) return;
  if (exit_status_ == 0) exit_status_ = status;
  if (!line.empty()) output_.Say(line);
  StopNodes(party);
}

void Job::StopNodes(Party& party) {
  if (std::exchange(party.ending, true)) return;
  nodes_.Signal(SIGTERM, party.first_node, party.last_node);
  // A stopped process takes SIGTERM when it goes on; it shall not wait for that.
  nodes_.Signal(SIGCONT, party.first_node, party.last_node);
  After(party.grace_timer, kTerminateTime,
        [this, &party] { nodes_.Signal(SIGKILL, party.first_node, party.last_node); });
  boost::asio::post(io_, [this] { CheckProgress(); });
}

void Job::KillNodes() { nodes_.Signal(SIGKILL); }

void Job::CheckProgress() {
  if (phase_ == Phase::kRunning && output_.write_error() != 0) {
    End(kExitFailure, absl::StrCat(OutputLost(), "; the job has ended"));
    return;
  }
  switch (phase_) {
    case Phase::kRunning:
      if (nodes_.all_started() && nodes_.alive() == 0) Finish();
      break;
    case Phase::kEnding:
      if (nodes_.alive() == 0) Finish();
      break;
    case Phase::kFinishing:
      if (answers_due_ == 0) Drain();
      break;
    case Phase::kDraining:
      if (output_.drained()) Done();
      break;
    case Phase::kDone:
      break;
  }
}

void Job::Finish() {
  const bool failed = phase_ == Phase::kEnding;
  phase_ = Phase::kFinishing;
  for (auto* timer : {&ready_timer_, &timeout_timer_, &report_timer_}) timer->cancel();
  for (Party& party : parties_) {
    party.grace_timer.cancel();
    if (party.fault_line != nullptr) EndWithFault(party);
  }
  answers_due_ = 0;
  // A job that failed owes no counters, unless they were asked for.
  if (fabric_ != nullptr && (!failed || options_.stats)) AskForTheLast();
  After(finish_timer_, kFinishTime, [this] { Drain(); });
  boost::asio::post(io_, [this] { CheckProgress(); });
}

void Job::Drain() {
  if (phase_ != Phase::kFinishing) return;
  if (answers_due_ != 0) End(kExitFailure, "a daemon did not answer at the end of the job");
  EndLate();
  phase_ = Phase::kDraining;
  if (options_.stats) {
    for (const std::string& line : FormatStats(stats_)) output_.Say(line);
  }
  for (const auto& daemon : daemons_) daemon->Close();
  // Daemons have nothing to put in order; descendants of nodes end with the job. After this nobody
  // holds the other end of a node's output.
  KillRemainingChildren();
  finish_timer_.cancel();
  if (exit_status_ != 0) After(finish_timer_, kDrainTime, [this] { Done(); });
  boost::asio::post(io_, [this] { CheckProgress(); });
}

void Job::Done() {
  phase_ = Phase::kDone;
  io_.stop();
}

void Job::After(boost::asio::steady_timer& timer, milliseconds delay,
                std::function<void()> then) {
  timer.expires_after(delay);
  timer.async_wait([then = std::move(then)](const boost::system::error_code& error) {
    if (!error) then();
  });
}

int RunUnderDaemons(const RunOptions& options) { return Job(options).Run(); }

}  // namespace vcm5
