// `vcm5 run` as a user sees it: output, input, exit status, signals, timeouts, wrong use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "tests/process/job_process.h"
#include "tests/process/temporary_file.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// ---- output and input ------------------------------------------------------------------------

TEST(Run, ForwardsWhatEachNodePrints) {
  JobProcess job({"run", "-n", "3", "@probe", "hello"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.err(), "");
  EXPECT_THAT(Lines(job.out()),
              UnorderedElementsAre("hello from 0 of 3", "hello from 1 of 3", "hello from 2 of 3"));
  EXPECT_EQ(job.left_behind(), 0);
}

TEST(Run, LabelsLines) {
  for (const char* flag : {"-l", "--label"}) {
    JobProcess job({"run", "-n", "2", flag, "@probe", "hello"});
    ASSERT_TRUE(job.Finish());
    EXPECT_THAT(Lines(job.out()),
                UnorderedElementsAre("[0] hello from 0 of 2", "[1] hello from 1 of 2"));
  }
}

TEST(Run, NeverPutsALineInsideAnother) {
  for (const char* longest : {"300", "200000"}) {  // longer than what is held back, too
    JobProcess job({"run", "-n", "5", "-l", "@probe", "lines", "60", longest});
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0);
    std::map<char, int> count;
    for (const std::string& text : {job.out(), job.err()}) {
      for (const std::string& line : Lines(text)) {
        ASSERT_THAT(line.substr(0, 4), MatchesRegex("\\[[0-4]\\] "));
        ASSERT_EQ(line.find_first_not_of(line[4], 4), std::string::npos) << line.substr(0, 200);
        EXPECT_EQ(line[4], 'a' + (line[1] - '0'));
        ++count[line[4]];
      }
    }
    for (char node = 'a'; node < 'f'; ++node) EXPECT_EQ(count[node], 60) << node;
  }
}

TEST(Run, GivesStandardInputToNodeZero) {
  JobProcess job({"run", "-n", "3", "@probe", "input"},
                 {.input = std::string(300000, 'x'), .close_stdout = false, .environment = {}});
  ASSERT_TRUE(job.Finish());
  EXPECT_THAT(Lines(job.out()), UnorderedElementsAre("node 0 read 300000", "node 1 read 0",
                                                     "node 2 read 0"));
}

TEST(Run, EndsQuietlyWhenNobodyReadsItsOutput) {
  JobProcess job({"run", "-n", "2", "@probe", "flood"},
                 {.input = "", .close_stdout = true, .environment = {}});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 128 + SIGPIPE);
  EXPECT_EQ(job.err(), "");
}

// /dev/full is a disk without room: the job is over, and says why.
TEST(Run, SaysWhenItsOutputCannotBeWritten) {
  for (const char* engine : {"daemons", "embedded"}) {
    const std::string command = std::string(VCM5_PROGRAM) + " run -n 2 --engine " + engine + " " +
                                VCM5_PROBE + " hello 2>&1 >/dev/full";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char said[256] = "";
    ASSERT_NE(std::fgets(said, sizeof said, pipe), nullptr) << engine;
    EXPECT_THAT(said, ::testing::StartsWith("vcm5: cannot write standard output: No space left"));
    EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 1) << engine;
  }
}

TEST(Run, PassesArgumentsThatLookLikeItsOwn) {
  JobProcess job({"run", "-n", "1", "/bin/echo", "-n", "7", "--label", "--", "--help"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.out(), "7 --label -- --help");  // -n is echo's
}

TEST(Run, FindsProgramsInTheProgramPath) {
  const std::filesystem::path probe(VCM5_PROBE);
  JobProcess job({"run", "-n", "1", probe.filename().string(), "hello"},
                 {.input = "",
                  .close_stdout = false,
                  .environment = {"VCM5_PROGRAM_PATH=" + probe.parent_path().string()}});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.out(), "hello from 0 of 1\n");
}

TEST(Run, RunsRingsOverEveryKindOfDataNetwork) {
  const std::vector<std::vector<std::string>> networks = {
      {}, {"--data-daemons", "2"}, {"--data-daemons", "3", "--link", "unix"}};
  for (std::vector<std::string> arguments : networks) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"-n", "13", "@probe", "ring", "20"});
    JobProcess job(arguments);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0);
    EXPECT_EQ(job.out(), "ring 13 nodes 20 rounds\n");
    EXPECT_EQ(job.err(), "");
  }
}

TEST(Run, RunsBarriers) {
  JobProcess job({"run", "-n", "7", "@probe", "barriers", "300"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.out(), "barriers 300\n");
}

TEST(Run, SaysWhatTheNetworksCarried) {
  JobProcess job({"run", "-n", "4", "--stats", "@probe", "ring", "10"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.out(), "ring 4 nodes 10 rounds\n");
  EXPECT_THAT(job.err(), HasSubstr("what the networks carried"));
  EXPECT_THAT(job.err(), MatchesRegex("(.|\n)*left: messages delivered +20\n(.|\n)*"));
  EXPECT_THAT(job.err(), HasSubstr("busiest arm of the data network: "));
  EXPECT_THAT(job.err(), HasSubstr("busiest links"));
}

// ---- how jobs end --------------------------------------------------------------------------------

TEST(Run, ReturnsTheStatusOfTheNodeThatFailed) {
  JobProcess job({"run", "-n", "4", "@probe", "exit", "2", "7"});
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 7);
  EXPECT_EQ(job.err(), "");  // all have ended by themselves
}

TEST(Run, EndsTheOthersWhenANodeHasFailed) {
  JobProcess job({"run", "-n", "4", "@probe", "abandon", "1", "3"});
  ASSERT_TRUE(job.Finish(std::chrono::milliseconds(2000)));
  EXPECT_EQ(job.status(), 3);
  EXPECT_EQ(job.err(), "vcm5: node 1 exited with status 3; the job has ended\n");
}

TEST(Run, NamesTheNodeThatCrashed) {
  JobProcess job({"run", "-n", "4", "@probe", "signal", "3", std::to_string(SIGABRT)});
  ASSERT_TRUE(job.Finish(std::chrono::milliseconds(2000)));
  EXPECT_EQ(job.status(), 128 + SIGABRT);
  EXPECT_EQ(job.err(), "vcm5: node 3 was killed by signal 6 (SIGABRT); the job has ended\n");
}

TEST(Run, NamesTheNodeThatMisusedTheNetwork) {
  JobProcess job({"run", "-n", "4", "@probe", "misaddress", "2"});
  ASSERT_TRUE(job.Finish(std::chrono::milliseconds(2000)));
  EXPECT_EQ(job.status(), 1);
  EXPECT_THAT(job.err(), StartsWith("vcm5: node 2: "));
  EXPECT_EQ(Lines(job.err()).size(), 1u);
}

TEST(Run, SignalsEndEverything) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    for (const char* mode : {"wait", "stubborn"}) {
      JobProcess job({"run", "-n", "3", "@probe", mode});
      job.WaitForLines(1);
      kill(job.pid(), number);
      ASSERT_TRUE(job.Finish(std::chrono::milliseconds(2000)));
      EXPECT_EQ(job.status(), 128 + number);
      EXPECT_THAT(job.err(), MatchesRegex("vcm5: got signal [0-9]+ \\(SIG[A-Z]+\\); the job has ended\n"));
      EXPECT_EQ(job.left_behind(), 0);
    }
  }
}

TEST(Run, EndsStoppedNodesToo) {
  JobProcess job({"run", "-n", "3", "@probe", "wait"});
  job.WaitForLines(1);
  for (const pid_t node : job.Children("process_probe")) kill(node, SIGSTOP);
  kill(job.pid(), SIGTERM);
  ASSERT_TRUE(job.Finish(std::chrono::milliseconds(2000)));
  EXPECT_EQ(job.status(), 128 + SIGTERM);
}

TEST(Run, TimesOutWithAReport) {
  JobProcess job({"run", "-n", "3", "--timeout", "0.3", "@probe", "wait"});
  ASSERT_TRUE(job.Finish(std::chrono::milliseconds(2000)));
  EXPECT_EQ(job.status(), 124);
  EXPECT_EQ(job.out(), "waiting\n");
  EXPECT_THAT(job.err(), StartsWith("vcm5: no end after 0.3 s (--timeout): 3 of 3 nodes still ran; "
                                    "the job has ended\n"));
}

TEST(Run, EndsDescendantsOfNodes) {
  JobProcess job({"run", "-n", "2", "@probe", "orphan"});
  ASSERT_TRUE(job.Finish(std::chrono::milliseconds(2000)));
  EXPECT_EQ(job.status(), 0);
  EXPECT_EQ(job.left_behind(), 0);
}

std::string UnderLimit(const std::string& files, const std::string& arguments) {
  const std::string command = "ulimit -n " + files + "; " + VCM5_PROGRAM + " run " + arguments +
                              " 2>&1; echo status $?";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) != 0;) output.append(buffer, got);
  pclose(pipe);
  return output;
}

TEST(Run, NeedsNoMoreFilesThanItMayOpen) {
  EXPECT_THAT(UnderLimit("200", std::string("-n 128 ") + VCM5_PROBE + " hello"),
              MatchesRegex("vcm5: 128 nodes as processes need [0-9]+ open files, but only 200 are "
                           "allowed [^\n]*\nstatus 2\n"));
}

// Of many daemons, the links between them need the most.
TEST(Run, TheFilesThatItSaysAreEnough) {
  const std::string probe = VCM5_PROBE;
  const std::string several = "-n 5 " + probe + " ring 2 : -n 1 " + probe + " ring 2 : -n 5 " + probe;
  for (const std::string& arguments :
       {"-n 17 " + probe + " ring 2", "--data-daemons 8 -n 33 " + probe + " ring 2",
        "--data-daemons 8 --link unix -n 33 " + probe + " ring 2",
        "--data-daemons 4 " + several + " ring 2"}) {
    const std::string refused = UnderLimit("20", arguments);
    const size_t at = refused.find(" need ");
    ASSERT_NE(at, std::string::npos) << refused;
    const std::string needs = std::to_string(std::stoul(refused.substr(at + 6)));
    EXPECT_THAT(UnderLimit(needs, arguments), HasSubstr("status 0\n")) << arguments << ": " << needs;
  }
}

TEST(Run, SurvivesNodesThatScribble) {
  for (int seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    JobProcess job({"run", "-n", "5", "--timeout", "5", "@probe", "scribble", "2",
                    std::to_string(seed), "200"});
    ASSERT_TRUE(job.Finish());
    // Either the network says what is wrong with node 2, or nobody noticed.
    if (job.status() != 0) {
      EXPECT_EQ(job.status(), 1);
      EXPECT_THAT(job.err(), MatchesRegex("vcm5: node 2: [^\n]*\n"));
    }
    EXPECT_EQ(job.left_behind(), 0);
  }
}

// ---- wrong use -----------------------------------------------------------------------------------

void ExpectRefusal(const std::vector<std::string>& arguments, const std::string& part) {
  JobProcess job(arguments);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 2) << part;
  EXPECT_EQ(job.out(), "");
  EXPECT_THAT(job.err(), StartsWith("vcm5: "));
  EXPECT_EQ(Lines(job.err()).size(), 1u) << job.err();
  EXPECT_THAT(job.err(), HasSubstr(part));
}

TEST(WrongUse, IsRefusedInOneLine) {
  ExpectRefusal({}, "no command");
  ExpectRefusal({"fly"}, "no command fly");
  ExpectRefusal({"run"}, "no program");
  ExpectRefusal({"run", "-n", "4"}, "no program");
  for (const char* nodes : {"0", "16385", "four", "-1", "4x", "", "99999999999999999999", "1.5"}) {
    ExpectRefusal({"run", "-n", nodes, "@probe"}, "expected a whole number from 1 to 16384");
  }
  ExpectRefusal({"run", "--engine", "steam", "@probe"}, "expected daemons or embedded");
  ExpectRefusal({"run", "--link", "rope", "@probe"}, "expected shm or unix");
  ExpectRefusal({"run", "-n", "8", "--data-daemons", "4", "@probe"}, "expected 1 to 3");
  ExpectRefusal({"run", "--data-daemons", "0", "@probe"}, "--data-daemons");
  for (const char* option : {"--data-daemons=2", "--link=shm"}) {
    ExpectRefusal({"run", "--engine", "embedded", option, "@probe"}, "the engine `embedded` has no daemons");
  }
  ExpectRefusal({"run", "--seed", "-5", "@probe"}, "--seed is `-5`");
  for (const char* timeout : {"0", "-1", "soon", "nan", "inf"}) {
    ExpectRefusal({"run", "--timeout", timeout, "@probe"}, "--timeout is `");
  }
  ExpectRefusal({"run", "--fast", "@probe"}, "--fast");
  ExpectRefusal({"run", "-n"}, "-n");
  ExpectRefusal({"run", "--machine", "/nonexistent", "@probe"}, "No such file");
  ExpectRefusal({"run", "--machine", "/tmp", "@probe"}, "directory");
}

TEST(WrongUse, NamesWhatIsWrongWithAProgram) {
  ExpectRefusal({"run", "-n", "2", "/nonexistent/program"}, "No such file");
  ExpectRefusal({"run", "-n", "2", "/tmp"}, "it is a directory");
  const TemporaryFile text("hello\n", 0644);
  ExpectRefusal({"run", "-n", "2", text.path()}, "not executable");
  const TemporaryFile noise("\x01\x02 no program", 0755);
  ExpectRefusal({"run", "-n", "2", noise.path()}, "no program for this system");
}

TEST(WrongUse, NamesWhatIsWrongWithAMachine) {
  const TemporaryFile machine("nodes: 8\ndata_network { link_depth: 0 }\n", 0644);
  ExpectRefusal({"run", "--machine", machine.path(), "@probe"},
                machine.path() + ":2: data_network.link_depth is 0; expected a power of two from 1 to 1024");
  const TemporaryFile typo("nodes: 8\nlinks: 3\n", 0644);
  ExpectRefusal({"machine", "--check", typo.path()}, typo.path() + ":2:");
}

TEST(WrongUse, OfAProgramOutsideOfAJob) {
  const std::string probe = VCM5_PROBE;
  for (const std::string& variable :
       {std::string(), std::string("VCM5_NODE="), std::string("VCM5_NODE=1:2:3"),
        std::string("VCM5_NODE=1:3:4096:4:64:5:64:6"), std::string("VCM5_NODE=2:3:4:5:6:7:8:9"),
        std::string("VCM5_NODE=1:0:4096:0:64:0:64:0"), std::string(5000, ':')}) {
    const std::string command = (variable.find('=') == std::string::npos ? "" : variable + " ") +
                                probe + " hello 2>&1; echo status $?";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char buffer[4096];
    const size_t got = fread(buffer, 1, sizeof buffer, pipe);
    pclose(pipe);
    const std::string text(buffer, got);
    EXPECT_THAT(text, MatchesRegex("vcm5: [^\n]*\nstatus 2\n"));
  }
}

TEST(WrongUse, OfDaemons) {
  for (const char* name : {"vcm5-datad", "vcm5-ctld"}) {
    for (const char* arguments : {"", "now", "--control=0 --launcher=1", "--control=99 --launcher=1"}) {
      const std::string program =
          (std::filesystem::path(VCM5_PROGRAM).parent_path() / name).string();
      FILE* pipe = popen((program + " " + arguments + " 2>&1 </dev/null; echo status $?").c_str(), "r");
      ASSERT_NE(pipe, nullptr);
      char buffer[4096];
      const size_t got = fread(buffer, 1, sizeof buffer, pipe);
      pclose(pipe);
      EXPECT_EQ(std::string(buffer, got),
                std::string(name) + ": cannot be run by hand; `vcm5 run -n N PROGRAM` starts it\n"
                                    "status 2\n");
    }
  }
}

// ---- machine -------------------------------------------------------------------------------------

TEST(Machine, PrintsADescriptionThatItThenAccepts) {
  JobProcess print({"machine", "--print", "-n", "64"});
  ASSERT_TRUE(print.Finish());
  EXPECT_EQ(print.status(), 0);
  EXPECT_THAT(print.out(), HasSubstr("nodes: 64"));
  const TemporaryFile machine(print.out(), 0644);
  JobProcess check({"machine", "--check", machine.path()});
  ASSERT_TRUE(check.Finish());
  EXPECT_EQ(check.status(), 0);
  EXPECT_THAT(check.out(), HasSubstr("64 nodes"));
  EXPECT_THAT(check.out(), HasSubstr("router chips"));
  JobProcess run({"run", "--machine", machine.path(), "-n", "3", "@probe", "hello"});
  ASSERT_TRUE(run.Finish());
  EXPECT_THAT(Lines(run.out()), UnorderedElementsAre("hello from 0 of 3", "hello from 1 of 3",
                                                     "hello from 2 of 3"));
}

TEST(Help, TeachesEveryCommand) {
  const std::vector<std::vector<std::string>> questions = {
      {"help"}, {"--help"}, {"run", "--help"}, {"help", "run"}, {"machine", "--help"}};
  for (const std::vector<std::string>& question : questions) {
    JobProcess job(question);
    ASSERT_TRUE(job.Finish());
    EXPECT_EQ(job.status(), 0);
    EXPECT_EQ(job.err(), "");
    EXPECT_THAT(job.out(), HasSubstr("Examples:"));
  }
}

TEST(Help, FitsEightyColumns) {
  for (const char* what : {"run", "machine", "bench", "faults"}) {
    JobProcess job({"help", what});
    ASSERT_TRUE(job.Finish());
    for (const std::string& line : Lines(job.out())) EXPECT_LE(line.size(), 80u) << what << ": " << line;
  }
}

// ---- standard output -----------------------------------------------------------------------------

TEST(Output, IsNotTakenForAnythingElseWhenClosed) {
  for (const char* engine : {"daemons", "embedded"}) {
    const std::string shell = std::string(VCM5_PROGRAM) + " run -n 2 --engine " + engine + " " +
                              VCM5_PROBE + " ring 2 2>&1 >&-; echo status $?";
    FILE* pipe = popen(shell.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char buffer[4096];
    const size_t got = fread(buffer, 1, sizeof buffer, pipe);
    pclose(pipe);
    EXPECT_THAT(std::string(buffer, got),
                MatchesRegex("vcm5: cannot write standard output: Bad file descriptor(; the job has "
                             "ended)?\nstatus 1\n"))
        << engine;
  }
}

TEST(Output, ThatCannotBeWrittenIsAFailureOfEveryCommand) {
  for (const char* command : {"help", "run --help", "machine --print", "machine --explain -n 64"}) {
    const std::string shell =
        std::string(VCM5_PROGRAM) + " " + command + " 2>&1 >/dev/full; echo status $?";
    FILE* pipe = popen(shell.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char buffer[4096];
    const size_t got = fread(buffer, 1, sizeof buffer, pipe);
    pclose(pipe);
    EXPECT_EQ(std::string(buffer, got),
              "vcm5: cannot write standard output: No space left on device\nstatus 1\n")
        << command;
  }
}

}  // namespace
}  // namespace vcm5
