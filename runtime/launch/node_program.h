// The programs of a partition that has a host: what can be told of them before anything runs.
#ifndef VCM5_RUNTIME_LAUNCH_NODE_PROGRAM_H_
#define VCM5_RUNTIME_LAUNCH_NODE_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vcm5 {

// Reads a node program that is to be broadcast: what the system maps to run it, without debug
// information and symbols. An error if it could not run from memory: a script, a program that looks for
// shared libraries beside its own file, one too long.
absl::StatusOr<std::vector<uint8_t>> ReadNodeProgram(const std::string& path);

// Whether the system can begin to run a file: a program of this processor's, or a script.
absl::Status CheckHostProgram(const std::string& path);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_NODE_PROGRAM_H_
