// The network's contract when processors do not keep theirs: it fills, refuses, never grows, keeps
// serving those whose way is free, and delivers everything once they receive.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/region_world.h"

namespace vcm5 {
namespace {

// Everything moves except the leaves.
void SettleWithoutReceiving(RegionWorld& world) {
  unsigned moved = 1;
  while (moved != 0) {
    moved = 0;
    for (uint32_t part = 0; part < world.parts(); ++part) moved += world.Run(part);
    for (uint32_t wire = 0; wire < world.wires(); ++wire) moved += world.MoveWire(wire, ~0u);
  }
}

class FullNetwork : public ::testing::TestWithParam<uint32_t> {};

TEST_P(FullNetwork, RefusesWhenItsBuffersAreFullAndDeliversAllLater) {
  WorldShape shape;
  shape.leaves = 50;
  shape.parts = GetParam();
  RegionWorld world(shape);
  bool accepted = true;
  for (int round = 0; accepted; ++round) {
    ASSERT_LE(world.sent(), world.Capacity());
    accepted = false;
    for (uint32_t leaf = 0; leaf < shape.leaves; ++leaf) {
      while (world.Send(leaf, (leaf * 7 + static_cast<uint32_t>(round)) % shape.leaves, 5, 0)) {
        accepted = true;
      }
    }
    SettleWithoutReceiving(world);
    world.Check();
  }
  for (uint32_t leaf = 0; leaf < shape.leaves; ++leaf) EXPECT_FALSE(world.Send(leaf, 0, 1, 0));
  EXPECT_FALSE(world.Idle());
  world.Settle();
  world.Check();
  EXPECT_TRUE(world.Idle());
  EXPECT_EQ(world.delivered(), world.sent());
}

TEST_P(FullNetwork, AHotSpotDoesNotStopTrafficWhoseWayIsFree) {
  WorldShape shape;
  shape.leaves = 64;
  shape.parts = GetParam();
  RegionWorld world(shape);
  // Leaves 0 to 3 choke leaf 0, which receives nothing; the other leaves talk among themselves.
  uint32_t others = 0;
  for (uint32_t round = 0; round < 200; ++round) {
    for (uint32_t leaf = 0; leaf < 4; ++leaf) {
      while (world.Send(leaf, 0, 5, 0)) {
      }
    }
    for (uint32_t leaf = 4; leaf < shape.leaves; ++leaf) {
      if (world.Send(leaf, 4 + (leaf * 11 + round) % 60, 5, 0)) ++others;
    }
    for (int turn = 0; turn < 20; ++turn) {
      SettleWithoutReceiving(world);
      for (uint32_t leaf = 1; leaf < shape.leaves; ++leaf) world.Receive(leaf, ~0u);
    }
    world.Check();
  }
  EXPECT_EQ(others, 200u * 60u) << "nobody else was refused";
  EXPECT_EQ(world.delivered() - shape.leaf_credit, others);
  EXPECT_EQ(world.waiting_at(0), shape.leaf_credit);
  world.Settle();
  EXPECT_EQ(world.delivered(), world.sent());
}

INSTANTIATE_TEST_SUITE_P(Parts, FullNetwork, ::testing::Values(1, 2, 5));

}  // namespace
}  // namespace vcm5
