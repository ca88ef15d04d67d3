// Finding the files that a job needs.
#ifndef VCM5_RUNTIME_LAUNCH_PROGRAM_LOOKUP_H_
#define VCM5_RUNTIME_LAUNCH_PROGRAM_LOOKUP_H_

#include <string>

#include "absl/status/statusor.h"

namespace vcm5 {

// The program that a user named: an executable file, or else one of that name in the folder
// $VCM5_PROGRAM_PATH (where the launcher script puts built examples), or, for a name without a
// slash, in $PATH.
absl::StatusOr<std::string> FindProgram(const std::string& name);

// One of our own daemons: beside this program, or where `cmake --install` puts it.
absl::StatusOr<std::string> FindDaemon(const std::string& name);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_PROGRAM_LOOKUP_H_
