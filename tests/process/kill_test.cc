// SIGKILL to any part of a job, at any moment: the whole job ends within 2 s, says in one line what
// died, returns a nonzero status and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/base/prng.h"
#include "tests/process/job_process.h"

namespace vcm5 {
namespace {

using ::testing::MatchesRegex;

// Sanitized programs are several times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::milliseconds kLimit{8000};
#else
constexpr std::chrono::milliseconds kLimit{2000};
#endif

enum class Moment { kStarting, kRunning };

struct Part {
  const char* name;     // for the test
  const char* process;  // the process's name begins so; nullptr: the launcher
  const char* line;     // what standard error says
};

constexpr Part kParts[] = {
    {"Node", "process_probe",
     "vcm5: node [0-9]+ was killed by signal 9 \\(SIGKILL\\); the job has ended\n"},
    {"DataDaemon", "vcm5-datad",
     "vcm5: (the data daemon|data daemon [0-9]+) was killed by signal 9 \\(SIGKILL\\); "
     "the job has ended\n"},
    {"ControlDaemon", "vcm5-ctld",
     "vcm5: the control daemon was killed by signal 9 \\(SIGKILL\\); the job has ended\n"},
    // Also one that is not yet the program that it is to become.
    {"Anything", "", "vcm5: [^\n]* was killed by signal 9 \\(SIGKILL\\); the job has ended\n"},
    {"Launcher", nullptr, "vcm5: the launcher was killed; the job has ended\n"},
};

class KillTest : public ::testing::TestWithParam<Part> {};

// Which process to kill: waits, by looking again, until there is one.
pid_t Choose(const JobProcess& job, const Part& part, Prng& prng) {
  if (part.process == nullptr) return job.pid();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < deadline) {
    const std::vector<pid_t> found = job.Children(part.process);
    if (!found.empty()) return found[prng.Below(static_cast<uint32_t>(found.size()))];
  }
  ADD_FAILURE() << "no " << part.name << " was started";
  return job.pid();
}

void KillOnce(const Part& part, Moment moment, uint64_t seed) {
  SCOPED_TRACE(std::string(part.name) + ", VCM5_TEST_SEED=" + std::to_string(seed));
  Prng prng(seed);
  const std::string nodes = std::to_string(2 + prng.Below(6));
  const std::string daemons = std::to_string(1 + prng.Below(nodes > "4" ? 2 : 1));
  JobProcess job({"run", "-n", nodes, "--data-daemons", daemons, "--link",
                  prng.Chance(1, 2) ? "shm" : "unix", "@probe", "busy"});
  if (moment == Moment::kRunning) {
    job.WaitForLines(1 + prng.Below(3));
    Spin(prng.Below(2'000'000));
  } else {
    // A start takes about this long.
    Spin(prng.Below(part.process == nullptr ? 40'000'000 : 1'000'000));
  }
  kill(Choose(job, part, prng), SIGKILL);
  ASSERT_TRUE(job.Finish(kLimit));
  EXPECT_NE(job.status(), 0);
  if (part.process == nullptr) {
    EXPECT_EQ(job.status(), 128 + SIGKILL);
    // Before there is a daemon, nobody can tell.
    if (moment == Moment::kRunning || !job.err().empty()) {
      EXPECT_THAT(job.err(), MatchesRegex(part.line));
    }
  } else {
    EXPECT_THAT(job.err(), MatchesRegex(part.line));
    EXPECT_EQ(job.left_behind(), 0);
  }
}

uint64_t FirstSeed() {
  const char* given = std::getenv("VCM5_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

int Seeds() { return std::getenv("VCM5_TEST_SEED") != nullptr ? 1 : 100; }

TEST_P(KillTest, WhileItRuns) {
  for (int i = 0; i < Seeds() && !HasFatalFailure(); ++i) {
    KillOnce(GetParam(), Moment::kRunning, FirstSeed() + static_cast<uint64_t>(i));
  }
}

TEST_P(KillTest, WhileItStarts) {
  for (int i = 0; i < Seeds() && !HasFatalFailure(); ++i) {
    KillOnce(GetParam(), Moment::kStarting, FirstSeed() + static_cast<uint64_t>(i));
  }
}

INSTANTIATE_TEST_SUITE_P(All, KillTest, ::testing::ValuesIn(kParts),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace vcm5
