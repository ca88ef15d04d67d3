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

std::string QuartilesOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<int64_t> numbers;
  for (int64_t number; in >> number;) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  const char* names[] = {"minimum        ", "lower quartile ", "median         ", "upper quartile ",
                         "maximum        "};
  std::string out;
  for (size_t quarter = 0; quarter <= 4; ++quarter) {
    out += names[quarter] + std::to_string(numbers[(numbers.size() - 1) * quarter / 4]) + "\n";
  }
  return out;
}

class QuantilesTest : public testing::TestWithParam<MachineChoice> {
 protected:
  static std::vector<std::string> Host(const std::vector<std::string>& arguments) {
    std::vector<std::string> options = {"--host", VCM5_BINARY_DIR "/examples/quantiles_host"};
    for (const std::string& argument : arguments) options.push_back("--host-arg=" + argument);
    return options;
  }
  void CheckInput(const std::string& text) {
    const Outcome outcome = RunExample(GetParam(), "quantiles_node", {}, text, Host({"-"}));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, QuartilesOf(text));
  }
  void CheckRefusal(const std::vector<std::string>& arguments, const std::string& input,
                    const std::string& line) {
    const Outcome outcome = RunExample(GetParam(), "quantiles_node", {}, input, Host(arguments));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err.find(line), 0u) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
};

TEST_P(QuantilesTest, File) {
  const std::string path = DataPath("integers.txt");
  const Outcome outcome = RunExample(GetParam(), "quantiles_node", {}, "", Host({path}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, QuartilesOf(ReadFile(path)));
}

TEST_P(QuantilesTest, FewNumbersFromTheInput) {
  CheckInput("5");
  CheckInput("3 -1\t2\n\n-9223372036854775808 9223372036854775807 0");
}

TEST_P(QuantilesTest, ManyEqualNumbers) {
  Prng prng(7);
  std::string text;
  for (int i = 0; i < 500; ++i) text += std::to_string(static_cast<int>(prng.Below(7)) - 3) + "\n";
  CheckInput(text);
}

TEST_P(QuantilesTest, HelpIsPrintedOnce) {
  const Outcome outcome = RunExample(GetParam(), "quantiles_node", {}, "", Host({"--help"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("Quartiles of whole numbers"), 0u) << outcome.out;
  EXPECT_EQ(outcome.out.find("Usage:"), outcome.out.rfind("Usage:"));
}

TEST_P(QuantilesTest, SaysWhatIsWrong) {
  CheckRefusal({}, "", "quantiles: expected one argument");
  CheckRefusal({"/no/such/file"}, "", "quantiles: cannot read /no/such/file\n");
  CheckRefusal({"-"}, "1 2 x", "quantiles: -: number 3 is no whole number of 64 bits\n");
  CheckRefusal({"-"}, " \n", "quantiles: - has no numbers\n");
}

INSTANTIATE_TEST_SUITE_P(Machines, QuantilesTest, testing::ValuesIn(kMachines), NameOf);

TEST(QuantilesWithoutAHost, SayThatTheyNeedOne) {
  for (const char* engine : {"daemons", "embedded"}) {
    const Outcome outcome = RunExample({engine, 1}, "quantiles_node", {});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err.find("quantiles_node needs a host"), 0u) << outcome.err;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << "once: " << outcome.err;
  }
}

}  // namespace
}  // namespace vcm5
