// Broken parts in a machine description, and what `vcm5 machine --explain` says of them.
#include "daemons/config/machine_health.h"

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <string>

#include "daemons/config/control_spec.h"
#include "daemons/config/machine_config.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kThree[] =
    "nodes: 64 control_processors: 0\n"
    "broken: \"data.left: chip 3/2\"\n"
    "broken: [\"data.right: chip 1/4\",\n"
    "         \"leaf 40\"]\n";

MachineSpec Parse(const std::string& text) {
  const absl::StatusOr<MachineSpec> spec = ParseMachine("m", text);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.ok() ? *spec : MachineSpec();
}

std::string FaultIn(const std::string& text) {
  const absl::StatusOr<MachineSpec> spec = ParseMachine("m", text);
  return spec.ok() ? "no fault" : std::string(spec.status().message());
}

TEST(BrokenParts, AreReadFromADescription) {
  const MachineSpec spec = Parse(kThree);
  ASSERT_THAT(spec.broken, SizeIs(3));
  EXPECT_EQ(spec.broken[0],
            (BrokenPart{.kind = BrokenPart::Kind::kChip, .halves = kLeftHalf, .level = 3, .number = 2}));
  EXPECT_EQ(spec.broken[2].leaf, 40u);
  EXPECT_THAT(DescribeMachine(spec), HasSubstr("3 broken parts; 59 of 64 nodes usable"));
}

TEST(BrokenParts, ThatAreNoneAreNamedByTheirLine) {
  EXPECT_EQ(FaultIn("nodes: 64\nbroken: \"data.left: chip 9/3\""),
            "m:2: broken is \"data.left: chip 9/3\"; expected a level from 1 to 4");
  EXPECT_EQ(FaultIn("nodes: 64\nbroken: \"leaf 3\"\n\nbroken: \"leaf 65\""),
            "m:4: broken is \"leaf 65\"; expected a leaf from 0 to 64");
  EXPECT_THAT(FaultIn("broken: \"leaf 3\"\nbroken: \"chip\\n\""),
              HasSubstr("m:2: broken is \"chip\\n\"; expected \"data.left: chip LEVEL/NUMBER\""));
  EXPECT_THAT(FaultIn("broken: 7"), HasSubstr("m:1:"));
  // Other faults are told, too.
  EXPECT_THAT(FaultIn("nodes: 0\nbroken: \"leaf\""), HasSubstr("m:1: nodes is 0"));
  EXPECT_THAT(FaultIn("nodes: 0\nbroken: \"leaf\""), HasSubstr("m:2: broken is \"leaf\""));
}

TEST(BrokenParts, OfTheControlNetworkAreItsOwn) {
  // The control network has more levels than the data network, and fewer parent links.
  EXPECT_EQ(FaultIn("nodes: 64\nbroken: \"control: chip 6/1\""), "no fault");
  EXPECT_EQ(FaultIn("nodes: 64\nbroken: \"data.left: chip 6/1\""),
            "m:2: broken is \"data.left: chip 6/1\"; expected a level from 1 to 4");
  EXPECT_EQ(FaultIn("nodes: 64\nbroken: \"control: chip 8/0\""),
            "m:2: broken is \"control: chip 8/0\"; expected a level from 1 to 7");
  EXPECT_EQ(FaultIn("nodes: 2\nbroken: \"control: chip 1/0\""),
            "m:2: broken leaves no node; expected at least one that can be used");
  const MachineSpec spec = Parse("nodes: 64 broken: \"control: link of chip 1/0 port 5\"");
  config::Spec message;
  PackSpec(spec, &message);
  const absl::StatusOr<MachineSpec> unpacked = UnpackSpec(message);
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  EXPECT_EQ(unpacked->broken, spec.broken);
  message.mutable_broken(0)->set_halves(5);
  EXPECT_FALSE(UnpackSpec(message).ok());
}

TEST(BrokenParts, MustLeaveANode) {
  EXPECT_EQ(FaultIn("nodes: 2 control_processors: 5\nbroken: \"leaf 0\"\nbroken: \"leaf 1\""),
            "m:3: broken leaves no node; expected at least one that can be used");
  EXPECT_EQ(FaultIn("nodes: 2\nbroken: \"leaf 0\""), "no fault");
}

TEST(BrokenParts, AreBounded) {
  std::string text = "nodes: 1000\n";
  for (int leaf = 0; leaf < 64; ++leaf) text += "broken: \"leaf " + std::to_string(leaf) + "\"\n";
  EXPECT_EQ(FaultIn(text), "no fault");
  EXPECT_EQ(FaultIn(text + "broken: \"leaf 64\""), "m:66: broken has 65 entries; expected at most 64");
}

TEST(BrokenParts, ReachDaemonsAsTheyAre) {
  const MachineSpec spec = Parse(kThree);
  config::Spec message;
  PackSpec(spec, &message);
  const absl::StatusOr<MachineSpec> unpacked = UnpackSpec(message);
  ASSERT_TRUE(unpacked.ok()) << unpacked.status();
  EXPECT_EQ(unpacked->broken, spec.broken);

  config::Spec bad = message;
  bad.mutable_broken(0)->set_kind(3);
  EXPECT_FALSE(UnpackSpec(bad).ok());
  bad = message;
  bad.mutable_broken(0)->set_halves(256 + kLeftHalf);
  EXPECT_FALSE(UnpackSpec(bad).ok());
  bad = message;
  bad.mutable_broken(1)->set_level(0xffffffff);
  EXPECT_FALSE(UnpackSpec(bad).ok());
}

TEST(ExplainMachine, SaysForEachPartWhatWasChosen) {
  EXPECT_EQ(ExplainMachine(Parse(kThree)),
            "3 broken parts; 59 of 64 nodes usable\n"
            "  data.left: chip 3/2: routed around, which loses 1.79% of the data network (8 of 448 "
            "directions of links)\n"
            "    instead of mapping out 43 more leaves, 67.19% of the leaves\n"
            "  data.right: chip 1/4: mapped out with leaves 16-19, 6.25% of the leaves\n"
            "    there is no way around it for them\n"
            "  leaf 40: mapped out with leaf 40, 1.56% of the leaves\n"
            "    there is no way around it for them\n"
            "together they lose 1.79% of the data network (8 of 448 directions of links)\n"
            "  and 7.81% of the leaves\n"
            "addresses of nodes:\n"
            "  relative 0-15 is physical 0-15\n"
            "  relative 16-35 is physical 20-39\n"
            "  relative 36-58 is physical 41-63\n");
}

TEST(ExplainMachine, SaysWhatTheOtherWayWouldHaveLost) {
  const std::string text =
      ExplainMachine(Parse("nodes: 1024 control_processors: 0 broken: \"data.left: link of chip 1/0 port 4\""));
  EXPECT_THAT(text, HasSubstr("mapped out with leaves 0-3, 0.39% of the leaves\n"
                              "    instead of routing around it, which would lose 1.55% of the data "
                              "network (143 of 9216 directions of links)\n"));
}

constexpr char kControl[] =
    "nodes: 64 control_processors: 0\n"
    "broken: [\"control: chip 3/2\", \"control: chip 1/4\",\n"
    "         \"control: link of chip 1/4 port 4\", \"data.left: chip 1/2\"]\n";

TEST(ExplainMachine, SaysWhatTheControlNetworkLoses) {
  EXPECT_EQ(ExplainMachine(Parse(kControl)),
            "4 broken parts; 60 of 64 nodes usable\n"
            "  control: chip 3/2: routed around, which loses 2.42% of the control network (6 of 248 links)\n"
            "  control: chip 1/4: mapped out with the leaves below it, for another part\n"
            "  control: link of chip 1/4 port 4: mapped out with the leaves below it, for another part\n"
            "  data.left: chip 1/2: mapped out with leaves 8-11, 6.25% of the leaves\n"
            "    there is no way around it for them\n"
            "together they lose 0.00% of the data network (0 of 448 directions of links)\n"
            "  and 4.03% of the control network (10 of 248 links)\n"
            "  and 6.25% of the leaves\n"
            "addresses of nodes:\n"
            "  relative 0-7 is physical 0-7\n"
            "  relative 8-59 is physical 12-63\n");
  EXPECT_THAT(ExplainMachine(Parse("nodes: 64 broken: \"control: chip 1/4\"")),
              HasSubstr("control: chip 1/4: mapped out with leaves 8-9, 3.08% of the leaves\n"
                        "    there is no way around it for them\n"));
}

TEST(ExplainMachine, OfAWholeMachine) {
  EXPECT_EQ(ExplainMachine(MachineSpec()),
            "0 broken parts; 32 of 32 nodes usable\n"
            "addresses of nodes:\n"
            "  relative 0-31 is physical 0-31\n");
}

google::protobuf::Struct Json(const MachineSpec& spec) {
  google::protobuf::Struct object;
  const auto status = google::protobuf::util::JsonStringToMessage(ExplainMachineJson(spec), &object);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return object;
}

TEST(ExplainMachineJson, IsJsonThatSaysTheSame) {
  google::protobuf::Struct object = Json(Parse(kThree));
  auto& fields = *object.mutable_fields();
  EXPECT_EQ(fields["nodes"].number_value(), 64);
  EXPECT_EQ(fields["usable_nodes"].number_value(), 59);
  EXPECT_EQ(fields["channels_lost"].number_value(), 8);
  EXPECT_EQ(fields["leaves_lost"].number_value(), 5);
  EXPECT_NEAR(fields["network_percent_lost"].number_value(), 1.786, 0.001);
  ASSERT_EQ(fields["broken"].list_value().values_size(), 3);
  const auto part = [&](int index) {
    return fields["broken"].list_value().values(index).struct_value().fields();
  };
  EXPECT_EQ(part(0).at("part").string_value(), "data.left: chip 3/2");
  EXPECT_EQ(part(0).at("way").string_value(), "routed around");
  EXPECT_TRUE(part(0).at("choice").bool_value());
  EXPECT_EQ(part(0).at("other_way_leaves_lost").number_value(), 43);
  EXPECT_EQ(part(1).at("way").string_value(), "mapped out");
  EXPECT_FALSE(part(1).at("choice").bool_value());
  EXPECT_EQ(part(1).at("leaves_lost").list_value().values_size(), 4);
  ASSERT_EQ(fields["addresses"].list_value().values_size(), 3);
  const auto run = fields["addresses"].list_value().values(1).struct_value().fields();
  EXPECT_EQ(run.at("relative").number_value(), 16);
  EXPECT_EQ(run.at("physical").number_value(), 20);
  EXPECT_EQ(run.at("count").number_value(), 20);
}

TEST(ExplainMachineJson, SaysWhatTheControlNetworkLoses) {
  google::protobuf::Struct object = Json(Parse(kControl));
  auto& fields = *object.mutable_fields();
  EXPECT_EQ(fields["control_links"].number_value(), 248);
  EXPECT_EQ(fields["control_links_lost"].number_value(), 10);
  const auto part = fields["broken"].list_value().values(0).struct_value().fields();
  EXPECT_EQ(part.at("part").string_value(), "control: chip 3/2");
  EXPECT_EQ(part.at("way").string_value(), "routed around");
  EXPECT_EQ(part.at("control_links_lost").number_value(), 6);
}

TEST(ExplainMachineJson, OfAWholeMachineIsJson) {
  google::protobuf::Struct object = Json(MachineSpec());
  EXPECT_EQ((*object.mutable_fields())["broken"].list_value().values_size(), 0);
}

}  // namespace
}  // namespace vcm5
