// What the daemon programs share: their command line, how they start, and how they end.
#ifndef VCM5_DAEMONS_PROCESS_DAEMON_PROCESS_H_
#define VCM5_DAEMONS_PROCESS_DAEMON_PROCESS_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "daemons/config/bell_plan.h"
#include "daemons/driver/agent.h"
#include "daemons/process/daemon_setup.h"

namespace vcm5 {

struct DaemonProgram {
  const char* name;     // "vcm5-datad"
  const char* purpose;  // "plays the data network", for --help
  // Of the job's daemons one tells the user when the launcher was killed, for nobody else can.
  bool reports_launcher_death;
  BellPlan (*bells)(const DaemonSetup& setup);
  absl::StatusOr<std::vector<std::unique_ptr<Agent>>> (*make_agents)(DaemonSetup& setup);
};

// The whole of main(). Ends when the launcher does.
int RunDaemon(const DaemonProgram& program, int argc, char** argv);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_PROCESS_DAEMON_PROCESS_H_
