// Loads of the fat tree's arms against counts by hand, in one or several parts (paper 3.7).
#include "daemons/driver/arm_loads.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/support/data_machine.h"

namespace vcm5 {
namespace {

using Loads = std::map<std::string, std::pair<uint64_t, uint32_t>>;  // messages and links

class ArmLoadsTest : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, ArmLoadsTest, ::testing::Values(1u, 3u));

TEST_P(ArmLoadsTest, AreWhatGoesOverThem) {
  MachineSpec spec;
  spec.nodes = 32;
  spec.parents_per_level = {2, 4, 4};
  DataMachine machine(spec, GetParam(), 1);
  const std::pair<uint32_t, uint32_t> messages[] = {{0, 1}, {1, 6}, {2, 6}, {2, 17}, {2, 30}};
  for (const auto& [from, to] : messages) {
    ASSERT_TRUE(vcm5_port_send(&machine.port(from), VCM5_RIGHT, to, 0, &to, 1));
  }
  for (int quiet = 0; quiet < 10;) quiet = machine.RunAll() != 0 ? 0 : quiet + 1;
  Loads loads;
  for (size_t i = 0; i < machine.agents(); ++i) {
    for (const FabricStat& stat : machine.agent(i).Stats()) {
      if (stat.arm_links == 0) continue;
      auto& [sum, links] = loads[stat.name];
      sum += stat.value;
      links = stat.arm_links;
    }
  }
  // Each chip of the first level has 2 parent links, and there is one below a node of the tree; the 2
  // of a node of the second level have 4 each.
  const Loads by_hand = {
      {"right: arm of leaf 0, up", {1, 1}},        {"right: arm of leaf 1, up", {1, 1}},
      {"right: arm of leaf 2, up", {3, 1}},        {"right: arm of leaf 1, down", {1, 1}},
      {"right: arm of leaf 6, down", {2, 1}},      {"right: arm of leaf 17, down", {1, 1}},
      {"right: arm of leaf 30, down", {1, 1}},     {"right: arm of leaves 0-3, up", {4, 2}},
      {"right: arm of leaves 4-7, down", {2, 2}},  {"right: arm of leaves 0-15, up", {2, 8}},
      {"right: arm of leaves 16-31, down", {2, 8}},
      {"right: arm of leaves 16-19, down", {1, 2}},
      {"right: arm of leaves 28-31, down", {1, 2}},
  };
  EXPECT_EQ(loads, by_hand);
}

}  // namespace
}  // namespace vcm5
