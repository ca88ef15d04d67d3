#include "runtime/embedded/run_program.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "runtime/embedded/node_stdio.h"
#include "runtime/embedded/program_image.h"
#include "runtime/engines/embedded.h"
#include "switches/topology/health.h"

namespace vcm5 {
namespace {

class Run;

// The one run of this process: signal handlers and the functions that programs call by name have
// nothing else to find it by.
Run* the_run = nullptr;
volatile sig_atomic_t running_node = -1;
volatile sig_atomic_t host_number = -1;  // of what running_node may be
volatile sig_atomic_t alarms = 0;
volatile sig_atomic_t stop_signal = 0;
volatile sig_atomic_t attention_signal = 0;

// Async-signal-safe: "vcm5: node 5 <what><number>\n".
void SayNode(const char* what, int number) {
  char line[128];
  size_t at = 0;
  auto text = [&](const char* s) {
    while (*s != '\0' && at < sizeof line - 1) line[at++] = *s++;
  };
  auto decimal = [&](int value) {
    char digits[12];
    int n = 0;
    do {
      digits[n++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (n > 0 && at < sizeof line - 1) line[at++] = digits[--n];
  };
  if (running_node == host_number) {
    text("vcm5: host");
  } else {
    text("vcm5: node ");
    decimal(static_cast<int>(running_node));
  }
  text(what);
  if (number >= 0) decimal(number);
  text("; the job has ended\n");
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, line, at);
}

void OnFatalSignal(int signal) {
  if (running_node >= 0) SayNode(" was killed by signal ", signal);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void OnAlarm(int) {
  alarms = alarms + 1;
  // A second later the machine has still not looked: a node computes without ever polling.
  if (alarms == 1) {
    itimerval again{{0, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &again, nullptr);
  } else {
    SayNode(" computes and does not poll; the time-out is over", -1);
    _Exit(124);
  }
}

void OnStop(int signal) {
  if (stop_signal != 0) _Exit(128 + signal);  // asked twice
  stop_signal = signal;
}

void OnAttention(int signal) { attention_signal = signal; }

class Run {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Run(const EmbeddedRunOptions& options)
      : options_(options),
        has_host_(!options.host_program.empty()),
        nodes_(UsableNodes(options.spec).size() + (has_host_ ? 1 : 0)),
        stdio_(static_cast<uint32_t>(nodes_.size()), has_host_, options.label) {}

  // `host`: null if there is none.
  int Go(const ProgramImage& image, const ProgramImage* host);

  // Ends the node whose fiber this is.
  [[noreturn]] void EndNode(int status, bool run_destructors) {
    vcm5_port* port = Embedded::Current();
    Node& node = nodes_[port->self];
    if (status != 0 && status_ == 0) {
      status_ = status & 0xff;
      failed_at_ = Clock::now();
    }
    if (run_destructors) {
      dlclose(node.copy.handle);
      stdio_.Finish(port->self);
    }
    machine_->Finish(*port);
  }

 private:
  struct Node {
    ProgramImage::Copy copy;
    std::vector<std::string> texts;
    std::vector<char*> arguments;
  };

  // After the first node that ended with a status of its own, the others may finish, but not hang.
  bool GraceIsOver() const {
    return status_ != 0 && Clock::now() - failed_at_ > std::chrono::milliseconds(500);
  }

  absl::Status LoadAll(const ProgramImage& image, const ProgramImage* host);
  void InstallSignals();
  void PassAttention();

  const EmbeddedRunOptions& options_;
  const bool has_host_;
  std::vector<Node> nodes_;  // the host is the last one
  NodeStdio stdio_;
  std::unique_ptr<Embedded> machine_;
  int status_ = 0;
  Clock::time_point failed_at_;
};

absl::Status Run::LoadAll(const ProgramImage& image, const ProgramImage* host) {
  for (Node& node : nodes_) {
    const bool is_host = has_host_ && &node == &nodes_.back();
    absl::StatusOr<ProgramImage::Copy> copy = is_host ? host->Load() : image.Load();
    if (!copy.ok()) return copy.status();
    node.copy = *copy;
    const auto& arguments = is_host ? options_.host_arguments : options_.arguments;
    node.texts.push_back(is_host ? options_.host_program : options_.program);
    node.texts.insert(node.texts.end(), arguments.begin(), arguments.end());
    for (std::string& text : node.texts) node.arguments.push_back(text.data());
    node.arguments.push_back(nullptr);
  }
  return absl::OkStatus();
}

void Run::InstallSignals() {
  // A node's stack may be what overflowed: fatal signals have one of their own.
  static char stack[16384];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction fatal {};
  fatal.sa_handler = OnFatalSignal;
  fatal.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigaction(signal, &fatal, nullptr);
  }
  struct sigaction stop {};
  stop.sa_handler = OnStop;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &stop, nullptr);
  struct sigaction attention {};
  attention.sa_handler = OnAttention;
  attention.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &attention, nullptr);
  if (options_.timeout_seconds <= 0) return;
  struct sigaction alarm {};
  alarm.sa_handler = OnAlarm;
  sigaction(SIGALRM, &alarm, nullptr);
  const double whole = std::floor(options_.timeout_seconds);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec =
      std::max<suseconds_t>(1, static_cast<suseconds_t>((options_.timeout_seconds - whole) * 1e6));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// SIGUSR1 goes to all nodes at once; if earlier ones are still on their way, these will do.
void Run::PassAttention() {
  if (attention_signal == 0) return;
  machine_->supervisor(0).Interrupt(static_cast<uint32_t>(attention_signal));
  attention_signal = 0;
}

int Run::Go(const ProgramImage& image, const ProgramImage* host) {
  EmbeddedOptions machine;
  machine.spec = options_.spec;
  machine.hosts = has_host_;
  machine.seed = options_.seed;
  machine.stack_bytes = size_t{2} << 20;
  machine.on_switch = [this](uint32_t self, bool entering) {
    if (entering) {
      running_node = static_cast<sig_atomic_t>(self);
      stdio_.Enter(self);
    } else {
      stdio_.Leave();
      running_node = -1;
    }
  };
  machine.should_stop = [this] {
    PassAttention();
    return alarms != 0 || stop_signal != 0 || GraceIsOver();
  };
  machine_ = std::make_unique<Embedded>(std::move(machine));
  if (const absl::Status loaded = LoadAll(image, host); !loaded.ok()) {
    std::fprintf(stderr, "vcm5: %s\n", std::string(loaded.message()).c_str());
    return 2;
  }
  InstallSignals();
  const absl::Status ran = machine_->Run([this](vcm5_port& port) {
    Node& node = nodes_[port.self];
    const int status = node.copy.main(static_cast<int>(node.arguments.size()) - 1,
                                      node.arguments.data(), environ);
    EndNode(status, true);
  });
  for (uint32_t node = 0; node < machine_->nodes(); ++node) stdio_.Finish(node);
  if (stop_signal != 0) return 128 + static_cast<int>(stop_signal);
  if (alarms != 0) {
    std::fprintf(stderr, "vcm5: the program did not end within %g s; who waits for whom:\n",
                 options_.timeout_seconds);
    for (const std::string& line : machine_->Waiting()) {
      std::fprintf(stderr, "vcm5:   %s\n", line.c_str());
    }
    return 124;
  }
  if (!ran.ok() && status_ == 0) {
    for (const auto& line : absl::StrSplit(ran.message(), '\n')) {
      std::fprintf(stderr, "vcm5: %s\n", std::string(line).c_str());
    }
    status_ = 1;
  }
  if (options_.report_stats) options_.report_stats(machine_->Stats());
  if (status_ == 0 && stdio_.write_error() != 0) {
    std::fprintf(stderr, "vcm5: cannot write standard output: %s\n",
                 std::strerror(stdio_.write_error()));
    return 1;
  }
  return status_;
}

}  // namespace

int RunProgramEmbedded(const EmbeddedRunOptions& options) {
  const absl::StatusOr<ProgramImage> image = ProgramImage::Read(options.program);
  absl::Status read = image.status();
  std::optional<ProgramImage> host;
  if (read.ok() && !options.host_program.empty()) {
    absl::StatusOr<ProgramImage> host_image = ProgramImage::Read(options.host_program);
    read = host_image.status();
    if (read.ok()) host = std::move(*host_image);
  }
  if (!read.ok()) {
    std::fprintf(stderr, "vcm5: %s\n", std::string(read.message()).c_str());
    return 2;
  }
  Run run(options);
  the_run = &run;
  if (host.has_value()) host_number = static_cast<sig_atomic_t>(UsableNodes(options.spec).size());
  const int status = run.Go(*image, host.has_value() ? &*host : nullptr);
  the_run = nullptr;
  return status;
}

}  // namespace vcm5

// ---- what a loaded program finds here by name --------------------------------------------------

extern "C" {

// The port of the node whose turn it is; null outside an embedded run (runtime/node asks).
__attribute__((visibility("default"))) vcm5_port* vcm5_engine_attach(void) {
  return vcm5::Embedded::Current();
}

__attribute__((visibility("default"), noreturn)) void exit(int status) {
  if (vcm5::the_run != nullptr && vcm5::Embedded::Current() != nullptr) {
    vcm5::the_run->EndNode(status, true);
  }
  using Exit = void (*)(int);
  static const Exit real = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "exit"));
  real(status);
  __builtin_unreachable();
}

__attribute__((visibility("default"), noreturn)) void _exit(int status) {
  if (vcm5::the_run != nullptr && vcm5::Embedded::Current() != nullptr) {
    vcm5::the_run->EndNode(status, false);
  }
  _Exit(status);
}
}
