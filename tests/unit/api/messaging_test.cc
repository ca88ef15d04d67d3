// Messages by tag: typed send, handlers, the inbox, and the contract with a network that is full.
#include "vcm5/messaging.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"
#include "vcm5/embedded.hpp"

namespace vcm5 {
namespace {

// Small FIFOs, so that they fill up.
EmbeddedOptions Narrow(uint32_t nodes, uint64_t seed) {
  EmbeddedOptions options;
  options.spec.nodes = nodes;
  options.spec.data_fifo_depth = 4;
  options.spec.link_depth = 2;
  options.seed = seed;
  options.random_schedule = true;
  return options;
}

struct Particle {
  float x, y, z;
  uint32_t cell;
  uint8_t kind;
};

TEST(MessagingTest, ValueArrivesAsItWasSent) {
  EmbeddedMachine machine(3);
  const absl::Status status = machine.Run([](Node& node) {
    const uint32_t next = (node.self() + 1) % node.size();
    node.Send(next, 7, Particle{1.5f, -2, 0.25f, node.self(), 9});
    const Message message = node.Receive();
    EXPECT_EQ(message.tag(), 7u);
    EXPECT_EQ(message.half(), Half::kLeft);
    EXPECT_EQ(message.words().size(), 5u);
    const auto particle = message.As<Particle>();
    EXPECT_EQ(particle.cell, (node.self() + node.size() - 1) % node.size());
    EXPECT_EQ(particle.y, -2);
    EXPECT_EQ(particle.kind, 9);
    EXPECT_FALSE(node.TryReceive().has_value());
    node.Barrier();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(MessagingTest, EveryLengthOnEitherHalf) {
  EmbeddedOptions options;
  options.spec.nodes = 4;
  options.spec.words_max = 18;
  EmbeddedMachine machine(options);
  const absl::Status status = machine.Run([](Node& node) {
    const uint32_t dest = node.size() - 1 - node.self();
    for (uint32_t length = 1; length <= node.words_max(); ++length) {
      for (const Half half : {Half::kLeft, Half::kRight}) {
        std::vector<uint32_t> words(length);
        for (uint32_t i = 0; i < length; ++i) words[i] = i * 1000 + length;
        node.SendWords(dest, length % 10, words, half);
        const Message message = node.Receive();
        ASSERT_EQ(message.half(), half);
        ASSERT_EQ(message.tag(), length % 10);
        ASSERT_TRUE(
            std::equal(words.begin(), words.end(), message.words().begin(), message.words().end()));
      }
    }
    node.Barrier();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(MessagingTest, HandlersTakeTheirTags) {
  EmbeddedMachine machine(4);
  const absl::Status status = machine.Run([](Node& node) {
    uint32_t sum = 0;
    double product = 1;
    node.OnTag<uint32_t>(0, [&](uint32_t value) { sum += value; });
    node.OnTag<double>(1, [&](double value) { product *= value; });
    node.Barrier();
    for (uint32_t dest = 0; dest < node.size(); ++dest) {
      node.Send(dest, 0, node.self() + 1);
      node.Send(dest, 1, 2.0);
      node.Send(dest, 2, uint8_t{3});
    }
    node.Quiesce();
    EXPECT_EQ(sum, 10u);
    EXPECT_EQ(product, 16.0);
    for (uint32_t i = 0; i < node.size(); ++i) EXPECT_EQ(node.Receive().As<uint8_t>(), 3);
  });
  ASSERT_TRUE(status.ok()) << status;
}

// Everybody sends to everybody before anybody asks for a message: sends find the network full, and
// the nodes receive meanwhile.
TEST(MessagingTest, SendsBeforeReceivesDoNotDeadlock) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    EmbeddedMachine machine(Narrow(9, seed));
    const absl::Status status = machine.Run([](Node& node) {
      constexpr uint32_t kRounds = 60;
      for (uint32_t round = 0; round < kRounds; ++round) {
        for (uint32_t dest = 0; dest < node.size(); ++dest) {
          node.Send(dest, round % 10, std::array<uint32_t, 3>{node.self(), round, dest},
                    round % 2 == 0 ? Half::kLeft : Half::kRight);
        }
      }
      std::vector<uint64_t> seen(node.size(), 0);
      for (uint32_t i = 0; i < kRounds * node.size(); ++i) {
        const auto [from, round, dest] = node.Receive().As<std::array<uint32_t, 3>>();
        ASSERT_EQ(dest, node.self());
        ASSERT_EQ(seen[from] >> round & 1, 0u);
        seen[from] |= uint64_t{1} << round;
      }
      node.Quiesce();
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(MessagingTest, TrySendSaysWhenTheFifoIsFull) {
  EmbeddedMachine machine(Narrow(2, 1));
  const absl::Status status = machine.Run([](Node& node) {
    if (node.self() == 0) {
      uint32_t sent = 0;
      while (node.TrySend(1, 0, sent)) ++sent;
      EXPECT_EQ(sent, 4u);  // nobody else has had a turn
      node.Send(1, 1, sent);
    } else {
      uint32_t received = 0;
      std::optional<uint32_t> sent;
      while (!sent || received < *sent) {
        const Message message = node.Receive();
        if (message.tag() == 1) {
          sent = message.As<uint32_t>();
        } else {
          ++received;
        }
      }
    }
    node.Quiesce();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(MessagingTest, RefusedSendsAreSentAgain) {
  EmbeddedMachine machine(Narrow(5, 2));
  const absl::Status status = machine.Run([](Node& node) {
    node.port().send_refuse = node.port().refused_sends_left = 2;
    uint64_t sum = 0;
    node.OnTag<uint32_t>(3, [&](uint32_t value) { sum += value; });
    node.Barrier();
    for (uint32_t i = 1; i <= 500; ++i) node.Send(i % node.size(), 3, i);
    node.Quiesce();
    EXPECT_EQ(node.Reduce(kAdd, sum), 5u * 500 * 501 / 2);
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(MessagingDeathTest, WrongUseStopsTheProgramWithALine) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run = [](const std::function<void(Node&)>& main) {
    EmbeddedMachine machine(2);
    (void)machine.Run(main);
  };
  EXPECT_DEATH(run([](Node& node) { node.Send(2, 0, 1); }),
               "node [01]: message of tag 0 to node 2");
  EXPECT_DEATH(run([](Node& node) { node.Send(0, 10, 1); }), "tag 10 is not a user's tag");
  EXPECT_DEATH(run([](Node& node) { node.SendWords(0, 0, {}); }), "of 0 words");
  EXPECT_DEATH(run([](Node& node) {
                 node.OnTag<uint32_t>(0, [&](uint32_t) { node.Barrier(); });
                 node.Send(0, 0, 1u);
                 node.Quiesce();
               }),
               "called from a message handler");
}

}  // namespace
}  // namespace vcm5
