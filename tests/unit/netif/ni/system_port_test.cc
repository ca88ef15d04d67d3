// Messages of the system at one NI, whose network side is the test.
#include "netif/ni/system_port.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "netif/ni/data_port.h"
#include "netif/port/supervisor.h"
#include "switches/topology/fat_tree.h"
#include "tests/support/ni_memory.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

constexpr int kHalf = VCM5_RIGHT;
constexpr uint32_t kSelf = 9;

// NIs are at even addresses below 32, and at our own.
struct Routes {
  bool Has(uint32_t physical) const {
    return physical == kSelf || (physical < 32 && physical % 2 == 0);
  }
  uint32_t Route(uint32_t source, uint32_t physical) const {
    return FatTree::Route(source, physical);
  }
};

class SystemPortTest : public ::testing::Test {
 protected:
  SystemPortTest()
      : page_(std::make_unique<vcm5_supervisor_page>()),
        memory_(Spec(), 1),
        data_(memory_.PortOptions(kHalf, kSelf)),
        port_(page_.get(), kHalf, Spec().words_max) {
    vcm5_supervisor_page_init(page_.get(), 1, Spec().nodes);
    EXPECT_EQ(vcm5_supervisor_attach(&supervisor_port_, page_.get()), nullptr);
    supervisor_.emplace(supervisor_port_);
    memory_.Attach(&node_);
  }
  static MachineSpec Spec() {
    MachineSpec spec;
    spec.nodes = 8;
    spec.words_max = 7;
    spec.data_fifo_depth = 8;
    return spec;
  }

  bool Send(uint32_t physical, uint32_t tag, uint32_t length, uint32_t id) {
    const DataPacket words = MakePacket(0, 0, length, 0, id);
    return supervisor_->SendMessage(kHalf, physical, tag, {words.words, length});
  }
  bool Take(DataPacket* packet) { return data_.TakeSystem(port_, Routes{}, packet); }
  // Pushes what the functions of the port refuse.
  void PushRaw(uint32_t physical, uint32_t control) {
    auto& tail = page_->supervisor_data.out_tail[kHalf];
    vcm5_system_message& message = page_->data_out[kHalf][tail++ % VCM5_SYSTEM_DEPTH];
    message.address = physical;
    message.control = control;
  }
  void ExpectRefused(DataPortFault fault, uint32_t value) {
    DataPacket packet;
    ASSERT_EQ(port_.Look(), 1u);
    EXPECT_FALSE(Take(&packet));
    const DataPortReport report = port_.TakeReport();
    EXPECT_EQ(report.fault, fault);
    EXPECT_EQ(report.value, value);
    EXPECT_EQ(data_.injected(), 0u) << "it was not sent";
  }
  static DataPacket Incoming(uint32_t id, unsigned length = 3, unsigned tag = 14) {
    return MakePacket(0, kSelf, length, tag, id);
  }
  Arrival Deliver(const DataPacket& packet) {
    return data_.Deliver(packet, data_header::Length(packet.header));
  }
  bool Receive(vcm5_system_message* message) {
    return supervisor_->ReceiveMessage(kHalf, message);
  }

  std::unique_ptr<vcm5_supervisor_page> page_;
  NiMemory memory_;
  DataPort data_;
  SystemPort port_;
  vcm5_supervisor_port supervisor_port_;
  std::optional<Supervisor> supervisor_;
  vcm5_port node_;
};

TEST_F(SystemPortTest, SendsToPhysicalAddresses) {
  for (uint32_t length = 1; length <= 7; ++length) {
    const uint32_t to = length == 7 ? kSelf : 4 * length;
    const uint32_t tag = 14 + length % 2;
    ASSERT_TRUE(Send(to, tag, length, length));
    EXPECT_FALSE(supervisor_->MessagesSent(kHalf));
    ASSERT_EQ(port_.Look(), 1u);
    DataPacket packet;
    ASSERT_TRUE(Take(&packet));
    EXPECT_EQ(packet.header, data_header::Make(FatTree::Route(kSelf, to), length, tag, to));
    EXPECT_TRUE(DataPacketCrcGood(packet));
    EXPECT_TRUE(WordsAreOf(length, packet.words, length));
    port_.PublishTaken();
    EXPECT_TRUE(supervisor_->MessagesSent(kHalf));
  }
  EXPECT_EQ(port_.Look(), 0u);
  EXPECT_EQ(port_.taken(), 7u);
  EXPECT_EQ(data_.injected(), 7u) << "over the NI's link";
  EXPECT_EQ(data_.taken(), 0u) << "not the user's";
}

TEST_F(SystemPortTest, TheSupervisorWaitsForRoom) {
  for (uint32_t id = 0; id < VCM5_SYSTEM_DEPTH; ++id) ASSERT_TRUE(Send(0, 15, 1, id));
  EXPECT_FALSE(Send(0, 15, 1, 99));
  EXPECT_TRUE(supervisor_->MessagesSent(VCM5_LEFT)) << "the other half has its own";
  DataPacket packet;
  ASSERT_EQ(port_.Look(), VCM5_SYSTEM_DEPTH);
  ASSERT_TRUE(Take(&packet));
  EXPECT_FALSE(Send(0, 15, 1, 99)) << "not yet published";
  port_.PublishTaken();
  EXPECT_TRUE(Send(0, 15, 1, 99));
  EXPECT_FALSE(Send(0, 15, 1, 100));
}

TEST_F(SystemPortTest, TheSupervisorsSideRefusesWhatNoMachineSends) {
  EXPECT_FALSE(Send(0, 13, 1, 0)) << "a user's tag";
  EXPECT_FALSE(Send(0, 16, 1, 0));
  EXPECT_FALSE(Send(0, 14, 0, 0));
  EXPECT_FALSE(Send(0, 14, VCM5_SYSTEM_WORDS_MAX + 1, 0));
  EXPECT_FALSE(supervisor_->SendMessage(2, 0, 14, std::vector<uint32_t>{1}));
  EXPECT_EQ(port_.Look(), 0u);
}

TEST_F(SystemPortTest, RefusesAnAddressWithoutNi) {
  for (const uint32_t physical : {5u, 32u, 0xffffffffu}) {
    PushRaw(physical, VCM5_SYSTEM_CONTROL(14, 1));
    ExpectRefused(DataPortFault::kBadDestination, physical);
  }
}

TEST_F(SystemPortTest, RefusesTagsOfUsersAndLengthsOfNoMessage) {
  for (const uint32_t tag : {0u, 13u, 16u, 255u}) {
    PushRaw(0, VCM5_SYSTEM_CONTROL(tag, 1));
    ExpectRefused(DataPortFault::kBadTag, tag);
  }
  for (const uint32_t length : {0u, 8u, 0xffffffu}) {
    PushRaw(0, VCM5_SYSTEM_CONTROL(14, length));
    ExpectRefused(DataPortFault::kBadLength, length);
  }
}

TEST_F(SystemPortTest, APositionThatMakesNoSenseClosesIt) {
  page_->supervisor_data.out_tail[kHalf] = VCM5_SYSTEM_DEPTH + 1;
  EXPECT_EQ(port_.Look(), 0u);
  EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kBadPosition);
  page_->supervisor_data.out_tail[kHalf] = 1;
  EXPECT_EQ(port_.Look(), 0u) << "for good";
  EXPECT_FALSE(port_.Deliver(Incoming(1)));
  EXPECT_EQ(port_.dropped(), 1u);
  EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kNone) << "reported once";
}

TEST_F(SystemPortTest, WhatComesIsTheSupervisorsAndTheProgramSeesNothing) {
  memory_.page()->node_data.interrupt_mask = 0xffff;
  for (const unsigned tag : {14u, 15u}) {
    ASSERT_EQ(Deliver(Incoming(tag, tag - 10, tag)), Arrival::kForSupervisor);
    ASSERT_TRUE(port_.Deliver(Incoming(tag, tag - 10, tag)));
  }
  EXPECT_EQ(data_.PublishDelivered(), 0u) << "no interrupt";
  EXPECT_EQ(vcm5_port_peek(&node_, kHalf), nullptr);
  EXPECT_EQ(data_.Undelivered(), 0u);
  EXPECT_EQ(data_.delivered(), 0u);
  EXPECT_EQ(data_.arrived(), 2u) << "over the NI's link";
  vcm5_system_message message;
  for (const uint32_t tag : {14u, 15u}) {
    ASSERT_TRUE(Receive(&message));
    EXPECT_EQ(message.address, kSelf);
    EXPECT_EQ(VCM5_SYSTEM_TAG_OF(message.control), tag);
    EXPECT_EQ(VCM5_SYSTEM_LENGTH_OF(message.control), tag - 10);
    EXPECT_TRUE(WordsAreOf(tag, message.words, tag - 10));
  }
  EXPECT_FALSE(Receive(&message));
}

TEST_F(SystemPortTest, AProgramThatFailedDoesNotCutTheSupervisorOff) {
  memory_.page()->node_data.out_tail[kHalf] = 1000;
  EXPECT_EQ(data_.Look(), 0u);
  ASSERT_TRUE(data_.failed());
  EXPECT_EQ(Deliver(Incoming(1)), Arrival::kForSupervisor);
  EXPECT_EQ(Deliver(Incoming(1, 3, 13)), Arrival::kDropped);
  ASSERT_TRUE(Send(4, 14, 2, 5));
  DataPacket packet;
  ASSERT_EQ(port_.Look(), 1u);
  EXPECT_TRUE(Take(&packet));
}

TEST_F(SystemPortTest, WhatIsDamagedOrNotOursIsDropped) {
  DataPacket bad = Incoming(1);
  bad.words[0] ^= 1;
  EXPECT_EQ(Deliver(bad), Arrival::kDropped);
  EXPECT_EQ(data_.TakeReport().fault, DataPortFault::kPrimary);
  EXPECT_EQ(Deliver(MakePacket(0, kSelf + 1, 1, 14, 1)), Arrival::kDropped);
  EXPECT_EQ(data_.TakeReport().fault, DataPortFault::kMisdelivered);
  EXPECT_EQ(data_.arrived(), 2u);
}

TEST_F(SystemPortTest, ASupervisorThatDoesNotReadLosesMessagesAndHoldsNothingUp) {
  for (uint32_t id = 0; id < VCM5_SYSTEM_DEPTH; ++id) ASSERT_TRUE(port_.Deliver(Incoming(id)));
  EXPECT_EQ(supervisor_->messages_dropped(kHalf), 0u);
  EXPECT_FALSE(port_.Deliver(Incoming(98)));
  EXPECT_FALSE(port_.Deliver(Incoming(99)));
  EXPECT_EQ(supervisor_->messages_dropped(kHalf), 2u);
  EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kNone) << "nobody's fault";
  vcm5_system_message message;
  ASSERT_TRUE(Receive(&message));
  EXPECT_TRUE(port_.Deliver(Incoming(VCM5_SYSTEM_DEPTH)));
  for (uint32_t id = 1; id <= VCM5_SYSTEM_DEPTH; ++id) {
    ASSERT_TRUE(Receive(&message));
    EXPECT_TRUE(WordsAreOf(id, message.words, 3));
  }
  EXPECT_FALSE(Receive(&message));
  EXPECT_EQ(port_.delivered(), VCM5_SYSTEM_DEPTH + 1);
  EXPECT_EQ(port_.dropped(), 2u);
}

TEST_F(SystemPortTest, AReadPositionThatMakesNoSenseClosesIt) {
  for (uint32_t id = 0; id < VCM5_SYSTEM_DEPTH; ++id) ASSERT_TRUE(port_.Deliver(Incoming(id)));
  page_->supervisor_data.in_head[kHalf] = VCM5_SYSTEM_DEPTH + 1;
  EXPECT_FALSE(port_.Deliver(Incoming(1)));
  EXPECT_EQ(port_.TakeReport().fault, DataPortFault::kBadPosition);
  page_->supervisor_data.in_head[kHalf] = VCM5_SYSTEM_DEPTH;
  EXPECT_FALSE(port_.Deliver(Incoming(1)));
}

TEST_F(SystemPortTest, WhereNobodySupervisesMessagesAreDropped) {
  SystemPort port(nullptr, kHalf, 5);
  EXPECT_EQ(port.Look(), 0u);
  EXPECT_FALSE(port.Deliver(Incoming(1)));
  EXPECT_EQ(port.dropped(), 1u);
}

}  // namespace
}  // namespace vcm5
