// Jobs on machines with broken parts, under both engines: they run on the nodes that remain, whose
// addresses have no holes, and their answers are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/process/job_process.h"
#include "tests/process/temporary_file.h"

namespace vcm5 {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A chip is routed around in the left half; four nodes below one in the right half, and a node, are
// mapped out.
constexpr char kBroken[] =
    "nodes: 32\n"
    "broken: \"data.left: chip 3/1\"\n"
    "broken: \"data.right: chip 1/2\"\n"
    "broken: \"leaf 17\"\n";

const char* const kEngines[] = {"daemons", "embedded"};

TEST(BrokenMachine, RunsOnTheNodesThatRemain) {
  const TemporaryFile machine(kBroken);
  for (const char* engine : kEngines) {
    JobProcess job({"run", "--machine", machine.path(), "--engine", engine, "@probe", "ring", "20"});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0) << engine << job.err();
    EXPECT_EQ(job.out(), "ring 27 nodes 20 rounds\n") << engine;
    EXPECT_EQ(job.err(), "") << engine;
  }
}

TEST(BrokenMachine, CombinesOverTheNodesThatRemain) {
  const TemporaryFile machine(kBroken);
  for (const char* engine : kEngines) {
    JobProcess job({"run", "--machine", machine.path(), "--engine", engine, "@probe", "barriers", "50"});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.out(), "barriers 50\n") << engine << job.err();
  }
}

// Trees take the other chip or link; a pair of leaves has but one chip.
TEST(BrokenMachine, CombinesPastBrokenPartsOfTheControlNetwork) {
  const TemporaryFile machine(
      "nodes: 32\n"
      "broken: \"control: chip 3/1\"\n"
      "broken: \"control: chip 5/0\"\n"
      "broken: \"control: link of chip 1/4 port 4\"\n"
      "broken: \"control: chip 1/6\"\n");
  for (const char* engine : kEngines) {
    JobProcess barriers({"run", "--machine", machine.path(), "--engine", engine, "@probe", "barriers",
                         "50"});
    ASSERT_TRUE(barriers.Finish());
    EXPECT_EQ(barriers.out(), "barriers 50\n") << engine << barriers.err();
    JobProcess ring({"run", "--machine", machine.path(), "--engine", engine, "@probe", "ring", "4"});
    ASSERT_TRUE(ring.Finish());
    EXPECT_EQ(ring.out(), "ring 30 nodes 4 rounds\n") << engine << ring.err();
  }
}

TEST(BrokenMachine, RunsInPartsAndOnAPartition) {
  const TemporaryFile machine(kBroken);
  JobProcess parts({"run", "--machine", machine.path(), "--data-daemons", "3", "@probe", "ring", "8"});
  ASSERT_TRUE(parts.Finish());
  EXPECT_EQ(parts.out(), "ring 27 nodes 8 rounds\n") << parts.err();
  JobProcess partition({"run", "--machine", machine.path(), "-n", "11", "@probe", "ring", "8"});
  ASSERT_TRUE(partition.Finish());
  EXPECT_EQ(partition.out(), "ring 11 nodes 8 rounds\n") << partition.err();
}

// In each of 20 rounds on the left half a token leaves the first four nodes, always by the link that
// does not lead to the broken chip.
TEST(BrokenMachine, SendsNothingThroughABrokenChip) {
  const TemporaryFile machine("nodes: 16\ncontrol_processors: 0\nbroken: \"data.left: chip 2/1\"\n");
  for (const char* engine : kEngines) {
    JobProcess job({"run", "--machine", machine.path(), "--engine", engine, "--stats", "@probe",
                    "ring", "40"});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.out(), "ring 16 nodes 40 rounds\n") << engine;
    EXPECT_THAT(job.err(), ContainsRegex("left: level 1 chip 0 port 4, up +20\n"))
        << engine;
  }
}

TEST(BrokenMachine, NamesNodesByTheAddressesThatProgramsKnow) {
  const TemporaryFile machine("nodes: 8\nbroken: \"leaf 0\"\nbroken: \"leaf 1\"\n");
  for (const char* engine : kEngines) {
    JobProcess job({"run", "--machine", machine.path(), "--engine", engine, "@probe", "misaddress", "3"});
    ASSERT_TRUE(job.Finish());
    EXPECT_NE(job.status(), 0);
    EXPECT_THAT(job.err(), HasSubstr("node 3: sent a message on the left data network to node 9999, "
                                     "which is outside the partition (0 to 5)"))
        << engine;
  }
}

TEST(BrokenMachine, HasAsManyNodesAsAreUsable) {
  const TemporaryFile machine(kBroken);
  JobProcess many({"run", "--machine", machine.path(), "-n", "28", "@probe", "hello"});
  ASSERT_TRUE(many.Finish());
  EXPECT_EQ(many.status(), 2);
  EXPECT_EQ(many.err(), "vcm5: -n is 28, but the machine of " + machine.path() +
                            " has 27 usable nodes (5 of its 32 are mapped out)\n");
  JobProcess few({"run", "--machine", machine.path(), "-n", "26", "--engine", "embedded", "@probe",
                  "hello"});
  ASSERT_TRUE(few.Finish());
  EXPECT_EQ(few.status(), 0);
  EXPECT_THAT(few.out(), HasSubstr("hello from 25 of 26\n"));
  const TemporaryFile none("nodes: 1\ncontrol_processors: 0\nbroken: \"leaf 0\"\n");
  JobProcess refused({"run", "--machine", none.path(), "@probe", "hello"});
  ASSERT_TRUE(refused.Finish());
  EXPECT_EQ(refused.status(), 2);
  EXPECT_THAT(refused.err(), HasSubstr(":3: broken leaves no node"));
}

TEST(BrokenMachine, IsExplained) {
  const TemporaryFile machine(kBroken);
  JobProcess text({"machine", "--explain", machine.path()});
  ASSERT_TRUE(text.Finish());
  EXPECT_EQ(text.status(), 0);
  EXPECT_THAT(text.out(), HasSubstr("3 broken parts; 27 of 32 nodes usable\n"));
  EXPECT_THAT(text.out(), HasSubstr("  relative 13-26 is physical 18-31\n"));
  JobProcess json({"machine", "--explain", "-n", "64", "--json", "--broken", "leaf 3", "--broken",
                   "data.left: chip 3/0"});
  ASSERT_TRUE(json.Finish());
  EXPECT_EQ(json.status(), 0);
  EXPECT_THAT(json.out(), HasSubstr("\"usable_nodes\": 63"));
  EXPECT_THAT(json.out(), HasSubstr("{\"part\": \"data.left: chip 3/0\", \"way\": \"routed around\""));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"machine", "--explain", "--check", machine.path()},
        {"machine", "--explain", machine.path(), "-n", "4"},
        {"machine", "--print", "--json"},
        {"machine", "--print", "--broken", "leaf 3"},
        {"machine", "--explain", "--broken", "leaf"},
        {"machine", "--explain", "--broken", "leaf 99"}}) {
    JobProcess job(wrong);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 2) << wrong[1];
    EXPECT_EQ(Lines(job.err()).size(), 1u) << job.err();
  }
}

}  // namespace
}  // namespace vcm5
