// What the subcommands share in reading their command lines.
#ifndef VCM5_TOOLS_VCM5_COMMAND_LINE_H_
#define VCM5_TOOLS_VCM5_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace CLI {
class App;
}

namespace vcm5 {

// Parses; on --help prints it and returns 0, on a fault says it in one line and returns 2, else
// returns nothing and the command goes on. argv[0] is the command; `operands` come after its options
// in the help.
std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv,
                                    const std::string& operands = "");

// A whole number in [min, max]; the error names `what`, the text and the range.
absl::StatusOr<uint64_t> ParseNumber(const std::string& what, const std::string& text, uint64_t min,
                                     uint64_t max);

// Says an error, each of its lines after "vcm5: ", and returns the exit status for wrong use.
int Refuse(const absl::Status& status);

}  // namespace vcm5

#endif  // VCM5_TOOLS_VCM5_COMMAND_LINE_H_
