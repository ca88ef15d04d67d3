// A job from its first process to its last. One thread, one event loop.
//
//   kRunning    daemons and nodes are started (nodes need not wait for daemons: what they send lies
//               in their FIFOs until somebody looks); then nodes run until all have ended
//   kEnding     something went wrong, or somebody wants an end: nodes get SIGTERM, a moment later
//               SIGKILL
//   kFinishing  no node is left: daemons are asked for their last errors and counters
//   kDraining   no process is left; output that nodes wrote before is still on its way
//   kDone
//
// The first reason to end a job decides its exit status and its one line on standard error. Every
// wait has a bound, except the one for a reader of a job that ended well.
//
// A job runs a program in each of its partitions. What goes wrong in one of several ends that one
// only, with its own line, and damage in a network ends those whose messages pass there; the exit
// status is that of the first.
#ifndef VCM5_RUNTIME_LAUNCH_JOB_H_
#define VCM5_RUNTIME_LAUNCH_JOB_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemons/driver/agent.h"
#include "runtime/launch/daemon_handle.h"
#include "runtime/launch/job_fabric.h"
#include "runtime/launch/node_group.h"
#include "runtime/launch/output_forwarder.h"
#include "runtime/launch/run_options.h"
#include "runtime/launch/spawn.h"
#include "runtime/launch/wire_balance.h"

namespace vcm5 {

class Job : public DaemonObserver {
 public:
  explicit Job(const RunOptions& options);  // `options` must outlive the job

  // Returns the exit status.
  int Run();

 private:
  enum class Phase { kRunning, kEnding, kFinishing, kDraining, kDone };

  // The program of one partition.
  struct Party {
    explicit Party(boost::asio::io_context& io) : fault_timer(io), grace_timer(io) {}
    uint32_t first_node = 0;  // of those that NodeGroup numbers
    uint32_t last_node = 0;   // one past
    bool ending = false;
    bool failed = false;      // a node ended with a nonzero status
    // What a network complained about first, if it did; emptied by the first to end of those that
    // it concerns.
    std::shared_ptr<std::string> fault_line;
    boost::asio::steady_timer fault_timer;  // a daemon may have died; nodes may look at the bit
    boost::asio::steady_timer grace_timer;  // after a node failed; before SIGKILL
  };
  // For the daemons to answer.
  static constexpr std::chrono::milliseconds kReportTime{300};
  static constexpr std::chrono::milliseconds kFinishTime{500};

  // Starting.
  absl::Status Start();
  void StartNodes();
  void ReleaseDescriptors();

  // What happens.
  void WaitForSignal();
  void OnSignal(int number);
  void ReapChildren();
  void OnNodeEnded(uint32_t node, int status);
  void OnDaemonEnded(DaemonHandle& daemon, int status);
  void OnTimeout();
  void OnReady(DaemonHandle& daemon) override;
  void OnFault(DaemonHandle& daemon, const config::Fault& fault) override;
  void OnWaiting(DaemonHandle& daemon, const config::Waiting& waiting) override;
  void OnFinished(DaemonHandle& daemon, const config::Finished& finished) override;
  void OnCounts(DaemonHandle& daemon, const config::Counts& counts) override;
  void OnFailed(DaemonHandle& daemon, const std::string& reason) override;

  // Ending. Each is harmless when called again.
  void End(int status, const std::string& line);
  void EndParty(Party& party, int status, const std::string& line);
  void StopNodes(Party& party);
  const char* Outcome() const;  // the end of a line that says why one ended
  void Report();
  void AskDaemons(const config::ToDaemon& message);
  void AskForTheLast();
  void Answered();
  bool EndedWell(const FabricError& error) const;
  void SayLate(const FabricError& error);
  static FabricError Unpack(const config::Fault& fault);
  void EndLate();
  void Finish();
  void Drain();
  void Done();
  std::string OutputLost() const;
  void CheckProgress();

  void After(boost::asio::steady_timer& timer, std::chrono::milliseconds delay,
             std::function<void()> then);
  void KillNodes();
  void DaemonsTooSlow();
  void ReportTooSlow();
  void EndWithFault(Party& party);

  const RunOptions& options_;
  boost::asio::io_context io_{1};
  const Spawner spawner_;
  OutputForwarder output_;
  NodeGroup nodes_;
  std::unique_ptr<JobFabric> fabric_;
  std::vector<std::unique_ptr<DaemonHandle>> daemons_;
  std::deque<Party> parties_;  // by partition
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ready_timer_;    // daemons must be ready
  boost::asio::steady_timer timeout_timer_;  // --timeout
  boost::asio::steady_timer report_timer_;   // daemons must say who waits for whom
  boost::asio::steady_timer finish_timer_;   // daemons must give their counters; output must drain

  Phase phase_ = Phase::kRunning;
  int exit_status_ = 0;
  bool reason_given_ = false;   // why the job fails has been said, or is known without words
  bool reporting_ = false;      // --timeout has struck; daemons are asked
  unsigned answers_due_ = 0;    // of the daemons, to what they were asked last
  std::vector<std::string> waiting_;
  std::vector<FabricStat> stats_;
  WireBalance wires_;                    // between data daemons
  std::vector<FabricError> late_faults_;
  std::vector<FabricError> unbalanced_;  // where messages were lost or made
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_JOB_H_
