// Nodes that send without receiving: sends are refused, FIFOs and chips hold what the machine
// description says and no more, others go on, and nothing is lost.
#include <gtest/gtest.h>

#include <vector>

#include "switches/topology/fat_tree.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

constexpr uint32_t kGiveUp = 300;  // refusals in a row: nothing moves any more

MachineSpec SmallMachine(uint32_t nodes) {
  MachineSpec spec;
  spec.nodes = nodes;
  spec.data_fifo_depth = 8;
  spec.link_depth = 4;
  return spec;
}

// Messages that one half of a machine can hold, FIFOs at both ends included.
uint32_t Capacity(const MachineSpec& spec) {
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  return tree.chips() * kChipPorts * spec.link_depth + 2 * spec.nodes * spec.data_fifo_depth;
}

bool Send(vcm5_port& port, uint32_t destination, uint32_t id) {
  const DataPacket content = MakePacket(0, 0, 5, 0, id);
  vcm5_port_send_first(&port, VCM5_LEFT, destination, 0, 5);
  for (const uint32_t word : {0, 1, 2, 3, 4}) {
    vcm5_port_send_word(&port, VCM5_LEFT, content.words[word]);
  }
  return vcm5_port_send_ok(&port, VCM5_LEFT);
}

// Receives what is there; checks it.
uint32_t ReceiveAll(vcm5_port& port) {
  uint32_t received = 0;
  while (const uint8_t* packet = vcm5_port_peek(&port, VCM5_LEFT)) {
    EXPECT_EQ(vcm5_packet_length(packet), 5u);
    EXPECT_TRUE(WordsAreOf(vcm5_packet_words(packet)[0], vcm5_packet_words(packet), 5));
    vcm5_port_release(&port, VCM5_LEFT);
    ++received;
  }
  return received;
}

// Sends to destinations that `next` names until nothing is accepted any more.
template <class Next>
uint32_t SendUntilFull(vcm5_port& port, Next&& next) {
  uint32_t accepted = 0;
  for (uint32_t refusals = 0; refusals < kGiveUp;) {
    if (Send(port, next(accepted), accepted)) {
      ++accepted;
      refusals = 0;
    } else {
      ++refusals;
    }
  }
  return accepted;
}

TEST(FullMachine, EverybodySendsNobodyReceivesThenAllIsDelivered) {
  for (const uint32_t nodes : {1u, 4u, 16u, 50u}) {
    EmbeddedOptions options;
    options.should_stop = StopAHang();
    options.spec = SmallMachine(nodes);
    options.random_schedule = true;
    Embedded machine(options);
    uint32_t accepted = 0;
    uint32_t received = 0;
    uint32_t filled = 0;  // nodes that have given up sending
    ASSERT_TRUE(machine
                    .Run([&](vcm5_port& port) {
                      const uint32_t sent = SendUntilFull(
                          port, [&](uint32_t i) { return (port.self * 5 + i) % nodes; });
                      accepted += sent;
                      EXPECT_GE(sent, options.spec.data_fifo_depth);
                      EXPECT_EQ(vcm5_port_send_space(&port, VCM5_LEFT), 0u);
                      ++filled;
                      while (filled < nodes) vcm5_port_miss(&port);
                      EXPECT_LE(accepted, Capacity(options.spec));
                      while (received < accepted) {
                        received += ReceiveAll(port);
                        vcm5_port_miss(&port);
                      }
                    })
                    .ok());
    EXPECT_EQ(received, accepted);
    EXPECT_TRUE(machine.Waiting().empty());
  }
}

TEST(FullMachine, OthersGoOnWhereTheirWayIsFree) {
  // Nodes 1 to 3 choke node 0; nodes 4 to 31 talk among themselves meanwhile.
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec = SmallMachine(32);
  options.random_schedule = true;
  Embedded machine(options);
  constexpr uint32_t kMessages = 500;  // of each of the others
  uint32_t choked = 0;
  uint32_t choking = 0;
  uint32_t received_at_0 = 0;
  uint32_t received_by_others = 0;
  ASSERT_TRUE(machine
                  .Run([&](vcm5_port& port) {
                    const uint32_t all = 28 * kMessages;
                    if (port.self == 0) {
                      while (received_by_others < all || choked < 3) vcm5_port_miss(&port);
                      EXPECT_EQ(vcm5_packet_length(vcm5_port_peek(&port, VCM5_LEFT)), 5u);
                      while (received_at_0 < choking) {
                        received_at_0 += ReceiveAll(port);
                        vcm5_port_miss(&port);
                      }
                      return;
                    }
                    if (port.self < 4) {
                      choking += SendUntilFull(port, [](uint32_t) { return 0u; });
                      ++choked;
                      EXPECT_LE(choking, 8 + 3 * (8 + 4u))
                          << "node 0's FIFO, three links and FIFOs";
                      return;
                    }
                    for (uint32_t sent = 0; received_by_others < all;) {
                      if (sent < kMessages && Send(port, 4 + (port.self * 3 + sent) % 28, sent))
                        ++sent;
                      received_by_others += ReceiveAll(port);
                      vcm5_port_miss(&port);
                    }
                  })
                  .ok());
  EXPECT_EQ(received_by_others, 28 * kMessages);
  EXPECT_EQ(received_at_0, choking);
}

TEST(FullMachine, TheRightHalfIsFreeWhileTheLeftIsFull) {
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec = SmallMachine(16);
  Embedded machine(options);
  uint32_t filled = 0;
  uint32_t received = 0;
  ASSERT_TRUE(machine
                  .Run([&](vcm5_port& port) {
                    SendUntilFull(port, [](uint32_t i) { return i % 16; });
                    ++filled;
                    while (filled < 16) vcm5_port_miss(&port);
                    const uint32_t word = port.self;
                    EXPECT_TRUE(vcm5_port_send(&port, VCM5_RIGHT, 15 - port.self, 0, &word, 1));
                    while (!vcm5_port_receive_ok(&port, VCM5_RIGHT)) {
                    }
                    EXPECT_EQ(vcm5_port_receive_word(&port, VCM5_RIGHT), 15 - port.self);
                    ++received;
                  })
                  .ok());
  EXPECT_EQ(received, 16u);
}

// The fetch-deadlock of the paper: everybody asks, everybody answers, buffers are as small as can
// be.
TEST(FullMachine, FetchesDoNotDeadlockWithTheSmallestBuffers) {
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec = SmallMachine(20);
  options.spec.data_fifo_depth = 1;
  options.spec.link_depth = 1;
  options.random_schedule = true;
  Embedded machine(options);
  EXPECT_EQ(RunPlan(TrafficPlan(1, options.spec, 100), machine), "");
}

TEST(FullMachine, ARunThatHangsCanBeEndedAndSaysWhoWaits) {
  EmbeddedOptions options;
  options.spec = SmallMachine(4);
  int asked = 0;
  options.should_stop = [&] { return ++asked > 3; };
  Embedded machine(options);
  const absl::Status status = machine.Run([](vcm5_port& port) {
    if (port.self != 0) return;
    SendUntilFull(port, [](uint32_t) { return 1u; });
    for (;;) vcm5_port_miss(&port);
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  ASSERT_FALSE(machine.Waiting().empty());
  EXPECT_EQ(machine.Waiting()[0], "node 0 has 8 messages that the left data network has not taken");
}

TEST(FullMachine, AWrongDestinationEndsTheRunWithTheNodesName) {
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec = SmallMachine(6);
  Embedded machine(options);
  const absl::Status status = machine.Run([](vcm5_port& port) {
    if (port.self == 3) Send(port, 6, 1);
    for (;;) vcm5_port_miss(&port);
  });
  EXPECT_EQ(status.message(),
            "node 3: sent a message on the left data network to node 6, which is outside the "
            "partition (0 to 5)");
}

}  // namespace
}  // namespace vcm5
