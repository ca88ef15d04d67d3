// Results, as a table for people or JSON for programs.
#ifndef VCM5_BENCH_REPORT_H_
#define VCM5_BENCH_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/options.h"
#include "bench/statistics.h"

namespace vcm5::bench {

struct Against {
  std::string peer;
  Summary values;
  Ratio ratio;
};

struct Result {
  Case what;
  Summary ours;
  std::optional<Against> against;
};

// How values of a unit are shown to people.
struct Display {
  const char* unit;
  double scale;
};
Display DisplayOf(Unit unit);

// Ours, as heads of tables and plots call it: version, engine, processors.
std::string TitleOf(const Options& options, const Benchmark& benchmark);

// Lines without newlines. The head of a table says all that is needed to repeat it.
std::vector<std::string> TableHead(const Options& options, const Benchmark& benchmark,
                                   const std::vector<std::string>& peers);
std::string TableRow(const Result& result);
std::string JsonLine(const Options& options, const Result& result);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_REPORT_H_
