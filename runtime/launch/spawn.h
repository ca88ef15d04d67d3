// Starting a child process quickly, and so that it cannot outlive this one.
#ifndef VCM5_RUNTIME_LAUNCH_SPAWN_H_
#define VCM5_RUNTIME_LAUNCH_SPAWN_H_

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vcm5 {

struct SpawnRequest {
  std::string path;
  std::vector<std::string> arguments;  // argv[0] included
  // "NAME=value" of variables that replace, or come on top of, the template's.
  std::vector<std::string> variables;
  // descriptors[i] becomes descriptor i of the child, which inherits no other one.
  std::vector<int> descriptors;
};

class Spawner {
 public:
  // Takes the environment of this process, without `hidden` variables, and its limit on open files:
  // children get both.
  explicit Spawner(const std::vector<std::string>& hidden);

  // Lets this process open as many files as it may; children keep the limit that it had.
  void RaiseDescriptorLimit() const;
  uint64_t descriptors_max() const { return limit_.rlim_max; }

  // The child gets SIGKILL when the calling thread's process ends, default signals and an empty
  // signal mask. Everything that can fail after the fork, execve included, is reported here.
  absl::StatusOr<pid_t> Spawn(const SpawnRequest& request) const;

 private:
  std::vector<char*> environment_;  // of this process; not owned
  rlimit limit_;
  std::unique_ptr<std::byte[]> stack_;  // of a child until it is its own program
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_SPAWN_H_
