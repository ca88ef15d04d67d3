// Random traffic under random schedules on machines of which parts are broken: the nodes that remain
// are numbered from 0, every message between them arrives exactly once, and the control network joins
// them all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "netif/port/ni_port.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/health.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/broken_parts.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

uint32_t Sum(vcm5_port& port, uint32_t value) {
  vcm5_port_combine_first(&port, VCM5_ADD, VCM5_REDUCE, 1, value);
  while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_COMBINE)) {
  }
  return vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE);
}

TEST(BrokenMachine, CarriesEverythingBetweenTheNodesThatRemain) {
  uint32_t machines = 0;
  uint32_t smaller = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options = RandomOptions(seed, prng);
    options.threads = 1;
    const FatTree tree(options.spec.leaves(), options.spec.parents_per_level);
    for (uint32_t count = 1 + prng.Below(3); count > 0; --count) {
      options.spec.broken.push_back(RandomPart(tree, prng));
    }
    const auto usable = static_cast<uint32_t>(UsableNodes(options.spec).size());
    if (usable == 0) return;  // no description says so
    ++machines;
    smaller += usable < options.spec.nodes ? 1 : 0;
    Embedded machine(options);
    ASSERT_EQ(machine.nodes(), usable);
    MachineSpec seen = options.spec;  // as programs see it
    seen.nodes = usable;
    ASSERT_EQ(RunPlan(TrafficPlan(prng.Next(), seen, 1 + prng.Below(20)), machine), "");
    uint32_t right = 0;
    const absl::Status ran = machine.Run([&](vcm5_port& port) {
      if (port.partition_size == usable && port.self < usable &&
          Sum(port, port.self + 1) == usable * (usable + 1) / 2) {
        ++right;
      }
    });
    ASSERT_TRUE(ran.ok()) << ran;
    ASSERT_EQ(right, usable);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(machines, 50u);
  EXPECT_GT(smaller, 25u);
}

TEST(BrokenMachine, RunsOnSeveralThreads) {
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec.nodes = 64;
  options.spec.broken = {
      {.kind = BrokenPart::Kind::kChip, .halves = kLeftHalf, .level = 2, .number = 3},
      {.kind = BrokenPart::Kind::kChip, .halves = kRightHalf, .level = 1, .number = 0}};
  options.threads = 3;
  Embedded machine(options);
  MachineSpec seen = options.spec;
  seen.nodes = 60;
  ASSERT_EQ(machine.nodes(), 60u);
  EXPECT_EQ(RunPlan(TrafficPlan(1, seen, 50), machine), "");
}

}  // namespace
}  // namespace vcm5
