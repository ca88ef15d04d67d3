#include "switches/control/control_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "runtime/base/prng.h"

namespace vcm5 {
namespace {

using namespace control_body;

constexpr uint64_t kWhole = kFirst | kLast;

uint64_t Add(uint32_t word) {
  return MakeCombine(CombineOperation::kReduce, Combiner::kAdd, word, kWhole);
}
void Send(ControlNetwork& network, uint32_t leaf, uint64_t body) {
  network.HandlePacket(leaf, SealControlPacket(body));
}
std::vector<ControlDeparture> RunAll(ControlNetwork& network) {
  std::vector<ControlDeparture> all;
  do {
    network.Run();
    all.insert(all.end(), network.departures().begin(), network.departures().end());
    network.ClearDepartures();
  } while (network.HasWork());
  network.CheckInvariants();
  return all;
}

TEST(ControlNetworkTest, ReducesOverAllLeaves) {
  ControlNetwork network(BinaryTree::Balanced(5));
  for (uint32_t leaf = 0; leaf < 5; ++leaf) Send(network, leaf, Add(leaf + 1));
  const std::vector<ControlDeparture> departures = RunAll(network);
  ASSERT_EQ(departures.size(), 5u);
  for (const ControlDeparture& departure : departures) {
    EXPECT_EQ(departure.packet.body, Add(15));
    EXPECT_TRUE(ControlPacketCrcGood(departure.packet));
  }
  EXPECT_EQ(network.stats().operations[0], 1u);
  EXPECT_EQ(network.link_count(3).up, 1u);
  EXPECT_EQ(network.link_count(3).down, 1u);
}

TEST(ControlNetworkTest, ScansThePapersExample) {
  ControlNetwork network(BinaryTree::Balanced(8));
  const uint32_t values[] = {3, 2, 0, 4, 2, 6, 5, 8};
  const uint32_t results[] = {0, 3, 5, 5, 9, 11, 17, 22};
  for (uint32_t leaf = 0; leaf < 8; ++leaf) {
    Send(network, leaf,
         MakeCombine(CombineOperation::kScanForward, Combiner::kAdd, values[leaf], kWhole));
  }
  const std::vector<ControlDeparture> departures = RunAll(network);
  ASSERT_EQ(departures.size(), 8u);
  for (const ControlDeparture& departure : departures) {
    EXPECT_EQ(Word(departure.packet.body), results[departure.leaf]);
  }
}

TEST(ControlNetworkTest, OneLeafIsItsOwnRoot) {
  ControlNetwork network(BinaryTree::Balanced(1));
  Send(network, 0, Add(7));
  const std::vector<ControlDeparture> departures = RunAll(network);
  ASSERT_EQ(departures.size(), 1u);
  EXPECT_EQ(departures[0].packet.body, Add(7));
}

TEST(ControlNetworkTest, PausesWhenDeparturesAreFull) {
  ControlNetworkOptions options;
  options.departures_max = 3;
  ControlNetwork network(BinaryTree::Balanced(8), options);
  Send(network, 0, MakeBroadcast(BroadcastOperation::kUser, 1, kWhole));
  network.Run();
  EXPECT_EQ(network.departures().size(), 3u);
  EXPECT_TRUE(network.HasWork());
  EXPECT_EQ(RunAll(network).size(), 8u);
  EXPECT_EQ(network.stats().departure_stalls, 3u);
}

TEST(ControlNetworkTest, BroadcastsReachTheSourceToo) {
  ControlNetwork network(BinaryTree::Balanced(3));
  Send(network, 1, MakeBroadcast(BroadcastOperation::kUser, 9, kWhole));
  const std::vector<ControlDeparture> departures = RunAll(network);
  ASSERT_EQ(departures.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(departures[i].leaf, i);
}

TEST(ControlNetworkTest, DifferentOperationsAreSignalledToAllLeaves) {
  ControlNetwork network(BinaryTree::Balanced(4));
  Send(network, 2, Add(1));
  Send(network, 3, MakeCombine(CombineOperation::kReduce, Combiner::kXor, 1, kWhole));
  const std::vector<ControlDeparture> departures = RunAll(network);
  ASSERT_EQ(departures.size(), 8u);
  for (uint32_t leaf = 0; leaf < 4; ++leaf) {
    EXPECT_EQ(departures[leaf].leaf, leaf);
    EXPECT_EQ(departures[leaf].packet.body, MakeParties(2, 3));
    EXPECT_EQ(departures[4 + leaf].leaf, leaf);
    EXPECT_EQ(FaultOf(departures[4 + leaf].packet.body), ControlFault::kMismatch);
    EXPECT_EQ(CombinerOf(ReportedBody(departures[4 + leaf].packet.body, 0)), Combiner::kAdd);
    EXPECT_EQ(CombinerOf(ReportedBody(departures[4 + leaf].packet.body, 1)), Combiner::kXor);
  }
  ASSERT_EQ(network.events().size(), 1u);
  EXPECT_EQ(network.events()[0].fault, ControlFault::kMismatch);
  EXPECT_EQ(network.events()[0].id, network.tree().parent(2));
}

TEST(ControlNetworkTest, SubtreesThatDifferAreNamedByTheirLeaves) {
  ControlNetwork network(BinaryTree::Balanced(8));
  for (uint32_t leaf = 0; leaf < 8; ++leaf) {
    Send(network, leaf,
         MakeCombine(leaf < 4 ? CombineOperation::kReduce : CombineOperation::kScanForward,
                     Combiner::kAdd, 1, kWhole));
  }
  RunAll(network);
  ASSERT_EQ(network.events().size(), 1u);
  const ControlEvent& event = network.events()[0];
  EXPECT_EQ(event.party[0].first, 0u);
  EXPECT_EQ(event.party[0].last, 3u);
  EXPECT_EQ(event.party[1].first, 4u);
  EXPECT_EQ(event.party[1].last, 7u);
}

TEST(ControlNetworkTest, ACollisionNamesItsTwoSources) {
  for (uint32_t first = 0; first < 16; ++first) {
    for (uint32_t second = 0; second < 16; ++second) {
      if (first == second) continue;
      ControlNetwork network(BinaryTree::Balanced(16));
      // Others have broadcast before.
      for (uint32_t leaf = 0; leaf < 16; ++leaf) {
        Send(network, leaf, MakeBroadcast(BroadcastOperation::kUtility, 0, kWhole));
      }
      Send(network, first, MakeBroadcast(BroadcastOperation::kUtility, 1, kFirst));
      Send(network, second, MakeBroadcast(BroadcastOperation::kUtility, 2, kFirst));
      Send(network, second, MakeBroadcast(BroadcastOperation::kSupervisor, 3, kWhole));
      std::vector<ControlDeparture> departures = RunAll(network);
      ASSERT_EQ(network.events().size(), 1u);
      const ControlEvent& event = network.events()[0];
      EXPECT_EQ(event.fault, ControlFault::kBroadcastCollision);
      EXPECT_EQ(event.party[0].first, std::min(first, second));
      EXPECT_EQ(event.party[1].first, std::max(first, second));
      // Another kind is another matter.
      EXPECT_EQ(departures.back().packet.body,
                MakeBroadcast(BroadcastOperation::kSupervisor, 3, kWhole));
    }
  }
}

TEST(ControlNetworkTest, WhatALeafNoticesIsSignalledToAllInItsName) {
  ControlNetwork network(BinaryTree::Balanced(3));
  Send(network, 2, MakeError(ControlFault::kBroadcastCollision, 0, 0));
  const std::vector<ControlDeparture> departures = RunAll(network);
  ASSERT_EQ(departures.size(), 6u);
  EXPECT_EQ(departures[0].packet.body, MakeParties(2, 2));
  ASSERT_EQ(network.events().size(), 1u);
  EXPECT_EQ(network.events()[0].id, 2u);
  EXPECT_FALSE(WellFormed(MakeParties(1, 2)));  // from a leaf
  EXPECT_FALSE(WellFormed(MakeError(ControlFault::kNone, 0, 0)));
  EXPECT_FALSE(WellFormed(MakeError(static_cast<ControlFault>(15), 0, 0)));
}

TEST(ControlNetworkTest, AHardErrorOfOneLeafIsOneOfAll) {
  ControlNetwork network(BinaryTree::Balanced(5));
  Send(network, 3, MakeSynchronise(kSyncHardError));
  Send(network, 0, MakeSynchronise(kSyncUser));
  std::vector<ControlDeparture> departures = RunAll(network);
  ASSERT_EQ(departures.size(), 10u);
  for (uint32_t leaf = 0; leaf < 5; ++leaf) {
    EXPECT_EQ(departures[leaf].packet.body, MakeSynchronise(kSyncHardError));
    EXPECT_EQ(departures[5 + leaf].packet.body, MakeSynchronise(kSyncHardError | kSyncUser));
  }
}

TEST(ControlNetworkTest, SingleSourcePacketsOvertakeWaitingMultipleSourceOnes) {
  ControlNetwork network(BinaryTree::Balanced(4));
  for (uint32_t leaf = 0; leaf < 3; ++leaf) Send(network, leaf, Add(leaf));
  for (unsigned kind = 0; kind < kBroadcastClasses; ++kind) {
    Send(network, 0, MakeBroadcast(static_cast<BroadcastOperation>(kind), kind, kWhole));
    const std::vector<ControlDeparture> departures = RunAll(network);
    ASSERT_EQ(departures.size(), 4u);
    EXPECT_EQ(Operation(departures[3].packet.body), kind);
  }
  Send(network, 3, Add(3));
  EXPECT_EQ(RunAll(network).size(), 4u);
}

TEST(ControlNetworkTest, ADamagedPacketIsDroppedAndSignalled) {
  ControlNetwork network(BinaryTree::Balanced(4));
  for (int bit = 0; bit < 51; ++bit) {
    ControlPacket packet = SealControlPacket(Add(0x12345678));
    packet.body ^= uint64_t{1} << bit;
    network.HandlePacket(1, packet);
  }
  const std::vector<ControlDeparture> departures = RunAll(network);
  EXPECT_EQ(departures.size(), 8u);  // told once
  EXPECT_EQ(network.stats().faults[static_cast<unsigned>(ControlFault::kCrc)], 51u);
}

// What one leaf sends next must not be taken for what was dropped: not even of a stream in which
// nothing was under way, and not where the damage was not seen.
TEST(ControlNetworkTest, NothingIsCombinedOrBroadcastAfterDamage) {
  ControlNetwork network(BinaryTree::Balanced(8));
  ControlPacket damaged = SealControlPacket(Add(1));
  damaged.crc ^= 1;
  network.HandlePacket(5, damaged);
  RunAll(network);
  for (uint32_t leaf = 0; leaf < 8; ++leaf) {
    Send(network, leaf, Add(1));
    Send(network, leaf, MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 0, kWhole));
  }
  Send(network, 0, MakeBroadcast(BroadcastOperation::kUser, 3, kWhole));
  EXPECT_EQ(RunAll(network).size(), 0u);
  Send(network, 1, MakeSynchronise(kSyncHardError));
  EXPECT_EQ(RunAll(network).size(), 8u);
}

TEST(ControlNetworkTest, MalformedPacketsAreFaultsAndNoMore) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Prng random(seed);
    ControlNetwork network(BinaryTree::Balanced(1 + random.Below(9)));
    for (int i = 0; i < 200; ++i) {
      uint64_t body = random.Next();
      if (random.Chance(3, 4)) body &= ~kZeroMask & ~(uint64_t{3} << kFlowShift);
      Send(network, random.Below(network.tree().leaves()), body);
      if (random.Chance(1, 4)) RunAll(network);
    }
    RunAll(network);
    EXPECT_GT(network.stats().faults[static_cast<unsigned>(ControlFault::kBadPacket)], 0u);
  }
}

TEST(ControlNetworkTest, EventsAreBounded) {
  ControlNetworkOptions options;
  options.events_max = 2;
  ControlNetwork network(BinaryTree::Balanced(2), options);
  for (int i = 0; i < 5; ++i) Send(network, 0, ~uint64_t{0});
  RunAll(network);
  EXPECT_EQ(network.events().size(), 2u);
  EXPECT_EQ(network.stats().events_dropped, 3u);
}

TEST(ControlNetworkTest, HeldToInputSpace) {
  ControlNetworkOptions options;
  options.inputs_max = 2;
  ControlNetwork network(BinaryTree::Balanced(2), options);
  Send(network, 0, Add(1));
  EXPECT_EQ(network.input_space(), 1u);
  Send(network, 0, Add(1));
  EXPECT_EQ(network.input_space(), 0u);
  EXPECT_DEATH(Send(network, 0, Add(1)), "input_space");
  EXPECT_DEATH(Send(network, 2, Add(1)), "no such leaf");
}

TEST(BinaryTreeTest, BalancedTreesAreBinaryOrderedAndNoDeeperThanNeeded) {
  for (uint32_t leaves = 1; leaves <= 300; ++leaves) {
    const BinaryTree tree = BinaryTree::Balanced(leaves);
    EXPECT_EQ(tree.nodes(), leaves - 1);
    EXPECT_EQ(uint32_t{1} << tree.height(), std::bit_ceil(leaves));
    EXPECT_EQ(tree.parent(tree.root()), BinaryTree::kNone);
    for (uint32_t id = 0; id < tree.ids(); ++id) {
      if (id == tree.root()) continue;
      EXPECT_EQ(tree.child(tree.parent(id), tree.side(id)), id);
    }
  }
}

TEST(BinaryTreeTest, AnyShapeWithLeavesInOrderWillDo) {
  const BinaryTree::Children chain[] = {{0, 4}, {1, 2}};  // leaves 0..2, nodes 3 and 4
  const absl::StatusOr<BinaryTree> tree = BinaryTree::FromNodes(chain);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->leaves(), 3u);
  EXPECT_EQ(tree->height(), 2u);
  EXPECT_EQ(tree->child(tree->root(), 0), 0u);
}

TEST(BinaryTreeTest, RefusesWhatIsNoTree) {
  using Nodes = std::vector<BinaryTree::Children>;
  EXPECT_FALSE(BinaryTree::FromNodes(Nodes{{1, 0}}).ok());          // out of order
  EXPECT_FALSE(BinaryTree::FromNodes(Nodes{{0, 0}}).ok());          // twice
  EXPECT_FALSE(BinaryTree::FromNodes(Nodes{{0, 9}}).ok());          // no such id
  EXPECT_FALSE(BinaryTree::FromNodes(Nodes{{0, 1}, {4, 2}}).ok());  // a ring
  EXPECT_TRUE(BinaryTree::FromNodes(Nodes{}).ok());                 // one leaf
}

}  // namespace
}  // namespace vcm5
