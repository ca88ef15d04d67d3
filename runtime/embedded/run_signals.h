// Signals of the process in which an embedded machine runs: handlers find their node here, and leave
// word here for the machine, which looks now and then.
#ifndef VCM5_RUNTIME_EMBEDDED_RUN_SIGNALS_H_
#define VCM5_RUNTIME_EMBEDDED_RUN_SIGNALS_H_

#include <signal.h>

#include <cstdint>

namespace vcm5 {

struct RunSignals {
  static const char* volatile running_name;  // of the node whose turn it is, or null
  static volatile uint32_t turns;            // that nodes have had
  static volatile sig_atomic_t timed_out;    // 1 when the time-out is over
  static volatile sig_atomic_t stop_signal;  // SIGINT, SIGTERM or SIGHUP, or 0; a second one ends the process
  static volatile sig_atomic_t attention_signal;  // SIGUSR1, or 0

  // A fatal signal ends the process by it, after a line that names the node. When the time-out (0: none)
  // is over, or the machine is to stop, a node that computes and does not poll has a second more.
  static void Install(double timeout_seconds);
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_EMBEDDED_RUN_SIGNALS_H_
