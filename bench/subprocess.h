// A command that the bench runs and listens to.
#ifndef VCM5_BENCH_SUBPROCESS_H_
#define VCM5_BENCH_SUBPROCESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace vcm5::bench {

struct Command {
  std::string path;
  std::vector<std::string> arguments;  // without argv[0]
  std::vector<std::string> variables;  // NAME=value, on top of the environment

  std::string Text() const;  // for messages
};

using OnLine = std::function<void(const std::string& line)>;

// Runs a command to its end. Its standard output goes to `on_line`, line by line; its standard
// error is ours, its standard input empty. After `timeout_seconds` it is told to end, a little
// later killed; the same when this process is told to end, which it then does. An error says how
// the command failed, if it did not exit with status 0. One thread may call.
absl::Status RunCommand(const Command& command, double timeout_seconds, const OnLine& on_line);

// The path of a program in $PATH, or "".
std::string FindInPath(const std::vector<std::string>& names);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_SUBPROCESS_H_
