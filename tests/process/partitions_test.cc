// Several programs at once on one running machine, each in a partition of its own (DN9).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tests/process/job_process.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::UnorderedElementsAre;

TEST(Partitions, RunProgramsOfTheirOwn) {
  for (const char* daemons : {"1", "3"}) {
    JobProcess job({"run", "--data-daemons", daemons, "-n", "5", "@probe", "ring", "20", ":", "-n", "16",
                    "@probe", "barriers", "200", ":", "-n", "1", "@probe", "ring", "3"});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0);
    EXPECT_EQ(job.err(), "");
    EXPECT_THAT(Lines(job.out()), UnorderedElementsAre("ring 5 nodes 20 rounds", "barriers 200",
                                                       "ring 1 nodes 3 rounds"));
  }
}

TEST(Partitions, LabelsSayWhose) {
  JobProcess job({"run", "-l", "-n", "2", "@probe", "hello", ":", "-n", "1", "@probe", "hello"});
  ASSERT_TRUE(job.Finish());
  EXPECT_THAT(Lines(job.out()),
              UnorderedElementsAre("[0:0] hello from 0 of 2", "[0:1] hello from 1 of 2",
                                   "[1:0] hello from 0 of 1"));
}

// What a program does that goes wrong, and the one line about it.
struct Wrong {
  std::vector<std::string> arguments;
  const char* line;
  int status;
};

TEST(Partitions, WhatGoesWrongEndsOneProgramOnly) {
  const Wrong wrongs[] = {
      {{"signal", "2", "9"}, "vcm5: node 0:2 .*signal 9 .*; its program has ended\n", 128 + 9},
      // Its other nodes end by themselves, in most cases before anybody has to say so.
      {{"exit", "2", "7"}, "(vcm5: node 0:2 .*7; its program has ended\n)?", 7},
      {{"misaddress", "3"}, "vcm5: node 0:3: sent a message .*9999.*\n", 1},
      {{"scribble", "1", "5"}, "vcm5: node 0:1: .*\n", 1},
  };
  for (const Wrong& wrong : wrongs) {
    std::vector<std::string> arguments = {"run", "-n", "4", "@probe"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    for (const char* argument : {":", "-n", "7", "@probe", "barriers", "200"}) {
      arguments.push_back(argument);
    }
    JobProcess job(arguments);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), wrong.status) << wrong.arguments[0];
    EXPECT_THAT(job.err(), MatchesRegex(wrong.line));
    EXPECT_EQ(job.out(), "barriers 200\n") << wrong.arguments[0];
    EXPECT_EQ(job.left_behind(), 0);
  }
}

// In one process, too, each has its programs' globals, its host and its own end; but a signal that kills
// a node is the process's.
TEST(Partitions, RunInOneProcess) {
  JobProcess sound({"run", "-l", "--engine", "embedded", "-n", "5", "@probe", "ring", "20", ":", "-n",
                    "16", "--host", VCM5_HOST_PROBE, "--host-arg", "exercise", VCM5_HOST_PROBE,
                    "exercise", ":", "-n", "1", "@probe", "hello"});
  ASSERT_TRUE(sound.Finish());
  EXPECT_EQ(sound.status(), 0);
  EXPECT_EQ(sound.err(), "");
  EXPECT_THAT(Lines(sound.out()),
              UnorderedElementsAre("[0:0] ring 5 nodes 20 rounds",
                                   "[1:host] 16 nodes and their host", "[2:0] hello from 0 of 1"));
  const Wrong wrongs[] = {
      {{"exit", "2", "7"}, "(vcm5: node 0:2 .*7; its program has ended\n)?", 7},
      {{"misaddress", "3"}, "vcm5: node 0:3: sent a message .*9999.*\n", 1},
      {{"scribble", "1", "5"}, "vcm5: node 0:1: .*\n", 1},
  };
  for (const Wrong& wrong : wrongs) {
    std::vector<std::string> arguments = {"run", "--engine", "embedded", "-n", "4", "@probe"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    for (const char* argument : {":", "-n", "7", "@probe", "barriers", "200"}) {
      arguments.push_back(argument);
    }
    // Nodes of one process that a fault abandons free nothing.
    JobProcess::Options options;
    options.environment = {"ASAN_OPTIONS=detect_leaks=0"};
    JobProcess job(arguments, options);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), wrong.status) << wrong.arguments[0];
    EXPECT_THAT(job.err(), MatchesRegex(wrong.line));
    EXPECT_EQ(job.out(), "barriers 200\n") << wrong.arguments[0];
  }
}

// The nodes that go on after one has failed are stopped, while another program takes its time.
TEST(Partitions, OneThatHangsIsEndedInOneProcess) {
  JobProcess job({"run", "--engine", "embedded", "--timeout", "2", "-n", "2", "--host",
                  VCM5_HOST_PROBE, "--host-arg", "exit", "--host-arg", "7", VCM5_HOST_PROBE, "wait",
                  ":", "-n", "2", "@probe", "wait"});
  ASSERT_TRUE(job.WaitForError("vcm5: host 0 exited with status 7; its program has ended\n"));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 7);
  EXPECT_THAT(job.err(), HasSubstr("vcm5: no end after 2 s (--timeout): 2 of 5 nodes and hosts still "
                                   "ran; the job has ended\n"));
  EXPECT_THAT(job.err(), HasSubstr("  partition 1: nodes 0-1 poll in vain"));
}

TEST(Partitions, AJamReachesNobodyElse) {
  for (const char* daemons : {"1", "2"}) {
    JobProcess job({"run", "--data-daemons", daemons, "-n", "5", "@probe", "jam", ":", "-n", "16",
                    "@probe", "ring", "20"});
    EXPECT_TRUE(job.WaitForText("ring 16 nodes 20 rounds\n"));
    kill(job.pid(), SIGTERM);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 128 + SIGTERM);
  }
}

// More doorbells than the kernel lets anybody sleep on at once.
TEST(Partitions, ThereMayBeManyMore) {
  std::vector<std::string> arguments = {"run"};
  for (int i = 0; i < 131; ++i) {
    if (i != 0) arguments.push_back(":");
    for (const char* word : {"-n", "1", "@probe", "barriers", "30"}) arguments.push_back(word);
  }
  JobProcess job(arguments);
  ASSERT_TRUE(job.Finish(std::chrono::seconds(60)));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.err(), "");
  EXPECT_EQ(Lines(job.out()), std::vector<std::string>(131, "barriers 30"));
}

// A program that takes back every ring that it can reach takes none of another's.
TEST(Partitions, WhoErasesAllBellsErasesNobodyElses) {
  for (const char* daemons : {"1", "2"}) {
    JobProcess job({"run", "--data-daemons", daemons, "-n", "2", "@probe", "erase", ":", "-n", "4",
                    "@probe", "ring", "100", ":", "-n", "5", "@probe", "barriers", "1000"});
    EXPECT_TRUE(job.WaitForText("erasing\n"));
    EXPECT_TRUE(job.WaitForText("ring 4 nodes 100 rounds\n"));
    EXPECT_TRUE(job.WaitForText("barriers 1000\n"));
    kill(job.pid(), SIGTERM);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 128 + SIGTERM);
  }
}

TEST(Partitions, ShareNoMemory) {
  for (const char* daemons : {"1", "3"}) {
    JobProcess job({"run", "-l", "--data-daemons", daemons, "-n", "5", "@probe", "memories", ":", "-n",
                    "4", "@probe", "memories", ":", "-n", "1", "@probe", "memories"});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0);
    std::map<std::string, std::string> owner;  // partition by inode
    std::map<std::string, int> mapped;         // by inode: how often
    for (const std::string& line : Lines(job.out())) {
      const std::string inode = line.substr(line.find(' ') + 1);
      const std::string partition = line.substr(1, line.find(':') - 1);
      EXPECT_EQ(owner.emplace(inode, partition).first->second, partition) << inode;
      ++mapped[inode];
    }
    // Each node's network interface; the doorbells of a partition are all its nodes'.
    EXPECT_GE(mapped.size(), 10u + 2u * 3u);
    int most = 0;
    for (const auto& [inode, count] : mapped) most = std::max(most, count);
    EXPECT_EQ(most, 5);
  }
}

// The nodes of the second partition are told of the damage before their program ends; those of the
// first never hear of it, go on, and end when they are told to.
TEST(Partitions, DamageEndsTheProgramWhoseMessagesPassThere) {
  for (const char* daemons : {"1", "3"}) {
    JobProcess job({"run", "--data-daemons", daemons, "--fault",
                    "data.left: leaf 6 flip bit 100 once at message 1", "-n", "4", "@probe", "sound",
                    ":", "-n", "3", "@probe", "hear", ":", "-n", "20", "@probe", "sound"});
    EXPECT_TRUE(job.WaitForError("chip 1 port 2\n"));
    for (const char* node : {"node 0", "node 1", "node 2"}) {
      EXPECT_TRUE(job.WaitForText(std::string(node) + " heard\n"));
    }
    kill(job.pid(), SIGUSR1);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 1);
    EXPECT_EQ(job.err(),
              "vcm5: left data network: a message was damaged on the link from leaf 6 to level 1 chip "
              "1 port 2\n");
    EXPECT_THAT(Lines(job.out()),
                UnorderedElementsAre("0 of 4 heard", "0 of 20 heard", "node 0 heard", "node 1 heard",
                                     "node 2 heard"));
    EXPECT_EQ(job.left_behind(), 0);
  }
}

// A failed program has said why; that of another, whose messages were doubled, did not know it.
TEST(Partitions, ALossFailsTheProgramWhoseMessagesPassThere) {
  for (const char* daemons : {"1", "3"}) {
    JobProcess job({"run", "--data-daemons", daemons, "--fault",
                    "data.right: leaf 2 duplicate once at message 1", "--fault",
                    "data.right: leaf 18 duplicate once at message 1", "-n", "4", "@probe", "ring", "3",
                    ":", "-n", "2", "@probe", "ring", "2", ":", "-n", "16", "@probe", "misaddress",
                    "3"});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 1);
    EXPECT_THAT(Lines(job.out()),
                UnorderedElementsAre("ring 4 nodes 3 rounds", "ring 2 nodes 2 rounds"));
    EXPECT_THAT(Lines(job.err()),
                UnorderedElementsAre(MatchesRegex("vcm5: node 2:3: sent a message .*9999.*"),
                                     "vcm5: right data network: 1 message duplicated on the link from "
                                     "leaf 2 to level 1 chip 0 port 2"));
  }
}

TEST(Partitions, EndTogetherOnASignalOrWithADaemon) {
  for (const char* victim : {"launcher", "vcm5-datad", "vcm5-ctld"}) {
    JobProcess job({"run", "-n", "4", "@probe", "wait", ":", "-n", "4", "@probe", "wait"});
    job.WaitForLines(2);
    if (victim == std::string("launcher")) {
      kill(job.pid(), SIGTERM);
    } else {
      for (const pid_t pid : job.Children(victim)) kill(pid, SIGKILL);
    }
    ASSERT_TRUE(job.Finish(std::chrono::seconds(2))) << victim;
    EXPECT_NE(job.status(), 0);
    EXPECT_THAT(job.err(), MatchesRegex("vcm5: .*; the job has ended\n"));
    EXPECT_EQ(job.left_behind(), 0);
  }
}

TEST(Partitions, AWrongCommandLineIsOneLine) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrongs = {
      {{"@probe", "wait", ":", "-n", "4", "@probe"}, "no -n before the first of several programs"},
      {{"-n", "4", "@probe", "wait", ":"}, "nothing after `:`; expected -n N PROGRAM"},
      {{"-n", "4", "@probe", "wait", ":", "@probe"}, "after `:`; expected -n N PROGRAM"},
      {{"-n", "4", "@probe", "wait", ":", "-n", "0", "@probe"}, "-n is `0`"},
      {{"-n", "4", "@probe", "wait", ":", "-n", "4"}, "no program"},
      {{"-n", "4", "@probe", ":", "-n", "4", "/no/such/program"}, "/no/such/program"},
      {{"-n", "16384", "@probe", ":", "-n", "1", "@probe"}, "the largest machine has 16384"},
  };
  for (const auto& [arguments, line] : wrongs) {
    std::vector<std::string> all = {"run"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    JobProcess job(all);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 2) << line;
    EXPECT_THAT(job.err(), HasSubstr(line));
    EXPECT_EQ(Lines(job.err()).size(), 1u) << job.err();
  }
}

}  // namespace
}  // namespace vcm5
