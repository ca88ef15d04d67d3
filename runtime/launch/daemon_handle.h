// A daemon as the launcher sees it: its process, its control socket, and how far it has come.
#ifndef VCM5_RUNTIME_LAUNCH_DAEMON_HANDLE_H_
#define VCM5_RUNTIME_LAUNCH_DAEMON_HANDLE_H_

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemons/config/control_channel.h"
#include "daemons/config/control_plane.pb.h"
#include "runtime/launch/spawn.h"
#include "runtime/launch/unique_fd.h"

namespace vcm5 {

class DaemonHandle;

// What a daemon tells the job. Calls come from the event loop.
class DaemonObserver {
 public:
  virtual ~DaemonObserver() = default;
  virtual void OnReady(DaemonHandle& daemon) = 0;
  virtual void OnFault(DaemonHandle& daemon, const config::Fault& fault) = 0;
  virtual void OnWaiting(DaemonHandle& daemon, const config::Waiting& waiting) = 0;
  virtual void OnFinished(DaemonHandle& daemon, const config::Finished& finished) = 0;
  virtual void OnCounts(DaemonHandle& daemon, const config::Counts& counts) = 0;
  // It cannot begin, or what it says makes no sense. Its end is not told here, but by SIGCHLD.
  virtual void OnFailed(DaemonHandle& daemon, const std::string& reason) = 0;
};

class DaemonHandle {
 public:
  // Starts daemon `index` of the job: data daemons 0 to data_daemons - 1, then the control daemon.
  static absl::StatusOr<std::unique_ptr<DaemonHandle>> Start(boost::asio::io_context& io,
                                                             const Spawner& spawner, uint32_t index,
                                                             uint32_t data_daemons,
                                                             DaemonObserver& observer);

  // `socket` is the launcher's end.
  DaemonHandle(boost::asio::io_context& io, uint32_t index, std::string name, pid_t pid,
               UniqueFd socket, DaemonObserver& observer);

  uint32_t index() const { return index_; }
  const std::string& name() const { return name_; }  // "data daemon 0", "the control daemon"
  pid_t pid() const { return pid_; }
  ControlChannel& channel() { return channel_; }

  bool ready() const { return ready_; }
  bool alive() const { return alive_; }
  void SetDead() { alive_ = false; }

  // Begins to listen; call once.
  void Listen() { WaitToRead(); }
  void Send(const config::ToDaemon& message);
  // Offers what Send or JobFabric::Configure left queued.
  void FlushSoon();
  // No more calls of the observer.
  void Close();

 private:
  void WaitToRead();
  void OnReadable();
  void Handle(const config::FromDaemon& message);

  const uint32_t index_;
  const std::string name_;
  const pid_t pid_;
  ControlChannel channel_;
  boost::asio::posix::stream_descriptor wait_;  // the same socket, for the event loop
  DaemonObserver& observer_;
  bool writing_ = false;
  bool ready_ = false;
  bool alive_ = true;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_DAEMON_HANDLE_H_
