// The node processes of a job: starting them, and knowing which are alive.
#ifndef VCM5_RUNTIME_LAUNCH_NODE_GROUP_H_
#define VCM5_RUNTIME_LAUNCH_NODE_GROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "runtime/launch/job_fabric.h"
#include "runtime/launch/output_forwarder.h"
#include "runtime/launch/run_options.h"
#include "runtime/launch/spawn.h"
#include "runtime/launch/unique_fd.h"

namespace vcm5 {

class NodeGroup {
 public:
  // All must outlive the group.
  NodeGroup(const RunOptions& options, const Spawner& spawner, OutputForwarder& output)
      : options_(options), spawner_(spawner), output_(output) {}

  // Starts the next node; all_started() when there is none left.
  absl::Status StartNext(const JobFabric& fabric);
  // Passes it over, as if it had ended.
  void SkipNext() { statuses_.emplace_back(0); }
  uint32_t next() const { return static_cast<uint32_t>(statuses_.size()); }
  bool all_started() const { return next() == options_.nodes(); }

  // Sends a signal to every node that lives, or to those in [first, last).
  void Signal(int number) const { Signal(number, 0, options_.nodes()); }
  void Signal(int number, uint32_t first, uint32_t last) const;

  // `pid` has ended. Returns which node that was, if one.
  std::optional<uint32_t> Ended(pid_t pid, int status);

  size_t alive() const { return alive_.size(); }
  // Wait status of each node started, if it has ended.
  const std::vector<std::optional<int>>& statuses() const { return statuses_; }

 private:
  const RunOptions& options_;
  const Spawner& spawner_;
  OutputForwarder& output_;
  UniqueFd null_;
  std::string boot_;  // path of vcm5-boot, once it is needed
  std::unordered_map<pid_t, uint32_t> alive_;
  std::vector<std::optional<int>> statuses_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_NODE_GROUP_H_
