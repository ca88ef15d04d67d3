// `vcm5 run --engine embedded`: program files on an embedded machine, in this process.
#ifndef VCM5_RUNTIME_EMBEDDED_RUN_PROGRAM_H_
#define VCM5_RUNTIME_EMBEDDED_RUN_PROGRAM_H_

#include "runtime/launch/run_options.h"

namespace vcm5 {

// Runs each program once per node of its partition, and its host's on the host, and returns the exit
// status for the shell: the first nonzero one of a node, 1 if a network reported an error, 2 if a
// program cannot be loaded, 124 after the timeout. Errors and reports go to standard error, a line
// each. A node that dies of a signal ends the process by it, after a line that names the node. Call
// once a process.
int RunUnderEmbedded(const RunOptions& options);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_EMBEDDED_RUN_PROGRAM_H_
