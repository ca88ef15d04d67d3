#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"
#include "tests/examples/run_example.h"

namespace vcm5 {
namespace {

std::string SortedIntegers(const std::string& text) {
  std::istringstream in(text);
  std::vector<int64_t> values;
  for (int64_t value; in >> value;) values.push_back(value);
  std::sort(values.begin(), values.end());
  std::string out;
  for (const int64_t value : values) out += std::to_string(value) + "\n";
  return out;
}

std::string SortedLines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
      return static_cast<uint8_t>(x) < static_cast<uint8_t>(y);
    });
  });
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

class SortTest : public testing::TestWithParam<MachineChoice> {
 protected:
  void CheckIntegers(const std::string& text) {
    const Outcome outcome = RunExample(GetParam(), "sort", {"-"}, text);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, SortedIntegers(text));
  }
  void CheckLines(const std::string& text) {
    const Outcome outcome = RunExample(GetParam(), "sort", {"--text", "-"}, text);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, SortedLines(text));
  }
};

TEST_P(SortTest, File) {
  const std::string path = DataPath("integers.txt");
  const Outcome outcome = RunExample(GetParam(), "sort", {path});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, SortedIntegers(ReadFile(path)));
}

TEST_P(SortTest, FewIntegers) {
  CheckIntegers("");
  CheckIntegers("  \n");
  CheckIntegers("5");
  CheckIntegers("3 -1\t2\n\n-9223372036854775808 9223372036854775807 0");
}

TEST_P(SortTest, Poem) { CheckLines(ReadFile(DataPath("carroll.txt"))); }

TEST_P(SortTest, OddLines) {
  CheckLines("");
  CheckLines("\n\n\n");
  CheckLines("no newline at the end");
  using std::string_literals::operator""s;
  std::string text = "b\0c\nb\nb\0\n\xff high\nab\na\nabcdefg\nabcdefgh\nabcdef\n\n"s;
  Prng prng(5);
  for (int i = 0; i < 40; ++i) {
    // Long common beginnings, so that late blocks decide.
    text += std::string(prng.Below(40), 'x') + static_cast<char>('a' + prng.Below(3)) + "\n";
  }
  CheckLines(text);
}

INSTANTIATE_TEST_SUITE_P(Machines, SortTest, testing::ValuesIn(kMachines), NameOf);

}  // namespace
}  // namespace vcm5
