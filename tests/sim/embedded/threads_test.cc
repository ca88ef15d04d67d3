// Nodes and networks on several threads. Meant for ThreadSanitizer too, so it is light.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/sim/embedded/traffic.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

TEST(Threads, TrafficArrivesExactlyOnceOnSeveralThreads) {
  ForEachSeed(40, [](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options;
    options.should_stop = StopAHang();
    options.spec = RandomMachine(prng);
    options.threads = 2 + static_cast<unsigned>(seed % 2);
    options.random_schedule = prng.Chance(1, 2);
    Embedded machine(options);
    ASSERT_EQ(RunPlan(TrafficPlan(prng.Next(), options.spec, 10), machine), "");
  });
}

TEST(Threads, ANodeThatWaitsForALongTimeIsWoken) {
  // A token goes round: at any moment all nodes but one have nothing to do.
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec.nodes = 8;
  options.threads = 2;
  Embedded machine(options);
  constexpr uint32_t kRounds = 20;
  std::atomic<uint32_t> hops{0};
  ASSERT_TRUE(machine
                  .Run([&](vcm5_port& port) {
                    const uint32_t next = (port.self + 3) % 8;
                    for (uint32_t round = 0; round < kRounds; ++round) {
                      if (port.self != 0 || round != 0) {
                        while (!vcm5_port_receive_ok(&port, VCM5_LEFT)) {
                        }
                        hops = vcm5_port_receive_word(&port, VCM5_LEFT);
                      }
                      const uint32_t word = hops + 1;
                      EXPECT_TRUE(vcm5_port_send(&port, VCM5_LEFT, next, 0, &word, 1));
                    }
                  })
                  .ok());
  EXPECT_EQ(hops, 8 * kRounds - 1);
}

}  // namespace
}  // namespace vcm5
