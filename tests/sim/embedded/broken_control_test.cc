// Machines of whose control network parts are broken, and their partitions: what the nodes that remain
// combine is right, whatever the trees that the switches are set to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "netif/port/ni_port.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/health.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/broken_parts.h"
#include "tests/support/control_oracle.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

uint32_t Combine(vcm5_port& port, vcm5_combiner combiner, vcm5_pattern pattern, uint32_t value) {
  vcm5_port_combine_first(&port, combiner, pattern, 1, value);
  while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_COMBINE)) {
  }
  return vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE);
}

// A reduction and a scan each way, checked by those who take part; counts those who find all right.
Embedded::NodeMain Operations(uint32_t* right) {
  return [right](vcm5_port& port) {
    const uint32_t self = port.self;
    const uint32_t size = port.partition_size;
    const auto value = [](uint32_t node) { return node * node + 1; };
    uint32_t sum = 0;
    uint32_t before = 0;
    for (uint32_t node = 0; node < size; ++node) {
      sum += value(node);
      if (node < self) before += value(node);
    }
    const bool sums = Combine(port, VCM5_ADD, VCM5_REDUCE, value(self)) == sum &&
                      Combine(port, VCM5_ADD, VCM5_SCAN_FORWARD, value(self)) == before &&
                      Combine(port, VCM5_ADD, VCM5_SCAN_BACKWARD, value(self)) ==
                          sum - before - value(self);
    // Not one to which order does not matter: the last node's is the greatest.
    const uint32_t last = Combine(port, VCM5_MAX, VCM5_SCAN_BACKWARD, self);
    if (sums && last == (self + 1 == size ? 0x80000000u : size - 1)) ++*right;
  };
}

TEST(BrokenControl, CombinesInEveryPartition) {
  uint32_t machines = 0;
  uint32_t smaller = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options = RandomOptions(seed, prng);
    MachineSpec& spec = options.spec;
    const std::vector<BrokenPart> parts = ControlOracle(spec).parts();
    for (uint32_t count = 1 + prng.Below(6); count > 0; --count) {
      spec.broken.push_back(parts[prng.Below(static_cast<uint32_t>(parts.size()))]);
    }
    if (prng.Chance(1, 2)) {
      spec.broken.push_back(RandomPart(FatTree(spec.leaves(), spec.parents_per_level), prng));
    }
    const std::vector<uint32_t> nodes = UsableNodes(spec);
    if (nodes.empty()) return;  // no description says so
    ++machines;
    smaller += nodes.size() < spec.nodes ? 1 : 0;
    std::vector<uint32_t> sizes;
    for (auto left = static_cast<uint32_t>(nodes.size()); left > 0 && sizes.size() < 4;) {
      sizes.push_back(1 + prng.Below(left));
      left -= sizes.back();
      if (PlacePartitions(sizes, nodes).has_value()) continue;
      sizes.pop_back();
      break;
    }
    options.partitions = PlacePartitions(sizes, nodes).value();
    Embedded machine(options);
    std::vector<uint32_t> right(sizes.size());
    std::vector<Embedded::NodeMain> mains;
    for (uint32_t& of : right) mains.push_back(Operations(&of));
    for (const absl::Status& status : machine.RunPartitions(mains)) ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(right, sizes);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(machines, 50u);
  EXPECT_GT(smaller, 25u);
}

// A sample of the parts that the exhaustive test (property/topology) breaks one by one.
TEST(BrokenControl, CombinesWhateverSinglePartIsBroken) {
  ForEachSeed(36, [](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options;
    options.should_stop = StopAHang();
    options.stack_bytes = 1 << 16;
    options.spec.nodes = 64u << (2 * (seed % 3));
    options.spec.data_fifo_depth = 2;
    const std::vector<BrokenPart> parts = ControlOracle(options.spec).parts();
    options.spec.broken = {parts[prng.Below(static_cast<uint32_t>(parts.size()))]};
    Embedded machine(options);
    ASSERT_GE(machine.nodes(), options.spec.nodes - 2);
    uint32_t right = 0;
    const absl::Status ran = machine.Run(Operations(&right));
    ASSERT_TRUE(ran.ok()) << ran;
    ASSERT_EQ(right, machine.nodes());
  });
}

}  // namespace
}  // namespace vcm5
