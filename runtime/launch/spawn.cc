#include "runtime/launch/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

// The C library's other name of clone(2). ThreadSanitizer puts a function of its own under the usual
// one, which takes every child for a copy of its parent and then undoes in the child, here in our
// memory, what it also undoes in the parent.
extern "C" int __clone(int (*main)(void*), void* stack, int flags, void* argument, ...);

namespace vcm5 {
namespace {

struct Child {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const int* descriptors;
  int* scratch;  // room for as many
  int count;
  const rlimit* limit;
  pid_t parent;
  int failure;
};

// Of the child until execve.
constexpr size_t kStackBytes = 64 << 10;

// What the kernel takes and gives for a signal's action; all zero is the default action.
struct KernelAction {
  uintptr_t handler;
  uintptr_t flags_restorer_mask[3];
};

constexpr size_t kKernelMaskBytes = 8;

void SetDefault(int number) {
  const KernelAction action{};
  syscall(SYS_rt_sigaction, number, &action, nullptr, kKernelMaskBytes);
}

bool IsIgnored(int number) {
  KernelAction action{};
  syscall(SYS_rt_sigaction, number, nullptr, &action, kKernelMaskBytes);
  return action.handler == reinterpret_cast<uintptr_t>(SIG_IGN);
}

// Moves the descriptors to 0, 1, ...; in two steps, for a source may stand where a target goes.
bool PlaceDescriptors(const Child& child) {
  for (int i = 0; i < child.count; ++i) {
    const long copy = syscall(SYS_fcntl, child.descriptors[i], F_DUPFD, child.count);
    if (copy < 0) return false;
    child.scratch[i] = static_cast<int>(copy);
  }
  for (int i = 0; i < child.count; ++i) {
    if (syscall(SYS_dup3, child.scratch[i], i, 0) < 0) return false;
  }
  return syscall(SYS_close_range, child.count, ~0u, 0) == 0;
}

// Runs in the memory of the parent, which waits. System calls only, and not by way of functions
// that keep books: what a library (or a sanitizer) notes down here, the parent would believe of
// itself. Returns why it failed.
int RunChild(const Child& child) {
  // The order matters: a parent that dies before this line is noticed in the next one.
  if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
  if (syscall(SYS_getppid) != child.parent) syscall(SYS_exit_group, 1);
  if (!PlaceDescriptors(child)) return errno;
  // Handlers of ours must be gone before signals can arrive again. Ignored signals stay ignored (a
  // job under nohup, or in the background of a shell), but for the one that we ignore ourselves.
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1}) {
    if (!IsIgnored(number)) SetDefault(number);
  }
  SetDefault(SIGPIPE);
  syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, child.limit, nullptr);
  const uint64_t none = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kKernelMaskBytes);
  syscall(SYS_execve, child.path, child.arguments, child.environment);
  return errno;
}

int ChildMain(void* argument) {
  auto* child = static_cast<Child*>(argument);
  child->failure = RunChild(*child);
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

std::string NameOf(const char* variable) {
  const char* end = std::strchr(variable, '=');
  return end == nullptr ? variable : std::string(variable, end);
}

}  // namespace

Spawner::Spawner(const std::vector<std::string>& hidden)
    : stack_(std::make_unique<std::byte[]>(kStackBytes)) {
  getrlimit(RLIMIT_NOFILE, &limit_);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name = NameOf(*variable);
    bool keep = true;
    for (const std::string& each : hidden) keep = keep && each != name;
    if (keep) environment_.push_back(*variable);
  }
}

void Spawner::RaiseDescriptorLimit() const {
  rlimit limit = limit_;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

absl::StatusOr<pid_t> Spawner::Spawn(const SpawnRequest& request) const {
  std::vector<char*> arguments;
  for (const std::string& argument : request.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  std::vector<char*> environment = environment_;
  for (const std::string& variable : request.variables) {
    environment.push_back(const_cast<char*>(variable.c_str()));
  }
  environment.push_back(nullptr);
  std::vector<int> scratch(request.descriptors.size());
  Child child{.path = request.path.c_str(),
              .arguments = arguments.data(),
              .environment = environment.data(),
              .descriptors = request.descriptors.data(),
              .scratch = scratch.data(),
              .count = static_cast<int>(request.descriptors.size()),
              .limit = &limit_,
              .parent = getpid(),
              .failure = 0};

  // No handler of ours may run in the child while it shares our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  // As vfork(2), but on a stack of its own: the parent waits until execve or _exit.
  const pid_t pid = __clone(ChildMain, stack_.get() + kStackBytes,
                            CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
  const int fork_error = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start ", request.path, ": fork: ", std::strerror(fork_error)));
  }
  if (child.failure != 0) {
    // The SIGCHLD of this child is ours alone; it was never one of the job.
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    const char* why = child.failure == ENOEXEC ? "it is no program for this system"
                                               : std::strerror(child.failure);
    return absl::InvalidArgumentError(absl::StrCat("cannot run ", request.path, ": ", why));
  }
  return pid;
}

}  // namespace vcm5
