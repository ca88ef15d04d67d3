// The control network's rarer sides by the API, under both engines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
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

// Nobody takes a turn from a node, but the process ends all the same.
TEST(EngineEmbedded, EndsOnASignalThoughANodeComputes) {
  JobProcess job({"run", "--engine", "embedded", "-n", "2", "@probe", "compute"});
  ASSERT_TRUE(job.WaitForText("computing\n"));
  kill(job.pid(), SIGINT);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 128 + SIGINT);
  EXPECT_EQ(job.err(), "vcm5: node 0 computes and does not poll; got signal 2; the job has ended\n");
}

TEST(EngineEmbedded, ASignalIsSaid) {
  JobProcess job({"run", "--engine", "embedded", "-n", "2", "@probe", "wait"});
  ASSERT_TRUE(job.WaitForText("waiting\n"));
  kill(job.pid(), SIGTERM);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 128 + SIGTERM);
  EXPECT_EQ(job.err(), "vcm5: got signal 15 (SIGTERM); the job has ended\n");
}

// A node needs no open file.
TEST(EngineEmbedded, HasMoreNodesThanFilesMayBeOpen) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  JobProcess job({"run", "--engine", "embedded", "-n", "100", "@probe", "ring", "2"});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.err(), "");
  EXPECT_EQ(job.out(), "ring 100 nodes 2 rounds\n");
}

TEST(EngineEmbedded, RefusesMoreNodesThanTheProcessHasMapsFor) {
  uint64_t maps = 0;
  ASSERT_TRUE(std::ifstream("/proc/sys/vm/max_map_count") >> maps);
  if (maps > 65530) GTEST_SKIP() << "this system allows enough";
  JobProcess job({"run", "--engine", "embedded", "-n", "16384", "@probe", "ring", "2"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 2);
  EXPECT_THAT(job.err(), testing::MatchesRegex("vcm5: 16384 nodes in one process need [0-9]+ maps of "
                                               "memory, but only [0-9]+ are allowed \\(sysctl "
                                               "vm.max_map_count\\); expected at most [0-9]+ nodes\n"));
}

}  // namespace
}  // namespace vcm5
