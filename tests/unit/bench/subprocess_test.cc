#include "bench/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

namespace vcm5::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Command Shell(const std::string& script) { return {"/bin/sh", {"-c", script}, {}}; }

absl::Status Listen(const Command& command, std::vector<std::string>* lines, double seconds = 60) {
  return RunCommand(command, seconds, [lines](const std::string& line) { lines->push_back(line); });
}

TEST(RunCommand, HandsOverLines) {
  std::vector<std::string> lines;
  EXPECT_TRUE(Listen(Shell("echo one; printf 'two\\n\\nlast'"), &lines).ok());
  EXPECT_THAT(lines, ElementsAre("one", "two", "", "last"));
}

TEST(RunCommand, SetsVariables) {
  std::vector<std::string> lines;
  Command command = Shell("echo $VCM5_BENCH_TEST");
  command.variables = {"VCM5_BENCH_TEST=yes"};
  EXPECT_TRUE(Listen(command, &lines).ok());
  EXPECT_THAT(lines, ElementsAre("yes"));
}

TEST(RunCommand, SaysHowACommandFailed) {
  std::vector<std::string> lines;
  EXPECT_THAT(std::string(Listen(Shell("exit 3"), &lines).message()),
              HasSubstr("exited with status 3"));
  EXPECT_THAT(std::string(Listen(Shell("kill -9 $$"), &lines).message()), HasSubstr("SIGKILL"));
  EXPECT_FALSE(Listen({"/nonexistent/program", {}, {}}, &lines).ok());
}

TEST(RunCommand, EndsWhatTakesTooLong) {
  std::vector<std::string> lines;
  const absl::Status status = Listen(Shell("echo begun; exec sleep 600"), &lines, 0.2);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(lines, ElementsAre("begun"));
}

TEST(RunCommand, DoesNotWaitForWhoeverElseHoldsTheOutput) {
  std::vector<std::string> lines;
  EXPECT_TRUE(Listen(Shell("sleep 5 & echo $!"), &lines).ok());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(kill(std::stoi(lines[0]), SIGKILL), 0) << "it has ended, so it was waited for";
}

TEST(FindInPath, TakesTheFirstNameThatIsThere) {
  EXPECT_THAT(FindInPath({"no-such-program-at-all", "sh"}), testing::EndsWith("/sh"));
  EXPECT_EQ(FindInPath({"no-such-program-at-all"}), "");
}

}  // namespace
}  // namespace vcm5::bench
