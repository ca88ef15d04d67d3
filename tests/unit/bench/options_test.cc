#include "bench/options.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace vcm5::bench {
namespace {

std::variant<Options, int> Read(std::vector<std::string> words) {
  words.insert(words.begin(), "bench");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return ReadCommandLine(static_cast<int>(words.size()), arguments.data());
}

Options Accepted(std::vector<std::string> words) {
  std::variant<Options, int> read = Read(std::move(words));
  EXPECT_TRUE(std::holds_alternative<Options>(read));
  return std::holds_alternative<Options>(read) ? std::get<Options>(read) : Options();
}

// The one line on standard error.
std::string Refused(std::vector<std::string> words) {
  testing::internal::CaptureStderr();
  const std::variant<Options, int> read = Read(std::move(words));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(std::holds_alternative<int>(read));
  if (std::holds_alternative<int>(read)) {
    EXPECT_EQ(std::get<int>(read), 2);
  }
  EXPECT_EQ(said.substr(0, 6), "vcm5: ");
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
  return said;
}

TEST(BenchOptions, HaveDefaults) {
  const Options options = Accepted({"bulk"});
  ASSERT_EQ(options.cases.size(), 3u);
  EXPECT_EQ(options.cases[0].nodes, 2u);
  EXPECT_EQ(options.cases[2].nodes, 64u);
  EXPECT_EQ(options.cases[0].bytes, uint64_t{1} << 20);
  EXPECT_EQ(options.engine, Engine::kDaemons);
  EXPECT_EQ(options.repetitions, 9u);
}

TEST(BenchOptions, MakeACaseForEachBenchmarkNodesAndBytes) {
  const Options options = Accepted({"rate", "permutation", "-n", "2,4", "--bytes", "4,8,20"});
  EXPECT_EQ(options.cases.size(), 12u);
  EXPECT_EQ(options.cases[11].benchmark, FindBenchmark("permutation"));
  EXPECT_EQ(options.cases[11].nodes, 4u);
  EXPECT_EQ(options.cases[11].bytes, 20u);
}

TEST(BenchOptions, TakeAll) {
  EXPECT_EQ(Accepted({"all", "-n", "2"}).cases.size(), Benchmarks().size());
}

TEST(BenchOptions, ReadEngineAndEffort) {
  const Options options = Accepted({"barrier", "--engine=embedded", "--threads=3", "--seed=5",
                                    "--repetitions=2", "--warmup=0", "--iterations=7", "--json"});
  EXPECT_EQ(options.engine, Engine::kEmbedded);
  EXPECT_EQ(options.threads, 3u);
  EXPECT_EQ(ThreadsFor(options, *FindBenchmark("rate")), 3u);
  EXPECT_EQ(ThreadsFor(Options(), *FindBenchmark("barrier")), 1u);
  EXPECT_EQ(options.seed, 5u);
  EXPECT_EQ(options.repetitions, 2u);
  EXPECT_EQ(options.warmup, 0u);
  EXPECT_EQ(options.iterations, 7u);
  EXPECT_TRUE(options.json);
}

TEST(BenchOptions, RefuseWhatCannotBeInOneLine) {
  EXPECT_NE(Refused({}).find("nothing to measure"), std::string::npos);
  EXPECT_NE(Refused({"speed"}).find("no benchmark speed; there are latency, rate"),
            std::string::npos);
  EXPECT_NE(Refused({"barrier", "-n", "2,x"}).find("-n is `x`"), std::string::npos);
  EXPECT_NE(Refused({"barrier", "-n", "16385"}).find("from 1 to 16384"), std::string::npos);
  EXPECT_NE(Refused({"latency", "-n", "1"}).find("at least 2 nodes"), std::string::npos);
  EXPECT_NE(Refused({"rate", "--bytes", "5"}).find("in steps of 4"), std::string::npos);
  EXPECT_NE(Refused({"barrier", "--bytes", "4"}).find("no choice"), std::string::npos);
  EXPECT_NE(Refused({"barrier", "--engine", "steam"}).find("daemons or embedded"),
            std::string::npos);
  EXPECT_NE(Refused({"barrier", "--threads", "2"}).find("embedded only"), std::string::npos);
  EXPECT_NE(Refused({"barrier", "--time", "nan"}).find("--time is `nan`"), std::string::npos);
  EXPECT_NE(Refused({"barrier", "--time", "1", "--iterations", "1"}).find("not both"),
            std::string::npos);
  EXPECT_NE(Refused({"barrier", "--against", "pvm"}).find("expected openmpi, mpich or floor"), std::string::npos);
  EXPECT_NE(Refused({"barrier", "--fast"}).find("--fast"), std::string::npos);
}

}  // namespace
}  // namespace vcm5::bench
