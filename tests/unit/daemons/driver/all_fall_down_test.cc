// Emptying the data networks of a whole machine, in one to four parts, and filling them again.
#include "daemons/driver/all_fall_down.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/data_machine.h"
#include "tests/support/ni_memory.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MachineSpec SmallSpec(uint32_t nodes = 40) {
  MachineSpec spec;
  spec.nodes = nodes;
  spec.control_processors = 3;  // leaves where nobody captures
  spec.data_fifo_depth = 8;
  spec.link_depth = 4;
  return spec;
}

class AllFallDownTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  AllFallDownTest() : machine_(SmallSpec(), GetParam(), 7), fall_(machine_.data_agents()) {}

  // Everybody sends to node `hot` until nothing is accepted any more, and nobody receives.
  void Fill(uint32_t hot) {
    for (int refusals = 0; refusals < 20; ++refusals) {
      for (uint32_t node = 0; node < machine_.nodes(); ++node) {
        for (int half = 0; half < VCM5_HALVES; ++half) {
          while (vcm5_port_send(&machine_.port(node), half, hot, 0, &sent_, 1)) {
            ++sent_;
            refusals = 0;
          }
        }
      }
      machine_.RunAll();
    }
  }
  // Everybody receives until nothing comes any more; the words that came, sorted.
  std::vector<uint32_t> ReceiveAll(uint32_t node) {
    std::vector<uint32_t> words;
    for (int quiet = 0; quiet < 20; ++quiet) {
      for (int half = 0; half < VCM5_HALVES; ++half) {
        vcm5_port& port = machine_.port(node);
        while (vcm5_port_peek(&port, half) != nullptr) {
          words.push_back(vcm5_port_receive_word(&port, half));
          quiet = 0;
        }
        vcm5_port_flush_half(&port, half);
      }
      if (machine_.RunAll() != 0) quiet = 0;
    }
    std::sort(words.begin(), words.end());
    return words;
  }
  // What the pages of all nodes say was taken out of them, and put into them.
  std::pair<uint64_t, uint64_t> PageCounts(int half) {
    std::pair<uint64_t, uint64_t> counts;
    for (uint32_t node = 0; node < machine_.nodes(); ++node) {
      counts.first += machine_.page(node)->data[half].out_head;
      counts.second += machine_.page(node)->data[half].in_tail;
    }
    return counts;
  }

  DataMachine machine_;
  AllFallDown fall_;
  uint32_t sent_ = 0;
};

TEST_P(AllFallDownTest, EmptiesANetworkThatIsStuckAndFillsItAgain) {
  constexpr uint32_t kHot = 17;
  Fill(kHot);
  ASSERT_GT(fall_.Counts(VCM5_LEFT).held, 100u);
  ASSERT_TRUE(fall_.Drain().ok());
  AllFallDown::Captured captured = fall_.TakeCaptured();
  for (int half = 0; half < VCM5_HALVES; ++half) {
    const auto [injected, ejected] = PageCounts(half);
    const DataCounts counts = fall_.Counts(half);
    EXPECT_EQ(counts.held, 0u);
    EXPECT_EQ(counts.captured, injected - ejected);
    EXPECT_EQ(counts.lost, 0u);
  }
  size_t saved = 0;
  std::vector<uint32_t> load(machine_.nodes());
  for (const auto& part : captured) {
    saved += part.size();
    for (const CapturedMessage& message : part) {
      load[message.leaf]++;
      EXPECT_EQ(data_header::Destination(message.packet.header), kHot);
    }
  }
  EXPECT_EQ(saved, fall_.Counts(VCM5_LEFT).captured + fall_.Counts(VCM5_RIGHT).captured);
  EXPECT_GT(*std::min_element(load.begin(), load.end()), 0u);
  fall_.Leave(std::move(captured));
  EXPECT_THAT(ReceiveAll(kHot), SizeIs(sent_));
  EXPECT_THAT(machine_.errors(), IsEmpty());
  for (int half = 0; half < VCM5_HALVES; ++half) {
    EXPECT_EQ(fall_.Counts(half).resent, fall_.Counts(half).captured);
    EXPECT_EQ(fall_.Counts(half).ejected, fall_.Counts(half).injected);
  }
}

TEST_P(AllFallDownTest, EveryMessageArrivesOnceThoughCutAgainAndAgain) {
  Fill(3);
  for (int cut = 0; cut < 5; ++cut) {
    for (uint32_t chip = cut; chip < fall_.chips(); chip += 3) {
      fall_.Enter(chip);
      machine_.RunAll();
    }
    ASSERT_TRUE(fall_.Drain().ok());
    fall_.Leave();
    for (int turn = 0; turn < cut; ++turn) machine_.RunAll();
  }
  const std::vector<uint32_t> words = ReceiveAll(3);
  ASSERT_THAT(words, SizeIs(sent_));
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
}

TEST_P(AllFallDownTest, OutgoingFifosKeepWhatTheNetworkHasNotTaken) {
  ASSERT_TRUE(fall_.Drain().ok());
  const uint32_t word = 5;
  ASSERT_TRUE(vcm5_port_send(&machine_.port(1), VCM5_LEFT, 2, 0, &word, 1));
  EXPECT_EQ(machine_.RunAll(), 0u);
  EXPECT_EQ(fall_.Counts(VCM5_LEFT).injected, 0u);
  fall_.Leave();
  EXPECT_THAT(ReceiveAll(2), ElementsAre(5));
}

TEST_P(AllFallDownTest, AnUnreadMessageStaysInItsFifo) {
  const uint32_t word = 9;
  ASSERT_TRUE(vcm5_port_send(&machine_.port(30), VCM5_RIGHT, 0, 4, &word, 1));
  while (vcm5_port_peek(&machine_.port(0), VCM5_RIGHT) == nullptr) machine_.RunAll();
  ASSERT_TRUE(fall_.Drain().ok());
  EXPECT_EQ(fall_.Counts(VCM5_RIGHT).captured, 0u);
  EXPECT_EQ(vcm5_port_receive_tag(&machine_.port(0), VCM5_RIGHT), 4u);
  EXPECT_THAT(ReceiveAll(0), ElementsAre(9));
  fall_.Leave();
}

TEST_P(AllFallDownTest, WhatWasNeverAMessageIsNotSentAgain) {
  ASSERT_TRUE(fall_.Drain().ok());
  AllFallDown::Captured forged(machine_.agents());
  const DataPacket packet = MakePacket(0, 2, 1, 0, 1);
  DataPacket damaged = packet;
  damaged.words[0] ^= 1;
  DataPacket elsewhere = MakePacket(0, 41, 1, 0, 1);  // a control processor
  forged[0] = {{99999, packet}, {0, damaged}, {0, elsewhere}};
  fall_.Leave(std::move(forged));
  machine_.RunAll();
  EXPECT_THAT(machine_.errors(), SizeIs(3));
  EXPECT_EQ(fall_.Counts(VCM5_LEFT).resent, 0u);
}

INSTANTIATE_TEST_SUITE_P(Parts, AllFallDownTest, ::testing::Range(1u, 5u));

TEST(AllFallDown, TheStoreHasABoundAndHoldsUpTheChipsBeyondIt) {
  // One chip, which makes everything fall while the nodes go on sending.
  MachineSpec spec = SmallSpec(4);
  spec.control_processors = 0;
  spec.link_depth = 1;
  DataMachine machine(spec, 1, 1);
  AllFallDown fall(machine.data_agents());
  constexpr uint32_t kMost = kChipPorts + 4 * (8 + 1);  // the chip's buffers and the leaves' credit
  auto send_on = [&] {
    for (int turn = 0; turn < 100; ++turn) {
      const uint32_t word = 0;
      for (uint32_t node = 0; node < 4; ++node) {
        vcm5_port_send(&machine.port(node), VCM5_LEFT, 0, 0, &word, 1);
      }
      machine.RunAll();
    }
  };
  fall.Enter(0);
  for (uint64_t most = kMost; most <= 3 * kMost; most += kMost) {
    send_on();
    EXPECT_LE(fall.Counts(VCM5_LEFT).captured, most);
    EXPECT_GE(fall.Counts(VCM5_LEFT).captured, most - 4 * 8);
    EXPECT_THAT(fall.TakeCaptured()[0], ::testing::Not(IsEmpty()));
  }
  // When sending stops there is room for all that the chip holds.
  send_on();
  EXPECT_GT(fall.Counts(VCM5_LEFT).held, 0u);
  const absl::Status status = fall.Drain();
  EXPECT_TRUE(status.ok()) << status;
}

// A link to another part whose far end says what the test wants.
class HostileLink final : public Link {
 public:
  explicit HostileLink(const DataPacket& packet) : packet_(packet) {}
  void SendPacket(uint32_t, const DataPacket&, unsigned) override {}
  void SendCredit(uint32_t, uint32_t) override {}
  void Flush() override {}
  unsigned Receive(LinkReceiver& receiver) override {
    if (std::exchange(said_, true)) return 0;
    receiver.OnPacket(0, packet_, data_header::Length(packet_.header));
    return 1;
  }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  DataPacket packet_;
  bool said_ = false;
};

// Part 0 of two of a machine of 40 nodes, its nodes' NIs, and a peer that sends one packet.
std::unique_ptr<DataNetworkAgent> WithPeerThatSends(const DataPacket& packet,
                                                    std::vector<std::unique_ptr<NiMemory>>* nodes,
                                                    std::vector<uint64_t>* bells) {
  DataAgentOptions options;
  options.spec = SmallSpec();
  options.parts = 2;
  bells->assign(Doorbell::BytesFor(64) / sizeof(uint64_t), 0);
  Doorbell::Create(bells->data(), 64);
  options.bells = {{Doorbell(bells->data(), 64), 0, 0, 16}};
  Partition& partition = options.partitions.emplace_back();
  for (uint32_t node = 0; node < options.spec.nodes; ++node) {
    nodes->push_back(std::make_unique<NiMemory>(options.spec, node));
    options.pages.push_back(nodes->back()->page());
    partition.push_back(node);
  }
  options.links.resize(2);
  options.links[1] = std::make_unique<HostileLink>(packet);
  return MakeDataAgent(std::move(options));
}

DataPacket Marked(uint32_t route, uint32_t destination) {
  DataPacket packet = MakePacket(route, destination, 2, 0, 1);
  packet.header |= data_header::kFalls;
  packet.crc = DataPacketCrc(packet, 2, packet.header);
  return packet;
}

TEST(AllFallDown, APeersMarkedPacketIsCapturedWhateverItsRoute) {
  for (const uint32_t route : {0u, 0x10u, 0xfffff0u, 0xffffffu}) {
    std::vector<std::unique_ptr<NiMemory>> nodes;
    std::vector<uint64_t> bells;
    const auto agent = WithPeerThatSends(Marked(route, 33), &nodes, &bells);
    while (agent->DoWork() != 0) {
    }
    EXPECT_THAT(agent->TakeErrors(), IsEmpty());
    const auto captured = agent->TakeCaptured();
    ASSERT_THAT(captured, SizeIs(1));
    EXPECT_EQ(data_header::Destination(captured[0].packet.header), 33u);
    for (const auto& node : nodes) EXPECT_EQ(node->page()->data[VCM5_LEFT].in_tail, 0u);
  }
}

TEST(AllFallDown, APeersMarkedPacketForNobodyIsReportedAndCounted) {
  std::vector<std::unique_ptr<NiMemory>> nodes;
  std::vector<uint64_t> bells;
  const auto agent = WithPeerThatSends(Marked(0, 41), &nodes, &bells);
  while (agent->DoWork() != 0) {
  }
  const auto errors = agent->TakeErrors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0].message, HasSubstr("delivered a message for address 41"));
  EXPECT_THAT(agent->TakeCaptured(), IsEmpty());
  EXPECT_EQ(agent->Counts().lost, 1u);
}

}  // namespace
}  // namespace vcm5
