// The control network's rarer sides with processes: interrupts of nodes that compute, privileged
// attempts, errors that end the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "tests/process/job_process.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

TEST(ControlNetwork, AnInterruptBroadcastReachesNodesThatCompute) {
  if (kSanitized) GTEST_SKIP() << "ThreadSanitizer holds signals back";
  JobProcess job({"run", "-n", "5", "@probe", "attention"});
  ASSERT_TRUE(job.WaitForText("computing"));
  ASSERT_EQ(kill(job.pid(), SIGUSR1), 0);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.err(), "");
  for (int node = 0; node < 5; ++node) {
    EXPECT_THAT(job.out(), testing::HasSubstr("node " + std::to_string(node) + " got " +
                                              std::to_string(SIGUSR1) + "\n"));
  }
}

TEST(ControlNetwork, ProgramsThatExpectNoInterruptBroadcastGoOn) {
  JobProcess job({"run", "-n", "3", "@probe", "busy"});
  ASSERT_TRUE(job.WaitForText("turn 0\n"));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(kill(job.pid(), SIGUSR1), 0);
    Spin(100000);
  }
  ASSERT_TRUE(job.WaitForText("turn 3072\n"));
  ASSERT_EQ(kill(job.pid(), SIGTERM), 0);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 128 + SIGTERM);
}

TEST(ControlNetwork, TheAsynchronousOrReachesNodesThatCompute) {
  if (kSanitized) GTEST_SKIP() << "ThreadSanitizer holds signals back";
  JobProcess job({"run", "-n", "4", "@probe", "or-interrupt"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(Lines(job.out()).size(), 4u);
}

TEST(ControlNetwork, APrivilegedAttemptEndsTheJobInOneLine) {
  JobProcess job({"run", "-n", "4", "@probe", "privileged", "2"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_EQ(job.err(),
            "vcm5: node 2: tried a privileged operation (a broadcast of a kind that only the "
            "supervisor may send); the port is closed\n");
}

TEST(ControlNetwork, DifferentOperationsEndTheJobInOneLine) {
  JobProcess job({"run", "-n", "8", "@probe", "mismatch", "5"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_EQ(job.err(),
            "vcm5: node 4: the control network signals: different operations met: a reduction with "
            "signed addition of node 4, and a reduction with maximum of node 5\n");
}

}  // namespace
}  // namespace vcm5
