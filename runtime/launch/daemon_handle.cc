#include "runtime/launch/daemon_handle.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/version.h"
#include "runtime/launch/program_lookup.h"

namespace vcm5 {

using boost::asio::posix::stream_descriptor;

absl::StatusOr<std::unique_ptr<DaemonHandle>> DaemonHandle::Start(boost::asio::io_context& io,
                                                                  const Spawner& spawner,
                                                                  uint32_t index,
                                                                  uint32_t data_daemons,
                                                                  DaemonObserver& observer) {
  const bool is_control = index == data_daemons;
  const char* const program = is_control ? "vcm5-ctld" : "vcm5-datad";
  absl::StatusOr<std::string> path = FindDaemon(program);
  if (!path.ok()) return path.status();
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::InternalError(absl::StrCat("cannot make a socket: ", std::strerror(errno)));
  }
  UniqueFd ours(sockets[0]);
  const UniqueFd theirs(sockets[1]);
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  absl::StatusOr<pid_t> pid = spawner.Spawn(
      {.path = *path,
       .arguments = {program, "--control=3", absl::StrCat("--launcher=", getpid())},
       .variables = {},
       .descriptors = {null.get(), null.get(), STDERR_FILENO, theirs.get()}});
  if (!pid.ok()) return pid.status();
  std::string name = "the control daemon";
  if (!is_control) name = data_daemons == 1 ? "the data daemon" : absl::StrCat("data daemon ", index);
  return std::make_unique<DaemonHandle>(io, index, std::move(name), *pid, std::move(ours), observer);
}

DaemonHandle::DaemonHandle(boost::asio::io_context& io, uint32_t index, std::string name, pid_t pid,
                           UniqueFd socket, DaemonObserver& observer)
    : index_(index),
      name_(std::move(name)),
      pid_(pid),
      channel_(socket.Release()),
      wait_(io),
      observer_(observer) {
  UniqueFd second(fcntl(channel_.fd(), F_DUPFD_CLOEXEC, 0));
  boost::system::error_code error;
  if (second.get() >= 0 && !wait_.assign(second.get(), error)) second.Release();
}

void DaemonHandle::Send(const config::ToDaemon& message) {
  // A daemon that is gone is reported when its process is.
  if (!alive_ || !channel_.Send(message).ok()) return;
  FlushSoon();
}

void DaemonHandle::FlushSoon() {
  if (!channel_.pending() || writing_ || !wait_.is_open()) return;
  writing_ = true;
  wait_.async_wait(stream_descriptor::wait_write, [this](const boost::system::error_code& error) {
    writing_ = false;
    if (!error && channel_.Flush().ok()) FlushSoon();
  });
}

void DaemonHandle::Close() {
  boost::system::error_code ignored;
  wait_.close(ignored);
}

void DaemonHandle::WaitToRead() {
  if (!wait_.is_open()) return;
  wait_.async_wait(stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error && wait_.is_open()) OnReadable();
  });
}

void DaemonHandle::OnReadable() {
  for (;;) {
    absl::StatusOr<std::optional<ControlChannel::Frame>> frame = channel_.Receive();
    if (!frame.ok()) {
      if (frame.status().code() == absl::StatusCode::kUnavailable) {
        Close();  // it has ended; its process will tell how
      } else {
        observer_.OnFailed(*this, std::string(frame.status().message()));
      }
      return;
    }
    if (!frame->has_value()) break;
    for (const int fd : (*frame)->descriptors) close(fd);
    config::FromDaemon message;
    if (!message.ParseFromString((*frame)->payload)) {
      observer_.OnFailed(*this, "it sent no message of this protocol");
      return;
    }
    Handle(message);
  }
  WaitToRead();
}

void DaemonHandle::Handle(const config::FromDaemon& message) {
  switch (message.body_case()) {
    case config::FromDaemon::kHello:
      if (message.hello().version() != VCM5_VERSION) {
        observer_.OnFailed(*this, absl::StrCat("it is of version ", message.hello().version(),
                                               "; expected ", VCM5_VERSION));
      }
      break;
    case config::FromDaemon::kReady:
      ready_ = true;
      observer_.OnReady(*this);
      break;
    case config::FromDaemon::kFailed:
      observer_.OnFailed(*this, message.failed().reason());
      break;
    case config::FromDaemon::kFault:
      observer_.OnFault(*this, message.fault());
      break;
    case config::FromDaemon::kWaiting:
      observer_.OnWaiting(*this, message.waiting());
      break;
    case config::FromDaemon::kFinished:
      observer_.OnFinished(*this, message.finished());
      break;
    case config::FromDaemon::kCounts:
      observer_.OnCounts(*this, message.counts());
      break;
    case config::FromDaemon::BODY_NOT_SET:
      observer_.OnFailed(*this, "it sent an empty message");
      break;
  }
}

}  // namespace vcm5
