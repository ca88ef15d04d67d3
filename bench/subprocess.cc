#include "bench/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/launch/children.h"
#include "runtime/launch/spawn.h"
#include "runtime/launch/unique_fd.h"

namespace vcm5::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Between asking a command to end and killing it.
constexpr std::chrono::seconds kEndTime{5};

// Signals that would end this process come out of a descriptor instead, while it lives.
class EndSignals {
 public:
  EndSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
    sigprocmask(SIG_BLOCK, &signals, &before_);
    fd_ = UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~EndSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  int fd() const { return fd_.get(); }
  int Take() {
    signalfd_siginfo info;
    return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                              : 0;
  }

 private:
  sigset_t before_;
  UniqueFd fd_;
};

class Lines {
 public:
  explicit Lines(const OnLine& on_line) : on_line_(on_line) {}
  void Append(const char* bytes, size_t count) {
    rest_.append(bytes, count);
    for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
      on_line_(rest_.substr(0, end));
    }
  }
  void Finish() {
    if (!rest_.empty()) on_line_(rest_);
  }

 private:
  const OnLine& on_line_;
  std::string rest_;
};

// Reads what is there; false at the end.
bool Drain(int pipe, Lines* lines) {
  char bytes[4096];
  while (true) {
    const ssize_t count = read(pipe, bytes, sizeof bytes);
    if (count > 0) {
      lines->Append(bytes, static_cast<size_t>(count));
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return true;
    }
  }
}

struct Watch {
  pid_t pid;
  int pipe;
  UniqueFd pid_fd;
  Clock::time_point deadline;
  bool told = false;  // to end
  bool timed_out = false;
  int signal = 0;  // that told us to end

  void TellToEnd() {
    if (std::exchange(told, true)) {
      kill(pid, SIGKILL);
    } else {
      kill(pid, SIGTERM);
    }
    deadline = Clock::now() + kEndTime;
  }
};

// Until the command has ended, whoever else still holds its output.
void Listen(Watch* watch, EndSignals* signals, Lines* lines) {
  pollfd polled[] = {
      {watch->pid_fd.get(), POLLIN, 0}, {signals->fd(), POLLIN, 0}, {watch->pipe, POLLIN, 0}};
  while (polled[0].revents == 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(watch->deadline - Clock::now());
    const int timeout = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1000000));
    const int ready = poll(polled, std::size(polled), timeout);
    if (ready == 0 && Clock::now() >= watch->deadline) {
      watch->timed_out = !watch->told || watch->timed_out;
      watch->TellToEnd();
    }
    if (ready <= 0) continue;
    if (polled[1].revents != 0) {
      watch->signal = signals->Take();
      watch->TellToEnd();
    }
    if (polled[2].revents != 0 && !Drain(watch->pipe, lines)) polled[2].fd = -1;
  }
  if (polled[2].fd >= 0) Drain(watch->pipe, lines);
  lines->Finish();
}

}  // namespace

std::string Command::Text() const {
  std::string text = path;
  for (const std::string& argument : arguments) absl::StrAppend(&text, " ", argument);
  return text;
}

absl::Status RunCommand(const Command& command, double timeout_seconds, const OnLine& on_line) {
  EndSignals signals;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnRequest request;
  request.path = command.path;
  request.arguments = command.arguments;
  request.arguments.insert(request.arguments.begin(), command.path);
  request.variables = command.variables;
  request.descriptors = {null.get(), theirs.get(), STDERR_FILENO};
  absl::StatusOr<pid_t> pid = Spawner({}).Spawn(request);
  if (!pid.ok()) return pid.status();
  theirs.Close();

  Watch watch{*pid, ours.get(), UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0))),
              Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(timeout_seconds))};
  Lines lines(on_line);
  Listen(&watch, &signals, &lines);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (watch.signal != 0) {
    signal(watch.signal, SIG_DFL);
    raise(watch.signal);  // delivered when EndSignals goes
    return absl::CancelledError("interrupted");
  }
  if (watch.timed_out) {
    return absl::DeadlineExceededError(
        absl::StrCat("`", command.Text(), "` was ended after ", timeout_seconds, " s"));
  }
  if (status != 0) {
    return absl::InternalError(absl::StrCat("`", command.Text(), "` ", DescribeEnd(status)));
  }
  return absl::OkStatus();
}

std::string FindInPath(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return "";
  const std::vector<std::string> folders = absl::StrSplit(path, ':', absl::SkipEmpty());
  for (const std::string& name : names) {
    for (const std::string& folder : folders) {
      std::string candidate = absl::StrCat(folder, "/", name);
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  return "";
}

}  // namespace vcm5::bench
