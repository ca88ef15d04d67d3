#include "bench/statistics.h"

#include <gtest/gtest.h>

namespace vcm5::bench {
namespace {

TEST(Summarize, TakesTheMiddleOfAnOddNumber) {
  const Summary summary = Summarize({5, 1, 100});
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.median, 5);
  EXPECT_EQ(summary.max, 100);
}

TEST(Summarize, TakesHalfwayBetweenTheMiddleTwoOfAnEvenNumber) {
  EXPECT_EQ(Summarize({4, 1, 2, 100}).median, 3);
}

TEST(Summarize, OfOneValueIsThatValue) {
  const Summary summary = Summarize({7});
  EXPECT_EQ(summary.min, 7);
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.max, 7);
}

TEST(Compare, IsHowManyTimesShorterOurTimeIs) {
  const Ratio ratio = Compare({{2, 2, 2}}, {{8, 10, 9}}, /*less_is_better=*/true);
  EXPECT_EQ(ratio.ratio, 4.5);
  EXPECT_EQ(ratio.min, 4.5);
  EXPECT_EQ(ratio.max, 4.5);
}

TEST(Compare, IsHowManyTimesHigherOurRateIs) {
  EXPECT_EQ(Compare({{8}}, {{2}}, /*less_is_better=*/false).ratio, 4);
  EXPECT_EQ(Compare({{2}}, {{8}}, /*less_is_better=*/false).ratio, 0.25);
}

TEST(Compare, SpreadsOverTheRoundsAndTakesMediansOfAll) {
  // Rounds: 10 / 1, 20 / 2, 90 / 3; all together: 20 / 2.
  const Ratio ratio = Compare({{1}, {2}, {3}}, {{10}, {20}, {90}}, /*less_is_better=*/true);
  EXPECT_EQ(ratio.ratio, 10);
  EXPECT_EQ(ratio.min, 10);
  EXPECT_EQ(ratio.max, 30);
}

}  // namespace
}  // namespace vcm5::bench
