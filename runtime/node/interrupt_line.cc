#include "runtime/node/interrupt_line.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

// One line a process; written before the handler can run.
int line_fd = -1;
vcm5_port* line_port = nullptr;

extern "C" void OnInterrupt(int) {
  const int saved = errno;
  char bytes[64];
  while (read(line_fd, bytes, sizeof bytes) == static_cast<ssize_t>(sizeof bytes)) {
  }
  vcm5_port_take_interrupts(line_port);
  errno = saved;
}

absl::Status Failure(const char* what) {
  return absl::InternalError(absl::StrCat("interrupt line: ", what, ": ", std::strerror(errno)));
}

}  // namespace

absl::Status ConnectInterruptLine(int fd, vcm5_port* port) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode)) {
    return absl::InvalidArgumentError("interrupt line: the descriptor is no pipe");
  }
  line_fd = fd;
  line_port = port;
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  if (sigaction(SIGURG, &action, nullptr) != 0) return Failure("sigaction");
  const f_owner_ex owner{F_OWNER_TID, static_cast<pid_t>(syscall(SYS_gettid))};
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETOWN_EX, &owner) != 0 ||
      fcntl(fd, F_SETSIG, SIGURG) != 0 || fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) != 0) {
    return Failure("fcntl");
  }
  return absl::OkStatus();
}

}  // namespace vcm5
