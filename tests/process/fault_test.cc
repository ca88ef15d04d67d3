// `vcm5 run --fault`: what a broken network does to a job, under both engines and over several data
// daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/process/job_process.h"
#include "tests/process/temporary_file.h"

namespace vcm5 {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// How the networks are run.
struct Way {
  const char* name;
  std::vector<std::string> arguments;
  bool one_data_daemon = true;
};

class Fault : public ::testing::TestWithParam<Way> {
 protected:
  // 64 nodes on a machine of 17 chips at level 1, 10 at level 2.
  static std::vector<std::string> Run(const std::vector<std::string>& faults,
                                      const std::vector<std::string>& rest) {
    std::vector<std::string> arguments = {"run", "-n", "64"};
    for (const std::string& word : GetParam().arguments) arguments.push_back(word);
    for (const std::string& fault : faults) {
      arguments.push_back("--fault");
      arguments.push_back(fault);
    }
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return arguments;
  }
};

TEST_P(Fault, ADamagedMessageEndsTheJobWithTheNameOfTheLink) {
  JobProcess job(Run({"data.left: chip 1/0 port 1 flip bit 130 once at message 2"},
                     {"@probe", "ring", "6"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_EQ(job.out(), "");
  EXPECT_EQ(job.err(),
            "vcm5: left data network: a message was damaged on the link from level 1 chip 0 port 1 "
            "to leaf 1\n");
}

TEST_P(Fault, OneChipSignalsAPrimaryErrorAndTheOthersSecondaryOnes) {
  // The token goes from node 15 up to level 3 and down again to node 16.
  JobProcess job(
      Run({"data.left: leaf 15 flip bit 100 once at message 1"}, {"--stats", "@probe", "ring", "6"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), StartsWith("vcm5: left data network: a message was damaged on the link "
                                    "from leaf 15 to level 1 chip 3 port 3\n"));
  EXPECT_THAT(Lines(job.err()), Contains(MatchesRegex(".*left: CRC errors, primary +1")));
  // Four chips after the first, and the NI; of several daemons some may not have come to it when the
  // job ended.
  EXPECT_THAT(Lines(job.err()),
              Contains(MatchesRegex(GetParam().one_data_daemon
                                        ? ".*left: CRC errors, secondary +5"
                                        : ".*left: CRC errors, secondary +[1-5]")));
  EXPECT_THAT(Lines(job.err()), Contains(MatchesRegex(".*left: faults, bits flipped +1")));
}

TEST_P(Fault, ADamagedControlPacketEndsTheJobWithTheNameOfTheLink) {
  JobProcess job(Run({"control: leaf 37 link 3 up flip bit 60 once at packet 1"},
                     {"@probe", "traffic", "40"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), MatchesRegex("vcm5: node 36: the control network signals: damaged packet: "
                                      "[^\n]*, on the link up from the combining node of nodes "
                                      "36-39\n"));
}

TEST_P(Fault, ALostMessageKeepsRouterDoneFromCompletingAndTheReportNamesTheLink) {
  // With three data daemons this link is a wire between the first and the second.
  JobProcess job(Run({"data.left: chip 1/4 port 5 lose once at message 1"},
                     {"--timeout", "4", "@probe", "traffic", "40"}));
  ASSERT_TRUE(job.Finish(std::chrono::seconds(20)));
  EXPECT_EQ(job.status(), 124);
  EXPECT_EQ(job.out(), "");
  EXPECT_THAT(Lines(job.err()),
              Contains("vcm5:   left data network: 1 message lost on the link from level 1 chip 4 "
                       "port 5 to level 2 chip 3 port 0"));
}

TEST_P(Fault, AMessageThatNobodyMissesIsFoundAtTheEnd) {
  // Nobody waits for what the last node sends here.
  JobProcess job(Run({"data.right: leaf 63 duplicate once at message 3"}, {"@probe", "ring", "6"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_EQ(job.out(), "ring 64 nodes 6 rounds\n");
  EXPECT_EQ(job.err(),
            "vcm5: right data network: 1 message duplicated on the link from leaf 63 to level 1 chip "
            "15 port 3\n");
}

TEST_P(Fault, ADuplicateOnTheWayDownIsFoundAtTheEnd) {
  // The token goes from node 19 to node 20 over level 2 chip 2 or 3; with three data daemons they are
  // of two of them.
  JobProcess job(Run({"data.left: chip 2/2 port 1 duplicate every 1",
                      "data.left: chip 2/3 port 1 duplicate every 1"},
                     {"@probe", "ring", "1"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_EQ(job.out(), "ring 64 nodes 1 rounds\n");
  EXPECT_THAT(job.err(), MatchesRegex("vcm5: left data network: 1 message duplicated on the link "
                                      "from level 2 chip ([23]) port 1 to level 1 chip 5 port [45]\n"));
}

TEST_P(Fault, AFaultThatNeverStrikesHarmsNobody) {
  JobProcess job(Run({"data.left: leaf 3 lose once at message 1000000",
                      "data.right: chip 1/4 port 5 flip bit 3 every 1000000"},
                     {"@probe", "traffic", "40"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.out(), "router done\n");
  EXPECT_EQ(job.err(), "");
}

// What is still under way when all nodes have ended is not lost.
TEST_P(Fault, AJobThatLeavesItsMessagesUnreadHasLostNone) {
  for (int run = 0; run < 3; ++run) {
    JobProcess job(Run({}, {"@probe", "leave", "2000"}));
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0);
    EXPECT_EQ(job.err(), "");
  }
}

TEST_P(Fault, StandsInAMachineDescriptionToo) {
  const TemporaryFile machine("nodes: 64\nfault: \"data.left: leaf 2 flip bit 96 every 1\"\n");
  JobProcess job(Run({}, {"--machine", machine.path(), "@probe", "ring", "2"}));
  EXPECT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), HasSubstr("damaged on the link from leaf 2 to level 1 chip 0 port 2"));
}

std::vector<Way> Ways() {
  std::vector<Way> ways = {{"Daemons", {"--engine", "daemons"}},
                           {"ThreeDataDaemons", {"--data-daemons", "3"}, false},
                           {"ThreeOverSockets", {"--data-daemons", "3", "--link", "unix"}, false},
                           {"Embedded", {"--engine", "embedded"}}};
  return ways;
}
INSTANTIATE_TEST_SUITE_P(Ways, Fault, ::testing::ValuesIn(Ways()),
                         [](const auto& way) { return std::string(way.param.name); });

TEST(FaultWrongUse, IsRefusedInOneLine) {
  for (const char* engine : {"daemons", "embedded"}) {
    for (const char* fault : {"", "data.left", "data.left: leaf 64 lose every 1 or so",
                              "control: node 3 flip bit 1 once at message 1"}) {
      JobProcess job({"run", "-n", "64", "--engine", engine, "--fault", fault, "@probe", "hello"});
      ASSERT_TRUE(job.Finish());
      EXPECT_EQ(job.status(), 2) << fault;
      EXPECT_EQ(job.out(), "");
      EXPECT_THAT(job.err(), StartsWith(std::string("vcm5: --fault: fault `") + fault + "`: "));
      EXPECT_EQ(Lines(job.err()).size(), 1u) << job.err();
    }
  }
  JobProcess job({"run", "-n", "64", "--fault"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 2);
}

TEST(FaultHelp, TeachesTheGrammarByExamplesThatWork) {
  JobProcess help({"help", "faults"});
  ASSERT_TRUE(help.Finish());
  EXPECT_EQ(help.status(), 0);
  EXPECT_EQ(help.err(), "");
  const std::vector<std::string> lines = Lines(help.out());
  size_t examples = 0;
  for (const std::string& line : lines) {
    if (line.rfind("  data.", 0) != 0) continue;
    JobProcess run({"run", "-n", "64", "--engine", "embedded", "--fault", line.substr(2), "@probe",
                    "hello"});
    ASSERT_TRUE(run.Finish());
    EXPECT_EQ(run.status(), 0) << line << "\n" << run.err();
    ++examples;
  }
  EXPECT_EQ(examples, 3u);
}

}  // namespace
}  // namespace vcm5
