// Router-done fires exactly when nothing is in flight; the synchronous OR against a fold; the
// asynchronous OR settles to the OR of its inputs. VCM5_TEST_SEED=n runs seed n alone.
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

// Message traffic as the counters show it: programs send requests, whose handlers reply. The data
// network is a bag from which messages come out in any order.
class Traffic {
 public:
  explicit Traffic(ControlWorld& world) : world_(world) {}

  void Send(uint32_t source, bool request, Prng& random) {
    bag_.push_back({random.Below(world_.leaves()), source, request});
    vcm5_ni_page* page = world_.program(source)->page;
    const unsigned half = request ? VCM5_LEFT : VCM5_RIGHT;
    vcm5_store_release(&page->node_data.out_tail[half], page->node_data.out_tail[half] + 1);
  }
  // Some message arrives and its handler runs: first the reply, then the count.
  void Receive(Prng& random) {
    if (bag_.empty()) return;
    std::swap(bag_[random.Below(static_cast<uint32_t>(bag_.size()))], bag_.back());
    const Message message = bag_.back();
    bag_.pop_back();
    if (message.request && random.Chance(3, 4)) Send(message.destination, false, random);
    vcm5_port* program = world_.program(message.destination);
    vcm5_port_count_received(program, message.request ? VCM5_LEFT : VCM5_RIGHT);
  }
  bool Empty() const { return bag_.empty(); }

 private:
  struct Message {
    uint32_t destination;
    uint32_t source;
    bool request;
  };
  ControlWorld& world_;
  std::vector<Message> bag_;
};

TEST(RouterDoneProperty, FiresExactlyWhenNothingIsInFlight) {
  ForSeeds(400, [](Prng& random) {
    const uint32_t leaves = 1 + random.Below(random.Chance(1, 10) ? 40 : 9);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    Traffic traffic(world);
    for (int cycle = 0; cycle < 3; ++cycle) {
      std::vector<uint32_t> to_send(leaves);
      for (uint32_t& messages : to_send) messages = random.Below(6);
      std::vector<bool> said(leaves);
      uint32_t saying = 0;
      std::vector<bool> done(leaves);
      for (uint32_t left = leaves, step = 0; left != 0; ++step) {
        ASSERT_LT(step, 2000000u) << "router done never fires";
        const uint32_t i = random.Below(leaves);
        switch (random.Below(5)) {
          case 0:
            if (to_send[i] != 0) {
              --to_send[i];
              traffic.Send(i, true, random);
            } else if (!said[i]) {
              said[i] = true;
              ++saying;
              vcm5_port_control_first(world.program(i), VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
              ASSERT_TRUE(vcm5_port_control_send_ok(world.program(i), VCM5_FIFO_ROUTER_DONE));
            }
            break;
          case 1:
            traffic.Receive(random);
            break;
          case 2:
            world.Poll(i, random.Chance(1, 2), 1 + random.Below(3));
            break;
          default:
            for (int n = 0; n < 4; ++n) world.RandomStep(random);
            break;
        }
        for (uint32_t j = 0; j < leaves; ++j) {
          if (done[j] || !vcm5_port_control_peek(world.program(j), VCM5_FIFO_ROUTER_DONE)) continue;
          ASSERT_TRUE(traffic.Empty()) << "router done fired with messages in flight";
          ASSERT_EQ(saying, leaves) << "router done fired before all were done sending";
          vcm5_port_control_receive_word(world.program(j), VCM5_FIFO_ROUTER_DONE);
          done[j] = true;
          --left;
        }
      }
    }
    EXPECT_TRUE(world.network().events().empty());
  });
}

TEST(RouterDoneProperty, AHeldOneIsQuietUntilToldToCountAgain) {
  ForSeeds(20, [](Prng& random) {
    const uint32_t leaves = 2 + random.Below(8);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    Traffic traffic(world);
    traffic.Send(0, true, random);
    for (uint32_t i = 0; i < leaves; ++i) {
      vcm5_port_control_first(world.program(i), VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
    }
    world.Settle();
    const uint64_t arrived = world.network().stats().arrived[2];
    EXPECT_EQ(arrived, 2 * leaves);
    for (uint32_t i = 0; i < leaves; ++i) EXPECT_TRUE(world.port(i).AwaitsResample());
    world.Settle();
    EXPECT_EQ(world.network().stats().arrived[2], arrived);
    while (!traffic.Empty()) traffic.Receive(random);
    world.Settle(true);
    for (uint32_t i = 0; i < leaves; ++i) {
      EXPECT_NE(vcm5_port_control_peek(world.program(i), VCM5_FIFO_ROUTER_DONE), nullptr);
      EXPECT_EQ(world.port(i).router_done_rounds(), 2u);
    }
  });
}

// Kirchhoff's law finds errors of the data network: sums that differ never become equal.
TEST(RouterDoneProperty, DoesNotCompleteWhenAMessageWasLostOrDoubled) {
  ForSeeds(50, [](Prng& random) {
    const uint32_t leaves = 1 + random.Below(9);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    Traffic traffic(world);
    for (uint32_t messages = random.Below(10); messages != 0; --messages) {
      traffic.Send(random.Below(leaves), true, random);
    }
    while (!traffic.Empty()) traffic.Receive(random);
    // One more that nobody receives, or a second copy of one.
    vcm5_port* program = world.program(random.Below(leaves));
    if (random.Chance(1, 2)) {
      ++program->page->node_data.out_tail[VCM5_RIGHT];
    } else {
      vcm5_port_count_received(program, VCM5_RIGHT);
    }
    for (uint32_t i = 0; i < leaves; ++i) {
      vcm5_port_control_first(world.program(i), VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
    }
    for (int count = 0; count < 10; ++count) world.Settle(true);
    for (uint32_t i = 0; i < leaves; ++i) {
      ASSERT_EQ(vcm5_port_control_peek(world.program(i), VCM5_FIFO_ROUTER_DONE), nullptr);
      EXPECT_GE(world.port(i).router_done_rounds(), 10u);
    }
  });
}

TEST(SyncOrProperty, MatchesTheOrOfThoseThatTakePart) {
  ForSeeds(300, [](Prng& random) {
    const uint32_t leaves = 1 + random.Below(20);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    std::vector<bool> abstains(leaves);
    for (uint32_t i = 0; i < leaves; ++i) {
      abstains[i] = random.Chance(1, 4);
      if (abstains[i]) vcm5_port_set_abstain(world.program(i), VCM5_FIFO_SYNC_OR, true);
    }
    constexpr uint32_t kOperations = 20;
    std::vector<uint32_t> expected(kOperations);
    std::vector<std::vector<uint32_t>> bits(kOperations, std::vector<uint32_t>(leaves));
    for (uint32_t o = 0; o < kOperations; ++o) {
      for (uint32_t i = 0; i < leaves; ++i) {
        bits[o][i] = random.Chance(1, leaves) ? 1 : 0;
        if (!abstains[i]) expected[o] |= bits[o][i];
      }
    }
    std::vector<uint32_t> pushed(leaves);
    std::vector<uint32_t> received(leaves);
    uint64_t to_receive = 0;
    for (uint32_t i = 0; i < leaves; ++i) to_receive += abstains[i] ? 0 : kOperations;
    for (uint32_t step = 0; to_receive != 0; ++step) {
      ASSERT_LT(step, 2000000u) << "the synchronous OR does not complete";
      world.RandomStep(random);
      const uint32_t i = random.Below(leaves);
      vcm5_port* program = world.program(i);
      if (abstains[i]) continue;
      if (pushed[i] < kOperations) {
        vcm5_port_control_first(program, VCM5_FIFO_SYNC_OR, 0, 1, bits[pushed[i]][i]);
        if (vcm5_port_control_send_ok(program, VCM5_FIFO_SYNC_OR)) ++pushed[i];
      }
      if (random.Chance(1, 2) && vcm5_port_control_peek(program, VCM5_FIFO_SYNC_OR)) {
        const uint32_t word = vcm5_port_control_receive_word(program, VCM5_FIFO_SYNC_OR);
        ASSERT_EQ(word, expected[received[i]++]);
        --to_receive;
      }
    }
  });
}

TEST(AsyncOrProperty, SettlesToTheOrOfItsInputs) {
  ForSeeds(300, [](Prng& random) {
    const uint32_t leaves = 1 + random.Below(20);
    ControlWorld world(RandomTree(leaves, random), SmallGeometry());
    std::vector<uint32_t> input(leaves);
    for (int change = 0; change < 20; ++change) {
      const uint32_t i = random.Below(leaves);
      input[i] = random.Chance(1, 3) ? 1 : 0;
      vcm5_port_set_async_or(world.program(i), input[i]);
      for (uint32_t n = random.Below(20); n > 0; --n) world.RandomStep(random);
      if (random.Chance(1, 2)) continue;
      world.Settle();
      uint32_t expected = 0;
      for (const uint32_t bit : input) expected |= bit;
      for (uint32_t j = 0; j < leaves; ++j) {
        ASSERT_EQ(vcm5_port_async_or(world.program(j)), expected);
      }
    }
    // Quiet when nothing changes.
    world.Settle();
    const uint64_t idle_packets = world.network().stats().arrived[0];
    world.Settle();
    EXPECT_EQ(world.network().stats().arrived[0], idle_packets);
  });
}

}  // namespace
}  // namespace vcm5
