// stencil: how heat spreads over a plate whose edges are held at fixed temperatures, until nothing
// changes any more.
//
// In each step every inner cell takes the mean of its four neighbours. Each node has a strip of
// rows and exchanges edge rows with its neighbours (common/halo.h). A reduction by maximum (paper
// section 5) tells all nodes the largest change of any cell, and so whether to go on. Neither
// depends on how many nodes there are: the picture is the same to the last bit.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "examples/common/blocks.h"
#include "examples/common/halo.h"
#include "examples/common/program.h"

namespace {

using examples::Fail;

struct Options {
  std::string size = "128x128";
  double north = 100;
  double south = 0;
  double west = 50;
  double east = 0;
  double tolerance = 0.01;
  uint64_t steps_max = 100000;
  std::string output = "-";
  uint32_t columns = 0;
  uint32_t rows = 0;
};

Options Parse(vcm5::Node& node, int argc, char** argv) {
  constexpr uint32_t kSizeMax = 16384;
  Options options;
  CLI::App app(
      "Heat on a plate, until no cell changes by more than the tolerance in a step. Writes the "
      "temperatures as a picture (PGM): the coldest black, the hottest white.");
  app.add_option("--size", options.size, "columns and rows, edges included")
      ->capture_default_str()
      ->type_name("WxH");
  app.add_option("--north", options.north, "temperature of the upper edge")->capture_default_str();
  app.add_option("--south", options.south, "temperature of the lower edge")->capture_default_str();
  app.add_option("--west", options.west, "temperature of the left edge")->capture_default_str();
  app.add_option("--east", options.east, "temperature of the right edge")->capture_default_str();
  app.add_option("--tolerance", options.tolerance, "largest change of the last step")
      ->capture_default_str();
  app.add_option("--steps-max", options.steps_max, "give up after so many")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--output", options.output, "where the picture goes; -: standard output")
      ->capture_default_str();
  examples::ParseCommandLine(node, app, argc, argv);

  char rest = 0;
  if (std::sscanf(options.size.c_str(), "%9ux%9u%c", &options.columns, &options.rows, &rest) != 2 ||
      options.columns < 3 || options.rows < 3 || options.columns > kSizeMax ||
      options.rows > kSizeMax) {
    Fail(node, "--size wants columns and rows such as 128x128, each 3 to " +
                   std::to_string(kSizeMax) + ", not " + options.size);
  }
  if (!(options.tolerance > 0)) Fail(node, "--tolerance wants a number above 0");
  for (const double edge : {options.north, options.south, options.west, options.east}) {
    if (!std::isfinite(edge)) Fail(node, "temperatures are finite numbers");
  }
  return options;
}

// The inner rows of a plate that one node has, and the two rows next to them.
class Strip {
 public:
  // Rows `first` to `first + rows - 1` of the plate, edges counted.
  Strip(const Options& options, uint32_t first, uint32_t rows)
      : columns_(options.columns), rows_(rows), now_(size_t{rows} * columns_), next_(now_) {
    for (uint32_t y = 0; y < rows; ++y) {
      for (std::vector<double>* cells : {&now_, &next_}) {
        (*cells)[y * columns_] = options.west;
        (*cells)[y * columns_ + columns_ - 1] = options.east;
      }
    }
    // The rows beside the plate's first and last inner row are its edges.
    if (first == 1) above_.assign(columns_, options.north);
    if (first + rows == options.rows - 1) below_.assign(columns_, options.south);
  }

  std::span<const double> row(uint32_t y) const { return cells().subspan(y * columns_, columns_); }
  std::span<const double> cells() const { return now_; }

  // One step, with the neighbours' rows where there are neighbours. Returns the largest change.
  double Step(std::span<const double> above, std::span<const double> below) {
    if (!above_.empty()) above = above_;
    if (!below_.empty()) below = below_;
    double change = 0;
    for (uint32_t y = 0; y < rows_; ++y) {
      const std::span<const double> north = y > 0 ? row(y - 1) : above;
      const std::span<const double> south = y + 1 < rows_ ? row(y + 1) : below;
      const std::span<const double> here = row(y);
      double* next = &next_[y * columns_];
      for (size_t x = 1; x + 1 < columns_; ++x) {
        next[x] = ((north[x] + south[x]) + (here[x - 1] + here[x + 1])) * 0.25;
        change = std::max(change, std::abs(next[x] - here[x]));
      }
    }
    std::swap(now_, next_);
    return change;
  }

 private:
  size_t columns_;
  uint32_t rows_;
  std::vector<double> now_;
  std::vector<double> next_;
  std::vector<double> above_;  // the plate's edge, if it is next to this strip; else empty
  std::vector<double> below_;
};

// A PGM picture in text, with the plate's edges around the inner rows.
std::string Picture(const Options& options, std::span<const double> inner) {
  const auto [least, greatest] =
      std::minmax({options.north, options.south, options.west, options.east});
  const double scale = greatest > least ? 255 / (greatest - least) : 0;
  std::string text =
      "P2\n" + std::to_string(options.columns) + " " + std::to_string(options.rows) + "\n255\n";
  for (uint32_t y = 0; y < options.rows; ++y) {
    for (uint32_t x = 0; x < options.columns; ++x) {
      const double value = y == 0                  ? options.north
                           : y == options.rows - 1 ? options.south
                                                   : inner[(y - 1) * size_t{options.columns} + x];
      text += std::to_string(std::lround((value - least) * scale));
      // Lines of the format are at most 70 characters long.
      text += x + 1 == options.columns || x % 16 == 15 ? '\n' : ' ';
    }
  }
  return text;
}

// Node 0's file for the picture; null on the others. Opened before the work, not after it in vain.
std::FILE* OpenOutput(vcm5::Node& node, const std::string& path) {
  std::FILE* file = nullptr;
  if (node.self() == 0) file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (node.SyncOr(node.self() == 0 && file == nullptr)) Fail(node, "cannot write " + path);
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  vcm5::Node& node = vcm5::self();
  const Options options = Parse(node, argc, argv);

  std::FILE* const output = OpenOutput(node, options.output);

  // The inner rows are dealt out; nodes without rows only take part in the reductions.
  const examples::Blocks blocks{options.rows - 2, node.size()};
  const uint64_t begin = blocks.Begin(node.self());
  const uint64_t end = blocks.End(node.self());
  const auto rows = static_cast<uint32_t>(end - begin);
  Strip strip(options, static_cast<uint32_t>(begin) + 1, rows);
  std::vector<double> plate(node.self() == 0 ? blocks.items * options.columns : 0);
  const vcm5::BufferId gathered = node.RegisterBuffer(std::span(plate));
  std::optional<uint32_t> above;
  std::optional<uint32_t> below;
  if (rows > 0 && begin > 0) above = blocks.Owner(begin - 1);
  if (rows > 0 && end < blocks.items) below = blocks.Owner(end);
  examples::Halo<double> halo(node, options.columns, above, below);

  uint64_t steps = 0;
  double change = options.tolerance;
  while (steps < options.steps_max && change >= options.tolerance) {
    change = 0;
    if (rows > 0) {
      halo.Exchange(strip.row(0), strip.row(rows - 1));
      change = strip.Step(halo.above(), halo.below());
    }
    change = node.Reduce(vcm5::kMax, change);
    ++steps;
  }

  node.Put(0, gathered, begin * options.columns * sizeof(double), strip.cells());
  node.Quiesce();
  bool failed = false;
  if (node.self() == 0) {
    std::fprintf(stderr, "stencil: %llu steps, largest change of the last %g\n",
                 static_cast<unsigned long long>(steps), change);
    const std::string picture = Picture(options, plate);
    failed = std::fwrite(picture.data(), 1, picture.size(), output) != picture.size();
    failed |= (output == stdout ? std::fflush(output) : std::fclose(output)) != 0;
  }
  if (node.SyncOr(failed)) Fail(node, "cannot write " + options.output);
  return 0;
}
