#include "daemons/config/place_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/base/prng.h"
#include "tests/support/broken_parts.h"
#include "tests/support/control_oracle.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;
using Kind = BrokenPart::Kind;

BrokenPart Parsed(const std::string& text) {
  const absl::StatusOr<BrokenPart> part = ParsePlace(text);
  EXPECT_TRUE(part.ok()) << text << ": " << part.status();
  return part.ok() ? *part : BrokenPart();
}

TEST(ParsePlace, TakesEveryForm) {
  EXPECT_EQ(Parsed("data.left: chip 2/3"),
            (BrokenPart{.kind = Kind::kChip, .halves = kLeftHalf, .level = 2, .number = 3}));
  EXPECT_EQ(Parsed("data.right: link of chip 1/4 port 5"),
            (BrokenPart{.kind = Kind::kLink, .halves = kRightHalf, .level = 1, .number = 4,
                        .port = 5}));
  EXPECT_EQ(Parsed("data.left: leaf 7"), (BrokenPart{.halves = kLeftHalf, .leaf = 7}));
  EXPECT_EQ(Parsed("control: chip 2/3"),
            (BrokenPart{.kind = Kind::kChip, .halves = kControlNetwork, .level = 2, .number = 3}));
  EXPECT_EQ(Parsed("control: link of chip 1/0 port 5"),
            (BrokenPart{.kind = Kind::kLink, .halves = kControlNetwork, .level = 1, .port = 5}));
  EXPECT_EQ(Parsed("control: leaf 7"), (BrokenPart{.halves = kControlNetwork, .leaf = 7}));
  EXPECT_EQ(Parsed("leaf 16384"), (BrokenPart{.halves = kBothHalves, .leaf = 16384}));
}

TEST(ParsePlace, DoesNotMindBlanks) {
  EXPECT_EQ(Parsed("  data.left :chip  2 / 3 "), Parsed("data.left: chip 2/3"));
  EXPECT_EQ(Parsed("data.left:\tlink of\nchip 1/0 port 4"), Parsed("data.left: link of chip 1/0 port 4"));
}

TEST(ParsePlace, RefusesTheRest) {
  for (const char* text :
       {"", " ", "chip 2/3", "link of chip 1/4 port 5", "data.left", "data.left:", "data: chip 1/1",
        "data.middle: chip 1/1", "data.left: chip", "data.left: chip 2", "data.left: chip 2/",
        "data.left: chip 2/3/4", "data.left: chip 2/3 port 1", "data.left: chip -2/3",
        "data.left: chips 2/3", "data.left: link 1/4 port 5", "data.left: link of chip 1/4",
        "data.left: link of chip 1/4 port", "leaf", "leaf x", "leaf 7 8", "leaf 123456789",
        "leaves 7", "data.leftchip 1/1", "data.left chip 1/1", "control: node 3", "leaf 7\x01"}) {
    const absl::StatusOr<BrokenPart> part = ParsePlace(text);
    EXPECT_FALSE(part.ok()) << text;
    EXPECT_THAT(std::string(part.status().message()), HasSubstr("expected \"data.left: chip")) << text;
  }
}

TEST(PlaceName, IsWhatParsePlaceTakes) {
  Prng prng(1);
  const FatTree tree(100, {2, 2, 4});
  for (int i = 0; i < 500; ++i) {
    BrokenPart part = RandomPart(tree, prng);
    // A chip or link is of one half.
    if (part.kind != Kind::kLeaf) part.halves = prng.Chance(1, 2) ? kLeftHalf : kRightHalf;
    EXPECT_EQ(Parsed(PlaceName(part)), part) << PlaceName(part);
    EXPECT_EQ(PlaceFault(tree, part), "") << PlaceName(part);
  }
  MachineSpec spec;
  spec.nodes = 100;
  const ControlSwitches switches(spec);
  const ControlOracle oracle(spec);
  for (const BrokenPart& part : oracle.parts()) {
    EXPECT_EQ(Parsed(PlaceName(part)), part) << PlaceName(part);
    EXPECT_EQ(PlaceFault(switches, part), "") << PlaceName(part);
  }
}

// Right texts of which words were taken for others: what is still taken means what it says.
TEST(ParsePlace, TakesNothingThatItCannotName) {
  static const char* const kWords[] = {"data.left", "data.right", "control", ":", "chip", "link", "of", "port",
                                       "leaf", "/", "1", "23", "99999999", " ", "", "x", "-"};
  uint32_t tried = 0;
  uint32_t taken = 0;
  ForEachSeed(3000, [&](uint64_t seed) {
    ++tried;
    Prng prng(seed);
    std::vector<std::string> words = {"data.left", ":",    "link", "of", "chip", "2",
                                      "/",         "3", "port", "1"};
    if (prng.Chance(1, 2)) words = {"data.right", ":", "chip", "1", "/", "7"};
    if (prng.Chance(1, 4)) words = {"leaf", "12"};
    for (uint32_t changes = prng.Below(3); changes > 0; --changes) {
      words[prng.Below(static_cast<uint32_t>(words.size()))] = kWords[prng.Below(std::size(kWords))];
    }
    std::string text;
    for (const std::string& word : words) text += word + (prng.Chance(1, 2) ? " " : "");
    const absl::StatusOr<BrokenPart> part = ParsePlace(text);
    if (!part.ok()) return;
    ++taken;
    EXPECT_EQ(Parsed(PlaceName(*part)), *part) << text;
  });
  if (std::getenv("VCM5_TEST_SEED") == nullptr) {
    EXPECT_GT(30 * taken, tried);
  }
}

TEST(PlaceFault, SaysWhatTheMachineHas) {
  const FatTree tree(20, {2, 2, 4});
  const auto fault = [&](const std::string& text) { return PlaceFault(tree, Parsed(text)); };
  EXPECT_EQ(fault("leaf 20"), "expected a leaf from 0 to 19");
  EXPECT_EQ(fault("data.left: chip 0/0"), "expected a level from 1 to 3");
  EXPECT_EQ(fault("data.left: chip 4/0"), "expected a level from 1 to 3");
  EXPECT_EQ(fault("data.left: chip 2/4"), "expected a chip of level 2, from 0 to 3");
  EXPECT_EQ(fault("data.right: link of chip 1/4 port 6"),
            "expected a port of that chip that has a link: 0, 1, 2, 3, 4, 5");
  EXPECT_EQ(fault("data.right: link of chip 3/0 port 4"),
            "expected a port of that chip that has a link: 0, 1");
}

TEST(PlaceFault, SaysWhatTheControlNetworkHas) {
  MachineSpec spec;
  spec.nodes = 19;
  const ControlSwitches switches(spec);
  const auto fault = [&](const std::string& text) { return PlaceFault(switches, Parsed(text)); };
  EXPECT_EQ(fault("control: leaf 20"), "expected a leaf from 0 to 19");
  EXPECT_EQ(fault("control: chip 7/0"), "expected a level from 1 to 6");
  EXPECT_EQ(fault("control: chip 2/12"), "expected a chip of level 2, from 0 to 11");
  EXPECT_EQ(fault("control: link of chip 1/9 port 2"),
            "expected a port of that chip that has a link: 0, 4, 5");
  EXPECT_EQ(fault("control: link of chip 6/0 port 4"),
            "expected a port of that chip that has a link: 0, 1, 2, 3");
  EXPECT_EQ(fault("control: link of chip 6/0 port 3"), "");
}

}  // namespace
}  // namespace vcm5
