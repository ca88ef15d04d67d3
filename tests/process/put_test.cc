// Large puts between processes: copied from memory to memory where the system allows it, else sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/process/job_process.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void ExpectRight(const char* engine, const char* mode) {
  JobProcess job({"run", "-n", "3", "--engine", engine, VCM5_PUT_PROGRAM, mode});
  ASSERT_TRUE(job.Finish(std::chrono::seconds(60)));
  if (job.status() == 77) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_THAT(job.out(), Not(HasSubstr("WRONG")));
}

TEST(Put, IsCopiedOnceBetweenProcesses) { ExpectRight("daemons", "allowed"); }
TEST(Put, IsCopiedOnceInOneProcess) { ExpectRight("embedded", "allowed"); }
TEST(Put, IsCountedByTheStats) {
  for (const char* engine : {"daemons", "embedded"}) {
    JobProcess job({"run", "-n", "3", "--stats", "--engine", engine, VCM5_PUT_PROGRAM, "allowed"});
    ASSERT_TRUE(job.Finish(std::chrono::seconds(60)));
    // Three puts of 4096, 4099, 100000 and 9000000 bytes from each of three nodes.
    EXPECT_THAT(job.err(), testing::ContainsRegex("bytes copied from memory to memory +81973755"));
  }
}

TEST(Put, IsSentWhereProcessesMustNotReadEachOther) { ExpectRight("daemons", "refused"); }

}  // namespace
}  // namespace vcm5
