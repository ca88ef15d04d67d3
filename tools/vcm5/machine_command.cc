// `vcm5 machine`: prints, checks and explains machine descriptions.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemons/config/machine_config.h"
#include "daemons/config/machine_health.h"
#include "daemons/config/machine_rules.h"
#include "daemons/config/place_names.h"
#include "runtime/launch/run_options.h"
#include "tools/vcm5/command_line.h"
#include "tools/vcm5/commands.h"

namespace vcm5 {
namespace {

// The command line as text, before it is checked.
struct Words {
  bool print = false;
  std::string check;
  std::optional<std::string> explain;  // a file, or "" for the default machine
  std::string nodes = "32";
  bool has_nodes = false;
  std::vector<std::string> broken;
  bool json = false;
};

absl::StatusOr<uint32_t> Nodes(const Words& words) {
  const absl::StatusOr<uint64_t> count = ParseNumber("-n", words.nodes, 1, kNodesMax);
  if (!count.ok()) return count.status();
  return static_cast<uint32_t>(*count);
}

absl::StatusOr<MachineSpec> MachineToExplain(const Words& words) {
  MachineSpec spec;
  if (!words.explain->empty()) {
    if (words.has_nodes) {
      return absl::InvalidArgumentError("machine: expected --explain FILE or --explain -n N");
    }
    absl::StatusOr<MachineSpec> read = ReadMachineFile(*words.explain);
    if (!read.ok()) return read;
    spec = *read;
  } else {
    absl::StatusOr<uint32_t> nodes = Nodes(words);
    if (!nodes.ok()) return nodes.status();
    spec.nodes = *nodes;
  }
  for (const std::string& text : words.broken) {
    absl::StatusOr<BrokenPart> part = ParsePlace(text);
    if (!part.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--broken is \"", text, "\"; ",
                                                     std::string(part.status().message())));
    }
    spec.broken.push_back(*part);
  }
  if (absl::Status status = CheckMachineSpec(spec); !status.ok()) return status;
  return spec;
}

int Print(const Words& words) {
  const absl::StatusOr<uint32_t> nodes = Nodes(words);
  if (!nodes.ok()) return Refuse(nodes.status());
  std::fputs(PrintDefaultMachine(*nodes).c_str(), stdout);
  return 0;
}

int Check(const Words& words) {
  const absl::StatusOr<MachineSpec> spec = ReadMachineFile(words.check);
  if (!spec.ok()) return Refuse(spec.status());
  std::printf("%s is right: %s", words.check.c_str(), DescribeMachine(*spec).c_str());
  return 0;
}

int Explain(const Words& words) {
  const absl::StatusOr<MachineSpec> spec = MachineToExplain(words);
  if (!spec.ok()) return Refuse(spec.status());
  const std::string text = words.json ? ExplainMachineJson(*spec) : ExplainMachine(*spec);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int MachineCommand(int argc, char** argv) {
  CLI::App app("Print, check or explain machine descriptions.");
  Words words;
  app.add_flag("--print", words.print, "print the default description, with comments");
  const CLI::Option* nodes =
      app.add_option("-n,--nodes", words.nodes, "nodes of the default machine (default 32)")
          ->type_name("N");
  app.add_option("--check", words.check, "what is wrong with a description, or what it is")
      ->type_name("FILE");
  CLI::Option* explain =
      app.add_option("--explain", "what broken parts cost, and which nodes remain")
          ->expected(0, 1)
          ->type_name("[FILE]");
  app.add_option("--broken", words.broken, "one more broken part, with --explain")
      ->type_name("PART")
      ->allow_extra_args(false);
  app.add_flag("--json", words.json, "explain as JSON");
  app.footer(
      "\nExamples:\n"
      "  vcm5 machine --print -n 64 > my.textproto   a description to start from\n"
      "  vcm5 machine --check my.textproto           is it right, and what is it?\n"
      "  vcm5 machine --explain my.textproto         what do its broken parts cost?\n"
      "  vcm5 machine --explain -n 64 --broken \"data.left: chip 2/3\"\n"
      "      what if that chip were broken?\n"
      "  vcm5 machine --explain -n 64 --broken \"control: leaf 5\" --json\n"
      "      the same of the control network, as JSON\n"
      "  vcm5 run --machine my.textproto PROGRAM     run on it\n");
  if (const std::optional<int> status = ParseCommandLine(app, argc, argv)) {
    return *status;
  }
  words.has_nodes = nodes->count() != 0;
  if (explain->count() != 0) {
    words.explain = explain->results().empty() ? "" : explain->results().front();
  }
  const int asked = (words.print ? 1 : 0) + (words.check.empty() ? 0 : 1) + (words.explain ? 1 : 0);
  if (asked != 1) {
    return Refuse(absl::InvalidArgumentError(
        "machine: expected one of --print, --check FILE and --explain (see `vcm5 machine --help`)"));
  }
  if (!words.explain && (words.json || !words.broken.empty())) {
    return Refuse(absl::InvalidArgumentError("machine: --json and --broken go with --explain"));
  }
  return words.print ? Print(words) : !words.check.empty() ? Check(words) : Explain(words);
}

}  // namespace vcm5
