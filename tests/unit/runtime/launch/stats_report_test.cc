#include "runtime/launch/stats_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vcm5 {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatsReport, TheBusiestArmHasTheMostMessagesALink) {
  const std::vector<FabricStat> stats = {
      {"left: arm of leaves 0-3, up", 11, false, 2},
      {"left: arm of leaves 0-15, up", 14, false, 8},  // of one daemon, and of another:
      {"left: arm of leaves 0-15, up", 29, false, 8},
      {"left: arm of leaf 3, up", 5, false, 1},
  };
  const std::vector<std::string> lines = FormatStats(stats);
  EXPECT_THAT(lines, Contains("busiest arm of the data network: left: arm of leaves 0-3, up: 11 "
                              "messages over 2 links, 5.5 a link"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("leaf 3"))));
}

TEST(StatsReport, PartsOfAnArmAreAddedUp) {
  const std::vector<FabricStat> stats = {
      {"left: arm of leaves 0-15, up", 25, false, 8},
      {"left: arm of leaf 3, up", 5, false, 1},
      {"left: arm of leaves 0-15, up", 23, false, 8},
  };
  EXPECT_THAT(FormatStats(stats), Contains("busiest arm of the data network: left: arm of leaves "
                                           "0-15, up: 48 messages over 8 links, 6.0 a link"));
}

TEST(StatsReport, WithoutMessagesNoArmIsBusiest) {
  EXPECT_THAT(FormatStats({{"left: messages delivered", 0}}), Not(Contains(HasSubstr("arm"))));
}

}  // namespace
}  // namespace vcm5
