// The switches of the control network against a dumb oracle: all broken chips of a small machine, all
// single broken parts of large ones, and random ones of random machines and partitions.
#include "switches/topology/control_settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/base/prng.h"
#include "switches/topology/health.h"
#include "tests/support/control_oracle.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

MachineSpec Machine(uint32_t nodes, uint32_t control_processors, uint32_t io_channels = 0) {
  MachineSpec spec;
  spec.nodes = nodes;
  spec.control_processors = control_processors;
  spec.io_channels = io_channels;
  return spec;
}

Partition Range(uint32_t first, uint32_t count) {
  Partition partition(count);
  std::iota(partition.begin(), partition.end(), first);
  return partition;
}

// Sets the switches and lets the oracle look. Returns whether that was possible; -1 if it was wrong.
int Connects(const MachineSpec& spec, const std::vector<Partition>& partitions) {
  const ControlOracle oracle(spec);
  const auto settings = SetControlSwitches(spec, partitions);
  EXPECT_EQ(settings.ok(), oracle.CanConnect(partitions))
      << settings.status();
  if (!settings.ok()) return 0;
  const std::string wrong = oracle.Wrong(*settings, partitions);
  EXPECT_EQ(wrong, "");
  return wrong.empty() ? 1 : -1;
}

TEST(ControlSettings, OfTwoPartitionsPassEverySetOfBrokenChips) {
  MachineSpec spec = Machine(8, 2);
  const std::vector<Partition> partitions = {{0, 1, 2, 3, 8}, {4, 5, 6, 7, 9}};
  std::vector<BrokenPart> chips;
  const ControlOracle whole(spec);
  for (const BrokenPart& part : whole.parts()) {
    if (part.kind == BrokenPart::Kind::kChip && part.level >= 2) chips.push_back(part);
  }
  ASSERT_EQ(chips.size(), 12u);
  int connected = 0;
  for (uint32_t set = 0; set < 1u << chips.size(); ++set) {
    spec.broken.clear();
    for (size_t i = 0; i < chips.size(); ++i) {
      if ((set >> i & 1) != 0) spec.broken.push_back(chips[i]);
    }
    const int connects = Connects(spec, partitions);
    ASSERT_GE(connects, 0) << set;
    ASSERT_FALSE(HasFailure()) << set;
    connected += connects;
  }
  EXPECT_GT(connected, 50);
  EXPECT_LT(connected, 3000);
}

// Partitions of all sizes, each with a control processor or none.
std::vector<Partition> RandomPartitions(const MachineSpec& spec, uint32_t connected_max, Prng& prng) {
  std::vector<uint32_t> nodes = Range(0, spec.nodes);
  std::vector<uint32_t> sizes;
  for (uint32_t left = spec.nodes; left > 0 && sizes.size() < 6;) {
    sizes.push_back(1 + prng.Below(prng.Chance(1, 2) ? std::min(left, 4u) : left));
    left -= sizes.back();
    if (!PlacePartitions(sizes, nodes).has_value()) {
      sizes.pop_back();
      break;
    }
  }
  std::vector<Partition> partitions = PlacePartitions(sizes, nodes).value();
  std::vector<uint32_t> free = Range(spec.nodes, spec.control_processors);
  for (Partition& partition : partitions) {
    if (free.empty() || connected_max == 0 || prng.Chance(1, 4)) continue;
    const uint32_t pick = prng.Below(static_cast<uint32_t>(free.size()));
    partition.push_back(free[pick]);
    free.erase(free.begin() + pick);
    --connected_max;
  }
  return partitions;
}

TEST(ControlSettings, AreFoundWheneverThereAreAny) {
  uint32_t connected = 0;
  uint32_t refused = 0;
  ForEachSeed(3000, [&](uint64_t seed) {
    Prng prng(seed);
    MachineSpec spec = Machine(1 + prng.Below(24), prng.Below(5), prng.Below(2));
    const std::vector<BrokenPart> parts = ControlOracle(spec).parts();
    for (uint32_t count = prng.Below(12); count > 0; --count) {
      spec.broken.push_back(parts[prng.Below(static_cast<uint32_t>(parts.size()))]);
    }
    const int connects = Connects(spec, RandomPartitions(spec, 4, prng));
    (connects == 1 ? connected : refused) += 1;
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(connected, 300u / (kSanitized ? 4 : 1));
  EXPECT_GT(refused, 300u / (kSanitized ? 4 : 1));
}

// What the paper promises: channels are the only bound where nothing is broken.
TEST(ControlSettings, AreFoundWheneverThereAreChannels) {
  uint32_t connected = 0;
  uint32_t refused = 0;
  ForEachSeed(3000, [&](uint64_t seed) {
    Prng prng(seed);
    const MachineSpec spec = Machine(1 + prng.Below(300), prng.Below(100), prng.Below(4));
    const std::vector<Partition> partitions = RandomPartitions(spec, 6, prng);
    const ControlSwitches switches(spec);
    bool short_of_channels = false;
    for (unsigned level = 0; level < switches.levels(); ++level) {
      std::map<uint32_t, uint32_t> crossing;
      for (Partition members : partitions) {
        for (uint32_t& leaf : members) leaf = switches.position(leaf) >> level;
        members.erase(std::unique(members.begin(), members.end()), members.end());
        if (members.size() == 1) continue;  // all of it is in one subtree
        for (const uint32_t s : members) ++crossing[s];
      }
      const uint32_t channels = level == 0 ? 1 : level == 1 ? 2 : 4;
      for (const auto& [s, trees] : crossing) short_of_channels |= trees > channels;
    }
    const auto settings = SetControlSwitches(spec, partitions);
    ASSERT_EQ(settings.ok(), !short_of_channels) << settings.status();
    (settings.ok() ? connected : refused) += 1;
    if (!settings.ok()) return;
    ASSERT_EQ(ControlOracle(spec).Wrong(*settings, partitions), "");
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(connected, 300u);
  EXPECT_GT(refused, 30u);
}

TEST(LeavesOfOneTree, AreTheMostThatAnyChoiceOfChipsJoins) {
  ForEachSeed(1000, [&](uint64_t seed) {
    Prng prng(seed);
    MachineSpec spec = Machine(1 + prng.Below(8), prng.Below(4), prng.Below(2));
    const std::vector<BrokenPart> parts = ControlOracle(spec).parts();
    for (uint32_t count = prng.Below(10); count > 0; --count) {
      spec.broken.push_back(parts[prng.Below(static_cast<uint32_t>(parts.size()))]);
    }
    std::vector<uint8_t> live(spec.leaves(), 1);
    for (uint8_t& leaf : live) leaf = prng.Chance(1, 8) ? 0 : 1;
    const ControlSwitches switches(spec);
    const std::vector<uint8_t> found =
        LeavesOfOneTree(switches, ControlDamage(switches, spec.broken), live);
    std::vector<uint32_t> joined;
    for (uint32_t leaf = 0; leaf < found.size(); ++leaf) {
      if (found[leaf] != 0) joined.push_back(leaf);
    }
    const auto worth = [&](const std::vector<uint32_t>& leaves) {
      const auto others = std::lower_bound(leaves.begin(), leaves.end(), spec.nodes);
      return std::pair(others - leaves.begin(), leaves.end() - others);
    };
    const auto sets = ControlOracle(spec).SetsOfOneTree(live);
    ASSERT_TRUE(sets.contains(joined));
    for (const auto& set : sets) ASSERT_LE(worth(set), worth(joined));
  });
}

// Whether a setting uses the part, as its own ports say.
bool Uses(const ControlSettings& settings, const ControlSwitches& switches, const BrokenPart& part) {
  const ControlSwitches::Place place = switches.PlaceOf(part);
  if (part.kind == BrokenPart::Kind::kChip) {
    const SwitchSetting& chip = settings.switches[switches.switch_id(place.level, place.s, place.chip)];
    return chip[0].used() || chip[1].used();
  }
  const SwitchSetting& above =
      settings.switches[switches.switch_id(place.level + 1, place.s / 2, place.port)];
  const unsigned side = place.s % 2;
  return above[0].child[side] == 2 * side + place.chip || above[1].child[side] == 2 * side + place.chip;
}

// Every single broken part: what is lost is what has no other link or chip, and the rest is joined.
void BreakEachPart(uint32_t nodes, size_t every) {
  MachineSpec spec = Machine(nodes, 1);
  const ControlSwitches switches(spec);
  const std::vector<BrokenPart> parts = ControlOracle(spec).parts();
  EXPECT_EQ(parts.size(), switches.switches() + 2 * size_t{switches.links()});
  for (size_t i = 0; i < parts.size(); ++i) {
    const BrokenPart& part = parts[i];
    spec.broken = {part};
    const ControlDamage damage(switches, spec.broken);
    const std::vector<uint8_t> joined =
        LeavesOfOneTree(switches, damage, std::vector<uint8_t>(spec.leaves(), 1));
    const auto lost = std::count(joined.begin(), joined.end(), 0);
    const ControlSwitches::Place place = switches.PlaceOf(part);
    const auto [first, end] = switches.leaves_below(place.level, place.s);
    const bool only = part.kind == BrokenPart::Kind::kChip ? place.level == 1 : place.level == 0;
    ASSERT_EQ(lost, only ? end - first : 0u) << i;
    ASSERT_LE(lost, 2) << i;
    Partition members;
    for (uint32_t leaf = 0; leaf <= nodes; ++leaf) {
      if (joined[leaf] != 0) members.push_back(leaf);
    }
    const std::vector<Partition> partitions = {members};
    const auto settings = SetControlSwitches(spec, partitions);
    ASSERT_TRUE(settings.ok()) << i << " " << settings.status();
    ASSERT_FALSE(Uses(*settings, switches, part)) << i;
    if (i % every != 0) continue;
    ASSERT_EQ(ControlOracle(spec).Wrong(*settings, partitions), "") << i;
    const Health health(spec);
    if (HasHost(members, nodes)) members.pop_back();
    ASSERT_EQ(health.Nodes(), members) << i;
    ASSERT_EQ(health.leaves_lost(), lost) << i;
    ASSERT_EQ(health.channels_lost(), 0u) << i;
    ASSERT_EQ(health.control_links_lost(), switches.links() - damage.links()) << i;
  }
}

TEST(ControlSettings, GoAroundEveryPartOf64Nodes) { BreakEachPart(64, 1); }
TEST(ControlSettings, GoAroundEveryPartOf256Nodes) { BreakEachPart(256, 16); }
TEST(ControlSettings, GoAroundEveryPartOf1024Nodes) { BreakEachPart(1024, 256); }

}  // namespace
}  // namespace vcm5
