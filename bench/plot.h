// The results of a session as a picture: an SVG file with a panel for each benchmark and size of
// message, numbers of nodes along, values up, both in powers; a line through the medians of each who
// was measured, and a bar from the least to the greatest.
#ifndef VCM5_BENCH_PLOT_H_
#define VCM5_BENCH_PLOT_H_

#include <string>
#include <string_view>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/report.h"
#include "bench/statistics.h"

namespace vcm5::bench {

class Plot {
 public:
  // The line above all panels.
  explicit Plot(std::string title) : title_(std::move(title)) {}

  void Add(const Result& result);
  std::string Svg() const;

 private:
  struct Point {
    uint32_t nodes;
    Summary values;  // in the unit of the benchmark
  };
  struct Series {
    std::string name;
    std::vector<Point> points;  // as they were added
  };
  struct Panel {
    const Benchmark* benchmark;
    uint64_t bytes;
    std::vector<Series> series;
  };

  void Add(const Case& what, const std::string& name, const Summary& values);
  static void Draw(const Panel& panel, double left, double top, std::string* svg);

  std::string title_;
  std::vector<Panel> panels_;  // as their benchmarks came first
};

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_PLOT_H_
