#include "bench/options.h"

#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/launch/run_options.h"
#include "switches/topology/machine_spec.h"

namespace vcm5::bench {
namespace {

constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();

// The command line as text, before it is checked.
struct Words {
  std::vector<std::string> benchmarks;
  std::string nodes = "2,16,64";
  std::string engine = "daemons";
  std::string threads;
  std::string seed = "1";
  std::string repetitions = "9";
  std::string warmup = "1";
  std::string iterations;
  std::string time;
  std::string timeout = "120";
  std::string bytes;
  std::string against;
  std::string plot;
  bool json = false;
};

absl::Status Wrong(std::string_view option, std::string_view text, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(option), " is `", std::string(text),
                                                 "`; expected ", std::string(expected)));
}

absl::StatusOr<uint64_t> Whole(const char* option, const std::string& text, uint64_t min,
                               uint64_t max) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end && number >= min && number <= max) return number;
  if (max == kAny) return Wrong(option, text, absl::StrCat("a whole number from ", min));
  return Wrong(option, text, absl::StrCat("a whole number from ", min, " to ", max));
}

absl::StatusOr<std::vector<uint64_t>> WholeList(const char* option, const std::string& text,
                                                uint64_t min, uint64_t max) {
  std::vector<uint64_t> numbers;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const absl::StatusOr<uint64_t> number = Whole(option, part, min, max);
    if (!number.ok()) return number.status();
    numbers.push_back(*number);
  }
  return numbers;
}

absl::StatusOr<double> Seconds(const char* option, const std::string& text) {
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds) && std::isfinite(seconds) && seconds >= 1e-6 &&
      seconds <= 1e6) {
    return seconds;
  }
  return Wrong(option, text, "seconds from 1e-6 to 1e6, such as 0.1");
}

// Puts a parsed value into its place; false and the status if there is none.
template <typename T, typename Target>
bool Take(absl::StatusOr<T> value, Target* target, absl::Status* status) {
  if (!value.ok()) {
    *status = value.status();
    return false;
  }
  *target = static_cast<Target>(*value);
  return true;
}

std::string Names() {
  std::string names;
  for (const Benchmark& each : Benchmarks())
    absl::StrAppend(&names, names.empty() ? "" : ", ", each.name);
  return names;
}

absl::Status CheckBytes(const Benchmark& benchmark, uint64_t bytes) {
  if (bytes >= benchmark.bytes_min && bytes <= benchmark.bytes_max &&
      bytes % benchmark.bytes_step == 0) {
    return absl::OkStatus();
  }
  const std::string text = absl::StrCat(bytes);
  if (benchmark.bytes_min == benchmark.bytes_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("--bytes is `", text, "`, but ", benchmark.name, " leaves no choice"));
  }
  return Wrong(
      "--bytes", text,
      absl::StrCat(
          benchmark.bytes_min, " to ", benchmark.bytes_max,
          benchmark.bytes_step == 1 ? "" : absl::StrCat(" in steps of ", benchmark.bytes_step),
          " for ", benchmark.name));
}

absl::Status TakeCases(const Words& words, Options* options) {
  if (words.benchmarks.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("bench: nothing to measure; expected some of ", Names(), ", or all"));
  }
  std::vector<const Benchmark*> chosen;
  for (const std::string& name : words.benchmarks) {
    if (const Benchmark* benchmark = FindBenchmark(name)) {
      chosen.push_back(benchmark);
    } else if (name == "all") {
      for (const Benchmark& each : Benchmarks()) chosen.push_back(&each);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("bench: no benchmark ", name, "; there are ", Names(), ", and all"));
    }
  }
  absl::StatusOr<std::vector<uint64_t>> nodes = WholeList("-n", words.nodes, 1, kNodesMax);
  if (!nodes.ok()) return nodes.status();
  std::vector<uint64_t> sizes;
  if (!words.bytes.empty()) {
    absl::StatusOr<std::vector<uint64_t>> bytes = WholeList("--bytes", words.bytes, 0, kAny);
    if (!bytes.ok()) return bytes.status();
    sizes = *bytes;
  }
  for (const Benchmark* benchmark : chosen) {
    for (const uint64_t n : *nodes) {
      if (n < benchmark->nodes_min) {
        return Wrong(
            "-n", absl::StrCat(n),
            absl::StrCat("at least ", benchmark->nodes_min, " nodes for ", benchmark->name));
      }
      for (const uint64_t bytes : sizes.empty() ? std::vector{benchmark->bytes} : sizes) {
        if (absl::Status status = CheckBytes(*benchmark, bytes); !status.ok()) return status;
        options->cases.push_back({benchmark, static_cast<uint32_t>(n), bytes});
      }
    }
  }
  return absl::OkStatus();
}

absl::Status TakeEngine(const Words& words, Options* options) {
  if (words.engine == "embedded") {
    options->engine = Engine::kEmbedded;
  } else if (words.engine != "daemons") {
    return Wrong("--engine", words.engine, "daemons or embedded");
  }
  if (words.threads.empty()) return absl::OkStatus();
  if (options->engine != Engine::kEmbedded) {
    return absl::InvalidArgumentError("--threads is of --engine embedded only");
  }
  absl::Status status;
  Take(Whole("--threads", words.threads, 1, 256), &options->threads, &status);
  return status;
}

absl::Status TakeEffort(const Words& words, Options* options) {
  absl::Status status;
  if (!Take(Whole("--seed", words.seed, 0, kAny), &options->seed, &status) ||
      !Take(Whole("--repetitions", words.repetitions, 1, 1000000), &options->repetitions,
            &status) ||
      !Take(Whole("--warmup", words.warmup, 0, 1000000), &options->warmup, &status) ||
      !Take(Seconds("--timeout", words.timeout), &options->timeout_seconds, &status)) {
    return status;
  }
  if (!words.iterations.empty() && !words.time.empty()) {
    return absl::InvalidArgumentError("bench: expected --iterations or --time, not both");
  }
  if (!words.iterations.empty()) {
    Take(Whole("--iterations", words.iterations, 1, uint64_t{1} << 40), &options->iterations,
         &status);
  }
  if (!words.time.empty()) Take(Seconds("--time", words.time), &options->seconds, &status);
  return status;
}

absl::Status TakePeers(const Words& words, Options* options) {
  if (words.against.empty()) return absl::OkStatus();
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(words.against, ','))) {
    const PeerKind* kind = FindPeerKind(name);
    if (kind == nullptr) return Wrong("--against", name, PeerNames());
    options->against.push_back(kind);
  }
  return absl::OkStatus();
}

absl::StatusOr<Options> Check(const Words& words) {
  Options options;
  options.json = words.json;
  options.plot = words.plot;
  absl::Status status = TakeCases(words, &options);
  if (status.ok()) status = TakeEngine(words, &options);
  if (status.ok()) status = TakeEffort(words, &options);
  if (status.ok()) status = TakePeers(words, &options);
  if (!status.ok()) return status;
  return options;
}

std::string Footer() {
  std::string footer = "\nBenchmarks (time in us, or a rate):\n";
  for (const Benchmark& each : Benchmarks()) {
    absl::StrAppendFormat(&footer, "  %-13s %s\n", each.name, each.what);
  }
  footer += R"(
A repetition runs for --time seconds, between barriers, on node 0's watch; the
table shows the least, the median and the greatest of the repetitions. One
iteration of rate or permutation is 64 messages (a node). The seed is that of
the permutations and of the networks' choices.

With --against a program that does the same is built with an MPI library's
compiler (floor: a relay over shared memory) and measured in turns with ours;
the ratio says how many times better our median is (and that of the worst and
the best of the turns). --json prints an object a line, with values in us, msg/s
or B/s.

Examples:
  vcm5 bench barrier
      a process a node, at 2, 16 and 64 nodes
  vcm5 bench permutation -n 64 --engine embedded
      the whole machine in one process
  vcm5 bench broadcast -n 16 --bytes 4,1024,65536
  vcm5 bench barrier reduce -n 64 --against openmpi --json
  vcm5 bench latency barrier --against openmpi,mpich --plot bench.svg
)";
  return footer;
}

}  // namespace

const char* EngineName(Engine engine) {
  return engine == Engine::kDaemons ? "daemons" : "embedded";
}

unsigned Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

unsigned ThreadsFor(const Options& options, const Benchmark& benchmark) {
  if (options.threads != 0) return options.threads;
  return LessIsBetter(benchmark.unit) ? 1 : std::clamp(Cores(), 1u, 4u);
}

std::variant<Options, int> ReadCommandLine(int argc, char** argv) {
  CLI::App app("Measure the networks.");
  Words words;
  app.add_option("BENCHMARK", words.benchmarks, "what to measure, or all; see below");
  app.add_option("-n,--nodes", words.nodes, "numbers of nodes (default 2,16,64)")
      ->type_name("N,...");
  app.add_option("--engine", words.engine, "daemons (default) or embedded")->type_name("ENGINE");
  app.add_option("--threads", words.threads, "of engine embedded (default 1; of a rate, to 4)")
      ->type_name("T");
  app.add_option("--bytes", words.bytes, "sizes of a message")->type_name("B,...");
  app.add_option("--seed", words.seed, "default 1")->type_name("S");
  app.add_option("--repetitions", words.repetitions, "default 9")->type_name("R");
  app.add_option("--time", words.time, "seconds of a repetition (default 0.1)")->type_name("T");
  app.add_option("--iterations", words.iterations, "of a repetition, in place of --time")
      ->type_name("I");
  app.add_option("--warmup", words.warmup, "repetitions before those that count (default 1)")
      ->type_name("W");
  app.add_option("--timeout", words.timeout, "seconds until a job is given up (default 120)")
      ->type_name("T");
  app.add_option("--against", words.against, absl::StrCat("compare with ", PeerNames()))
      ->type_name("PEER,...");
  app.add_option("--plot", words.plot, "a picture of the results, as SVG")->type_name("FILE");
  app.add_flag("--json", words.json, "one JSON object a line");
  app.footer(Footer());
  absl::StatusOr<Options> options = Options();
  try {
    app.parse(argc, argv);
    options = Check(words);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help("vcm5").c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    options = absl::InvalidArgumentError(absl::StrCat(error.what(), " (see `vcm5 bench --help`)"));
  }
  if (options.ok()) return *options;
  std::string line(options.status().message());
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "vcm5: %s\n", line.c_str());
  return kExitUsage;
}

}  // namespace vcm5::bench
