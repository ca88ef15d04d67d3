// On one thread everything follows from the program, the machine and the seed.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// Everything that can be seen of a run: who had a turn when, each send, refusal and arrival, and
// all counters at the end.
std::string WholeRun(uint64_t seed, bool random_schedule, uint64_t schedule_seed) {
  Prng prng(seed);
  EventTrace trace;
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec = RandomMachine(prng);
  options.seed = schedule_seed;
  options.random_schedule = random_schedule;
  options.on_switch = [&](uint32_t self, bool entering) {
    absl::StrAppend(&trace, entering ? "+" : "-", self, "\n");
  };
  const TrafficPlan plan(prng.Next(), options.spec, 15);
  Embedded machine(options);
  EXPECT_EQ(RunPlan(plan, machine, 0, &trace), "");
  for (const FabricStat& stat : machine.Stats()) {
    absl::StrAppend(&trace, stat.name, " ", stat.value, "\n");
  }
  return trace;
}

TEST(Determinism, TwoRunsWithOneSeedAreAlikeToTheByte) {
  ForEachSeed(100, [](uint64_t seed) {
    const bool random_schedule = seed % 2 == 0;
    const std::string first = WholeRun(seed, random_schedule, seed);
    const std::string second = WholeRun(seed, random_schedule, seed);
    ASSERT_TRUE(first == second) << "of " << first.size() << " bytes";
  });
}

TEST(Determinism, TheSeedDecidesARandomSchedule) {
  EXPECT_NE(WholeRun(3, true, 1), WholeRun(3, true, 2));
}

TEST(Determinism, TwoMachinesDoNotDisturbEachOther) {
  const std::string alone = WholeRun(5, true, 5);
  Prng prng(77);
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec = RandomMachine(prng);
  Embedded other(options);
  ASSERT_EQ(RunPlan(TrafficPlan(1, options.spec, 10), other), "");
  EXPECT_TRUE(WholeRun(5, true, 5) == alone);
  ASSERT_EQ(RunPlan(TrafficPlan(2, options.spec, 10), other), "");
}

}  // namespace
}  // namespace vcm5
