#include "tools/vcm5/command_line.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/launch/run_options.h"

namespace vcm5 {

std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv,
                                    const std::string& operands) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::string help = app.help("vcm5");
    const std::string options = "[OPTIONS]";
    help.insert(help.find(options) + options.size(), operands);
    std::fputs(help.c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    for (char& each : what) {
      if (each == '\n') each = ' ';
    }
    std::fprintf(stderr, "vcm5: %s (see `vcm5 %s --help`)\n", what.c_str(), argv[0]);
    return kExitUsage;
  }
  return std::nullopt;
}

absl::StatusOr<uint64_t> ParseNumber(const std::string& what, const std::string& text, uint64_t min,
                                     uint64_t max) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < min || number > max) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is `", text, "`; expected a whole number from ", min, " to ", max));
  }
  return number;
}

int Refuse(const absl::Status& status) {
  const std::vector<std::string> lines = absl::StrSplit(status.message(), '\n');
  for (const std::string& line : lines) std::fprintf(stderr, "vcm5: %s\n", line.c_str());
  return kExitUsage;
}

}  // namespace vcm5
