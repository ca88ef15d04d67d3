// All four kinds of broadcast at once, with combines, barriers and both asynchronous ORs between
// them: each kind reaches every leaf that listens, whole and in order, none waits for another, no
// window overruns, and the errors of one kind are none of another.
#include <gtest/gtest.h>

#include <vector>

#include "tests/property/control/control_world.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using Message = std::vector<uint32_t>;

bool Push(ControlWorld& world, uint32_t leaf, int kind, const Message& message) {
  const auto length = static_cast<uint32_t>(message.size());
  if (kind != VCM5_BROADCAST_USER) {
    return vcm5_supervisor_broadcast(world.supervisor(leaf), kind, message.data(), length);
  }
  vcm5_port* program = world.program(leaf);
  vcm5_port_control_first(program, VCM5_FIFO_BROADCAST, 0, length, message[0]);
  for (uint32_t w = 1; w < length; ++w) {
    vcm5_port_control_word(program, VCM5_FIFO_BROADCAST, message[w]);
  }
  return vcm5_port_control_send_ok(program, VCM5_FIFO_BROADCAST);
}

// Reads a whole message; empty if none has come.
Message Read(ControlWorld& world, uint32_t leaf, int kind) {
  Message message;
  if (kind != VCM5_BROADCAST_USER) {
    message.resize(vcm5_supervisor_receive_length(world.supervisor(leaf), kind));
    for (uint32_t& word : message) {
      word = vcm5_supervisor_receive_word(world.supervisor(leaf), kind);
    }
    return message;
  }
  vcm5_port* program = world.program(leaf);
  const vcm5_control_entry* head = vcm5_port_control_peek(program, VCM5_FIFO_BROADCAST);
  if (head != nullptr) message.resize(VCM5_ENTRY_LENGTH_OF(head->control));
  for (uint32_t& word : message)
    word = vcm5_port_control_receive_word(program, VCM5_FIFO_BROADCAST);
  return message;
}

// What one kind has to say, who says it, and who has heard how much.
struct Speech {
  std::vector<Message> messages;
  uint32_t source;
  size_t next = 0;
  std::vector<size_t> heard;
  std::vector<bool> listens;

  bool Over() const {
    for (size_t i = 0; i < heard.size(); ++i) {
      if (listens[i] && heard[i] != messages.size()) return false;
    }
    return next == messages.size();
  }
};

TEST(SupervisorProperty, FourKindsOfBroadcastBetweenCombines) {
  ForEachSeed(200, [](uint64_t seed) {
    Prng random(seed);
    const uint32_t leaves = 1 + random.Below(random.Chance(1, 8) ? 40 : 10);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    Speech speech[VCM5_BROADCAST_KINDS];
    for (int kind = 0; kind < VCM5_BROADCAST_KINDS; ++kind) {
      Speech& s = speech[kind];
      s.source = random.Below(leaves);
      s.heard.resize(leaves);
      for (uint32_t i = 0; i < leaves; ++i) {
        s.listens.push_back(kind == VCM5_BROADCAST_USER || random.Chance(1, 2));
        if (s.listens[i]) vcm5_supervisor_listen(world.supervisor(i), kind, true);
      }
      for (int m = 0; m < 15; ++m) {
        Message message(1 + random.Below(kind == VCM5_BROADCAST_USER ? 8 : 4));
        for (uint32_t& word : message) word = static_cast<uint32_t>(random.Next());
        s.messages.push_back(message);
      }
    }
    constexpr uint32_t kSums = 20;
    std::vector<uint32_t> sent(leaves);
    std::vector<uint32_t> summed(leaves);
    for (uint32_t step = 0;; ++step) {
      ASSERT_LT(step, 4000000u) << "something does not arrive";
      world.RandomStep(random);
      for (int kind = 0; kind < VCM5_BROADCAST_KINDS; ++kind) {
        Speech& s = speech[kind];
        if (s.next < s.messages.size() && random.Chance(1, 4) &&
            Push(world, s.source, kind, s.messages[s.next])) {
          ++s.next;
        }
        const uint32_t reader = random.Below(leaves);
        const Message message = Read(world, reader, kind);
        if (message.empty()) continue;
        ASSERT_TRUE(s.listens[reader]);
        ASSERT_LT(s.heard[reader], s.next);
        ASSERT_EQ(message, s.messages[s.heard[reader]++]);
      }
      const uint32_t i = random.Below(leaves);
      if (sent[i] < kSums) {
        vcm5_port_combine_first(world.program(i), VCM5_ADD, VCM5_REDUCE, 1, sent[i]);
        sent[i] += vcm5_port_control_send_ok(world.program(i), VCM5_FIFO_COMBINE);
      }
      if (vcm5_port_control_peek(world.program(i), VCM5_FIFO_COMBINE) != nullptr) {
        ASSERT_EQ(vcm5_port_control_receive_word(world.program(i), VCM5_FIFO_COMBINE),
                  summed[i]++ * leaves);
      }
      bool over = true;
      for (const Speech& s : speech) over = over && s.Over();
      for (uint32_t leaf = 0; leaf < leaves; ++leaf) over = over && summed[leaf] == kSums;
      if (over) break;
    }
    world.Settle();
    EXPECT_TRUE(world.network().events().empty());
    for (uint32_t i = 0; i < leaves; ++i) {
      EXPECT_EQ(world.port(i).network_fault(), ControlFault::kNone);
      EXPECT_EQ(world.leaf(i).memory->page()->control.interrupts,
                speech[VCM5_BROADCAST_INTERRUPT].messages.size());
      EXPECT_EQ(world.leaf(i).memory->page()->control.interrupt_word,
                speech[VCM5_BROADCAST_INTERRUPT].messages.back()[0]);
    }
    for (unsigned kind = 0; kind < VCM5_BROADCAST_KINDS; ++kind) {
      EXPECT_EQ(world.network().stats().broadcasts[kind], 15u);
    }
  });
}

TEST(SupervisorProperty, ACollisionNamesItsKindAndItsSourcesEverywhere) {
  uint32_t collisions = 0;
  ForEachSeed(200, [&](uint64_t seed) {
    Prng random(seed);
    const uint32_t leaves = 2 + random.Below(12);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    const int kind = static_cast<int>(random.Below(VCM5_BROADCAST_KINDS));
    const uint32_t one = random.Below(leaves - 1);
    const uint32_t other = one + 1 + random.Below(leaves - 1 - one);
    ASSERT_TRUE(Push(world, one, kind, {1, 2, 3, 4}));
    ASSERT_TRUE(Push(world, other, kind, {5, 6, 7, 8}));
    for (int step = 0; step < 1000; ++step) world.RandomStep(random);
    world.Settle();
    if (world.network().events().empty()) return;
    const ControlEvent& event = world.network().events()[0];
    if (world.network().tree().is_leaf(event.id)) return;  // noticed for want of room
    ++collisions;
    ASSERT_EQ(event.fault, ControlFault::kBroadcastCollision);
    for (uint32_t i = 0; i < leaves; ++i) {
      uint32_t parties;
      const uint32_t error = vcm5_port_error(world.program(i), &parties);
      ASSERT_EQ(VCM5_ERROR_KIND(error), static_cast<uint32_t>(ControlFault::kBroadcastCollision));
      ASSERT_EQ(VCM5_ERROR_NODE(parties, 0), one);
      ASSERT_EQ(VCM5_ERROR_NODE(parties, 1), other);
      for (int side = 0; side < 2; ++side) {
        const uint64_t body = uint64_t{VCM5_ERROR_PACKET(error, side)} << control_body::kTypeShift;
        ASSERT_EQ(control_body::Type(body), ControlType::kSingleSource);
        ASSERT_EQ(control_body::Operation(body), static_cast<uint32_t>(kind));
      }
      EXPECT_FALSE(vcm5_port_hard_error(world.program(i)));
    }
    // Other kinds, and combines, go on.
    const int unharmed = (kind + 1) % VCM5_BROADCAST_KINDS;
    vcm5_supervisor_listen(world.supervisor(0), unharmed, true);
    ASSERT_TRUE(Push(world, other, unharmed, {9}));
    world.Settle();
    EXPECT_EQ(Read(world, 0, unharmed), (Message{9}));
  });
  if (std::getenv("VCM5_TEST_SEED") == nullptr) {
    EXPECT_GT(collisions, 5u);
  }
}

TEST(SupervisorProperty, APrivilegedAttemptHarmsNobodyElse) {
  ForEachSeed(100, [](uint64_t seed) {
    Prng random(seed);
    const uint32_t leaves = 2 + random.Below(10);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    const uint32_t attacker = 1 + random.Below(leaves - 1);
    const uint32_t kind = 1 + random.Below(VCM5_BROADCAST_KINDS - 1);
    // Now and then behind something that is allowed.
    if (random.Chance(1, 2)) Push(world, attacker, VCM5_BROADCAST_USER, {7});
    vcm5_port_control_first(world.program(attacker), VCM5_FIFO_BROADCAST, VCM5_ENTRY_KIND(kind), 2,
                            1);
    vcm5_port_control_word(world.program(attacker), VCM5_FIFO_BROADCAST, 2);
    world.Settle();
    EXPECT_EQ(world.port(attacker).error(), ControlPortError::kPrivileged);
    EXPECT_EQ(world.network().stats().broadcasts[kind], 0u);
    for (uint32_t i = 0; i < leaves; ++i) {
      while (!Read(world, i, VCM5_BROADCAST_USER).empty()) {
      }
      EXPECT_EQ(world.leaf(i).memory->page()->control.interrupts, 0u);
      vcm5_supervisor_listen(world.supervisor(i), static_cast<int>(kind), true);
    }
    // More than any window holds, of the user's kind and of the one that was tried.
    for (uint32_t m = 0; m < 40; ++m) {
      for (const int each : {int{VCM5_BROADCAST_USER}, static_cast<int>(kind)}) {
        ASSERT_TRUE(Push(world, 0, each, {m, m + 1}));
        world.Settle();
        for (uint32_t i = 0; i < leaves; ++i) {
          const Message message = Read(world, i, each);
          if (i == attacker && each == VCM5_BROADCAST_USER) {
            ASSERT_TRUE(message.empty());
          } else {
            ASSERT_EQ(message, (Message{m, m + 1}));
          }
        }
        world.Settle();
      }
    }
    EXPECT_TRUE(world.network().events().empty());
  });
}

TEST(SupervisorProperty, AsynchronousOrsAndHardErrorsAreSeparateAndRise) {
  ForEachSeed(100, [](uint64_t seed) {
    Prng random(seed);
    const uint32_t leaves = 1 + random.Below(12);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    std::vector<bool> bits[3];
    for (auto& each : bits) each.resize(leaves);
    uint32_t rises[2] = {0, 0};
    bool before[2] = {false, false};
    for (int round = 0; round < 20; ++round) {
      const uint32_t i = random.Below(leaves);
      const unsigned which = random.Below(3);
      const bool bit = random.Chance(1, 2);
      bits[which][i] = bit;
      if (which == 0) vcm5_port_set_async_or(world.program(i), bit);
      if (which == 1) vcm5_supervisor_set_async_or(world.supervisor(i), bit);
      if (which == 2) vcm5_supervisor_set_hard_error(world.supervisor(i), bit);
      world.Settle();
      bool sum[3] = {false, false, false};
      for (unsigned w = 0; w < 3; ++w) {
        for (const bool each : bits[w]) sum[w] = sum[w] || each;
      }
      for (unsigned w = 0; w < 2; ++w) {
        rises[w] += sum[w] && !before[w];
        before[w] = sum[w];
      }
      for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
        ASSERT_EQ(vcm5_port_async_or(world.program(leaf)) != 0, sum[0]);
        ASSERT_EQ(vcm5_supervisor_async_or(world.supervisor(leaf)), sum[1]);
        ASSERT_EQ(vcm5_supervisor_hard_error(world.supervisor(leaf)), sum[2]);
        ASSERT_EQ(vcm5_port_hard_error(world.program(leaf)), sum[2]);
        ASSERT_EQ(world.leaf(leaf).memory->page()->control.async_or_rises, rises[0]);
        ASSERT_EQ(vcm5_supervisor_async_or_rises(world.supervisor(leaf)), rises[1]);
      }
    }
  });
}

}  // namespace
}  // namespace vcm5
