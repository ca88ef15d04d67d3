// `vcm5 run`: from the command line to a job.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemons/config/machine_config.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/program_lookup.h"
#include "runtime/launch/run_options.h"
#include "runtime/launch/stats_report.h"
#include "switches/topology/fat_tree.h"
#include "tools/vcm5/command_line.h"
#include "tools/vcm5/commands.h"
#ifdef VCM5_HAVE_EMBEDDED
#include "runtime/embedded/run_program.h"
#endif

namespace vcm5 {
namespace {

constexpr char kFooter[] = R"(
Everything after PROGRAM belongs to the program. Standard input goes to node 0; what the nodes print
is forwarded line by line; the exit status is the first nonzero one of a node. SIGUSR1 is passed to
all nodes as an interrupt broadcast; programs that expect none do not notice.

Examples:
  vcm5 run -n 8 examples/ring                  eight nodes, a process each
  vcm5 run -n 8 -l ./hello --name world        lines begin with the node's number: [3] ...
  vcm5 run -n 1000 --engine embedded ./prog    a thousand nodes in one process
  vcm5 run -n 64 --data-daemons 4 --stats ./prog
                                               the data network in four processes; counters after
  vcm5 run -n 4 --timeout 10 ./prog            end it after 10 s and say who waits for whom
  vcm5 run --machine my.textproto ./prog       on a machine of your own (see vcm5 machine --help)

Exit status: the program's; 128 + S if signal S killed a node; 124 after a timeout; 1 if vcm5 failed;
2 if something is wrong with the command line or with what it names.
)";

// The command line as text, before it is checked.
struct Words {
  std::optional<std::string> nodes;
  std::string engine = "daemons";
  std::string machine;
  std::string data_daemons = "1";
  std::string link = "shm";
  std::optional<std::string> seed;
  bool label = false;
  std::string timeout;
  bool stats = false;
  std::vector<std::string> program;
};

absl::Status OneOf(const char* option, const std::string& word, const char* first,
                   const char* second) {
  if (word == first || word == second) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, " is `", word, "`; expected ", first, " or ", second));
}

absl::Status TakeMachine(const Words& words, RunOptions* options) {
  if (!words.machine.empty()) {
    absl::StatusOr<MachineSpec> spec = ReadMachineFile(words.machine);
    if (!spec.ok()) return spec.status();
    options->machine = *spec;
  }
  options->nodes = options->machine.nodes;
  if (words.nodes.has_value()) {
    absl::StatusOr<uint64_t> nodes = ParseNumber("-n", *words.nodes, 1, kNodesMax);
    if (!nodes.ok()) return nodes.status();
    options->nodes = static_cast<uint32_t>(*nodes);
    if (words.machine.empty()) {
      options->machine.nodes = options->nodes;
    } else if (options->nodes > options->machine.nodes) {
      return absl::InvalidArgumentError(absl::StrCat("-n is ", options->nodes, ", but the machine of ",
                                                     words.machine, " has ",
                                                     options->machine.nodes, " nodes"));
    }
  }
  if (words.seed.has_value()) {
    absl::StatusOr<uint64_t> seed =
        ParseNumber("--seed", *words.seed, 0, std::numeric_limits<uint64_t>::max());
    if (!seed.ok()) return seed.status();
    options->machine.seed = *seed;
  }
  return absl::OkStatus();
}

absl::Status TakeDaemons(const Words& words, RunOptions* options) {
  const uint32_t chips =
      FatTree(options->machine.leaves(), options->machine.parents_per_level).nodes_at(1);
  absl::StatusOr<uint64_t> daemons =
      ParseNumber("--data-daemons", words.data_daemons, 1, std::numeric_limits<uint32_t>::max());
  if (!daemons.ok()) return daemons.status();
  if (*daemons > chips) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data-daemons is ", *daemons, "; expected 1 to ", chips,
                     ", for this machine has ", chips, " router chips at level 1"));
  }
  options->data_daemons = static_cast<uint32_t>(*daemons);
  if (absl::Status status = OneOf("--link", words.link, "shm", "unix"); !status.ok()) return status;
  options->link = words.link == "shm" ? LinkKind::kShm : LinkKind::kUnix;
  return absl::OkStatus();
}

absl::Status TakeTimeout(const Words& words, RunOptions* options) {
  if (words.timeout.empty()) return absl::OkStatus();
  double seconds = 0;
  if (!absl::SimpleAtod(words.timeout, &seconds) || !std::isfinite(seconds) || seconds < 0.001 ||
      seconds > 1e9) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--timeout is `", words.timeout, "`; expected seconds from 0.001 to 1e9, such as 2.5"));
  }
  options->timeout_seconds = seconds;
  return absl::OkStatus();
}

absl::Status TakeProgram(const Words& words, RunOptions* options) {
  std::vector<std::string> program = words.program;
  if (!program.empty() && program.front() == "--") {
    program.erase(program.begin());
  } else if (!program.empty() && program.front().size() > 1 && program.front()[0] == '-') {
    return absl::InvalidArgumentError(
        absl::StrCat("run: no option ", program.front(), " (see `vcm5 run --help`)"));
  }
  if (program.empty()) {
    return absl::InvalidArgumentError("run: no program; expected `vcm5 run [OPTIONS] PROGRAM [ARGS]`");
  }
  absl::StatusOr<std::string> path = FindProgram(program.front());
  if (!path.ok()) return path.status();
  options->program = *path;
  options->arguments.assign(program.begin() + 1, program.end());
  return absl::OkStatus();
}

absl::StatusOr<RunOptions> Check(const Words& words) {
  RunOptions options;
  absl::Status status = OneOf("--engine", words.engine, "daemons", "embedded");
  if (status.ok()) status = TakeMachine(words, &options);
  if (status.ok()) status = TakeDaemons(words, &options);
  if (status.ok()) status = TakeTimeout(words, &options);
  if (status.ok()) status = TakeProgram(words, &options);
  if (!status.ok()) return status;
  options.label = words.label;
  options.stats = words.stats;
  return options;
}

int RunEmbedded(const RunOptions& options) {
#ifdef VCM5_HAVE_EMBEDDED
  if (options.nodes != options.machine.nodes) {
    return Refuse(absl::InvalidArgumentError(
        absl::StrCat("-n is ", options.nodes, ", but the engine `embedded` always runs on all ",
                     options.machine.nodes, " nodes of a machine")));
  }
  EmbeddedRunOptions embedded;
  embedded.spec = options.machine;
  embedded.seed = options.machine.seed;
  embedded.program = options.program;
  embedded.arguments = options.arguments;
  embedded.label = options.label;
  embedded.timeout_seconds = options.timeout_seconds;
  if (options.stats) {
    embedded.report_stats = [](const std::vector<FabricStat>& stats) {
      for (const std::string& line : FormatStats(stats)) {
        std::fprintf(stderr, "vcm5: %s\n", line.c_str());
      }
    };
  }
  return RunProgramEmbedded(embedded);
#else
  static_cast<void>(options);
  return Refuse(absl::UnimplementedError("this build has no engine `embedded`"));
#endif
}

}  // namespace

int RunCommand(int argc, char** argv) {
  CLI::App app("Bring up a virtual CM-5 and run an SPMD program on it, once on each node.");
  Words words;
  app.add_option("-n,--nodes", words.nodes, "nodes, 1 to 16384 (default: the machine's, or 32)")
      ->type_name("N");
  app.add_option("--engine", words.engine, "daemons: processes (default); embedded: one process")
      ->type_name("ENGINE");
  app.add_option("--machine", words.machine, "machine description (default: vcm5 machine --print)")
      ->type_name("FILE");
  app.add_option("--data-daemons", words.data_daemons,
                 "processes that share the data network (default 1)")
      ->type_name("K");
  app.add_option("--link", words.link, "what joins data daemons: shm (default) or unix")
      ->type_name("KIND");
  app.add_option("--seed", words.seed, "of every pseudorandom choice of the networks")
      ->type_name("S");
  app.add_flag("-l,--label", words.label, "begin each line with the number of its node");
  app.add_option("--timeout", words.timeout, "end the job after so many seconds, with a report")
      ->type_name("T");
  app.add_flag("--stats", words.stats, "say afterwards what the networks carried");
  app.prefix_command();
  app.footer(kFooter);
  if (const std::optional<int> status = ParseCommandLine(app, argc, argv, " PROGRAM [ARGS]")) {
    return *status;
  }
  words.program = app.remaining();
  const absl::StatusOr<RunOptions> options = Check(words);
  if (!options.ok()) return Refuse(options.status());
  return words.engine == "embedded" ? RunEmbedded(*options) : RunUnderDaemons(*options);
}

}  // namespace vcm5
