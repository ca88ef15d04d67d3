#include "daemons/process/daemon_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "daemons/config/control_channel.h"
#include "daemons/config/control_plane.pb.h"
#include "daemons/process/agent_loop.h"
#include "runtime/base/version.h"

namespace vcm5 {
namespace {

// As the launcher passes them: --control=FD --launcher=PID.
struct Arguments {
  int control = -1;
  pid_t launcher = 0;
};

bool TakeNumber(const char* argument, const char* name, int* value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(argument + length, &end, 10);
  if (errno != 0 || end == argument + length || *end != '\0' || number < 0 || number > 1 << 30) {
    return false;
  }
  *value = static_cast<int>(number);
  return true;
}

bool IsControlSocket(int fd) {
  int domain = 0;
  int type = 0;
  socklen_t length = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_UNIX) return false;
  length = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

bool Parse(int argc, char** argv, Arguments* arguments) {
  if (argc != 3) return false;
  if (!TakeNumber(argv[1], "--control=", &arguments->control)) return false;
  if (!TakeNumber(argv[2], "--launcher=", &arguments->launcher)) return false;
  return IsControlSocket(arguments->control);
}

// The parent, for the signal handler; set before it is installed.
pid_t launcher_pid;

// Safe in a signal handler.
void SayLauncherDied() {
  static constexpr char kLine[] = "vcm5: the launcher was killed; the job has ended\n";
  // A terminal or pipe that takes nothing must not keep a process alive.
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (poll(&error, 1, 0) == 1 && (error.revents & POLLOUT) != 0) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  }
}

extern "C" void OnTerminate(int signal_number) {
  if (getppid() != launcher_pid) {
    SayLauncherDied();
    _exit(1);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void BlockTerminate() {
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  sigprocmask(SIG_BLOCK, &terminate, nullptr);
}

// The terminal's signals go to the launcher, which ends the job in order.
void ArrangeSignals(bool report_launcher_death) {
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) signal(number, SIG_IGN);
  if (report_launcher_death) {
    struct sigaction action {};
    action.sa_handler = OnTerminate;
    action.sa_flags = SA_RESETHAND;
    sigaction(SIGTERM, &action, nullptr);
  }
  prctl(PR_SET_PDEATHSIG, report_launcher_death ? SIGTERM : SIGKILL);
}

void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Serve(const DaemonProgram& program, ControlChannel& channel) {
  absl::StatusOr<DaemonSetup> setup = ReceiveSetup(channel);
  absl::StatusOr<std::vector<std::unique_ptr<Agent>>> agents =
      setup.ok() ? program.make_agents(*setup) : setup.status();
  config::FromDaemon answer;
  if (!agents.ok()) {
    // The launcher tells the user; if it is gone, there is nobody to tell.
    answer.mutable_failed()->set_reason(std::string(agents.status().message()));
    [[maybe_unused]] const absl::Status sent = channel.Send(answer);
    return 1;
  }
  answer.mutable_ready();
  if (!channel.Send(answer).ok()) return 1;

  AgentLoop loop(std::move(*agents), setup->AllDoorbells(), program.bells(*setup), channel,
                 IdleStrategy(setup->processors, setup->runners));
  const absl::Status status = loop.Run();
  if (status.code() == absl::StatusCode::kUnavailable) {
    // A launcher that ends in order kills us before it closes the socket; one that is killed closes
    // it before we get the signal that says so.
    BlockTerminate();
    if (program.reports_launcher_death) SayLauncherDied();
    return 1;
  }
  std::fprintf(stderr, "%s: %s\n", program.name, std::string(status.message()).c_str());
  return 1;
}

}  // namespace

int RunDaemon(const DaemonProgram& program, int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::printf(
        "%s %s.\n\n"
        "It is a part of vcm5 and is started by `vcm5 run`, which also ends it; there is nothing\n"
        "to run by hand. `vcm5 run --help` says how to run a program on a virtual CM-5.\n",
        program.name, program.purpose);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("%s %s\n", program.name, VCM5_VERSION);
    return 0;
  }
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr, "%s: cannot be run by hand; `vcm5 run -n N PROGRAM` starts it\n",
                 program.name);
    return 2;
  }
  launcher_pid = arguments.launcher;
  ArrangeSignals(program.reports_launcher_death);
  // A launcher that died before the line above has sent no signal.
  if (getppid() != arguments.launcher) return 1;
  RaiseDescriptorLimit();
  Doorbell::RegisterProcess();
  ControlChannel channel(arguments.control);
  return Serve(program, channel);
}

}  // namespace vcm5
