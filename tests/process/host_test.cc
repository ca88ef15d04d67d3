// Hosts and nodes as processes (SY4): node programs are broadcast and started from memory, and what
// goes wrong on the way ends the job in one line and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/process/job_process.h"
#include "tests/process/temporary_file.h"

namespace vcm5 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Words = std::vector<std::string>;

// `run`, then options, then the probe on host and nodes.
Words Command(Words options, const Words& mode, const std::string& program = VCM5_HOST_PROBE) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"--host", VCM5_HOST_PROBE});
  for (const std::string& word : mode) options.insert(options.end(), {"--host-arg", word});
  options.push_back(program);
  options.insert(options.end(), mode.begin(), mode.end());
  return options;
}

TEST(HostProcess, TakesPartInEverything) {
  for (const char* engine : {"daemons", "embedded"}) {
    for (const char* nodes : {"1", "2", "5", "16"}) {
      JobProcess job(Command({"-n", nodes, "--engine", engine}, {"exercise"}));
      ASSERT_TRUE(job.Finish());
      EXPECT_EQ(job.status(), 0);
      EXPECT_EQ(job.err(), "");
      EXPECT_EQ(job.out(), std::string(nodes) + " nodes and their host\n") << engine;
    }
  }
}

TEST(HostProcess, IsALeafOfAnyPartOfTheDataNetwork) {
  for (const char* link : {"shm", "unix"}) {
    for (const char* nodes : {"12", "15"}) {
      JobProcess job(Command({"-n", nodes, "--data-daemons", "3", "--link", link}, {"exercise"}));
      ASSERT_TRUE(job.Finish());
      EXPECT_EQ(job.status(), 0);
      EXPECT_EQ(job.err(), "");
    }
  }
}

// Leaf 8 is the host of the second program, and leaf 2 a node of the first.
TEST(HostProcess, DamageOnItsWayIsItsProgramsAlone) {
  for (const char* daemons : {"1", "3"}) {
    for (const bool of_host : {true, false}) {
      JobProcess job({"run", "--data-daemons", daemons, "--fault",
                      of_host ? "data.left: leaf 8 flip bit 100 once at message 1"
                              : "data.left: leaf 2 duplicate once at message 1",
                      "-n", "4", "@probe", of_host ? "ring" : "misaddress", "3", ":", "-n", "3", "--host",
                      VCM5_HOST_PROBE, "--host-arg", "exercise", VCM5_HOST_PROBE, "exercise"});
      ASSERT_TRUE(job.Finish());
      EXPECT_EQ(job.status(), 1);
      if (of_host) {
        EXPECT_EQ(job.err(), "vcm5: left data network: a message was damaged on the link from leaf 8 to "
                             "level 1 chip 2 port 0\n");
        EXPECT_THAT(job.out(), HasSubstr("ring 4 nodes 3 rounds\n"));
      } else {
        EXPECT_THAT(job.err(), MatchesRegex("vcm5: node 0:3: sent a message .*9999[^\n]*\n"));
        EXPECT_EQ(job.out(), "3 nodes and their host\n");
      }
    }
  }
}

TEST(HostProcess, NodesBeginFreshFromMemory) {
  JobProcess job(Command({"-n", "3"}, {"fresh"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.out(), "");
  EXPECT_EQ(job.status(), 0);
}

TEST(HostProcess, HasArgumentsALabelAndTheInput) {
  for (const char* engine : {"daemons", "embedded"}) {
    JobProcess hello({"run", "-n", "2", "-l", "--engine", engine, "--host", VCM5_HOST_PROBE,
                      "--host-arg", "hello", "--host-arg=-a b", VCM5_HOST_PROBE, "hello", "--host"});
    ASSERT_TRUE(hello.Finish());
    EXPECT_THAT(Lines(hello.out()),
                UnorderedElementsAre("[host] host 2 of 2: -a b", "[0] node 0 of 2: --host",
                                     "[1] node 1 of 2: --host"));
    JobProcess::Options options;
    options.input = "twelve bytes";
    JobProcess input(Command({"-n", "2", "--engine", engine}, {"input"}), options);
    ASSERT_TRUE(input.Finish());
    EXPECT_EQ(input.out(), "host read 12\n") << engine;
  }
}

TEST(HostProcess, ANodeProgramGetsItsArgumentsWhateverTheyAre) {
  JobProcess job({"run", "-n", "1", "--host", VCM5_HOST_PROBE, "--host-arg", "exit", VCM5_HOST_PROBE,
                  "--help"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 64);
  EXPECT_THAT(job.err(), StartsWith("host_probe: no such mode\n"));
}

TEST(HostProcess, EachPartitionMayHaveOne) {
  Words arguments = Command({"-n", "5", "--data-daemons", "2"}, {"exercise"});
  for (const char* word : {":", "-n", "16", "--host", VCM5_HOST_PROBE, "--host-arg", "exercise",
                           VCM5_HOST_PROBE, "exercise", ":", "-n", "4", "@probe", "barriers", "50"}) {
    arguments.push_back(word);
  }
  JobProcess job(arguments);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.err(), "");
  EXPECT_THAT(Lines(job.out()), UnorderedElementsAre("5 nodes and their host", "16 nodes and their host",
                                                     "barriers 50"));
}

TEST(HostProcess, AJamAtOneReachesNoPartitionThatDoesNotTalkToIts) {
  Words arguments = Command({"-n", "5"}, {"jam"});
  for (const char* word : {":", "-n", "16", "@probe", "ring", "20"}) arguments.push_back(word);
  JobProcess job(arguments);
  EXPECT_TRUE(job.WaitForText("ring 16 nodes 20 rounds\n"));
  kill(job.pid(), SIGTERM);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 128 + SIGTERM);
  EXPECT_EQ(job.left_behind(), 0);
}

TEST(HostProcess, RunsOnAMachineWithBrokenParts) {
  TemporaryFile machine("nodes: 16 control_processors: 2 broken: \"leaf 3\" broken: \"leaf 16\"\n");
  JobProcess job(Command({"--machine", machine.path()}, {"exercise"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.err(), "");
  EXPECT_EQ(job.out(), "15 nodes and their host\n");
}

TEST(HostProcess, ItsFailureIsTheJobs) {
  for (const char* engine : {"daemons", "embedded"}) {
    JobProcess job({"run", "-n", "2", "--engine", engine, "--host", VCM5_HOST_PROBE, "--host-arg",
                    "exit", "--host-arg", "7", VCM5_HOST_PROBE, "wait"});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 7) << engine;
    EXPECT_EQ(job.left_behind(), 0);
  }
  JobProcess job({"run", "-n", "2", "--host", VCM5_HOST_PROBE, "--host-arg", "die", VCM5_HOST_PROBE,
                  "wait"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 128 + SIGABRT);
  EXPECT_EQ(job.err(), "vcm5: host was killed by signal 6 (SIGABRT); the job has ended\n");
  JobProcess embedded({"run", "-n", "2", "--engine", "embedded", "--host", VCM5_HOST_PROBE,
                       "--host-arg", "die", VCM5_HOST_PROBE, "wait"});
  ASSERT_TRUE(embedded.Finish());
  EXPECT_EQ(embedded.err(), "vcm5: host was killed by signal 6; the job has ended\n");
}

// Processes below the job whose name begins so, when there are `count`.
std::vector<pid_t> WaitForChildren(const JobProcess& job, const std::string& name, size_t count) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::vector<pid_t> found;
  while (found.size() < count && std::chrono::steady_clock::now() < deadline) {
    found = job.Children(name);
  }
  EXPECT_EQ(found.size(), count);
  return found;
}

TEST(HostProcess, KilledWhileItRunsEndsTheJob) {
  JobProcess job(Command({"-n", "3"}, {"wait"}));
  ASSERT_TRUE(job.WaitForText("waiting\n"));
  const std::vector<pid_t> hosts = WaitForChildren(job, "process_host", 1);
  ASSERT_EQ(hosts.size(), 1u);
  kill(hosts.front(), SIGKILL);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.err(), "vcm5: host was killed by signal 9 (SIGKILL); the job has ended\n");
  EXPECT_EQ(job.status(), 128 + SIGKILL);
  EXPECT_EQ(job.left_behind(), 0);
}

// One node is stopped in the middle of the broadcast, so that it cannot end, before another process is
// killed.
TEST(HostProcess, KilledDuringTheBroadcastAnyPartEndsTheJob) {
  for (size_t victim = 1; victim <= 4; ++victim) {
    JobProcess job(Command({"-n", "4"}, {"wait"}, VCM5_HOST_BALLAST));
    const std::vector<pid_t> loading = WaitForChildren(job, "vcm5-boot", 5);
    ASSERT_EQ(loading.size(), 5u);
    kill(loading[0], SIGSTOP);
    ASSERT_EQ(job.Children("vcm5-boot").size(), 5u) << "the broadcast was over too soon";
    kill(loading[victim], SIGKILL);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 128 + SIGKILL);
    EXPECT_THAT(job.err(), MatchesRegex("vcm5: (host|node [0-9]) was killed by signal 9 "
                                        "\\(SIGKILL\\); the job has ended\n"));
    EXPECT_EQ(job.left_behind(), 0);
  }
}

TEST(HostProcess, ABroadcastThatDoesNotEndIsReported) {
  JobProcess job(Command({"-n", "4", "--timeout", "2"}, {"wait"}, VCM5_HOST_BALLAST));
  const std::vector<pid_t> loading = WaitForChildren(job, "vcm5-boot", 5);
  ASSERT_EQ(loading.size(), 5u);
  kill(loading[1], SIGSTOP);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 124);
  EXPECT_THAT(job.err(), AllOf(StartsWith("vcm5: no end after 2 s (--timeout): 5 of 5 nodes and hosts "
                                          "still ran; the job has ended\n"),
                               HasSubstr("host poll")));
  EXPECT_EQ(job.left_behind(), 0);
}

TEST(HostProcess, WaitsForWhomIsSaidByName) {
  JobProcess job({"run", "-n", "2", "--timeout", "1", "--host", VCM5_HOST_PROBE, "--host-arg", "wait",
                  "@probe", "barriers", "3"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 124);
  EXPECT_THAT(job.err(),
              HasSubstr("nodes 0-1 wait in a combine operation for host, which has not entered it"));
}

TEST(HostProcess, AProgramThatCannotBeBroadcastIsRefusedInOneLine) {
  TemporaryFile script("#!/bin/sh\necho never\n", 0700);
  TemporaryFile text("no program\n", 0700);
  TemporaryFile empty("", 0700);
  TemporaryFile huge("", 0700);
  ASSERT_EQ(truncate(huge.path().c_str(), (off_t{1} << 30) + 1), 0);
  TemporaryFile none("nodes: 4 control_processors: 0\n");
  TemporaryFile broken("nodes: 4 broken: \"leaf 4\"\n");
  const std::string host = VCM5_HOST_PROBE;
  const std::vector<std::pair<Words, std::string>> wrongs = {
      {{"--host", host, script.path()}, "it is a script"},
      {{"--host", host, text.path()}, "it is no program for this system"},
      {{"--host", host, empty.path()}, "it is no program for this system"},
      {{"--host", host, huge.path()}, "it has 1073741825 bytes; expected at most 1073741824"},
      {{"--host", host, VCM5_HOST_ORIGIN}, "it looks for shared libraries at `$ORIGIN"},
      {{"--host", text.path(), host}, "it is no program for this system"},
      {{"--host", "/no/such/program", host}, "--host: cannot run /no/such/program: No such file"},
      {{"--host", host, "/no/such/program"}, "cannot run /no/such/program: No such file"},
      {{"--host-arg", "x", host}, "--host-arg without --host HOSTPROG"},
      {{"--machine", none.path(), "--host", host, host}, "has 0 usable control processors"},
      {{"--machine", broken.path(), "--host", host, host}, "has 0 usable control processors"},
      {{"--engine", "embedded", "--host", text.path(), host}, "not an ELF program"},
      {{"-n", "2", host, ":", "-n", "2", "--host-arg", "x", host}, "--host-arg without --host"},
      {{"-n", "2", "--host", host, host, ":", "-n", "2", "--host", host, host, ":", "-n", "2", "--host",
        host, host, ":", "-n", "2", "--host", host, host, ":", "-n", "2", "--host", host, host},
       "--host is given 5 times, but the control network cannot connect them: 4 channels"},
      {{"-n", "2", host, ":", "--host", host, host}, "after `:`; expected -n N PROGRAM"},
      {{"-n", "2", host, ":", "-n", "2", "--host"}, "no option --host"},
  };
  for (const auto& [words, line] : wrongs) {
    Words all = {"run"};
    all.insert(all.end(), words.begin(), words.end());
    JobProcess job(all);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 2) << line;
    EXPECT_THAT(job.err(), HasSubstr(line));
    EXPECT_EQ(Lines(job.err()).size(), 1u) << job.err();
    EXPECT_EQ(job.out(), "");
  }
}

}  // namespace
}  // namespace vcm5
