// The control network's rarer sides by the API, under both engines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "tests/process/job_process.h"

namespace vcm5 {
namespace {

class Engines : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<std::string> Command(const std::string& nodes, const std::string& mode) const {
    return {"run", "-n", nodes, "--engine", GetParam(), VCM5_COLLECTIVE, mode};
  }
};
INSTANTIATE_TEST_SUITE_P(, Engines, ::testing::Values("daemons", "embedded"),
                         [](const auto& engine) { return engine.param; });

TEST_P(Engines, SynthesiseWhatTheNetworkDoesNotKnow) {
  for (const char* nodes : {"1", "7"}) {
    JobProcess job(Command(nodes, "synthesised"));
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0);
    EXPECT_EQ(job.out(), "synthesised\n");
    EXPECT_EQ(job.err(), "");
  }
}

TEST_P(Engines, PassAnInterruptBroadcastToAllNodes) {
  JobProcess job(Command("6", "interrupt"));
  ASSERT_TRUE(job.WaitForText("waiting"));
  ASSERT_EQ(kill(job.pid(), SIGUSR1), 0);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.err(), "");
  for (int node = 0; node < 6; ++node) {
    EXPECT_THAT(job.out(), testing::HasSubstr("node " + std::to_string(node) + " got " +
                                              std::to_string(SIGUSR1) + "\n"));
  }
}

TEST_P(Engines, InterruptWhenTheAsynchronousOrRises) {
  JobProcess job(Command("5", "or-interrupt"));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.err(), "");
  for (int node = 0; node < 5; ++node) {
    EXPECT_THAT(job.out(), testing::HasSubstr("node " + std::to_string(node) + " saw 1\n"));
  }
}

TEST_P(Engines, NameBothPartiesOfDifferentOperations) {
  // Nodes of one process that a fault abandons free nothing.
  JobProcess::Options options;
  options.environment = {"ASAN_OPTIONS=detect_leaks=0"};
  JobProcess job(Command("4", "mismatch"), options);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_EQ(
      job.err(),
      "vcm5: node 2: the control network signals: different operations met: a forward scan with "
      "signed addition of node 2, and a backward scan with signed addition of node 3\n");
}

}  // namespace
}  // namespace vcm5
