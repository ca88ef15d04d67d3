// User broadcasts: every message reaches every leaf, the source included, whole and in order, with
// slow readers and any schedule; a window never overruns; two sources at once are noticed or
// harmless. VCM5_TEST_SEED=n runs seed n alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/property/control/control_world.h"

namespace vcm5 {
namespace {

template <class Body>
void ForSeeds(uint64_t count, Body&& body) {
  const char* only = std::getenv("VCM5_TEST_SEED");
  for (uint64_t seed = only ? std::strtoull(only, nullptr, 0) : 1;; ++seed) {
    SCOPED_TRACE("VCM5_TEST_SEED=" + std::to_string(seed));
    Prng random(seed);
    body(random);
    if (::testing::Test::HasFailure() || only || seed == count) return;
  }
}

bool Push(vcm5_port* program, const std::vector<uint32_t>& message) {
  vcm5_port_control_first(program, VCM5_FIFO_BROADCAST, 0, static_cast<uint32_t>(message.size()),
                          message[0]);
  for (size_t w = 1; w < message.size(); ++w) {
    vcm5_port_control_word(program, VCM5_FIFO_BROADCAST, message[w]);
  }
  return vcm5_port_control_send_ok(program, VCM5_FIFO_BROADCAST);
}

// Reads a whole message; empty if none has come.
std::vector<uint32_t> Read(vcm5_port* program) {
  std::vector<uint32_t> message;
  const vcm5_control_entry* head = vcm5_port_control_peek(program, VCM5_FIFO_BROADCAST);
  if (head == nullptr) return message;
  EXPECT_NE(head->control & VCM5_ENTRY_FIRST, 0u);
  const uint32_t length = VCM5_ENTRY_LENGTH_OF(head->control);
  for (uint32_t w = 0; w < length; ++w) {
    const vcm5_control_entry* entry = vcm5_port_control_peek(program, VCM5_FIFO_BROADCAST);
    EXPECT_NE(entry, nullptr);
    if (entry == nullptr) return message;
    EXPECT_EQ(VCM5_ENTRY_LENGTH_OF(entry->control), length);
    EXPECT_EQ((entry->control & VCM5_ENTRY_LAST) != 0, w + 1 == length);
    message.push_back(vcm5_port_control_receive_word(program, VCM5_FIFO_BROADCAST));
  }
  return message;
}

TEST(BroadcastProperty, EveryMessageReachesEveryLeafWholeAndInOrder) {
  ForSeeds(400, [](Prng& random) {
    const uint32_t leaves = 1 + random.Below(random.Chance(1, 8) ? 70 : 12);
    NiGeometry geometry = SmallGeometry();
    geometry.control_depth[VCM5_FIFO_BROADCAST] = 8u << random.Below(4);
    ControlWorld world(RandomTree(leaves, random), geometry);
    const auto depth = geometry.control_depth[VCM5_FIFO_BROADCAST];

    std::vector<std::vector<uint32_t>> messages;
    std::vector<uint32_t> sources;
    uint32_t source = random.Below(leaves);
    for (int m = 0; m < 40; ++m) {
      std::vector<uint32_t> message(1 + random.Below(std::min(8u, depth)));
      for (uint32_t& word : message) word = static_cast<uint32_t>(random.Next());
      messages.push_back(message);
      if (random.Chance(1, 5)) source = random.Below(leaves);
      sources.push_back(source);
    }
    std::vector<uint32_t> received(leaves);
    uint32_t next = 0;
    const uint32_t slow_reader = random.Below(leaves);
    for (uint32_t step = 0, left = leaves; left != 0; ++step) {
      ASSERT_LT(step, 4000000u) << "broadcasts do not arrive";
      world.RandomStep(random);
      // A source begins only when it has seen the messages of the one before it: then no two
      // broadcast at once.
      if (next < messages.size()) {
        const uint32_t s = sources[next];
        const bool seen_all_others = next == 0 || sources[next - 1] == s || received[s] == next;
        if (seen_all_others && random.Chance(1, 4) && Push(world.program(s), messages[next])) ++next;
      }
      const uint32_t reader = random.Below(leaves);
      if (reader == slow_reader && !random.Chance(1, 4)) continue;
      const std::vector<uint32_t> message = Read(world.program(reader));
      if (message.empty()) continue;
      ASSERT_LT(received[reader], next);
      ASSERT_EQ(message, messages[received[reader]]);
      if (++received[reader] == messages.size()) --left;
    }
    EXPECT_TRUE(world.network().events().empty());
    for (uint32_t i = 0; i < leaves; ++i) {
      EXPECT_EQ(world.port(i).network_fault(), ControlFault::kNone);
    }
  });
}

TEST(BroadcastProperty, AbstainingLeavesHoldNobodyUp) {
  ForSeeds(50, [](Prng& random) {
    const uint32_t leaves = 2 + random.Below(12);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    const uint32_t abstainer = 1 + random.Below(leaves - 1);
    vcm5_port_set_abstain(world.program(abstainer), VCM5_FIFO_BROADCAST, true);
    world.Settle();
    for (uint32_t m = 0; m < 50; ++m) {
      const std::vector<uint32_t> message(1 + random.Below(8), m);
      while (!Push(world.program(0), message)) world.Settle();
      world.Settle();
      for (uint32_t i = 0; i < leaves; ++i) {
        ASSERT_EQ(Read(world.program(i)).empty(), i == abstainer);
      }
      world.Settle();
    }
    vcm5_port_set_abstain(world.program(abstainer), VCM5_FIFO_BROADCAST, false);
    world.Settle();
    ASSERT_TRUE(Push(world.program(0), {1, 2, 3}));
    world.Settle();
    EXPECT_EQ(Read(world.program(abstainer)), (std::vector<uint32_t>{1, 2, 3}));
  });
}

TEST(BroadcastProperty, ASourceWaitsForTheSlowestReader) {
  ForSeeds(50, [](Prng& random) {
    const uint32_t leaves = 2 + random.Below(12);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    const uint32_t slowest = random.Below(leaves);
    uint32_t accepted = 0;
    for (int round = 0; round < 100; ++round) {
      if (Push(world.program(0), {accepted, 7})) ++accepted;
      world.Settle();
      for (uint32_t i = 0; i < leaves; ++i) {
        if (i != slowest) Read(world.program(i));
      }
    }
    // A window of 16 words in its incoming FIFO, and as many not yet taken from the source.
    EXPECT_EQ(accepted, 16u);
    for (uint32_t m = 0; m < accepted; ++m) {
      ASSERT_EQ(Read(world.program(slowest)), (std::vector<uint32_t>{m, 7}));
      world.Settle();
      for (uint32_t i = 0; i < leaves; ++i) {
        if (i != slowest) Read(world.program(i));
      }
      world.Settle();
    }
    EXPECT_TRUE(world.network().events().empty());
  });
}

TEST(BroadcastProperty, TwoSourcesAtOnceAreNoticedOrHarmless) {
  uint32_t noticed = 0;
  ForSeeds(200, [&](Prng& random) {
    const uint32_t leaves = 2 + random.Below(12);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    const uint32_t other = 1 + random.Below(leaves - 1);
    Push(world.program(0), {1, 2, 3, 4, 5, 6});
    Push(world.program(other), {11, 12, 13, 14, 15, 16});
    for (int step = 0; step < 2000; ++step) world.RandomStep(random);
    world.Settle();
    const bool fault = !world.network().events().empty();
    noticed += fault;
    for (uint32_t i = 0; i < leaves; ++i) {
      if (fault) {
        EXPECT_NE(world.port(i).network_fault(), ControlFault::kNone);
        EXPECT_EQ(world.network().events()[0].fault, ControlFault::kBroadcastCollision);
      } else {
        EXPECT_FALSE(Read(world.program(i)).empty());
        EXPECT_FALSE(Read(world.program(i)).empty());
      }
    }
  });
  if (std::getenv("VCM5_TEST_SEED") == nullptr) {
    EXPECT_GT(noticed, 10u);
  }
}

}  // namespace
}  // namespace vcm5
