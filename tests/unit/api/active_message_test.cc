// Active messages: typed handlers, requests on the left and replies on the right.
#include "vcm5/active_message.hpp"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"
#include "vcm5/embedded.hpp"

namespace vcm5 {
namespace {

EmbeddedOptions Narrow(uint32_t nodes, uint64_t seed) {
  EmbeddedOptions options;
  options.spec.nodes = nodes;
  options.spec.data_fifo_depth = 2;
  options.spec.link_depth = 1;
  options.seed = seed;
  options.random_schedule = true;
  return options;
}

TEST(ActiveMessageTest, ArgumentsArriveWithTheirTypes) {
  EmbeddedMachine machine(2);
  const absl::Status status = machine.Run([](Node& node) {
    int calls = 0;
    const auto mixed = node.AddHandler([&](uint8_t a, double b, int16_t c) {
      EXPECT_EQ(a, 200);
      EXPECT_EQ(b, -0.5);
      EXPECT_EQ(c, -3);
      ++calls;
    });
    const auto none = node.AddHandler([&]() { ++calls; });
    const auto tail = node.AddHandler([&](uint32_t first, WordSpan rest) {
      EXPECT_EQ(first, 10u);
      ASSERT_EQ(rest.size(), 3u);
      EXPECT_EQ(rest[2], 13u);
      ++calls;
    });
    const uint32_t other = 1 - node.self();
    node.Request(other, mixed, 200, -0.5, -3);
    node.Request(other, none);
    const uint32_t words[] = {11, 12, 13};
    node.Request(other, tail, 10, WordSpan(words));
    node.PollUntil([&] { return calls == 3; });
    node.Barrier();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(ActiveMessageTest, MessageForALaterHandlerWaits) {
  EmbeddedMachine machine(2);
  const absl::Status status = machine.Run([](Node& node) {
    if (node.self() == 1) {
      node.Barrier();  // node 0 has sent by now
      node.Poll();
    }
    uint32_t got = 0;
    const auto handler = node.AddHandler([&](uint32_t value) { got = value; });
    if (node.self() == 0) {
      node.Request(1, handler, 5);
      node.Barrier();
    } else {
      node.PollUntil([&] { return got == 5; });
    }
    node.Quiesce();
  });
  ASSERT_TRUE(status.ok()) << status;
}

// The fetch-deadlock problem (paper section 3): everybody asks everybody at once, through FIFOs of
// two messages, while others ask too.
TEST(ActiveMessageTest, FetchStormCompletes) {
  constexpr uint32_t kFetches = 300;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    EmbeddedMachine machine(Narrow(13, seed));
    const absl::Status status = machine.Run([&](Node& node) {
      std::vector<uint64_t> table(64);
      for (uint32_t i = 0; i < table.size(); ++i) table[i] = node.self() * 1000 + i;
      uint64_t wrong = 0;
      uint32_t answers = 0;
      const auto answer = node.AddHandler([&](uint32_t owner, uint32_t index, uint64_t value) {
        wrong += value != owner * 1000 + index;
        ++answers;
      });
      const auto fetch = node.AddHandler([&](uint32_t from, uint32_t index) {
        node.Reply(from, answer, node.self(), index, table[index]);
      });
      Prng prng(seed * 100 + node.self());
      for (uint32_t i = 0; i < kFetches; ++i) {
        // Every other fetch goes to node 0.
        const uint32_t owner = i % 2 == 0 ? 0 : prng.Below(node.size());
        node.Request(owner, fetch, node.self(), prng.Below(64));
      }
      node.Quiesce();
      EXPECT_EQ(answers, kFetches);
      EXPECT_EQ(wrong, 0u);
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(ActiveMessageTest, StormSurvivesRefusedSends) {
  EmbeddedMachine machine(Narrow(6, 4));
  const absl::Status status = machine.Run([](Node& node) {
    node.port().send_refuse = node.port().refused_sends_left = 2 + node.self() % 3;
    uint32_t answers = 0;
    const auto answer = node.AddHandler([&]() { ++answers; });
    const auto ask = node.AddHandler([&](uint32_t from) { node.Reply(from, answer); });
    for (uint32_t i = 0; i < 200; ++i) node.Request(i % node.size(), ask, node.self());
    node.PollUntil([&] { return answers == 200; });
    node.Quiesce();
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(ActiveMessageTest, QuiesceWaitsForRepliesOfReplies) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EmbeddedMachine machine(Narrow(7, seed));
    uint32_t replies = 0;
    const absl::Status status = machine.Run([&](Node& node) {
      const auto done = node.AddHandler([&]() { ++replies; });
      const auto work = node.AddHandler([&](uint32_t from) {
        for (int i = 0; i < 3; ++i) node.Reply(from, done);
      });
      node.Barrier();
      for (uint32_t round = 1; round <= 5; ++round) {
        if (node.self() == round) {
          for (uint32_t dest = 0; dest < node.size(); ++dest) node.Request(dest, work, node.self());
        }
        node.Quiesce();
        EXPECT_EQ(replies, round * 21);
        node.Barrier();
      }
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(ActiveMessageDeathTest, HandlersMayOnlyReply) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run = [](bool from_reply) {
    EmbeddedMachine machine(2);
    (void)machine.Run([&](Node& node) {
      const auto second = node.AddHandler([&]() {
        if (from_reply) node.Send(0, 0, 1, Half::kRight);
      });
      const auto first = node.AddHandler([&]() {
        if (from_reply) {
          node.Reply(0, second);
        } else {
          node.Request(0, second);
        }
      });
      node.Request(0, first);
      node.Quiesce();
    });
  };
  EXPECT_DEATH(run(false), "a send on the left half called from a message handler");
  EXPECT_DEATH(run(true), "a send that may wait called from a message handler");
}

TEST(ActiveMessageDeathTest, QuiesceNamesAHandlerThatNeverCame) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto run = [] {
    EmbeddedMachine machine(2);
    (void)machine.Run([](Node& node) {
      if (node.self() == 0) node.Request(1, node.AddHandler([]() {}));
      node.Quiesce();
    });
  };
  EXPECT_DEATH(run(), "node 1: Quiesce: a message has come for a handler");
}

}  // namespace
}  // namespace vcm5
