// All-fall-down mode on random machines with random traffic, in one to five parts (DN7): chips go
// into the mode in any order while messages are everywhere; everything falls, exactly once and
// evenly, although no node receives; and what fell is sent again and arrives (RegionWorld stops at
// once if anything is lost, duplicated or altered).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/region_world.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using Fallen = RegionWorld::Fallen;

template <class T>
void Shuffle(std::vector<T>* items, Prng* prng) {
  for (size_t i = items->size(); i > 1; --i) {
    std::swap((*items)[i - 1], (*items)[prng->Below(static_cast<uint32_t>(i))]);
  }
}

// Messages that began to fall in each chip since the last look.
class FallWatch {
 public:
  explicit FallWatch(const RegionWorld& world) : world_(world), before_(world.tree().chips()) {}

  std::vector<uint64_t> Take() {
    std::vector<uint64_t> began(before_.size());
    for (ChipId chip = 0; chip < before_.size(); ++chip) {
      const uint64_t now = world_.chip(chip).stats().began_to_fall;
      began[chip] = now - std::exchange(before_[chip], now);
    }
    return began;
  }

 private:
  const RegionWorld& world_;
  std::vector<uint64_t> before_;
};

std::vector<uint32_t> LoadOfLeaves(const RegionWorld& world, const std::vector<Fallen>& fallen) {
  std::vector<uint32_t> load(world.tree().leaves());
  for (const Fallen& message : fallen) load[message.leaf]++;
  return load;
}

// What switches/data/fall_down.h proves: for each leaf the sum of (4/3 S(v) + 11/3 K(v)) / L(v).
void ExpectEven(const RegionWorld& world, const std::vector<uint64_t>& began,
                const std::vector<Fallen>& fallen, const std::string& what) {
  const FatTree& tree = world.tree();
  std::vector<double> most(tree.leaves());
  for (unsigned level = 1; level <= tree.levels(); ++level) {
    const uint32_t chips = tree.chips_per_node(level);
    for (uint32_t node = 0; node < tree.nodes_at(level); ++node) {
      double messages = 0;
      for (uint32_t i = 0; i < chips; ++i) {
        messages += static_cast<double>(began[tree.chip(level, node, i)]);
      }
      const uint32_t first = node << (2 * level);
      const uint32_t last = std::min((node + 1) << (2 * level), tree.leaves());
      for (uint32_t leaf = first; leaf < last; ++leaf) {
        most[leaf] += (4 * messages + 11 * chips) / (3.0 * (last - first));
      }
    }
  }
  const std::vector<uint32_t> load = LoadOfLeaves(world, fallen);
  for (uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    ASSERT_LE(load[leaf], most[leaf] + 1e-6) << "leaf " << leaf << " of " << what;
  }
}

class FallRun {
 public:
  explicit FallRun(uint64_t seed)
      : prng_(seed), shape_(MakeShape(prng_)), world_(shape_), watch_(world_) {
    hot_ = prng_.Below(shape_.leaves);
    hot_spot_ = prng_.Chance(1, 3) ? prng_.Below(9) : 0;
    send_ = 1 + prng_.Below(8);
    receive_ = prng_.Chance(1, 3) ? 0 : prng_.Below(9);
    order_.resize(world_.tree().chips());
    std::iota(order_.begin(), order_.end(), 0u);
  }

  void Traffic(uint32_t steps) {
    for (uint32_t step = 0; step < steps; ++step) Step();
    world_.Check();
  }

  // Chips enter the mode one after the other, while everybody goes on.
  void Enter() {
    Shuffle(&order_, &prng_);
    const uint32_t hurry = 1 + world_.tree().chips() / 20 + prng_.Below(40);
    for (const ChipId chip : order_) {
      world_.SetAllFallDown(chip, true);
      if (prng_.Chance(1, hurry)) Step();
    }
    world_.Check();
  }

  // Nobody sends or receives any more.
  std::vector<Fallen> Drain() {
    unsigned moved = 1;
    while (moved != 0) {
      moved = 0;
      for (uint32_t part = 0; part < world_.parts(); ++part) moved += world_.Run(part);
      for (uint32_t wire = 0; wire < world_.wires(); ++wire) moved += world_.MoveWire(wire, ~0u);
    }
    world_.Check();
    EXPECT_TRUE(world_.Idle()) << shape_.Describe();
    std::vector<Fallen> fallen = world_.TakeFallen();
    std::set<uint32_t> ids;
    for (const Fallen& message : fallen) ids.insert(message.packet.words[0]);
    EXPECT_EQ(ids.size(), fallen.size()) << "a message fell twice";
    EXPECT_EQ(fallen.size(), world_.sent() - world_.delivered()) << shape_.Describe();
    ExpectEven(world_, watch_.Take(), fallen, shape_.Describe());
    return fallen;
  }

  // Back, in another order, and everything is sent again while other traffic goes on.
  void Leave(std::vector<Fallen> fallen) {
    Shuffle(&order_, &prng_);
    for (const ChipId chip : order_) world_.SetAllFallDown(chip, false);
    world_.Check();
    Shuffle(&fallen, &prng_);
    receive_ = std::max(receive_, 1u);  // the contract
    while (!fallen.empty()) {
      std::erase_if(fallen, [&](const Fallen& message) { return world_.Resend(message); });
      Step();
    }
    world_.Check();
  }

  void Settle() {
    world_.Settle();
    world_.Check();
    EXPECT_TRUE(world_.Idle()) << shape_.Describe();
    EXPECT_EQ(world_.delivered(), world_.sent()) << shape_.Describe();
  }

  Prng& prng() { return prng_; }

 private:
  static WorldShape MakeShape(Prng& prng) {
    WorldShape shape = WorldShape::Random(prng);
    if (prng.Chance(1, 20)) shape.leaves = 100 + prng.Below(201);
    return shape;
  }

  void Step() {
    for (uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
      while (prng_.Chance(send_, 10)) {
        const uint32_t to = prng_.Chance(hot_spot_, 8) ? hot_ : prng_.Below(shape_.leaves);
        if (!world_.Send(leaf, to, 1 + prng_.Below(shape_.words_max), prng_.Below(kTags))) break;
      }
      if (prng_.Chance(receive_, 8)) world_.Receive(leaf, 1 + prng_.Below(shape_.leaf_credit));
    }
    for (uint32_t part = 0; part < world_.parts(); ++part) {
      if (prng_.Chance(6, 8)) world_.Run(part);
    }
    for (uint32_t wire = 0; wire < world_.wires(); ++wire) {
      if (prng_.Chance(6, 8)) world_.MoveWire(wire, 1 + prng_.Below(4));
    }
  }

  Prng prng_;
  WorldShape shape_;
  RegionWorld world_;
  FallWatch watch_;
  uint32_t hot_;
  uint32_t hot_spot_;  // messages that go to hot_, in 8
  uint32_t send_;
  uint32_t receive_;
  std::vector<ChipId> order_;
};

TEST(AllFallDown, EverythingFallsOnceAndEvenlyAndArrivesWhenSentAgain) {
  uint64_t fallen_in_all = 0;
  ForEachSeed(200, [&](uint64_t seed) {
    FallRun run(seed);
    const uint32_t cuts = 1 + run.prng().Below(3);
    for (uint32_t cut = 0; cut < cuts; ++cut) {
      run.Traffic(run.prng().Below(60));
      run.Enter();
      std::vector<Fallen> fallen = run.Drain();
      fallen_in_all += fallen.size();
      run.Leave(std::move(fallen));
    }
    run.Settle();
  });
  RecordProperty("fallen", std::to_string(fallen_in_all));
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(fallen_in_all, 10000u) << "the seeds make too little traffic to mean anything";
}

// Fills every buffer of the network with messages for `hot`, which receives none; then all fall.
void FillAndFall(const WorldShape& shape, uint32_t hot, bool at_once) {
  RegionWorld world(shape);
  for (bool sent = true; sent;) {
    sent = false;
    for (uint32_t leaf = 0; leaf < shape.leaves; ++leaf) sent |= world.Send(leaf, hot, 5, 0);
    while (world.Run(0) != 0) sent = true;
  }
  Prng prng(shape.leaves + shape.depth);
  std::vector<ChipId> order(world.tree().chips());
  std::iota(order.begin(), order.end(), 0u);
  Shuffle(&order, &prng);
  if (!at_once) {
    std::stable_sort(order.begin(), order.end(), [&](ChipId a, ChipId b) {
      return world.tree().place(a).level > world.tree().place(b).level;
    });
  }
  for (const ChipId chip : order) {
    world.SetAllFallDown(chip, true);
    if (at_once || !prng.Chance(1, 3)) continue;
    world.Run(0);
    for (uint32_t leaf = 0; leaf < shape.leaves; ++leaf) world.Send(leaf, hot, 5, 0);
  }
  while (world.Run(0) != 0) {
  }
  world.Check();
  ASSERT_TRUE(world.Idle());
  const std::vector<Fallen> fallen = world.TakeFallen();
  ASSERT_EQ(fallen.size(), world.sent() - world.delivered());
  const std::vector<uint32_t> load = LoadOfLeaves(world, fallen);
  const double mean = static_cast<double>(fallen.size()) / shape.leaves;
  const double most = (at_once ? 4.0 / 3 : 1.5) * mean + 2;
  EXPECT_LE(*std::max_element(load.begin(), load.end()), most) << shape.Describe();
}

// "Even if all messages were headed for the same destination processor." The chips enter the mode
// in any order between two turns, or level by level from the top while nodes go on sending. If
// turns follow when a chip near that node is the first, all of it falls there: nothing is lost
// then, but the few below that chip get the more.
TEST(AllFallDown, WhatIsAllHeadedForOneNodeFallsEvenlyOnAll) {
  static const std::vector<uint32_t> kParents[] = {{2, 2, 4}, {4}, {2}, {2, 4}};
  static constexpr uint32_t kLeaves[] = {4, 16, 64, 256};
  for (const auto& parents : kParents) {
    for (const uint32_t leaves : kLeaves) {
      for (const uint32_t depth : {1u, 2u, 8u}) {
        WorldShape shape;
        shape.leaves = leaves;
        shape.parents_per_level = parents;
        shape.depth = depth;
        const uint32_t hot = (leaves + depth) * 5 / 3 % leaves;
        for (const bool at_once : {true, false}) FillAndFall(shape, hot, at_once);
      }
    }
  }
}

}  // namespace
}  // namespace vcm5
