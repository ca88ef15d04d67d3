// Who gets a turn: a node that found nothing waits until there is something for it, but is never
// forgotten.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/sim/embedded/traffic.h"

namespace vcm5 {
namespace {

bool Send(vcm5_port& port, uint32_t destination, uint32_t word) {
  return vcm5_port_send(&port, VCM5_LEFT, destination, 0, &word, 1);
}

class Turns : public ::testing::TestWithParam<unsigned> {
 protected:
  Turns() {
    options_.should_stop = StopAHang();
    options_.threads = GetParam();
  }
  EmbeddedOptions options_;
};

TEST_P(Turns, ANodeThatPolledInVainIsNotForgottenWhileOthersAreBusy) {
  // Nodes 0 and 1 throw a ball until node 2, which looks for messages in vain now and then, says
  // stop: the machine is never quiet.
  options_.spec.nodes = 3;
  Embedded machine(options_);
  const absl::Status status = machine.Run([](vcm5_port& port) {
    constexpr uint32_t kStop = 99;
    if (port.self == 2) {
      for (int look = 0; look < 10; ++look) EXPECT_FALSE(vcm5_port_receive_ok(&port, VCM5_RIGHT));
      for (const uint32_t node : {0u, 1u}) EXPECT_TRUE(Send(port, node, kStop));
      return;
    }
    if (port.self == 0) {
      EXPECT_TRUE(Send(port, 1, 1));
    }
    for (;;) {
      while (!vcm5_port_receive_ok(&port, VCM5_LEFT)) {
      }
      if (vcm5_port_receive_word(&port, VCM5_LEFT) == kStop) return;
      while (!Send(port, 1 - port.self, 1)) vcm5_port_miss(&port);
    }
  });
  EXPECT_TRUE(status.ok()) << status;
}

TEST_P(Turns, ANodeThatWaitsForOneHalfSleepsThoughTheOtherHasAMessage) {
  // Node 0 has a message on the left that it does not look at; what it has sent is gone. Neither is
  // a reason for a turn.
  options_.spec.nodes = 2;
  std::atomic<uint32_t> turns{0};
  options_.on_switch = [&](uint32_t self, bool entering) {
    if (self == 0 && entering) ++turns;
  };
  Embedded machine(options_);
  constexpr uint32_t kBalls = 20000;
  const absl::Status status = machine.Run([](vcm5_port& port) {
    if (port.self == 0) {
      EXPECT_TRUE(Send(port, 1, 1));
      while (!vcm5_port_receive_ok(&port, VCM5_RIGHT)) {
      }
      return;
    }
    EXPECT_TRUE(Send(port, 0, 1));
    for (uint32_t ball = 0; ball < kBalls; ++ball) {
      while (!Send(port, 1, ball)) vcm5_port_miss(&port);
      while (vcm5_port_peek(&port, VCM5_LEFT) == nullptr) vcm5_port_miss(&port);
      vcm5_port_release(&port, VCM5_LEFT);
    }
    const uint32_t word = 1;
    EXPECT_TRUE(vcm5_port_send(&port, VCM5_RIGHT, 0, 0, &word, 1));
  });
  EXPECT_TRUE(status.ok()) << status;
  if (GetParam() == 1) {
    EXPECT_LT(turns, kBalls / 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Turns, ::testing::Values(1, 2));

}  // namespace
}  // namespace vcm5
