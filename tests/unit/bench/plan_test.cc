#include "bench/plan.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "bench/peers/permutations.h"

namespace vcm5::bench {
namespace {

const char* Parse(std::vector<std::string> words, bench_plan* plan) {
  words.insert(words.begin(), "program");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  return bench_plan_parse(static_cast<int>(arguments.size()), arguments.data(), plan);
}

TEST(Plan, SurvivesTheWayThroughACommandLine) {
  Options options;
  options.seed = ~uint64_t{0};
  options.warmup = 4;
  options.iterations = uint64_t{1} << 40;
  options.seconds = 0.25;
  const bench_plan plan = MakePlan(options, {FindBenchmark("scan-barrier"), 8, 123456789012}, 17);
  bench_plan parsed;
  ASSERT_EQ(Parse(PlanArguments(plan), &parsed), nullptr);
  EXPECT_STREQ(parsed.name, "scan-barrier");
  EXPECT_EQ(parsed.bytes, 123456789012u);
  EXPECT_EQ(parsed.seed, ~uint64_t{0});
  EXPECT_EQ(parsed.repetitions, 17u);
  EXPECT_EQ(parsed.warmup, 4u);
  EXPECT_EQ(parsed.iterations, uint64_t{1} << 40);
  EXPECT_EQ(parsed.seconds, 0.25);
}

TEST(Plan, RefusesWhatIsNone) {
  bench_plan plan;
  EXPECT_NE(Parse({}, &plan), nullptr);
  EXPECT_NE(Parse({"barrier", "0", "1", "3", "1", "0"}, &plan), nullptr);
  EXPECT_NE(Parse({"barrier", "-1", "1", "3", "1", "0", "0.1"}, &plan), nullptr);
  EXPECT_NE(Parse({"barrier", "0", "1", "x", "1", "0", "0.1"}, &plan), nullptr);
  EXPECT_NE(Parse({"barrier", "0", "1", "3", "1", "0", "soon"}, &plan), nullptr);
  EXPECT_NE(Parse({"a-name-that-is-too-long", "0", "1", "3", "1", "0", "1"}, &plan), nullptr);
}

TEST(Permutations, ReachEveryNodeOnceAndFollowFromTheSeed) {
  for (const uint32_t nodes : {1u, 2u, 7u, 64u}) {
    std::vector<uint32_t> table(3 * nodes);
    std::vector<uint32_t> again(3 * nodes);
    bench_fill_permutations(5, 3, nodes, table.data());
    bench_fill_permutations(5, 3, nodes, again.data());
    EXPECT_EQ(table, again);
    for (uint32_t w = 0; w < 3; ++w) {
      const std::set<uint32_t> reached(&table[w * nodes], &table[w * nodes] + nodes);
      EXPECT_EQ(reached.size(), nodes);
      EXPECT_EQ(*reached.rbegin(), nodes - 1);
    }
  }
  std::vector<uint32_t> one(64);
  std::vector<uint32_t> other(64);
  bench_fill_permutations(1, 1, 64, one.data());
  bench_fill_permutations(2, 1, 64, other.data());
  EXPECT_NE(one, other);
}

TEST(ValueOf, CountsWhatTheUnitCounts) {
  EXPECT_DOUBLE_EQ(ValueOf({FindBenchmark("barrier"), 8, 0}, 2, 1000), 2000);
  EXPECT_DOUBLE_EQ(ValueOf({FindBenchmark("latency"), 2, 4}, 2, 1000), 1000);
  EXPECT_DOUBLE_EQ(ValueOf({FindBenchmark("rate"), 8, 20}, 2, 1000), 32000);
  EXPECT_DOUBLE_EQ(ValueOf({FindBenchmark("permutation"), 8, 20}, 2, 1000), 256000);
  EXPECT_DOUBLE_EQ(ValueOf({FindBenchmark("bulk"), 2, 4096}, 2, 1000), 2048000);
}

}  // namespace
}  // namespace vcm5::bench
