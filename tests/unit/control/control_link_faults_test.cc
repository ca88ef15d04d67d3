#include "switches/control/control_link_faults.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/base/prng.h"
#include "switches/control/control_network.h"

namespace vcm5 {
namespace {

using namespace control_body;

uint64_t Add(uint32_t word) {
  return MakeCombine(CombineOperation::kReduce, Combiner::kAdd, word, kFirst | kLast);
}

TEST(ControlLinkFaultsTest, StrikesThePacketsThatItSays) {
  ControlLinkFaults faults(4);
  faults.Add(2, {.bit = 3, .first = 2, .every = 3});
  for (uint32_t packet = 1; packet <= 9; ++packet) {
    ControlPacket sent = SealControlPacket(Add(packet));
    sent = faults.Carry(1, sent);
    EXPECT_TRUE(ControlPacketCrcGood(sent));
    sent = faults.Carry(2, sent);
    EXPECT_EQ(ControlPacketCrcGood(sent), packet % 3 != 2) << packet;
    EXPECT_EQ(sent.body, packet % 3 == 2 ? Add(packet) ^ 8 : Add(packet));
  }
  EXPECT_EQ(faults.flipped(), 3u);
}

TEST(ControlLinkFaultsTest, EveryBitOfAPacketIsChecked) {
  for (uint32_t bit = 0; bit < ControlLinkFault::kBits; ++bit) {
    ControlLinkFaults faults(1);
    faults.Add(0, {.bit = bit});
    ControlPacket packet = SealControlPacket(Add(bit));
    packet = faults.Carry(0, packet);
    EXPECT_FALSE(ControlPacketCrcGood(packet)) << bit;
  }
}

struct Told {
  std::vector<ControlEvent> events;
  std::vector<uint32_t> reports;  // by leaf
  uint32_t damaged = 0;           // packets that came to leaves
  uint32_t results = 0;           // words, all right
};

// Two sums over all leaves; packets to leaves are checked as their network interfaces do.
Told TwoSums(uint32_t leaves, const std::vector<ControlLinkFault>& faults) {
  ControlNetworkOptions options;
  options.link_faults = faults;
  ControlNetwork network(BinaryTree::Balanced(leaves), options);
  Told told;
  told.reports.resize(leaves);
  for (uint32_t round = 0; round < 2; ++round) {
    for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
      network.HandlePacket(leaf, SealControlPacket(Add(leaf + round)));
    }
    do {
      network.Run();
      for (const ControlDeparture& departure : network.departures()) {
        const uint64_t body = departure.packet.body;
        if (!ControlPacketCrcGood(departure.packet)) {
          ++told.damaged;
        } else if (Type(body) == ControlType::kMultipleSource) {
          EXPECT_EQ(Word(body), leaves * (leaves - 1) / 2 + round * leaves);
          ++told.results;
        } else if (Operation(body) == static_cast<uint32_t>(IdleOperation::kError)) {
          EXPECT_EQ(FaultOf(body), ControlFault::kCrc);
          ++told.reports[departure.leaf];
        }
      }
      network.ClearDepartures();
    } while (network.HasWork());
  }
  network.CheckInvariants();
  told.events.assign(network.events().begin(), network.events().end());
  return told;
}

TEST(ControlLinkFaultsTest, DamageOnEachLinkIsFoundAtItsEndAndToldToAll) {
  constexpr uint32_t kLeaves = 8;
  for (uint32_t leaf = 0; leaf < kLeaves; ++leaf) {
    for (uint32_t height = 1; height <= 3; ++height) {
      for (const bool down : {false, true}) {
        for (uint32_t packet = 1; packet <= 2; ++packet) {
          const Told told =
              TwoSums(kLeaves, {{.leaf = leaf, .height = height, .down = down, .bit = packet,
                             .first = packet}});
          if (down && height == 1) {
            EXPECT_EQ(told.damaged, 1u);
            EXPECT_EQ(told.events.size(), 0u);
            continue;
          }
          ASSERT_EQ(told.events.size(), 1u);
          const ControlEvent& event = told.events[0];
          EXPECT_EQ(event.fault, ControlFault::kCrc);
          EXPECT_EQ(event.down, down);
          EXPECT_EQ(event.party[0].first, leaf >> (height - 1) << (height - 1));
          EXPECT_EQ(event.party[0].last, event.party[0].first + (1u << (height - 1)) - 1);
          EXPECT_EQ(told.reports, std::vector<uint32_t>(kLeaves, 1));
        }
      }
    }
  }
}

TEST(ControlLinkFaultsTest, AboveTheRootIsNoLink) {
  EXPECT_EQ(TwoSums(8, {{.leaf = 3, .height = 4, .first = 1, .every = 1}}).results, 16u);
  EXPECT_EQ(TwoSums(8, {{.leaf = 3, .height = 32, .down = true, .first = 1, .every = 1}}).results, 16u);
  EXPECT_EQ(TwoSums(1, {{.leaf = 0, .height = 2, .first = 1, .every = 1}}).results, 2u);
  EXPECT_EQ(TwoSums(1, {{.leaf = 0, .height = 1, .first = 1, .every = 1}}).results, 0u);
}

// Reports are damaged, too, and what is told of that; nothing overflows, and no result is wrong.
TEST(ControlLinkFaultsTest, ManyFaultsThatStrikeAlways) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Prng prng(seed);
    const uint32_t leaves = 1 + prng.Below(70);
    std::vector<ControlLinkFault> faults(prng.Below(100));
    for (ControlLinkFault& fault : faults) {
      fault = {.leaf = prng.Below(leaves), .height = 1 + prng.Below(8),
               .down = prng.Chance(1, 2), .bit = prng.Below(ControlLinkFault::kBits),
               .first = 1 + prng.Below(2), .every = 1 + prng.Below(2)};
    }
    TwoSums(leaves, faults);
  }
}

}  // namespace
}  // namespace vcm5
