#include "runtime/embedded/run_signals.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/launch/run_options.h"

namespace vcm5 {

const char* volatile RunSignals::running_name = nullptr;
volatile uint32_t RunSignals::turns = 0;
volatile sig_atomic_t RunSignals::timed_out = 0;
volatile sig_atomic_t RunSignals::stop_signal = 0;
volatile sig_atomic_t RunSignals::attention_signal = 0;

namespace {

volatile uint32_t turns_then = 0;

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
  text("vcm5: ");
  text(RunSignals::running_name);
  text(what);
  if (number >= 0) decimal(number);
  text("; the job has ended\n");
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, line, at);
}

void OnFatalSignal(int signal) {
  if (RunSignals::running_name != nullptr) SayNode(" was killed by signal ", signal);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// A second later the machine should have looked.
void LookAgain() {
  turns_then = RunSignals::turns;
  itimerval again{{0, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &again, nullptr);
}

void OnAlarm(int) {
  const bool told = RunSignals::timed_out != 0 || RunSignals::stop_signal != 0;
  if (RunSignals::stop_signal == 0) RunSignals::timed_out = 1;
  // While the same turn goes on, a node computes without ever polling.
  if (!told || RunSignals::running_name == nullptr || turns_then != RunSignals::turns) {
    LookAgain();
  } else if (RunSignals::stop_signal == 0) {
    SayNode(" computes and does not poll; the time-out is over", -1);
    _Exit(kExitTimeout);
  } else {
    SayNode(" computes and does not poll; got signal ", RunSignals::stop_signal);
    _Exit(128 + RunSignals::stop_signal);
  }
}

void OnStop(int signal) {
  if (RunSignals::stop_signal != 0) _Exit(128 + signal);  // asked twice
  RunSignals::stop_signal = signal;
  ::signal(SIGALRM, OnAlarm);
  LookAgain();
}

void OnAttention(int signal) { RunSignals::attention_signal = signal; }

}  // namespace

void RunSignals::Install(double timeout_seconds) {
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
  if (timeout_seconds <= 0) return;
  ::signal(SIGALRM, OnAlarm);
  const double whole = std::floor(timeout_seconds);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec =
      std::max<suseconds_t>(1, static_cast<suseconds_t>((timeout_seconds - whole) * 1e6));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace vcm5
