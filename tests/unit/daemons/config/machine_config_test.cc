#include "daemons/config/machine_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "daemons/config/bell_plan.h"
#include "daemons/config/control_spec.h"
#include "daemons/config/machine_rules.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string FaultIn(const std::string& text) {
  const absl::StatusOr<MachineSpec> spec = ParseMachine("m", text);
  return spec.ok() ? "no fault" : std::string(spec.status().message());
}

TEST(ParseMachine, TakesEveryField) {
  const auto spec = ParseMachine("m", R"(
    nodes: 100 control_processors: 2 io_channels: 3 seed: 18446744073709551615
    network_interface { words_max: 18 data_fifo_depth: 64 }
    data_network { parents_per_level: [1, 2, 3] link_depth: 4 }
    control_network { combine_depth: 16 broadcast_depth: 32 })");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->nodes, 100u);
  EXPECT_EQ(spec->control_processors, 2u);
  EXPECT_EQ(spec->io_channels, 3u);
  EXPECT_EQ(spec->seed, 18446744073709551615u);
  EXPECT_EQ(spec->words_max, 18u);
  EXPECT_EQ(spec->data_fifo_depth, 64u);
  EXPECT_THAT(spec->parents_per_level, ElementsAre(1, 2, 3));
  EXPECT_EQ(spec->link_depth, 4u);
  EXPECT_EQ(spec->combine_depth, 16u);
  EXPECT_EQ(spec->broadcast_depth, 32u);
}

TEST(ParseMachine, LeavesOutMeansDefault) {
  const auto spec = ParseMachine("m", "");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->nodes, MachineSpec().nodes);
  EXPECT_EQ(spec->parents_per_level, MachineSpec().parents_per_level);
}

TEST(ParseMachine, NamesTheLineOfEachFault) {
  EXPECT_EQ(FaultIn("nodes: 0"), "m:1: nodes is 0; expected 1 to 16384");
  EXPECT_EQ(FaultIn("\n\nnodes: 16385"), "m:3: nodes is 16385; expected 1 to 16384");
  EXPECT_EQ(FaultIn("nodes: 8\nnetwork_interface {\n data_fifo_depth: 100\n}"),
            "m:3: network_interface.data_fifo_depth is 100; "
            "expected a power of two from 2 to 65536");
  EXPECT_EQ(FaultIn("data_network { parents_per_level: 2\nparents_per_level: 5 }"),
            "m:2: data_network.parents_per_level is 5; expected 1 to 4");
  EXPECT_EQ(FaultIn("nodes: 0\ncontrol_processors: 2000"),
            "m:1: nodes is 0; expected 1 to 16384\n"
            "m:2: control_processors is 2000; expected 0 to 1024");
}

TEST(ParseMachine, NamesTheLineOfWhatItCannotRead) {
  EXPECT_THAT(FaultIn("nodes: 8\nchips: 3"), HasSubstr("m:2:"));
  EXPECT_THAT(FaultIn("nodes: 8\nchips: 3"), HasSubstr("chips"));
  EXPECT_THAT(FaultIn("nodes: many"), HasSubstr("m:1:8:"));
  EXPECT_THAT(FaultIn("nodes: -1"), HasSubstr("m:1:"));
  EXPECT_THAT(FaultIn("nodes: 99999999999"), HasSubstr("m:1:"));
  EXPECT_THAT(FaultIn("data_network {"), HasSubstr("m:1:"));
  EXPECT_THAT(FaultIn("nodes: 1 nodes: 2"), HasSubstr("m:1:"));
  EXPECT_THAT(FaultIn(std::string("\0\xff\x01", 3)), HasSubstr("m:1:"));
}

TEST(PrintDefaultMachine, IsTheDefault) {
  for (const uint32_t nodes : {1u, 64u, 16384u}) {
    const auto spec = ParseMachine("m", PrintDefaultMachine(nodes));
    ASSERT_TRUE(spec.ok()) << spec.status();
    MachineSpec expected;
    expected.nodes = nodes;
    config::Spec got_message;
    config::Spec expected_message;
    PackSpec(*spec, &got_message);
    PackSpec(expected, &expected_message);
    EXPECT_EQ(got_message.SerializeAsString(), expected_message.SerializeAsString());
  }
}

TEST(DescribeMachine, CountsChipsAndLinks) {
  MachineSpec spec;
  spec.nodes = 15;  // and a control processor: 16 leaves, 4 chips, 2 chips of one node above
  EXPECT_THAT(DescribeMachine(spec), HasSubstr("level 1: 4 chips, 2 parent links each, 8 links up"));
  EXPECT_THAT(DescribeMachine(spec), HasSubstr("level 2: 2 chips, the top"));
}

TEST(UnpackSpec, RefusesWhatNoMachineHas) {
  config::Spec message;
  PackSpec(MachineSpec(), &message);
  EXPECT_TRUE(UnpackSpec(message).ok());
  message.set_nodes(0);
  EXPECT_FALSE(UnpackSpec(message).ok());
}

TEST(BellPlan, GivesEveryMemberOnePairOfBellsOfItsPartitionInOnePart) {
  for (const uint32_t leaves : {33u, 65u, 1000u}) {
    const FatTree tree(leaves, {2, 2, 4});
    // One of every second leaf, one of some, one of a single leaf.
    std::vector<Partition> partitions(3);
    for (uint32_t leaf = 0; leaf < 15; leaf += 2) partitions[0].push_back(leaf);
    for (uint32_t leaf = 16; leaf < std::min(leaves, 90u); leaf += 3) partitions[1].push_back(leaf);
    partitions[2] = {leaves - 1};
    const uint32_t parts_max = std::min(tree.nodes_at(1), 9u);
    for (uint32_t parts = 1; parts <= parts_max; ++parts) {
      std::vector<BellPlan> plans;
      for (uint32_t part = 0; part < parts; ++part) {
        plans.push_back(BellPlan::ForDataDaemon(tree, parts, part, partitions));
        EXPECT_EQ(plans.back().launcher() % 8, 0u);
        EXPECT_LT(plans.back().peer(parts - 1), plans.back().launcher());
        EXPECT_LT(plans.back().launcher(), plans.back().own_bells());
      }
      for (size_t i = 0; i < partitions.size(); ++i) {
        std::vector<uint32_t> members(parts);
        for (const uint32_t leaf : partitions[i]) {
          const uint32_t part = tree.PartOfLeaf(leaf, parts);
          const BellPlan& plan = plans[part];
          ++members[part];
          EXPECT_EQ(plan.first_bell(i, 1) % 8, 0u);
          EXPECT_LT(plan.bell(i, 0, leaf), plan.first_bell(i, 1));
          EXPECT_LT(plan.bell(i, 1, leaf), plan.bells(i));
          EXPECT_LT(leaf - plan.first_leaf(i), plan.leaves(i));
        }
        for (uint32_t part = 0; part < parts; ++part) {
          EXPECT_EQ(plans[part].bells(i) == 0, members[part] == 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace vcm5
