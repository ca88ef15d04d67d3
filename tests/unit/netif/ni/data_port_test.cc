#include "netif/ni/data_port.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "runtime/base/prng.h"
#include "switches/topology/route_table.h"
#include "tests/support/ni_memory.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

constexpr int kHalf = VCM5_RIGHT;
constexpr uint32_t kLeaves = 32;
constexpr uint32_t kPhysicalSelf = 9;
const std::vector<uint32_t> kMembers = {8, 9, 10, 12, 13, 29};  // self is relative address 1

// A node's NI whose network side is the test.
class DataPortTest : public ::testing::Test {
 protected:
  DataPortTest() : spec_(MakeSpec()), memory_(spec_, 1), routes_(kLeaves, kMembers) {
    memory_.Attach(&node_);
    Start(0);
  }
  static MachineSpec MakeSpec() {
    MachineSpec spec;
    spec.nodes = static_cast<uint32_t>(kMembers.size());
    spec.words_max = 18;
    spec.data_fifo_depth = 8;
    return spec;
  }

  void Start(uint32_t position) {
    memory_.StartAt(&node_, kHalf, position);
    DataPort::Options options = memory_.PortOptions(kHalf, kPhysicalSelf);
    options.start_position = position;
    port_.emplace(options);
  }

  bool Push(uint32_t destination, uint32_t tag, uint32_t length, uint32_t id) {
    const DataPacket words = MakePacket(0, 0, length, 0, id);
    return vcm5_port_send(&node_, kHalf, destination, tag, words.words, length);
  }
  // Pushes a message as a program could that does not use the port's functions.
  void PushRaw(uint32_t destination, uint32_t tag, uint32_t length) {
    const uint64_t header = vcm5_send_header(destination, tag, length);
    std::memcpy(vcm5_port_out_slot(&node_, kHalf), &header, sizeof header);
    vcm5_port_commit(&node_, kHalf);
  }
  bool Take(DataPacket* packet) { return port_->Take(routes_, packet); }
  void ExpectRefused(DataPortFault fault, uint32_t value) {
    DataPacket packet;
    ASSERT_EQ(port_->Look(), 1u);
    EXPECT_FALSE(Take(&packet));
    const DataPortReport report = port_->TakeReport();
    EXPECT_EQ(report.fault, fault);
    EXPECT_EQ(report.value, value);
  }
  DataPacket Incoming(uint32_t id, unsigned length = 3, unsigned tag = 5) {
    return MakePacket(0, kPhysicalSelf, length, tag, id);
  }
  bool Deliver(const DataPacket& packet) {
    return port_->Deliver(packet, data_header::Length(packet.header)) == Arrival::kDelivered;
  }

  MachineSpec spec_;
  NiMemory memory_;
  RouteTable routes_;
  vcm5_port node_;
  std::optional<DataPort> port_;
};

// ---- outgoing ----

TEST_F(DataPortTest, TakesWhatTheProgramPushedWithPhysicalAddressAndRoute) {
  ASSERT_TRUE(Push(5, 7, 4, 1234));
  ASSERT_EQ(port_->Look(), 1u);
  DataPacket packet;
  ASSERT_TRUE(Take(&packet));
  EXPECT_EQ(packet.header, data_header::Make(FatTree::Route(9, 29), 4, 7, 29));
  EXPECT_TRUE(DataPacketCrcGood(packet));
  EXPECT_TRUE(WordsAreOf(1234, packet.words, 4));
  EXPECT_EQ(port_->Look(), 0u);
  EXPECT_EQ(port_->taken(), 1u);
}

TEST_F(DataPortTest, TakesEveryLength) {
  for (uint32_t length = 1; length <= spec_.words_max; ++length) {
    ASSERT_TRUE(Push(0, 0, length, length));
    DataPacket packet;
    ASSERT_EQ(port_->Look(), 1u);
    ASSERT_TRUE(Take(&packet));
    ASSERT_TRUE(DataPacketCrcGood(packet));
    ASSERT_TRUE(WordsAreOf(length, packet.words, length));
    port_->PublishTaken();
  }
}

TEST_F(DataPortTest, ProgramGetsSlotsBackWhenTheyArePublished) {
  for (uint32_t id = 0; id < spec_.data_fifo_depth; ++id) ASSERT_TRUE(Push(0, 0, 1, id));
  DataPacket packet;
  ASSERT_TRUE(Take(&packet));
  EXPECT_EQ(vcm5_port_send_space(&node_, kHalf), 0u);
  port_->PublishTaken();
  EXPECT_EQ(vcm5_port_send_space(&node_, kHalf), 1u);
}

TEST_F(DataPortTest, RefusesADestinationOutsideThePartition) {
  PushRaw(6, 0, 1);
  ExpectRefused(DataPortFault::kBadDestination, 6);
  PushRaw(0xffffffff, 0, 1);
  ExpectRefused(DataPortFault::kBadDestination, 0xffffffff);
}

TEST_F(DataPortTest, RefusesTagsOfTheSystemAndTagsThatDoNotExist) {
  for (const uint32_t tag : {14u, 15u, 16u, 255u}) {
    PushRaw(0, tag, 1);
    ExpectRefused(DataPortFault::kBadTag, tag);
  }
}

TEST_F(DataPortTest, RefusesNoWordsAndMoreThanTheLongestMessage) {
  for (const uint32_t length : {0u, 19u, 32u, 0xffffffu}) {
    PushRaw(0, 0, length);
    ExpectRefused(DataPortFault::kBadLength, length);
  }
}

TEST_F(DataPortTest, ARefusedMessageDoesNotHoldUpTheNext) {
  PushRaw(99, 0, 1);
  ASSERT_TRUE(Push(2, 3, 1, 55));
  DataPacket packet;
  ASSERT_EQ(port_->Look(), 2u);
  EXPECT_FALSE(Take(&packet));
  ASSERT_TRUE(Take(&packet));
  EXPECT_EQ(packet.words[0], 55u);
}

TEST_F(DataPortTest, ReportsTheFirstFaultOnce) {
  PushRaw(99, 0, 1);
  PushRaw(0, 15, 1);
  DataPacket packet;
  EXPECT_FALSE(Take(&packet));
  EXPECT_FALSE(Take(&packet));
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kBadDestination);
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kNone);
}

TEST_F(DataPortTest, AFullFifoIsNoNonsense) {
  for (uint32_t id = 0; id < spec_.data_fifo_depth; ++id) ASSERT_TRUE(Push(0, 0, 1, id));
  EXPECT_EQ(port_->Look(), spec_.data_fifo_depth);
  EXPECT_FALSE(port_->failed());
}

TEST_F(DataPortTest, ClosesWhenMoreIsPushedThanFits) {
  memory_.page()->node_data.out_tail[kHalf] = spec_.data_fifo_depth + 1;
  EXPECT_EQ(port_->Look(), 0u);
  EXPECT_TRUE(port_->failed());
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kBadPosition);
}

TEST_F(DataPortTest, ClosesWhenThePushPositionGoesBack) {
  ASSERT_TRUE(Push(0, 0, 1, 1));
  DataPacket packet;
  ASSERT_TRUE(Take(&packet));
  memory_.page()->node_data.out_tail[kHalf] = 0;
  EXPECT_EQ(port_->Look(), 0u);
  EXPECT_TRUE(port_->failed());
}

TEST_F(DataPortTest, StaysClosedWhenThePositionIsPutRight) {
  memory_.page()->node_data.out_tail[kHalf] = 1000;
  port_->Look();
  memory_.page()->node_data.out_tail[kHalf] = 0;
  ASSERT_TRUE(Push(0, 0, 1, 1));
  EXPECT_EQ(port_->Look(), 0u);
}

// ---- incoming ----

TEST_F(DataPortTest, DeliversAndShowsItWhenPublished) {
  ASSERT_TRUE(Deliver(Incoming(4711)));
  EXPECT_EQ(vcm5_port_peek(&node_, kHalf), nullptr);
  port_->PublishDelivered();
  const uint8_t* packet = vcm5_port_peek(&node_, kHalf);
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(vcm5_packet_tag(packet), 5u);
  ASSERT_EQ(vcm5_packet_length(packet), 3u);
  EXPECT_TRUE(WordsAreOf(4711, vcm5_packet_words(packet), 3));
  EXPECT_EQ(port_->delivered(), 1u);
}

TEST_F(DataPortTest, CreditIsWhatTheProgramReceived) {
  for (uint32_t id = 0; id < 5; ++id) ASSERT_TRUE(Deliver(Incoming(id)));
  port_->PublishDelivered();
  EXPECT_EQ(port_->RefreshCredit(), 0u);
  for (uint32_t id = 0; id < 3; ++id) {
    ASSERT_NE(vcm5_port_peek(&node_, kHalf), nullptr);
    vcm5_port_release(&node_, kHalf);
  }
  vcm5_port_flush_half(&node_, kHalf);
  EXPECT_EQ(port_->RefreshCredit(), 3u);
  EXPECT_EQ(port_->RefreshCredit(), 0u);
  EXPECT_EQ(port_->Undelivered(), 2u);
}

TEST_F(DataPortTest, RefusesADamagedPacketAsAPrimaryErrorAndItsSlotStaysFree) {
  DataPacket bad = Incoming(1);
  bad.words[1] ^= 1;
  EXPECT_FALSE(Deliver(bad));
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kPrimary);
  EXPECT_EQ(port_->primary_errors(), 1u);
  EXPECT_EQ(port_->secondary_errors(), 0u);
  EXPECT_EQ(port_->Undelivered(), 0u);
}

TEST_F(DataPortTest, RefusesAMarkedPacketAndOnlyCountsIt) {
  DataPacket marked = Incoming(1);
  marked.words[1] ^= 1;
  marked.crc = ~DataPacketCrc(marked, 3, marked.header);
  EXPECT_FALSE(Deliver(marked));
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kNone) << "it has been signalled";
  EXPECT_EQ(port_->primary_errors(), 0u);
  EXPECT_EQ(port_->secondary_errors(), 1u);
  EXPECT_EQ(port_->Undelivered(), 0u);
}

TEST_F(DataPortTest, RefusesALengthThatTheMachineDoesNotHave) {
  for (const unsigned length : {0u, 19u, 31u}) {
    DataPacket bad{};
    bad.header = data_header::Make(0, length, 0, kPhysicalSelf);
    EXPECT_EQ(port_->Deliver(bad, length), Arrival::kDropped);
    EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kPrimary);
  }
}

TEST_F(DataPortTest, CountsWhatWentOverItsLinks) {
  PushRaw(99, 0, 1);  // refused before the link
  ASSERT_TRUE(Push(0, 0, 1, 1));
  DataPacket packet;
  EXPECT_FALSE(Take(&packet));
  EXPECT_TRUE(Take(&packet));
  EXPECT_EQ(port_->injected(), 1u);
  DataPacket bad = Incoming(1);
  bad.words[1] ^= 1;
  EXPECT_TRUE(Deliver(Incoming(2)));
  EXPECT_FALSE(Deliver(bad));  // refused after it
  memory_.page()->node_data.out_tail[kHalf] = 1000;
  port_->Look();
  EXPECT_FALSE(Deliver(Incoming(3)));
  EXPECT_EQ(port_->arrived(), 3u);
}

TEST_F(DataPortTest, RefusesAPacketForSomebodyElse) {
  EXPECT_FALSE(Deliver(MakePacket(0, 10, 1, 0, 1)));
  const DataPortReport report = port_->TakeReport();
  EXPECT_EQ(report.fault, DataPortFault::kMisdelivered);
  EXPECT_EQ(report.value, 10u);
}

TEST_F(DataPortTest, RefusesAPacketThatHasNotArrived) {
  EXPECT_FALSE(Deliver(MakePacket(RoutingInstructions(0, 1), kPhysicalSelf, 1, 0, 1)));
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kMisdelivered);
  EXPECT_FALSE(Deliver(MakePacket(RoutingInstructions(1, 0), kPhysicalSelf, 1, 0, 1)));
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kMisdelivered);
}

TEST_F(DataPortTest, InterruptsForTheTagsOfTheMask) {
  memory_.page()->node_data.interrupt_mask = (1u << 3) | (1u << 7) | (1u << 9);
  for (const unsigned tag : {2u, 3u, 9u}) ASSERT_TRUE(Deliver(Incoming(tag, 1, tag)));
  EXPECT_EQ(port_->PublishDelivered(), (1u << 3) | (1u << 9));
  EXPECT_EQ(port_->PublishDelivered(), 0u) << "each arrival interrupts once";
  ASSERT_TRUE(Deliver(Incoming(2, 1, 2)));
  EXPECT_EQ(port_->PublishDelivered(), 0u);
}

TEST_F(DataPortTest, ClosesWhenMoreIsReceivedThanCame) {
  ASSERT_TRUE(Deliver(Incoming(1)));
  port_->PublishDelivered();
  memory_.page()->node_data.in_head[kHalf] = 2;
  port_->RefreshCredit();
  EXPECT_TRUE(port_->failed());
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kBadPosition);
}

TEST_F(DataPortTest, AClosedPortGivesBackAllItsSlotsOnceAndDropsWhatComes) {
  for (uint32_t id = 0; id < 5; ++id) ASSERT_TRUE(Deliver(Incoming(id)));
  memory_.page()->node_data.out_tail[kHalf] = 1000;
  port_->Look();
  ASSERT_TRUE(port_->failed());
  EXPECT_EQ(port_->RefreshCredit(), 5u);
  EXPECT_EQ(port_->RefreshCredit(), 0u);
  port_->TakeReport();
  EXPECT_FALSE(Deliver(Incoming(6)));
  EXPECT_EQ(port_->TakeReport().fault, DataPortFault::kNone) << "one report is enough";
  EXPECT_EQ(port_->RefreshCredit(), 0u);
}

// ---- both ----

TEST_F(DataPortTest, TheHalvesDoNotTouchEachOther) {
  DataPort left(memory_.PortOptions(VCM5_LEFT, kPhysicalSelf));
  ASSERT_TRUE(Push(0, 0, 1, 1));
  ASSERT_TRUE(Deliver(Incoming(1)));
  port_->PublishDelivered();
  EXPECT_EQ(left.Look(), 0u);
  EXPECT_EQ(vcm5_port_peek(&node_, VCM5_LEFT), nullptr);
}

TEST_F(DataPortTest, PositionsWrapAround) {
  Start(0xfffffff0u);
  for (uint32_t id = 0; id < 100; ++id) {
    ASSERT_TRUE(Push(id % 6, id % 14, 1 + id % 18, id));
    ASSERT_EQ(port_->Look(), 1u);
    DataPacket packet;
    ASSERT_TRUE(Take(&packet));
    port_->PublishTaken();
    ASSERT_TRUE(WordsAreOf(id, packet.words, 1 + id % 18));

    ASSERT_TRUE(Deliver(Incoming(id)));
    port_->PublishDelivered();
    const uint8_t* arrived = vcm5_port_peek(&node_, kHalf);
    ASSERT_NE(arrived, nullptr);
    ASSERT_TRUE(WordsAreOf(id, vcm5_packet_words(arrived), 3));
    vcm5_port_release(&node_, kHalf);
    vcm5_port_flush_half(&node_, kHalf);
    ASSERT_EQ(port_->RefreshCredit(), 1u);
  }
  EXPECT_FALSE(port_->failed());
}

}  // namespace
}  // namespace vcm5
