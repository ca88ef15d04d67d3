// A partition is a subtree (paper section 3; DN9): what its members say to each other uses no link
// above it, and they do not notice what is said elsewhere, however much that is.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/base/prng.h"
#include "tests/support/region_world.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// The leaves below tree node (level, node).
struct Subtree {
  unsigned level;
  uint32_t node;
  uint32_t first;
  uint32_t last;  // one past

  static Subtree Random(const FatTree& tree, Prng& prng) {
    const unsigned level = 1 + prng.Below(tree.levels());
    const uint32_t node = prng.Below(tree.nodes_at(level));
    const uint32_t first = node << (2 * level);
    return {level, node, first, std::min(first + (1u << (2 * level)), tree.leaves())};
  }
  uint32_t size() const { return last - first; }
  uint32_t Leaf(Prng& prng) const { return first + prng.Below(size()); }
  bool Contains(uint32_t leaf) const { return leaf >= first && leaf < last; }
  bool Contains(const ChipPlace& chip) const {
    return chip.level <= level && chip.node >> (2 * (level - chip.level)) == node;
  }
};

WorldShape RandomShape(Prng& prng) {
  WorldShape shape = WorldShape::Random(prng);
  shape.leaves = 5 + prng.Below(70);
  shape.parts = 1;
  shape.leaf_credit = 4;
  return shape;
}

// What has happened in the chips of a subtree.
std::vector<uint64_t> CountsIn(RegionWorld& world, const Subtree& subtree) {
  std::vector<uint64_t> counts;
  const Region& region = world.region(0);
  for (uint32_t i = 0; i < region.chips(); ++i) {
    if (!subtree.Contains(world.tree().place(region.chip_id(i)))) continue;
    const RouterChipStats stats = region.chip(i).stats();
    counts.insert(counts.end(), std::begin(stats.in), std::end(stats.in));
    counts.insert(counts.end(), std::begin(stats.out), std::end(stats.out));
    counts.push_back(stats.stalled_up);
    counts.push_back(stats.stalled_down);
  }
  return counts;
}

TEST(Subtrees, LocalTrafficUsesNoLinkAboveItsSubtree) {
  uint64_t hops = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    Prng prng(seed);
    RegionWorld world(RandomShape(prng));
    const Subtree local = Subtree::Random(world.tree(), prng);
    for (uint32_t message = 0; message < 20 * local.size(); ++message) {
      world.Send(local.Leaf(prng), local.Leaf(prng), 1 + prng.Below(5), 0);
      if (prng.Chance(1, 3)) world.Run(0);
      if (prng.Chance(1, 3)) world.Receive(local.Leaf(prng), 4);
    }
    world.Settle();
    ASSERT_EQ(world.delivered(), world.sent());
    const Region& region = world.region(0);
    for (uint32_t i = 0; i < region.chips(); ++i) {
      const ChipPlace place = world.tree().place(region.chip_id(i));
      const RouterChipStats stats = region.chip(i).stats();
      const bool inside = local.Contains(place);
      for (unsigned port = 0; port < kChipPorts; ++port) {
        if (inside && (place.level < local.level || port < kChildren)) {
          hops += stats.out[port];
          continue;
        }
        ASSERT_EQ(stats.in[port] + stats.out[port], 0u)
            << "level " << place.level << " node " << place.node << " port " << port;
      }
    }
  });
  EXPECT_GT(hops, 1000u);
}

// Everything at the same time in two worlds; in one of them all leaves outside of the subtree
// besides send to each other as much as they can, and half of them never receive.
TEST(Subtrees, NoticeNothingOfTrafficElsewhere) {
  uint64_t elsewhere = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    Prng prng(seed);
    const WorldShape shape = RandomShape(prng);
    RegionWorld alone(shape);
    RegionWorld busy(shape);
    Subtree local = Subtree::Random(alone.tree(), prng);
    while (local.size() == shape.leaves) local = Subtree::Random(alone.tree(), prng);
    const auto outsider = [&] {
      const uint32_t leaf = prng.Below(shape.leaves - local.size());
      return leaf < local.first ? leaf : leaf + local.size();
    };
    for (int step = 0; step < 100; ++step) {
      for (uint32_t i = 0; i < 2 * local.size(); ++i) {
        const uint32_t from = local.Leaf(prng);
        const uint32_t to = local.Leaf(prng);
        const uint32_t length = 1 + prng.Below(5);
        ASSERT_EQ(alone.Send(from, to, length, 0), busy.Send(from, to, length, 0));
      }
      for (uint32_t i = 0; i < 3 * shape.leaves; ++i) {
        elsewhere += busy.Send(outsider(), outsider(), 5, 0) ? 1 : 0;
      }
      for (RegionWorld* world : {&alone, &busy}) {
        while (world->Run(0) != 0) {
        }
      }
      ASSERT_EQ(CountsIn(alone, local), CountsIn(busy, local)) << "step " << step;
      for (uint32_t leaf = 0; leaf < shape.leaves; ++leaf) {
        if (local.Contains(leaf)) {
          ASSERT_EQ(alone.waiting_at(leaf), busy.waiting_at(leaf));
          if (!prng.Chance(1, 2)) continue;
          alone.Receive(leaf, 2);
          busy.Receive(leaf, 2);
        } else if (leaf % 2 == 0) {
          busy.Receive(leaf, 4);
        }
      }
    }
    alone.Settle();
    busy.Settle();
    ASSERT_EQ(busy.delivered(), busy.sent());
  });
  EXPECT_GT(elsewhere, 10000u);
}

}  // namespace
}  // namespace vcm5
