#include "bench/report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/version.h"

namespace vcm5::bench {
namespace {

std::string Columns(const Summary& values, double scale) {
  std::string text;
  for (const double value : {values.min, values.median, values.max}) {
    const double shown = value * scale;
    absl::StrAppend(&text, absl::StrFormat(" %14.*f", shown < 1000 ? 3 : 1, shown));
  }
  return text;
}

std::string ColumnNames(const char* unit) {
  std::string text;
  for (const char* name : {"min", "median", "max"}) {
    absl::StrAppend(&text, absl::StrFormat(" %14s", absl::StrCat(name, " ", unit)));
  }
  return text;
}

std::string JsonSummary(const char* prefix, const Summary& values) {
  return absl::StrFormat("\"%smin\": %.9g, \"%smedian\": %.9g, \"%smax\": %.9g", prefix, values.min,
                         prefix, values.median, prefix, values.max);
}

}  // namespace

Display DisplayOf(Unit unit) {
  switch (unit) {
    case Unit::kMicroseconds:
      return {"us", 1};
    case Unit::kMessagesPerSecond:
      return {"Mmsg/s", 1e-6};
    case Unit::kBytesPerSecond:
      return {"MB/s", 1e-6};
  }
  return {"", 1};
}

std::string TitleOf(const Options& options, const Benchmark& benchmark) {
  return absl::StrFormat(
      "vcm5 %s (%s), engine %s, %d core%s", VCM5_VERSION, VCM5_BUILD_TYPE,
      options.engine == Engine::kDaemons
          ? "daemons, a process a node"
          : absl::StrFormat("embedded on %d thread%s", ThreadsFor(options, benchmark),
                            ThreadsFor(options, benchmark) == 1 ? "" : "s"),
      Cores(), Cores() == 1 ? "" : "s");
}

std::vector<std::string> TableHead(const Options& options, const Benchmark& benchmark,
                                   const std::vector<std::string>& peers) {
  const std::string amount = options.iterations != 0
                                 ? absl::StrCat(options.iterations, " iterations")
                                 : absl::StrFormat("%g s", options.seconds);
  std::vector<std::string> lines;
  lines.push_back(absl::StrFormat("# %s: %s", benchmark.name, benchmark.what));
  lines.push_back(absl::StrFormat("# %s, seed %d, %d repetitions%s after %d of warm-up",
                                  TitleOf(options, benchmark), options.seed, options.repetitions,
                                  MeasuresJobs(benchmark) ? "" : " of " + amount, options.warmup));
  for (const std::string& peer : peers) lines.push_back("# against " + peer + ", in turns");
  const Display display = DisplayOf(benchmark.unit);
  std::string names = absl::StrFormat("#%6s %9s", "nodes", "bytes") + ColumnNames(display.unit);
  if (!peers.empty()) {
    absl::StrAppend(&names, absl::StrFormat("  %8s", "peer"), ColumnNames(display.unit),
                    "  times better (from..to)");
  }
  lines.push_back(names);
  return lines;
}

std::string TableRow(const Result& result) {
  const double scale = DisplayOf(result.what.benchmark->unit).scale;
  std::string row = absl::StrFormat("%7d %9d", result.what.nodes, result.what.bytes) +
                    Columns(result.ours, scale);
  if (result.against.has_value()) {
    const Against& against = *result.against;
    absl::StrAppend(&row, absl::StrFormat("  %8s", against.peer), Columns(against.values, scale),
                    absl::StrFormat("  %.2f (%.2f..%.2f)", against.ratio.ratio, against.ratio.min,
                                    against.ratio.max));
  }
  return row;
}

std::string JsonLine(const Options& options, const Result& result) {
  const Case& what = result.what;
  std::string line = absl::StrFormat(
      R"({"benchmark": "%s", "engine": "%s", "nodes": %d, "nodes_per_process": %d, "bytes": %d, )"
      R"("unit": "%s", )",
      what.benchmark->name, EngineName(options.engine), what.nodes,
      options.engine == Engine::kDaemons ? 1 : what.nodes, what.bytes,
      UnitName(what.benchmark->unit));
  absl::StrAppend(&line, JsonSummary("", result.ours));
  if (result.against.has_value()) {
    const Against& against = *result.against;
    absl::StrAppend(&line, ", \"peer\": \"", against.peer, "\", ",
                    JsonSummary("peer_", against.values),
                    absl::StrFormat(R"(, "ratio": %.6g, "ratio_min": %.6g, "ratio_max": %.6g)",
                                    against.ratio.ratio, against.ratio.min, against.ratio.max));
  }
  return line + "}";
}

}  // namespace vcm5::bench
