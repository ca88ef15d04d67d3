// The campaign on a few hundred runs; and that it can fail: a machine, or a report, with something
// wrong in it is seen to be so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "tests/campaign/judge.h"
#include "tests/campaign/run.h"
#include "tests/campaign/scenario.h"
#include "tests/campaign/table.h"
#include "tests/campaign/workers.h"
#include "tests/support/seeds.h"

namespace vcm5::campaign {
namespace {

using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr uint64_t kSeed = 1;

bool GoOn(const Outcome&) { return true; }

TEST(Campaign, FindsAndNamesEveryFaultAndNothingElse) {
  CampaignOptions options;
  options.seed = kSeed;
  options.runs = kSanitized ? 100 : 300;
  const Outcome outcome = RunCampaign(options, CarryOut, GoOn);
  for (const Failure& failure : outcome.failures) {
    ADD_FAILURE() << "run " << failure.run << " (" << KindName(failure.kind) << "): " << failure.why;
  }
  EXPECT_EQ(outcome.done, options.runs);
  std::fputs(outcome.table.Text().c_str(), stderr);
  const Row total = outcome.table.Total();
  EXPECT_EQ(total.runs, options.runs);
  EXPECT_EQ(total.detected, total.struck);
  EXPECT_EQ(total.localised, total.struck);
  EXPECT_EQ(total.bad + total.lost + total.doubled + total.alarms + total.hangs, 0u);
  // Or the seeds strike too seldom to mean anything.
  EXPECT_GT(total.struck, options.runs / 3);
  EXPECT_GT(total.cuts, options.runs / 6);
  EXPECT_GT(total.messages, 20 * options.runs);
}

// DN7: chips enter in any order while nodes go on; what falls is sent again to where it belongs.
TEST(Campaign, AllFallDownLosesNothingAndDoublesNothing) {
  Row sum;
  for (uint64_t run = 1; sum.runs < (kSanitized ? 30 : 100); ++run) {
    const Scenario scenario = DrawScenario(3, run);
    if (scenario.kind != Kind::kFall) continue;
    const Result result = RunOne(scenario);
    ASSERT_EQ(result.why, "") << "run " << run;
    sum.Add(result.row);
  }
  EXPECT_GT(sum.cuts, 2 * sum.runs) << "too few to mean anything";
  EXPECT_GT(sum.captured, 10 * sum.runs);
}

TEST(Campaign, IsTheSameWithAnyNumberOfProcesses) {
  CampaignOptions options;
  options.seed = 2;
  options.runs = 30;
  const Outcome alone = RunCampaign(options, CarryOut, GoOn);
  options.jobs = 3;
  const Outcome together = RunCampaign(options, CarryOut, GoOn);
  EXPECT_EQ(alone.table, together.table);
  EXPECT_EQ(alone.table.Json(2), together.table.Json(2));
}

// The first scenario of a kind for which `fits` holds.
Scenario Find(Kind kind, const std::function<bool(const Scenario&, const Observed&)>& fits) {
  for (uint64_t run = 1; run <= 2000; ++run) {
    const Scenario scenario = DrawScenario(kSeed, run);
    if (scenario.kind == kind && fits(scenario, Carry(scenario))) return scenario;
  }
  ADD_FAILURE() << "no run of the kind " << KindName(kind);
  return {};
}
Scenario FindStruck(Kind kind) {
  return Find(kind, [](const Scenario&, const Observed& observed) { return observed.struck.all() != 0; });
}

TEST(CampaignMutation, AMessageDamagedBehindTheLastCheckIsSeen) {
  const Scenario scenario = Find(Kind::kNothing, [](const Scenario& drawn, const Observed&) {
    return drawn.programs[0] == ProgramKind::kTraffic;
  });
  EXPECT_EQ(Judge(scenario, Carry(scenario)).why, "");
  const Verdict verdict = Judge(scenario, Carry(scenario, /*corrupt=*/true));
  EXPECT_GE(verdict.bad, 1u);
  EXPECT_THAT(verdict.why, StartsWith("delivered: "));
}

TEST(CampaignMutation, ANetworkThatReportsNothingIsSeen) {
  for (const Kind kind : {Kind::kFlip, Kind::kLose, Kind::kDuplicate, Kind::kControlFlip,
                          Kind::kCollision, Kind::kMismatch}) {
    const Scenario scenario = FindStruck(kind);
    Observed observed = Carry(scenario);
    EXPECT_EQ(Judge(scenario, observed).why, "") << KindName(kind);
    observed.reports.clear();
    const Verdict verdict = Judge(scenario, observed);
    EXPECT_FALSE(verdict.detected) << KindName(kind);
    EXPECT_EQ(verdict.why, "not detected") << KindName(kind);
    EXPECT_EQ(verdict.lost, observed.struck.lost);
    EXPECT_EQ(verdict.doubled, observed.struck.duplicated);
  }
}

TEST(CampaignMutation, AReportThatNamesAnotherPlaceIsSeen) {
  for (const Kind kind : {Kind::kFlip, Kind::kLose, Kind::kDuplicate}) {
    const Scenario scenario = FindStruck(kind);
    const Observed observed = Carry(scenario);
    Scenario elsewhere = scenario;
    for (LinkFault& fault : elsewhere.options.spec.link_faults) fault.half = 1 - fault.half;
    const Verdict verdict = Judge(elsewhere, observed);
    EXPECT_TRUE(verdict.detected);
    EXPECT_FALSE(verdict.localised);
    EXPECT_THAT(verdict.why, StartsWith("wrong place: "));
  }
  const Scenario control = FindStruck(Kind::kControlFlip);
  Scenario elsewhere = control;
  for (ControlLinkFault& fault : elsewhere.options.spec.control_link_faults) fault.down = !fault.down;
  EXPECT_THAT(Judge(elsewhere, Carry(control)).why, StartsWith("wrong place: "));
  const Scenario mismatch = FindStruck(Kind::kMismatch);
  Observed observed = Carry(mismatch);
  observed.culprits[0] += 1000;  // of its neighbour may be the other operation
  EXPECT_THAT(Judge(mismatch, observed).why, StartsWith("wrong place: "));
}

TEST(CampaignMutation, AFalseAlarmIsSeen) {
  const Scenario scenario = Find(Kind::kNothing, [](const auto&, const auto&) { return true; });
  Observed observed = Carry(scenario);
  observed.reports.push_back(
      "left data network: 1 message lost on the link from leaf 0 to level 1 chip 0 port 0");
  const Verdict verdict = Judge(scenario, observed);
  EXPECT_EQ(verdict.alarms, 1u);
  EXPECT_THAT(verdict.why, StartsWith("false alarm: left data network: 1 message lost"));
}

TEST(CampaignMutation, ANodeThatIsNotToldIsSeen) {
  const Scenario scenario = FindStruck(Kind::kMismatch);
  Observed observed = Carry(scenario);
  EXPECT_TRUE(observed.told);
  observed.told = false;
  EXPECT_EQ(Judge(scenario, observed).why, "a node was not told of an error in the control network");
}

TEST(CampaignMutation, AProgramThatNeverEndsIsAHang) {
  Scenario scenario = Find(Kind::kNothing, [](const auto&, const auto&) { return true; });
  scenario.programs[0] = ProgramKind::kEndless;
  const Verdict verdict = Judge(scenario, Carry(scenario));
  EXPECT_TRUE(verdict.hang);
  EXPECT_EQ(verdict.why, "hangs");
}

TEST(CampaignWorkers, ARunThatEndsItsProcessIsOneFailure) {
  CampaignOptions options;
  options.runs = 10;
  options.jobs = 2;
  const Outcome outcome = RunCampaign(
      options,
      [](uint64_t, uint64_t run) {
        if (run == 4) std::_Exit(3);
        Result result;
        result.row.runs = 1;
        return result;
      },
      GoOn);
  EXPECT_EQ(outcome.done, 10u);
  EXPECT_EQ(outcome.table.Total().runs, 10u);
  ASSERT_THAT(outcome.failures, SizeIs(1));
  EXPECT_EQ(outcome.failures[0].run, 4u);
  EXPECT_THAT(outcome.failures[0].why, StartsWith("the process ended with "));
}

TEST(CampaignWorkers, ARunThatHangsInsideOfATurnIsOneFailure) {
  CampaignOptions options;
  options.runs = 3;
  options.watchdog_s = 1;
  const Outcome outcome = RunCampaign(
      options,
      [](uint64_t, uint64_t run) {
        for (volatile bool hang = run == 2; hang;) {
        }
        Result result;
        result.row.runs = 1;
        return result;
      },
      GoOn);
  EXPECT_EQ(outcome.done, 3u);
  EXPECT_EQ(outcome.table.Total().hangs, 1u);
  ASSERT_THAT(outcome.failures, SizeIs(1));
  EXPECT_THAT(outcome.failures[0].why, StartsWith("hangs"));
}

TEST(CampaignWorkers, AnInterruptedCampaignSaysWhatItHas) {
  CampaignOptions options;
  options.runs = 100;
  const Outcome outcome = RunCampaign(options, CarryOut,
                                      [](const Outcome& so_far) { return so_far.done < 5; });
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.done, 5u);
  EXPECT_EQ(outcome.table.Total().runs, 5u);
}

}  // namespace
}  // namespace vcm5::campaign
