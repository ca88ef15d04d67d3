// Random traffic under random schedules, on machines of 1 to 70 nodes: every message arrives
// exactly once, as it was sent.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/embedded/traffic.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

uint64_t Stat(const Embedded& machine, const std::string& name) {
  uint64_t sum = 0;
  for (const FabricStat& stat : machine.Stats()) {
    if (!stat.is_link && stat.name.find(": " + name) != std::string::npos) sum += stat.value;
  }
  return sum;
}

TEST(RandomTraffic, ArrivesExactlyOnceUnderAnySchedule) {
  ForEachSeed(1000, [](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options = RandomOptions(seed, prng);
    const TrafficPlan plan(prng.Next(), options.spec, 1 + prng.Below(30));
    const uint32_t send_refuse = prng.Chance(1, 2) ? 2 + prng.Below(5) : 0;
    Embedded machine(options);
    ASSERT_EQ(RunPlan(plan, machine, send_refuse), "");
    ASSERT_EQ(Stat(machine, "messages injected"), plan.total());
    ASSERT_EQ(Stat(machine, "messages delivered"), plan.total());
  });
}

TEST(RandomTraffic, AMachineRunsOneProgramAfterAnother) {
  ForEachSeed(30, [](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options;
    options.should_stop = StopAHang();
    options.spec = RandomMachine(prng);
    options.random_schedule = true;
    Embedded machine(options);
    for (int run = 0; run < 5; ++run) {
      ASSERT_EQ(RunPlan(TrafficPlan(prng.Next(), options.spec, 10), machine), "");
    }
  });
}

TEST(RandomTraffic, EveryMachineSizeFrom1To70WithAFixedSchedule) {
  for (uint32_t nodes = 1; nodes <= 70; ++nodes) {
    EmbeddedOptions options;
    options.should_stop = StopAHang();
    options.spec.nodes = nodes;
    Embedded machine(options);
    ASSERT_EQ(RunPlan(TrafficPlan(nodes, options.spec, 20), machine), "") << nodes << " nodes";
  }
}

}  // namespace
}  // namespace vcm5
