#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/examples/run_example.h"

namespace vcm5 {
namespace {

struct Plate {
  size_t columns;
  size_t rows;
  double north;
  double south;
  double west;
  double east;
};

// The same steps on one grid, and the picture that comes of it.
std::string Expected(const Plate& plate, double tolerance) {
  std::vector<std::vector<double>> now(plate.rows, std::vector<double>(plate.columns, 0));
  for (std::vector<double>& row : now) {
    row.front() = plate.west;
    row.back() = plate.east;
  }
  now.front().assign(plate.columns, plate.north);
  now.back().assign(plate.columns, plate.south);
  std::vector<std::vector<double>> next = now;
  double change = tolerance;
  while (change >= tolerance) {
    change = 0;
    for (size_t y = 1; y + 1 < plate.rows; ++y) {
      for (size_t x = 1; x + 1 < plate.columns; ++x) {
        next[y][x] = ((now[y - 1][x] + now[y + 1][x]) + (now[y][x - 1] + now[y][x + 1])) * 0.25;
        change = std::max(change, std::abs(next[y][x] - now[y][x]));
      }
    }
    std::swap(now, next);
  }
  const double least = std::min({plate.north, plate.south, plate.west, plate.east});
  const double greatest = std::max({plate.north, plate.south, plate.west, plate.east});
  const double scale = greatest > least ? 255 / (greatest - least) : 0;
  std::string text =
      "P2 " + std::to_string(plate.columns) + " " + std::to_string(plate.rows) + " 255";
  for (const std::vector<double>& row : now) {
    for (const double value : row)
      text += " " + std::to_string(std::lround((value - least) * scale));
  }
  return text;
}

// White space of the format, all alike.
std::string Words(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

class StencilTest : public testing::TestWithParam<MachineChoice> {};

TEST_P(StencilTest, PictureIsTheSerialOne) {
  const Outcome outcome =
      RunExample(GetParam(), "stencil", {"--size", "37x26", "--tolerance", "0.05"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(Words(outcome.out), Expected({37, 26, 100, 0, 50, 0}, 0.05));
}

TEST_P(StencilTest, FewRowsAndOtherEdges) {
  const std::string path = WriteTemporary("plate.pgm", "");
  const Outcome outcome = RunExample(GetParam(), "stencil",
                                     {"--size=9x5", "--tolerance=1e-9", "--north=-5", "--south=20",
                                      "--west=0.5", "--east=0", "--output", path});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(Words(ReadFile(path)), Expected({9, 5, -5, 20, 0.5, 0}, 1e-9));
}

INSTANTIATE_TEST_SUITE_P(Machines, StencilTest, testing::ValuesIn(kMachines), NameOf);

}  // namespace
}  // namespace vcm5
