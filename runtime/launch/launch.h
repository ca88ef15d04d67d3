// `vcm5 run --engine daemons`: one process a node, and the networks as daemons beside them.
#ifndef VCM5_RUNTIME_LAUNCH_LAUNCH_H_
#define VCM5_RUNTIME_LAUNCH_LAUNCH_H_

#include "runtime/launch/run_options.h"

namespace vcm5 {

// Runs the job and returns the exit status for the shell. Everything that goes wrong has been said
// in one line on standard error. Call once a process, which must have one thread.
int RunUnderDaemons(const RunOptions& options);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_LAUNCH_H_
