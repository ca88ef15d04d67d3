#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vcm5::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Report, IsOneJsonObjectALine) {
  Options options;
  options.engine = Engine::kEmbedded;
  const Result result{{FindBenchmark("barrier"), 64, 0}, {1.5, 2, 3}, {}};
  EXPECT_EQ(
      JsonLine(options, result),
      R"({"benchmark": "barrier", "engine": "embedded", "nodes": 64, "nodes_per_process": 64, )"
      R"("bytes": 0, "unit": "us", "min": 1.5, "median": 2, "max": 3})");
}

TEST(Report, AddsThePeerToTheObject) {
  const Result result{{FindBenchmark("bulk"), 2, 1024},
                      {1e9, 2e9, 3e9},
                      Against{"openmpi", {1e9, 1.5e9, 2e9}, {1.25, 1, 2}}};
  EXPECT_EQ(JsonLine(Options(), result),
            R"({"benchmark": "bulk", "engine": "daemons", "nodes": 2, "nodes_per_process": 1, )"
            R"("bytes": 1024, "unit": "B/s", "min": 1e+09, "median": 2e+09, "max": 3e+09, )"
            R"("peer": "openmpi", "peer_min": 1e+09, "peer_median": 1.5e+09, "peer_max": 2e+09, )"
            R"("ratio": 1.25, "ratio_min": 1, "ratio_max": 2})");
}

TEST(Report, HeadSaysWhatRepeatsTheMeasurement) {
  Options options;
  options.seed = 77;
  const std::vector<std::string> head = TableHead(options, *FindBenchmark("rate"), {});
  EXPECT_THAT(head[1], HasSubstr("vcm5 "));
  EXPECT_THAT(head[1], HasSubstr("daemons"));
  EXPECT_THAT(head[1], HasSubstr("seed 77"));
  EXPECT_THAT(head.back(), HasSubstr("median Mmsg/s"));
  EXPECT_THAT(head.back(), Not(HasSubstr("peer")));
}

TEST(Report, RowStandsBelowItsHead) {
  const Result result{{FindBenchmark("permutation"), 16, 20},
                      {1e6, 2.5e6, 3e6},
                      Against{"openmpi", {1e6, 1.25e6, 1.5e6}, {2, 1.5, 2.5}}};
  const std::string head = TableHead(Options(), *FindBenchmark("permutation"), {"x"}).back();
  const std::string row = TableRow(result);
  EXPECT_THAT(row, HasSubstr("2.500"));
  EXPECT_THAT(row, HasSubstr("2.00 (1.50..2.50)"));
  // The end of the column that is right-justified.
  EXPECT_EQ(row.find("2.500") + 5, head.find("median Mmsg/s") + 13);
}

}  // namespace
}  // namespace vcm5::bench
