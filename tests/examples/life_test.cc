#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/examples/run_example.h"

namespace vcm5 {
namespace {

using Cell = std::pair<int, int>;  // row, column
using Cells = std::set<Cell>;

struct Rle {
  int width = -1;
  int height = -1;
  std::string rule;
  Cells live;
};

// A reader of its own, of well-formed RLE only.
Rle ReadRle(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line) && line[0] == '#') {
  }
  Rle rle;
  char rule[32] = "B3/S23";
  std::sscanf(line.c_str(), "x = %d, y = %d, rule = %31s", &rle.width, &rle.height, rule);
  rle.rule = rule;
  int row = 0;
  int column = 0;
  int count = 0;
  char c;
  while (lines >> c && c != '!') {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      count = 10 * count + (c - '0');
      continue;
    }
    const int run = std::max(count, 1);
    count = 0;
    if (c == '$') {
      row += run;
      column = 0;
    } else {
      for (int i = 0; i < run; ++i, ++column) {
        if (c == 'o') rle.live.insert({row, column});
      }
    }
  }
  return rle;
}

// One generation on a torus, from the definition.
Cells Step(const Cells& live, int width, int height, const std::string& rule) {
  const std::string birth = rule.substr(1, rule.find('/') - 1);
  const std::string survival = rule.substr(rule.find('/') + 2);
  Cells next;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int neighbours = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          if (dx == 0 && dy == 0) continue;
          neighbours +=
              static_cast<int>(live.count({(y + dy + height) % height, (x + dx + width) % width}));
        }
      }
      const std::string& counts = live.count({y, x}) != 0 ? survival : birth;
      if (counts.find(static_cast<char>('0' + neighbours)) != std::string::npos)
        next.insert({y, x});
    }
  }
  return next;
}

// What the example should print, as cells from the corner of their bounding box.
Rle Expected(const std::string& text, int width, int height, int generations) {
  const Rle first = ReadRle(text);
  Cells live;
  for (const auto& [y, x] : first.live) {
    live.insert({y + (height - first.height) / 2, x + (width - first.width) / 2});
  }
  for (int i = 0; i < generations; ++i) live = Step(live, width, height, first.rule);
  Rle last;
  last.rule = first.rule;
  last.width = last.height = 0;
  if (live.empty()) return last;
  int top = height, bottom = 0, left = width, right = 0;
  for (const auto& [y, x] : live) {
    top = std::min(top, y);
    bottom = std::max(bottom, y);
    left = std::min(left, x);
    right = std::max(right, x);
  }
  last.width = right - left + 1;
  last.height = bottom - top + 1;
  for (const auto& [y, x] : live) last.live.insert({y - top, x - left});
  return last;
}

void ExpectSame(const Outcome& outcome, const Rle& expected) {
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 70u);
  EXPECT_EQ(outcome.out.substr(0, 4), "x = ");
  EXPECT_EQ(outcome.out.substr(outcome.out.size() - 2), "!\n");
  const Rle got = ReadRle(outcome.out);
  EXPECT_EQ(got.width, expected.width);
  EXPECT_EQ(got.height, expected.height);
  EXPECT_EQ(got.rule, expected.rule);
  EXPECT_EQ(got.live, expected.live);
}

class LifeTest : public testing::TestWithParam<MachineChoice> {
 protected:
  void Check(const std::string& path, int width, int height, int generations) {
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    SCOPED_TRACE(path + " " + size);
    ExpectSame(RunExample(GetParam(), "life",
                          {"--pattern", path, "--size", size, "--generations",
                           std::to_string(generations)}),
               Expected(ReadFile(path), width, height, generations));
  }
};

TEST_P(LifeTest, GunOnATorusItFills) { Check(DataPath("gosper-glider-gun.rle"), 70, 45, 150); }

TEST_P(LifeTest, NarrowAndLowTorus) {
  Check(DataPath("r-pentomino.rle"), 3, 5, 7);
  Check(DataPath("acorn.rle"), 64, 3, 20);
}

TEST_P(LifeTest, OtherRules) {
  Check(WriteTemporary("highlife.rle", "x = 5, y = 5, rule = B36/S23\n2b3o$bo2bo$o3bo$o2bo$3o!\n"),
        40, 33, 60);
}

TEST_P(LifeTest, NothingLeft) {
  Check(WriteTemporary("dies.rle", "x = 2, y = 1\n2o!\n"), 20, 20, 1);
}

INSTANTIATE_TEST_SUITE_P(Machines, LifeTest, testing::ValuesIn(kMachines), NameOf);

TEST(LifePictureTest, ViewShowsTheCells) {
  const Outcome outcome =
      RunExample({"embedded", 3}, "life",
                 {"--pattern", DataPath("acorn.rle"), "--generations", "0", "--view"});
  EXPECT_EQ(outcome.out, ".O.....\n...O...\nOO..OOO\n");
}

// The command of the README, against a count known from the literature: a gun has emitted a glider
// each 30 generations.
TEST(LifePictureTest, GunHasEmittedItsGliders) {
  const Outcome outcome =
      RunExample({"daemons", 32}, "life",
                 {"--pattern", DataPath("gosper-glider-gun.rle"), "--generations", "390"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Rle last = ReadRle(outcome.out);
  EXPECT_EQ(last.live.size(), 36u + 13 * 5);
}

}  // namespace
}  // namespace vcm5
