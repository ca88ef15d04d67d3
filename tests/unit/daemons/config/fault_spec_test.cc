#include "daemons/config/fault_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "daemons/config/control_spec.h"
#include "daemons/config/machine_config.h"
#include "netif/shm/ni_page.h"
#include "runtime/base/prng.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// 64 nodes and a control processor: 17 chips at level 1, 10 at level 2, 8 at level 3, 16 at the top.
MachineSpec Spec() {
  MachineSpec spec;
  spec.nodes = 64;
  return spec;
}

LinkFault Parsed(const std::string& text) {
  MachineSpec spec = Spec();
  const absl::Status status = AddFault(text, &spec);
  EXPECT_TRUE(status.ok()) << status;
  return spec.link_faults.empty() ? LinkFault() : spec.link_faults.back();
}

std::string WrongWith(const std::string& text) {
  MachineSpec spec = Spec();
  const absl::Status status = AddFault(text, &spec);
  EXPECT_TRUE(spec.link_faults.empty() && spec.control_link_faults.empty());
  const std::string message(status.message());
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_THAT(message, HasSubstr("fault `"));
  return message;
}

TEST(FaultSpec, FlipsABitOnceOnTheLinkThatLeavesAChip) {
  const LinkFault fault = Parsed("data.left: chip 2/3 port 1 flip bit 17 once at message 1000");
  const FatTree tree(65, {2, 2, 4});
  EXPECT_EQ(fault.half, VCM5_LEFT);
  EXPECT_EQ(fault.from, ChipEnd(tree.chip(2, 1, 1), 1));
  EXPECT_EQ(fault.kind, LinkFault::Kind::kFlip);
  EXPECT_EQ(fault.bit, 17u);
  EXPECT_EQ(fault.first, 1000u);
  EXPECT_EQ(fault.every, 0u);
}

TEST(FaultSpec, LosesEverySoManyOfALeaf) {
  const LinkFault fault = Parsed("data.right: leaf 64 lose every 100");
  EXPECT_EQ(fault.half, VCM5_RIGHT);
  EXPECT_EQ(fault.from, LeafEnd(64));
  EXPECT_EQ(fault.kind, LinkFault::Kind::kLose);
  EXPECT_EQ(fault.first, 100u);
  EXPECT_EQ(fault.every, 100u);
}

TEST(FaultSpec, DuplicatesFromAMessageOn) {
  const LinkFault fault = Parsed("  data.left :leaf 0\tduplicate  every 10 from message 7 ");
  EXPECT_EQ(fault.kind, LinkFault::Kind::kDuplicate);
  EXPECT_EQ(fault.first, 7u);
  EXPECT_EQ(fault.every, 10u);
}

TEST(FaultSpec, SaysWhatIsWrongWhereAndWhatWasExpected) {
  EXPECT_THAT(WrongWith(""), HasSubstr("no `NETWORK:` in front; networks are data.left, data.right, control"));
  EXPECT_THAT(WrongWith("data.up: leaf 0 lose every 1"),
              HasSubstr("no such network; expected one of data.left, data.right, control"));
  EXPECT_THAT(WrongWith("data.left:"), HasSubstr("it ends early; expected `chip` or `leaf`"));
  EXPECT_THAT(WrongWith("data.left: node 3"),
              HasSubstr("word 1 is `node`; expected `chip` or `leaf`"));
  EXPECT_THAT(WrongWith("data.left: chip 3 port 1"),
              HasSubstr("word 2 is `3`; expected a chip as LEVEL/CHIP"));
  EXPECT_THAT(WrongWith("data.left: chip 2/x port 1"), HasSubstr("LEVEL/CHIP"));
  EXPECT_THAT(WrongWith("data.left: chip 0/1 port 1 lose every 1"),
              HasSubstr("word 2 is `0/1`; expected LEVEL/CHIP with a level from 1 to 4"));
  EXPECT_THAT(WrongWith("data.left: chip 2/10 port 1 lose every 1"),
              HasSubstr("expected LEVEL/CHIP with a chip from 0 to 9 at level 2"));
  EXPECT_THAT(WrongWith("data.left: chip 2/1 port 8 lose every 1"),
              HasSubstr("word 4 is `8`; expected a port, a whole number from 0 to 7"));
  EXPECT_THAT(WrongWith("data.left: chip 2/1 port 6 lose every 1"),
              HasSubstr("expected a port of level 2 chip 1 that has a link: 0, 1, 2, 3, 4, 5"));
  EXPECT_THAT(WrongWith("data.left: leaf 65 lose every 1"),
              HasSubstr("expected the address of a leaf, a whole number from 0 to 64"));
  EXPECT_THAT(WrongWith("data.left: leaf 1 break every 1"),
              HasSubstr("expected `flip`, `lose` or `duplicate`"));
  EXPECT_THAT(WrongWith("data.left: leaf 1 flip bit 256 every 1"),
              HasSubstr("a bit of the machine's longest packet, a whole number from 0 to 255"));
  EXPECT_THAT(WrongWith("data.left: leaf 1 lose always"), HasSubstr("expected `once` or `every`"));
  EXPECT_THAT(WrongWith("data.left: leaf 1 lose once at message 0"),
              HasSubstr("the number of a message, a whole number from 1"));
  EXPECT_THAT(WrongWith("data.left: leaf 1 lose every -1"), HasSubstr("a number of messages"));
  EXPECT_THAT(WrongWith("data.left: leaf 1 lose once"), HasSubstr("it ends early; expected `at`"));
  EXPECT_THAT(WrongWith("data.left: leaf 1 lose once at message 1 more"),
              HasSubstr("word 8 is `more`; expected nothing more"));
  EXPECT_THAT(WrongWith("data.left: leaf 1\nlose for ever"), HasSubstr("fault `data.left: leaf 1?"));
}

TEST(FaultSpec, FlipsABitOfAControlPacket) {
  MachineSpec spec = Spec();
  ASSERT_TRUE(AddFault("control: leaf 5 link 3 down flip bit 60 every 2 from packet 9", &spec).ok());
  ASSERT_THAT(spec.control_link_faults, SizeIs(1));
  const ControlLinkFault expected = {
      .leaf = 5, .height = 3, .down = true, .bit = 60, .first = 9, .every = 2};
  EXPECT_EQ(spec.control_link_faults[0], expected);
  EXPECT_THAT(spec.link_faults, SizeIs(0));
}

TEST(FaultSpec, SaysWhatIsWrongWithAFaultOfTheControlNetwork) {
  EXPECT_THAT(WrongWith("control: chip 1/0 port 1 lose every 2"), HasSubstr("expected `leaf`"));
  EXPECT_THAT(WrongWith("control: leaf 65 link 1 up flip bit 1 every 2"),
              HasSubstr("the address of a leaf, a whole number from 0 to 64"));
  EXPECT_THAT(WrongWith("control: leaf 1 link 0 up flip bit 1 every 2"),
              HasSubstr("a link of the way to the root, a whole number from 1 to 32"));
  EXPECT_THAT(WrongWith("control: leaf 1 link 1 left flip bit 1 every 2"),
              HasSubstr("expected `up` or `down`"));
  EXPECT_THAT(WrongWith("control: leaf 1 link 1 up lose every 2"), HasSubstr("expected `flip`"));
  EXPECT_THAT(WrongWith("control: leaf 1 link 1 up flip bit 65 every 2"),
              HasSubstr("a bit of a packet, a whole number from 0 to 64"));
  EXPECT_THAT(WrongWith("control: leaf 1 link 1 up flip bit 6 once at message 2"),
              HasSubstr("expected `packet`"));
}

TEST(FaultSpec, WhatIsFormattedParsesToTheSame) {
  MachineSpec spec = Spec();
  for (const char* text :
       {"data.left: chip 4/7 port 1 flip bit 255 every 3", "data.right: leaf 5 lose every 100",
        "data.right: chip 1/16 port 0 duplicate once at message 9223372036854775807",
        "control: leaf 64 link 32 down flip bit 64 every 7", "control: leaf 0 link 1 up flip bit 0 "
        "once at packet 5"}) {
    ASSERT_TRUE(AddFault(text, &spec).ok()) << text;
  }
  config::Spec message;
  PackSpec(spec, &message);
  EXPECT_THAT(message.fault(), ElementsAre("data.left: chip 4/7 port 1 flip bit 255 every 3 from message 3",
                                           "data.right: leaf 5 lose every 100 from message 100",
                                           "data.right: chip 1/16 port 0 duplicate once at message "
                                           "9223372036854775807",
                                           "control: leaf 64 link 32 down flip bit 64 every 7 from packet 7",
                                           "control: leaf 0 link 1 up flip bit 0 once at packet 5"));
  const absl::StatusOr<MachineSpec> again = UnpackSpec(message);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->link_faults, spec.link_faults);
  EXPECT_EQ(again->control_link_faults, spec.control_link_faults);
  message.add_fault("nonsense");
  EXPECT_FALSE(UnpackSpec(message).ok());
}

// Words of the grammar and others, in any order: either a fault that says itself, or one line.
TEST(FaultSpec, AnyWordsAreAFaultOrOneLine) {
  const std::vector<std::string> words = {
      "chip", "leaf", "port", "flip", "bit", "lose", "duplicate", "once", "at", "every", "from",
      "message", "1/0", "2/3", "1/", "/", "0", "1", "7", "64", "-1", "99999999999999999999", "\n",
      "data.left:", ":"};
  const std::vector<std::vector<std::string>> starts = {
      {"leaf", "1"}, {"leaf", "64", "lose", "every", "2"}, {"chip", "1/0", "port", "4", "flip", "bit"},
      {"chip", "2/3", "port", "1", "duplicate"}, {"leaf", "3", "duplicate", "every"},
      {"chip", "4/0", "port", "1", "lose", "once", "at", "message"}, {}};
  uint32_t right = 0;
  ForEachSeed(8000, [&](uint64_t seed) {
    Prng prng(seed);
    std::string text = prng.Chance(1, 2) ? "data.left:" : "data.right:";
    for (const std::string& word : starts[prng.Below(static_cast<uint32_t>(starts.size()))]) {
      text += " " + word;
    }
    for (uint32_t more = prng.Below(7); more != 0; --more) {
      text += " " + words[prng.Below(static_cast<uint32_t>(words.size()))];
    }
    MachineSpec spec = Spec();
    const absl::Status status = AddFault(text, &spec);
    if (!status.ok()) {
      EXPECT_TRUE(spec.link_faults.empty());
      EXPECT_EQ(std::string(status.message()).find('\n'), std::string::npos);
      return;
    }
    ++right;
    MachineSpec again = Spec();
    ASSERT_THAT(FormatFaults(spec), SizeIs(1));
    EXPECT_TRUE(AddFault(FormatFaults(spec)[0], &again).ok()) << text;
    EXPECT_EQ(again.link_faults, spec.link_faults) << text;
  });
  if (std::getenv("VCM5_TEST_SEED") == nullptr) {
    EXPECT_GT(right, 20u);
  }
}

TEST(FaultSpec, StandsInAMachineDescription) {
  const auto spec = ParseMachine("m", R"(
    nodes: 64
    fault: "data.left: leaf 5 lose once at message 3"
    fault: "data.right: chip 1/0 port 4 duplicate every 2")");
  ASSERT_TRUE(spec.ok()) << spec.status();
  ASSERT_THAT(spec->link_faults, SizeIs(2));
  EXPECT_EQ(spec->link_faults[1].every, 2u);
  EXPECT_THAT(DescribeMachine(*spec), HasSubstr("fault: data.left: leaf 5 lose once at message 3\n"));
  const auto wrong = ParseMachine(
      "m", "nodes: 8\nfault: \"data.left: leaf 5 lose every 1\"\n\nfault: \"data.left: leaf 99 lose\"");
  EXPECT_THAT(std::string(wrong.status().message()),
              ::testing::StartsWith("m:4: fault `data.left: leaf 99 lose`: after the colon, word 2 is "
                                    "`99`; expected the address of a leaf"));
}

}  // namespace
}  // namespace vcm5
