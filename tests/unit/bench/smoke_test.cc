// `vcm5 bench` as a program: every benchmark under both engines, a few iterations each.
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/peer_kind.h"
#include "bench/subprocess.h"
#include "tests/process/job_process.h"
#include "tests/process/temporary_file.h"

namespace vcm5::bench {
namespace {

using Fields = google::protobuf::Map<std::string, google::protobuf::Value>;

std::vector<Fields> ParseLines(const std::string& text) {
  std::vector<Fields> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    google::protobuf::Struct object;
    EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(line, &object).ok()) << line;
    objects.push_back(object.fields());
  }
  return objects;
}

double Number(const Fields& fields, const char* name) {
  const auto at = fields.find(name);
  EXPECT_NE(at, fields.end()) << name;
  return at == fields.end() ? 0 : at->second.number_value();
}

std::string Text(const Fields& fields, const char* name) {
  const auto at = fields.find(name);
  EXPECT_NE(at, fields.end()) << name;
  return at == fields.end() ? "" : at->second.string_value();
}

void ExpectOrder(const Fields& fields, const std::string& prefix) {
  const double min = Number(fields, (prefix + "min").c_str());
  const double median = Number(fields, (prefix + "median").c_str());
  const double max = Number(fields, (prefix + "max").c_str());
  EXPECT_GT(min, 0);
  EXPECT_LE(min, median);
  EXPECT_LE(median, max);
}

class Bench : public testing::TestWithParam<const char*> {};

TEST_P(Bench, MeasuresEverything) {
  JobProcess job({"bench", "all", "-n", "2,5", "--engine", GetParam(), "--iterations", "3",
                  "--repetitions", "2", "--warmup", "1", "--json"});
  ASSERT_TRUE(job.Finish(std::chrono::seconds(120)));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.left_behind(), 0);
  const std::vector<Fields> objects = ParseLines(job.out());
  ASSERT_EQ(objects.size(), 2 * Benchmarks().size()) << job.err();
  for (size_t i = 0; i < objects.size(); ++i) {
    const Benchmark& benchmark = Benchmarks()[i / 2];
    const double nodes = i % 2 == 0 ? 2 : 5;
    SCOPED_TRACE(benchmark.name);
    EXPECT_EQ(Text(objects[i], "benchmark"), benchmark.name);
    EXPECT_EQ(Text(objects[i], "engine"), GetParam());
    EXPECT_EQ(Text(objects[i], "unit"), UnitName(benchmark.unit));
    EXPECT_EQ(Number(objects[i], "nodes"), nodes);
    EXPECT_EQ(Number(objects[i], "nodes_per_process"),
              GetParam() == std::string("daemons") ? 1 : nodes);
    EXPECT_EQ(Number(objects[i], "bytes"), static_cast<double>(benchmark.bytes));
    ExpectOrder(objects[i], "");
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Bench, testing::Values("daemons", "embedded"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST(BenchProgram, PrintsATable) {
  JobProcess job({"bench", "barrier", "-n", "3", "--iterations", "2", "--repetitions", "1"});
  ASSERT_TRUE(job.Finish(std::chrono::seconds(60)));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.out().substr(0, 10), "# barrier:");
  EXPECT_NE(job.out().find("\n      3         0 "), std::string::npos) << job.out();
}

TEST(BenchProgram, TeachesAndRefuses) {
  JobProcess help({"bench", "--help"});
  ASSERT_TRUE(help.Finish());
  EXPECT_EQ(help.status(), 0);
  for (const Benchmark& benchmark : Benchmarks()) {
    EXPECT_NE(help.out().find(benchmark.what), std::string::npos) << benchmark.name;
  }
  JobProcess wrong({"bench", "barrier", "-n", "none"});
  ASSERT_TRUE(wrong.Finish());
  EXPECT_EQ(wrong.status(), 2);
  EXPECT_EQ(wrong.out(), "");
}

TEST(BenchProgram, EndsItsJobWhenItIsToldToEnd) {
  JobProcess job({"bench", "barrier", "-n", "4", "--time", "100"});
  job.WaitForLines(3);  // the head of the table
  kill(job.pid(), SIGTERM);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 128 + SIGTERM);
  EXPECT_EQ(job.left_behind(), 0);
}

TEST(BenchAgainst, ComparesWithAPeerThatIsThere) {
  const PeerKind* kind = FindPeerKind("openmpi");
  if (FindInPath(kind->compilers).empty() || FindInPath(kind->launchers).empty()) {
    GTEST_SKIP() << kind->title << " is not installed";
  }
  JobProcess job({"bench", "barrier", "-n", "2", "--iterations", "10", "--repetitions", "3",
                  "--against", "openmpi", "--json"});
  ASSERT_TRUE(job.Finish(std::chrono::seconds(120)));
  ASSERT_EQ(job.status(), 0) << job.err();
  const std::vector<Fields> objects = ParseLines(job.out());
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(Text(objects[0], "peer"), "openmpi");
  ExpectOrder(objects[0], "");
  ExpectOrder(objects[0], "peer_");
  EXPECT_NEAR(Number(objects[0], "ratio"),
              Number(objects[0], "peer_median") / Number(objects[0], "median"),
              1e-3 * Number(objects[0], "ratio"));
}

// Latency and barrier on two nodes; everything else is measured alone.
TEST(BenchAgainst, ComparesWithTheFloorWhereThereIsOne) {
  const TemporaryFile picture("");
  JobProcess job({"bench", "latency", "barrier", "scan", "-n", "2,3", "--iterations", "10",
                  "--repetitions", "3", "--against", "floor", "--json", "--plot", picture.path()});
  ASSERT_TRUE(job.Finish(std::chrono::seconds(120)));
  ASSERT_EQ(job.status(), 0) << job.err();
  const std::vector<Fields> objects = ParseLines(job.out());
  ASSERT_EQ(objects.size(), 6u);
  for (const Fields& object : objects) {
    const bool has_floor = Text(object, "benchmark") != "scan" && Number(object, "nodes") == 2;
    EXPECT_EQ(object.contains("peer"), has_floor);
    if (!has_floor) continue;
    EXPECT_EQ(Text(object, "peer"), "floor");
    ExpectOrder(object, "peer_");
  }
  std::ifstream file(picture.path());
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find(">floor<"), std::string::npos);
}

TEST(BenchAgainst, SaysWhatToInstall) {
  JobProcess::Options options;
  options.environment = {"PATH=/nonexistent"};
  JobProcess job({"bench", "barrier", "-n", "2", "--against", "openmpi"}, options);
  ASSERT_TRUE(job.Finish());
  EXPECT_EQ(job.status(), 1);
  EXPECT_NE(job.err().find("apt-get install openmpi-bin libopenmpi-dev"), std::string::npos)
      << job.err();
}

}  // namespace
}  // namespace vcm5::bench
