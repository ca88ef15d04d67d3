// What `vcm5 run` was asked to do, checked.
#ifndef VCM5_RUNTIME_LAUNCH_RUN_OPTIONS_H_
#define VCM5_RUNTIME_LAUNCH_RUN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "daemons/link/make_link.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

struct RunOptions {
  MachineSpec machine;
  uint32_t nodes = 32;  // of the partition: the machine's first usable ones
  uint32_t data_daemons = 1;
  LinkKind link = LinkKind::kShm;
  bool label = false;          // put "[3] " before each line of node 3
  double timeout_seconds = 0;  // 0: none
  bool stats = false;
  std::string program;                 // path of an executable file
  std::vector<std::string> arguments;  // argv[1], ...
};

// Exit statuses of our own; a program's are passed on.
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeout = 124;  // as timeout(1)

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_RUN_OPTIONS_H_
