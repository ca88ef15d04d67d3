// `vcm5 run`: from the command line to a job.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemons/config/fault_spec.h"
#include "daemons/config/machine_config.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/node_program.h"
#include "runtime/launch/program_lookup.h"
#include "runtime/launch/run_options.h"
#include "switches/topology/control_settings.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/health.h"
#include "tools/vcm5/command_line.h"
#include "tools/vcm5/commands.h"
#ifdef VCM5_HAVE_EMBEDDED
#include "runtime/embedded/run_program.h"
#endif

namespace vcm5 {
namespace {

constexpr char kFooter[] = R"(
Everything after PROGRAM belongs to the program. Standard input goes to node 0;
what the nodes print is forwarded line by line. SIGUSR1 is passed to all nodes
as an interrupt broadcast; programs that expect none do not notice.

Several programs run at once on one machine, each in a partition of its own, a
subtree that shares no chip with the others:
  run -n N PROGRAM [ARGS] : -n N PROGRAM [ARGS] : ...
What goes wrong in one of them ends that one only. Node 3 of the second is
called 1:3; standard input goes to node 0:0.

With --host HOSTPROG the partition has a host, a control processor that runs
HOSTPROG as one more member; PROGRAM is then broadcast to the nodes and started
from their memory. Arguments of HOSTPROG are given by --host-arg, each by its
own (--host-arg=-x); ARGS are PROGRAM's. The host is called `host` (`host 1`),
and has the standard input in place of node 0. After a `:` both options stand
beside -n.

Examples:
  vcm5 run -n 8 examples/ring
      eight nodes, a process each
  vcm5 run -n 8 -l ./hello --name world
      lines begin with the node's number: [3] ...
  vcm5 run -n 1000 --engine embedded ./prog
      a thousand nodes in one process
  vcm5 run -n 64 --data-daemons 4 --stats ./prog
      the data network in four processes; counters after
  vcm5 run -n 4 --timeout 10 ./prog
      end it after 10 s and say who waits for whom
  vcm5 run --machine my.textproto ./prog
      on a machine of your own (see vcm5 machine --help)
  vcm5 run -n 16 ./a : -n 4 ./b --fast
      two programs, in partitions of 16 and of 4 nodes
  vcm5 run -n 8 --host examples/quantiles_host \
      --host-arg examples/data/integers.txt examples/quantiles_node
      a host that reads a file, and nodes that compute
  vcm5 run --fault "data.left: leaf 0 lose once at message 5" --timeout 9 ./prog
      on a broken machine (see vcm5 help faults)

Exit status: the program's (the first nonzero one of a node or host); 128 + S if
signal S killed one; 124 after a timeout; 1 if vcm5 failed; 2 if something is
wrong with the command line or with what it names.
)";

// The command line as text, before it is checked.
struct Words {
  std::optional<std::string> nodes;
  std::string engine = "daemons";
  std::string machine;
  std::optional<std::string> data_daemons;
  std::optional<std::string> link;
  std::optional<std::string> seed;
  bool label = false;
  std::string timeout;
  bool stats = false;
  std::vector<std::string> faults;
  std::optional<std::string> host;
  std::vector<std::string> host_arguments;
  std::vector<std::string> program;
};

absl::Status OneOf(const char* option, const std::string& word, const char* first,
                   const char* second) {
  if (word == first || word == second) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, " is `", word, "`; expected ", first, " or ", second));
}

// One program of the command line, as text.
struct ProgramWords {
  std::optional<std::string> nodes;  // -n
  std::optional<std::string> host;   // --host
  std::vector<std::string> host_arguments;
  std::vector<std::string> program;
};

// Takes words[*at], and its value, if it is an option of a program after `:`.
bool TakeProgramOption(const std::vector<std::string>& words, size_t* at, ProgramWords* program) {
  const std::string& word = words[*at];
  const size_t sign = word.rfind("--", 0) == 0 ? word.find('=') : std::string::npos;
  const std::string name = word.substr(0, sign);
  const bool is_nodes = name == "-n" || name == "--nodes";
  if (!is_nodes && name != "--host" && name != "--host-arg") return false;
  if (sign == std::string::npos && (*at + 1 == words.size() || words[*at + 1] == ":")) return false;
  const std::string value = sign != std::string::npos ? word.substr(sign + 1) : words[++*at];
  if (is_nodes) {
    program->nodes = value;
  } else if (name == "--host") {
    program->host = value;
  } else {
    program->host_arguments.push_back(value);
  }
  return true;
}

// Splits PROGRAM [ARGS] : -n N [--host HOSTPROG] PROGRAM [ARGS] : ...
absl::StatusOr<std::vector<ProgramWords>> SplitPrograms(const Words& words) {
  std::vector<ProgramWords> programs = {{words.nodes, words.host, words.host_arguments, {}}};
  bool begins = false;  // a further program
  for (size_t i = 0; i < words.program.size(); ++i) {
    const std::string& word = words.program[i];
    if (word == ":") {
      if (!programs.front().nodes.has_value()) {
        return absl::InvalidArgumentError("run: no -n before the first of several programs");
      }
      programs.emplace_back();
      begins = true;
      continue;
    }
    if (begins && TakeProgramOption(words.program, &i, &programs.back())) continue;
    if (std::exchange(begins, false) && !programs.back().nodes.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("run: `", word, "` after `:`; expected -n N PROGRAM [ARGS]"));
    }
    programs.back().program.push_back(word);
  }
  if (begins && !programs.back().nodes.has_value()) {
    return absl::InvalidArgumentError("run: nothing after `:`; expected -n N PROGRAM [ARGS]");
  }
  for (const ProgramWords& program : programs) {
    if (!program.host_arguments.empty() && !program.host.has_value()) {
      return absl::InvalidArgumentError("run: --host-arg without --host HOSTPROG");
    }
  }
  return programs;
}

// "64 nodes", "60 usable nodes (4 of its 64 are mapped out)".
std::string MachineNodes(const MachineSpec& machine) {
  const size_t usable = UsableNodes(machine).size();
  if (usable == machine.nodes) return absl::StrCat(usable, " nodes");
  return absl::StrCat(usable, " usable nodes (", machine.nodes - usable, " of its ", machine.nodes,
                      machine.nodes - usable == 1 ? " is" : " are", " mapped out)");
}

// Gives their hosts to the partitions whose programs want one; a machine without a description becomes
// as large as they need.
absl::Status TakeHosts(const Words& words, const std::vector<ProgramWords>& programs,
                       std::vector<Partition> partitions, RunOptions* options) {
  MachineSpec& machine = options->machine;
  std::vector<bool> wanted;
  for (const ProgramWords& program : programs) wanted.push_back(program.host.has_value());
  const auto hosts = static_cast<uint32_t>(std::count(wanted.begin(), wanted.end(), true));
  if (words.machine.empty()) {
    machine.nodes = hosts > 0 && partitions.size() > 1 ? PlacedNodesApart(partitions)
                                                       : PlacedNodes(partitions);
    machine.control_processors = std::clamp(hosts, 1u, kControlProcessorsMax);
  }
  const std::vector<uint32_t> usable = UsableControlProcessors(machine);
  if (!PlaceHosts(usable, wanted, &partitions)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--host is given ", hosts, hosts == 1 ? " time" : " times", ", but the machine",
        words.machine.empty() ? "" : " of ", words.machine, " has ", usable.size(),
        " usable control processors"));
  }
  // Whether the control network has channels for them all.
  const absl::StatusOr<ControlSettings> settings = SetControlSwitches(machine, partitions);
  if (!settings.ok()) {
    const std::string why(settings.status().message());
    return absl::InvalidArgumentError(absl::StrCat(
        hosts == 0 ? absl::StrCat("these ", programs.size(), " partitions")
                   : absl::StrCat("--host is given ", hosts, hosts == 1 ? " time" : " times"),
        ", but the control network cannot connect them: ", why));
  }
  for (Partition& partition : partitions) {
    options->programs.emplace_back().partition = std::move(partition);
  }
  return absl::OkStatus();
}

// The machine, and the partition of each program. Without a description it is as large as needed.
absl::Status TakeMachine(const Words& words, const std::vector<ProgramWords>& programs,
                         RunOptions* options) {
  const bool given = !words.machine.empty();
  if (given) {
    absl::StatusOr<MachineSpec> spec = ReadMachineFile(words.machine);
    if (!spec.ok()) return spec.status();
    options->machine = *spec;
  }
  const auto usable = static_cast<uint32_t>(UsableNodes(options->machine).size());
  std::vector<uint32_t> sizes;
  for (const ProgramWords& program : programs) {
    sizes.push_back(usable);
    if (!program.nodes.has_value()) continue;
    absl::StatusOr<uint64_t> nodes = ParseNumber("-n", *program.nodes, 1, kNodesMax);
    if (!nodes.ok()) return nodes.status();
    sizes.back() = static_cast<uint32_t>(*nodes);
  }
  MachineSpec largest;
  largest.nodes = kNodesMax;
  const std::optional<std::vector<Partition>> partitions =
      PlacePartitions(sizes, UsableNodes(given ? options->machine : largest));
  if (!partitions.has_value()) {
    const std::string machine =
        given ? absl::StrCat("the machine of ", words.machine, " has ", MachineNodes(options->machine))
              : absl::StrCat("the largest machine has ", kNodesMax, " nodes");
    return absl::InvalidArgumentError(
        sizes.size() == 1
            ? absl::StrCat("-n is ", sizes[0], ", but ", machine)
            : absl::StrCat("no room for these ", sizes.size(),
                           " partitions in subtrees of their own: ", machine));
  }
  if (absl::Status status = TakeHosts(words, programs, *partitions, options); !status.ok()) return status;
  if (words.seed.has_value()) {
    absl::StatusOr<uint64_t> seed =
        ParseNumber("--seed", *words.seed, 0, std::numeric_limits<uint64_t>::max());
    if (!seed.ok()) return seed.status();
    options->machine.seed = *seed;
  }
  for (const std::string& fault : words.faults) {
    absl::Status status = AddFault(fault, &options->machine);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--fault: ", std::string(status.message())));
    }
  }
  return absl::OkStatus();
}

absl::Status TakeDaemons(const Words& words, RunOptions* options) {
  const uint32_t chips =
      FatTree(options->machine.leaves(), options->machine.parents_per_level).nodes_at(1);
  if (words.engine == "embedded" && (words.data_daemons.has_value() || words.link.has_value())) {
    return absl::InvalidArgumentError(absl::StrCat(
        words.link.has_value() ? "--link" : "--data-daemons",
        " is given, but the engine `embedded` has no daemons; expected it with --engine daemons"));
  }
  absl::StatusOr<uint64_t> daemons = ParseNumber("--data-daemons", words.data_daemons.value_or("1"), 1,
                                                 std::numeric_limits<uint32_t>::max());
  if (!daemons.ok()) return daemons.status();
  if (*daemons > chips) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data-daemons is ", *daemons, "; expected 1 to ", chips,
                     ", for this machine has ", chips, " router chips at level 1"));
  }
  options->data_daemons = static_cast<uint32_t>(*daemons);
  const std::string link = words.link.value_or("shm");
  if (absl::Status status = OneOf("--link", link, "shm", "unix"); !status.ok()) return status;
  options->link = link == "shm" ? LinkKind::kShm : LinkKind::kUnix;
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

absl::Status TakeProgram(std::vector<std::string> program, ProgramFile* run) {
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
  run->path = *path;
  run->arguments.assign(program.begin() + 1, program.end());
  return absl::OkStatus();
}

// What a host runs, and what it is to broadcast to its nodes.
absl::Status TakeHost(const ProgramWords& words, bool broadcast, ProgramRun* run) {
  if (!words.host.has_value()) return absl::OkStatus();
  absl::StatusOr<std::string> path = FindProgram(*words.host);
  if (!path.ok()) {
    return absl::Status(path.status().code(), absl::StrCat("--host: ", std::string(path.status().message())));
  }
  run->host = {*path, words.host_arguments};
  if (!broadcast) return absl::OkStatus();
  if (absl::Status status = CheckHostProgram(*path); !status.ok()) return status;
  absl::StatusOr<std::vector<uint8_t>> image = ReadNodeProgram(run->path);
  if (!image.ok()) return image.status();
  run->image = std::move(*image);
  return absl::OkStatus();
}

absl::StatusOr<RunOptions> Check(const Words& words) {
  RunOptions options;
  const absl::StatusOr<std::vector<ProgramWords>> programs = SplitPrograms(words);
  absl::Status status = programs.status();
  if (status.ok()) status = OneOf("--engine", words.engine, "daemons", "embedded");
  if (status.ok()) status = TakeMachine(words, *programs, &options);
  if (status.ok()) status = TakeDaemons(words, &options);
  if (status.ok()) status = TakeTimeout(words, &options);
  for (size_t i = 0; status.ok() && i < options.programs.size(); ++i) {
    status = TakeProgram((*programs)[i].program, &options.programs[i]);
    if (status.ok()) {
      status = TakeHost((*programs)[i], words.engine == "daemons", &options.programs[i]);
    }
  }
  if (!status.ok()) return status;
  options.label = words.label;
  options.stats = words.stats;
  return options;
}

int Run(const Words& words, const RunOptions& options) {
  if (words.engine == "daemons") return RunUnderDaemons(options);
#ifdef VCM5_HAVE_EMBEDDED
  return RunUnderEmbedded(options);
#else
  return Refuse(absl::UnimplementedError("this build has no engine `embedded`"));
#endif
}

}  // namespace

int RunCommand(int argc, char** argv) {
  CLI::App app("Bring up a virtual CM-5 and run an SPMD program on it, once on each node.");
  Words words;
  app.add_option("-n,--nodes", words.nodes, "nodes, 1 to 16384 (default: all of the machine)")
      ->type_name("N");
  app.add_option("--engine", words.engine, "daemons (default): processes; embedded: one")
      ->type_name("ENGINE");
  app.add_option("--machine", words.machine, "description (default: vcm5 machine --print)")
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
  app.add_option("--fault", words.faults, "break something (see vcm5 help faults); repeatable")
      ->type_name("FAULT")
      ->allow_extra_args(false);
  app.add_option("--host", words.host, "what the partition's host runs")
      ->type_name("HOSTPROG");
  app.add_option("--host-arg", words.host_arguments, "an argument of HOSTPROG; repeatable")
      ->type_name("ARG")
      ->allow_extra_args(false);
  app.prefix_command();
  app.footer(kFooter);
  if (const std::optional<int> status = ParseCommandLine(app, argc, argv, " PROGRAM [ARGS]")) {
    return *status;
  }
  words.program = app.remaining();
  const absl::StatusOr<RunOptions> options = Check(words);
  if (!options.ok()) return Refuse(options.status());
  return Run(words, *options);
}

}  // namespace vcm5
