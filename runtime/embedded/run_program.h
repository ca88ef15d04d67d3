// `vcm5 run --engine embedded`: a program file on an embedded machine, in this process.
#ifndef VCM5_RUNTIME_EMBEDDED_RUN_PROGRAM_H_
#define VCM5_RUNTIME_EMBEDDED_RUN_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemons/driver/agent.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

struct EmbeddedRunOptions {
  MachineSpec spec;
  uint64_t seed = 1;                // of the schedule
  std::string program;              // path of the program file
  std::vector<std::string> arguments;  // argv[1] ...
  // The host's program, run on a control processor of the machine; empty: there is no host.
  std::string host_program;
  std::vector<std::string> host_arguments;
  bool label = false;
  double timeout_seconds = 0;       // 0: none
  // Called with what the networks carried when the program has ended, if set.
  std::function<void(const std::vector<FabricStat>&)> report_stats;
};

// Runs the program once per node, and the host's on the host, and returns the exit status for the shell: the first nonzero one of
// a node, 1 if a network reported an error, 2 if the program cannot be loaded, 124 after the timeout.
// Errors and reports go to standard error, a line each. A node that dies of a signal ends the
// process by it, after a line that names the node. Call once a process.
int RunProgramEmbedded(const EmbeddedRunOptions& options);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_EMBEDDED_RUN_PROGRAM_H_
