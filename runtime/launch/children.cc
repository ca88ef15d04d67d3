#include "runtime/launch/children.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/launch/unique_fd.h"

namespace vcm5 {
namespace {

// Children of this process's only thread, as the kernel lists them.
std::vector<pid_t> ListChildren() {
  const std::string path = absl::StrCat("/proc/self/task/", getpid(), "/children");
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  ssize_t got;
  while (file.get() >= 0 && (got = read(file.get(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(got));
  }
  std::vector<pid_t> children;
  for (char* at = text.data();;) {
    char* end = nullptr;
    const long pid = std::strtol(at, &end, 10);
    if (end == at) return children;
    children.push_back(static_cast<pid_t>(pid));
    at = end;
  }
}

}  // namespace

std::string SignalName(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? std::string() : absl::StrCat("SIG", name);
}

std::string DescribeEnd(int status) {
  if (WIFEXITED(status)) return absl::StrCat("exited with status ", WEXITSTATUS(status));
  const std::string name = SignalName(WTERMSIG(status));
  return absl::StrCat("was killed by signal ", WTERMSIG(status), name.empty() ? "" : " (", name,
                      name.empty() ? "" : ")");
}

int ShellStatus(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void AdoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

void KillRemainingChildren() {
  for (;;) {
    const std::vector<pid_t> children = ListChildren();
    if (children.empty()) return;
    for (const pid_t child : children) kill(child, SIGKILL);
    for (const pid_t child : children) {
      while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
}

}  // namespace vcm5
