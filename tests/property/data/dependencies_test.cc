// "The data network is acyclic from inputs to outputs, which precludes deadlock" (paper section 3;
// DN6): on no machine, with whatever parts mapped out, can messages wait for each other's channels in
// a circle. A channel is one direction of a link, named by the output that it leaves; one depends on
// the next that a message on it may ask for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "runtime/base/prng.h"
#include "runtime/base/routing_instructions.h"
#include "switches/topology/health.h"
#include "tests/support/broken_parts.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

const std::vector<std::vector<uint32_t>> kParents = {{2, 2, 4}, {1}, {4}, {3, 1, 2}, {1, 4}};

class Dependencies {
 public:
  Dependencies(const FatTree& tree, std::vector<ChipWays> ways)
      : tree_(tree),
        ways_(std::move(ways)),
        next_(tree.chips() * kChipPorts + tree.leaves()) {
    ways_.resize(tree.chips());
  }

  void Add(uint32_t channel, uint32_t then) { next_[channel].insert(then); }

  // Those of the routes from one leaf to another, whatever parent links are chosen.
  void AddRoutes(uint32_t source, uint32_t destination) {
    Follow(Inject(source), tree_.leaf_peer(source).id, FatTree::Route(source, destination));
  }

  // Those of every message that chips could carry on: up or down if it came from a child, down if
  // it came from a parent.
  void AddAllThatChipsAllow() {
    for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
      for (unsigned in = 0; in < kChipPorts; ++in) {
        const FatTreePeer from = tree_.peer(chip, in);
        if (from.kind == FatTreePeer::Kind::kNothing) continue;
        const uint32_t channel = from.kind == FatTreePeer::Kind::kLeaf ? Inject(from.id)
                                                                      : Output(from.id, from.port);
        for (unsigned out = 0; out < kChipPorts; ++out) {
          if (tree_.peer(chip, out).kind == FatTreePeer::Kind::kNothing) continue;
          if (out >= kChildren && (in >= kChildren || IsClosedToAll(chip, out))) continue;
          Add(channel, Output(chip, out));
        }
      }
    }
  }

  // Takes away channels on which nothing more waits, until none is left or those that are go round.
  bool Acyclic() const {
    std::vector<uint32_t> waits(next_.size());
    for (const auto& after : next_) {
      for (const uint32_t channel : after) ++waits[channel];
    }
    std::vector<uint32_t> free;
    for (uint32_t channel = 0; channel < next_.size(); ++channel) {
      if (waits[channel] == 0) free.push_back(channel);
    }
    size_t taken = 0;
    while (!free.empty()) {
      const uint32_t channel = free.back();
      free.pop_back();
      ++taken;
      for (const uint32_t after : next_[channel]) {
        if (--waits[after] == 0) free.push_back(after);
      }
    }
    return taken == next_.size();
  }

  // Every dependency of the other is one of ours.
  bool Holds(const Dependencies& other) const {
    for (size_t channel = 0; channel < next_.size(); ++channel) {
      for (const uint32_t after : other.next_[channel]) {
        if (!next_[channel].contains(after)) return false;
      }
    }
    return true;
  }

  size_t size() const {
    size_t edges = 0;
    for (const auto& after : next_) edges += after.size();
    return edges;
  }

  static uint32_t Output(ChipId chip, unsigned port) { return chip * kChipPorts + port; }
  uint32_t Inject(uint32_t leaf) const { return tree_.chips() * kChipPorts + leaf; }

 private:
  bool IsClosed(ChipId chip, unsigned port, unsigned climb) const {
    return (ways_[chip].closed[climb] >> port & 1) != 0;
  }
  bool IsClosedToAll(ChipId chip, unsigned port) const {
    for (unsigned climb = 1; climb <= kLevelsMax; ++climb) {
      if (!IsClosed(chip, port, climb)) return false;
    }
    return true;
  }

  void Follow(uint32_t channel, ChipId chip, uint32_t route) {
    if ((route & 0xf) == 0) {
      const unsigned port = (route >> 4) & 3;
      Add(channel, Output(chip, port));
      const FatTreePeer peer = tree_.peer(chip, port);
      if (peer.kind == FatTreePeer::Kind::kChip) {
        Follow(Output(chip, port), peer.id, route >> 6 << 4);
      }
      return;
    }
    for (unsigned port = kChildren; port < kChipPorts; ++port) {
      const FatTreePeer peer = tree_.peer(chip, port);
      if (peer.kind == FatTreePeer::Kind::kNothing || IsClosed(chip, port, route & 0xf)) continue;
      Add(channel, Output(chip, port));
      Follow(Output(chip, port), peer.id, route - 1);
    }
  }

  const FatTree& tree_;
  std::vector<ChipWays> ways_;
  std::vector<std::set<uint32_t>> next_;  // by channel
};

TEST(Dependencies, OfAllRoutesOfSmallMachinesGoRoundNowhere) {
  for (const std::vector<uint32_t>& parents : kParents) {
    for (const uint32_t leaves : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 13u, 16u, 17u, 20u, 31u, 64u, 65u}) {
      if (kSanitized && leaves > 31) continue;
      const FatTree tree(leaves, parents);
      Dependencies routes(tree, {});
      for (uint32_t from = 0; from < leaves; ++from) {
        for (uint32_t to = 0; to < leaves; ++to) routes.AddRoutes(from, to);
      }
      EXPECT_TRUE(routes.Acyclic()) << leaves << " leaves";
      Dependencies chips(tree, {});
      chips.AddAllThatChipsAllow();
      EXPECT_TRUE(chips.Holds(routes)) << leaves << " leaves";
      EXPECT_GE(routes.size(), leaves);
    }
  }
}

TEST(Dependencies, OfAllThatChipsAllowGoRoundNowhereUpToTheLargestMachine) {
  for (const std::vector<uint32_t>& parents : kParents) {
    for (const uint32_t leaves : {64u, 65u, 200u, 256u, 1000u, 1024u, 16385u}) {
      if (leaves == 16385 && (parents != kParents[0] || kSanitized)) continue;
      const FatTree tree(leaves, parents);
      Dependencies chips(tree, {});
      chips.AddAllThatChipsAllow();
      EXPECT_TRUE(chips.Acyclic()) << leaves << " leaves";
    }
  }
}

TEST(Dependencies, OfRandomMachinesWithAndWithoutBrokenPartsGoRoundNowhere) {
  uint32_t closed_some = 0;
  ForEachSeed(200, [&](uint64_t seed) {
    Prng prng(seed);
    MachineSpec spec;
    spec.nodes = 1 + prng.Below(prng.Chance(1, 8) ? 200 : 60);
    spec.control_processors = prng.Below(3);
    spec.io_channels = prng.Below(3);
    spec.parents_per_level.assign(1 + prng.Below(4), 1);
    for (uint32_t& parents : spec.parents_per_level) parents = 1 + prng.Below(kParentsMax);
    const FatTree tree(spec.leaves(), spec.parents_per_level);
    const uint32_t broken = prng.Below(4);
    for (uint32_t i = 0; i < broken; ++i) spec.broken.push_back(RandomPart(tree, prng));
    const Health health(spec);
    for (int half = 0; half < 2; ++half) {
      const auto ways = health.ways(half);
      Dependencies routes(tree, {ways.begin(), ways.end()});
      const std::vector<uint32_t> nodes = health.Nodes();
      for (const uint32_t from : nodes) {
        for (int i = 0; i < 12; ++i) {
          routes.AddRoutes(from, nodes[prng.Below(static_cast<uint32_t>(nodes.size()))]);
        }
      }
      EXPECT_TRUE(routes.Acyclic());
      Dependencies chips(tree, {ways.begin(), ways.end()});
      chips.AddAllThatChipsAllow();
      EXPECT_TRUE(chips.Acyclic());
      EXPECT_TRUE(chips.Holds(routes)) << "a route takes a closed link";
      for (const ChipWays& chip : ways) closed_some += chip.closed[1] != 0 ? 1 : 0;
    }
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(closed_some, 100u);
}

// The test itself must notice a circle: a chip that sent up what came down.
TEST(Dependencies, ThatGoRoundAreFound) {
  const FatTree tree(16, {2});
  Dependencies chips(tree, {});
  chips.AddAllThatChipsAllow();
  ASSERT_TRUE(chips.Acyclic());
  const ChipId low = tree.chip(1, 0, 0);
  for (unsigned port = kChildren; port < kChildren + tree.parents(1); ++port) {
    const FatTreePeer above = tree.peer(low, port);
    chips.Add(Dependencies::Output(above.id, above.port), Dependencies::Output(low, port));
  }
  EXPECT_FALSE(chips.Acyclic());
}

}  // namespace
}  // namespace vcm5
