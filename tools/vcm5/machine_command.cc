// `vcm5 machine`: prints and checks machine descriptions.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemons/config/machine_config.h"
#include "runtime/launch/run_options.h"
#include "tools/vcm5/command_line.h"
#include "tools/vcm5/commands.h"

namespace vcm5 {

int MachineCommand(int argc, char** argv) {
  CLI::App app("Print or check machine descriptions.");
  bool print = false;
  std::string check;
  std::string nodes = "32";
  app.add_flag("--print", print, "print the default description of a machine, with comments");
  app.add_option("-n,--nodes", nodes, "nodes of the machine that is printed (default 32)");
  app.add_option("--check", check, "say what is wrong with a description, or what the machine is")
      ->type_name("FILE");
  app.footer(
      "\nExamples:\n"
      "  vcm5 machine --print -n 64 > my.textproto   a description to start from\n"
      "  vcm5 machine --check my.textproto           is it right, and what is it?\n"
      "  vcm5 run --machine my.textproto PROGRAM     run on it\n");
  if (const std::optional<int> status = ParseCommandLine(app, argc, argv)) {
    return *status;
  }
  if (print == !check.empty()) {
    return Refuse(absl::InvalidArgumentError(
        "machine: expected either --print or --check FILE (see `vcm5 machine --help`)"));
  }
  if (print) {
    const absl::StatusOr<uint64_t> count = ParseNumber("-n", nodes, 1, kNodesMax);
    if (!count.ok()) return Refuse(count.status());
    std::fputs(PrintDefaultMachine(static_cast<uint32_t>(*count)).c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<MachineSpec> spec = ReadMachineFile(check);
  if (!spec.ok()) return Refuse(spec.status());
  std::printf("%s is right: %s", check.c_str(), DescribeMachine(*spec).c_str());
  return 0;
}

}  // namespace vcm5
