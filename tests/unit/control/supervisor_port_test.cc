// The privileged kinds of broadcast at one leaf: its supervisor page, its control port, and the
// packets between them and the network.
#include "netif/ni/supervisor_port.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "netif/port/supervisor.h"
#include "tests/property/control/control_world.h"

namespace vcm5 {
namespace {

using namespace control_body;

constexpr uint64_t kWhole = kFirst | kLast;
constexpr vcm5_broadcast_kind kPrivileged[] = {VCM5_BROADCAST_SUPERVISOR, VCM5_BROADCAST_INTERRUPT,
                                               VCM5_BROADCAST_UTILITY};

BroadcastOperation OperationOf(vcm5_broadcast_kind kind) {
  return static_cast<BroadcastOperation>(kind);
}

class SupervisorPortTest : public ::testing::Test {
 protected:
  SupervisorPortTest()
      : memory_(SmallGeometry(), 0, 2),
        supervised_(0, 2),
        port_(memory_.page(), Options(), supervised_.port()),
        supervisor_(*supervised_.side()) {
    EXPECT_EQ(vcm5_port_attach(&program_, memory_.page(), memory_.size()), nullptr);
  }
  ~SupervisorPortTest() override {
    port_.CheckInvariants();
    supervised_.port()->CheckInvariants();
  }
  static ControlPort::Options Options() {
    ControlPort::Options options;
    options.geometry = SmallGeometry();
    return options;
  }
  unsigned Poll() { return port_.Poll(false, packets_); }
  uint64_t body(unsigned i) const { return packets_[i].body; }
  void Handle(uint64_t body) { port_.Handle(SealControlPacket(body)); }
  bool Send(int kind, std::vector<uint32_t> words) {
    return vcm5_supervisor_broadcast(supervised_.side(), kind, words.data(),
                                     static_cast<uint32_t>(words.size()));
  }

  TestPage memory_;
  TestSupervisor supervised_;
  ControlPort port_;
  Supervisor supervisor_;
  vcm5_port program_;
  std::array<ControlPacket, 32> packets_;
};

// Words that are read before the network is told.
constexpr uint32_t kReport = VCM5_SUPERVISOR_DEPTH / 4;

TEST_F(SupervisorPortTest, MakesPacketsOfEachKind) {
  for (const auto kind : kPrivileged) {
    ASSERT_TRUE(Send(kind, {5, 6}));
    EXPECT_FALSE(vcm5_supervisor_sent(supervised_.side(), kind));
    ASSERT_EQ(Poll(), 2u);
    EXPECT_EQ(body(0), MakeBroadcast(OperationOf(kind), 5, kFirst));
    EXPECT_EQ(body(1), MakeBroadcast(OperationOf(kind), 6, kLast));
    EXPECT_TRUE(vcm5_supervisor_sent(supervised_.side(), kind));
  }
}

TEST_F(SupervisorPortTest, HasAWindowOfAKindInFlight) {
  for (const auto kind : kPrivileged) {
    for (uint32_t word = 0; word + 4 < VCM5_SUPERVISOR_DEPTH; word += 4) {
      ASSERT_TRUE(Send(kind, {word, word, word, word}));
    }
    ASSERT_TRUE(Send(kind, {1, 2, 3}));
    ASSERT_FALSE(Send(kind, {4, 5}));
    ASSERT_TRUE(Send(kind, {4}));
    uint32_t sent = 0;
    while (const unsigned count = Poll()) sent += count;
    ASSERT_EQ(sent, VCM5_SUPERVISOR_DEPTH);
    ASSERT_TRUE(Send(kind, {5}));
    EXPECT_EQ(Poll(), 0u);
    EXPECT_GE(supervised_.port()->stats(kind).stalls_window, 1u);
    Handle(MakeFlowControl(OperationOf(kind), 1));
    EXPECT_TRUE(port_.WantsPoll());
    ASSERT_EQ(Poll(), 1u);
    EXPECT_EQ(Word(body(0)), 5u);
  }
}

TEST_F(SupervisorPortTest, RefusesWhatIsNoMessage) {
  EXPECT_FALSE(Send(VCM5_BROADCAST_USER, {1}));
  EXPECT_FALSE(Send(VCM5_BROADCAST_KINDS, {1}));
  EXPECT_FALSE(Send(VCM5_BROADCAST_SUPERVISOR, {}));
  EXPECT_FALSE(Send(VCM5_BROADCAST_SUPERVISOR, {1, 2, 3, 4, 5}));
  EXPECT_EQ(Poll(), 0u);
}

TEST_F(SupervisorPortTest, WhoListensReceivesMessagesWhole) {
  for (const auto kind : kPrivileged) {
    supervisor_.Listen(kind);
    Handle(MakeBroadcast(OperationOf(kind), 7, kFirst));
    EXPECT_TRUE(supervisor_.Receive(kind).empty());
    Handle(MakeBroadcast(OperationOf(kind), 8, kLast));
    EXPECT_EQ(Poll(), 0u);  // nothing has been read
    EXPECT_EQ(vcm5_supervisor_receive_length(supervised_.side(), kind), 2u);
    EXPECT_EQ(vcm5_supervisor_receive_word(supervised_.side(), kind), 7u);
    EXPECT_EQ(supervisor_.Receive(kind), (std::vector<uint32_t>{8}));
    EXPECT_EQ(Poll(), 0u);  // reports are of a quarter of the window
    for (uint32_t i = 2; i < kReport; ++i) {
      Handle(MakeBroadcast(OperationOf(kind), i, kWhole));
      EXPECT_EQ(supervisor_.Receive(kind), (std::vector<uint32_t>{i}));
    }
    ASSERT_EQ(Poll(), 1u);
    EXPECT_EQ(body(0), MakeFlowControl(OperationOf(kind), kReport));
  }
}

TEST_F(SupervisorPortTest, WhatNobodyListensToCountsAsConsumed) {
  for (const auto kind : kPrivileged) {
    for (uint32_t i = 1; i <= 3 * kReport; ++i) {
      Handle(MakeBroadcast(OperationOf(kind), i, kWhole));
      EXPECT_EQ(port_.WantsPoll(), i % kReport == 0);
      ASSERT_EQ(Poll(), i % kReport == 0 ? 1u : 0u);
      if (i % kReport != 0) continue;
      EXPECT_EQ(body(0), MakeFlowControl(OperationOf(kind), i));
    }
    EXPECT_TRUE(supervisor_.Receive(kind).empty());
  }
}

TEST_F(SupervisorPortTest, AnInterruptBroadcastInterruptsTheNode) {
  static std::vector<uint32_t> words;
  words.clear();
  vcm5_port_set_attention_handler(
      &program_, [](uint32_t word, void*) { words.push_back(word); }, nullptr);
  EXPECT_FALSE(port_.TookInterrupt());
  Handle(MakeBroadcast(BroadcastOperation::kInterrupt, 42, kWhole));
  EXPECT_TRUE(port_.TookNeeds());
  EXPECT_TRUE(port_.TookInterrupt());
  EXPECT_FALSE(port_.TookInterrupt());
  // Interrupts of messages are off, and that is no protection.
  vcm5_port_miss(&program_);
  EXPECT_EQ(words, (std::vector<uint32_t>{42}));
  vcm5_port_miss(&program_);
  EXPECT_EQ(words.size(), 1u);
  // The other kinds interrupt nobody.
  Handle(MakeBroadcast(BroadcastOperation::kSupervisor, 1, kWhole));
  Handle(MakeBroadcast(BroadcastOperation::kUtility, 1, kWhole));
  EXPECT_FALSE(port_.TookInterrupt());
  vcm5_port_set_attention_handler(&program_, nullptr, nullptr);
  Handle(MakeBroadcast(BroadcastOperation::kInterrupt, 43, kWhole));
  vcm5_port_miss(&program_);
  EXPECT_EQ(words.size(), 1u);
}

TEST_F(SupervisorPortTest, TheAsynchronousOrInterruptsWhoAskedAsItRises) {
  static int calls;
  calls = 0;
  Handle(MakeSynchronise(kSyncUser));
  EXPECT_FALSE(port_.TookInterrupt());
  vcm5_port_set_async_or_handler(
      &program_, [](void*) { ++calls; }, nullptr);
  program_.interrupts_enabled = true;
  vcm5_port_note_interrupts(&program_);
  vcm5_port_miss(&program_);
  EXPECT_EQ(calls, 0);  // it was 1 before
  for (int rise = 1; rise <= 3; ++rise) {
    Handle(MakeSynchronise(0));
    Handle(MakeSynchronise(kSyncSupervisor));
    EXPECT_FALSE(port_.TookInterrupt());
    Handle(MakeSynchronise(kSyncUser));
    EXPECT_TRUE(port_.TookInterrupt());
    vcm5_port_miss(&program_);
    EXPECT_EQ(calls, rise);
  }
  // Those that come while interrupts are off are taken when they are on again.
  program_.interrupts_enabled = false;
  vcm5_port_note_interrupts(&program_);
  Handle(MakeSynchronise(0));
  Handle(MakeSynchronise(kSyncUser));
  vcm5_port_miss(&program_);
  EXPECT_EQ(calls, 3);
  program_.interrupts_enabled = true;
  EXPECT_TRUE(vcm5_port_take_interrupts(&program_));
  EXPECT_EQ(calls, 4);
}

TEST_F(SupervisorPortTest, TheSupervisorsAsynchronousOrInterruptsIfItIsToDoSo) {
  static uint32_t came;
  came = 0;
  vcm5_port_set_attention_handler(
      &program_, [](uint32_t word, void*) { came = word; }, nullptr);
  Handle(MakeSynchronise(kSyncSupervisor));
  EXPECT_FALSE(port_.TookInterrupt());
  supervisor_.SetAsyncOrInterrupts(true);
  Handle(MakeSynchronise(kSyncUser | kSyncSupervisor));
  Handle(MakeSynchronise(kSyncUser));
  EXPECT_FALSE(port_.TookInterrupt());
  Handle(MakeSynchronise(kSyncUser | kSyncSupervisor));
  EXPECT_TRUE(port_.TookInterrupt());
  EXPECT_EQ(supervisor_.async_or_rises(), 2u);
  vcm5_port_miss(&program_);
  EXPECT_EQ(came, VCM5_ATTENTION_ASYNC_OR);
}

TEST_F(SupervisorPortTest, SynchronisationBitsGoTogether) {
  vcm5_port_set_async_or(&program_, 1);
  supervisor_.SetAsyncOr(true);
  supervisor_.SetHardError(true);
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeSynchronise(kSyncUser | kSyncSupervisor | kSyncHardError));
  EXPECT_EQ(Poll(), 0u);  // nothing new
  supervisor_.SetHardError(false);
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeSynchronise(kSyncUser | kSyncSupervisor));
  // A hard error of the NI itself is no less one than its supervisor's.
  ControlPacket damaged = SealControlPacket(MakeSynchronise(0));
  damaged.crc ^= 1;
  port_.Handle(damaged);
  EXPECT_TRUE(port_.WantsPoll());
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeSynchronise(kSyncUser | kSyncSupervisor | kSyncHardError));
}

TEST_F(SupervisorPortTest, ErrorsStandInTheStatusRegister) {
  uint32_t parties;
  EXPECT_EQ(vcm5_port_error(&program_, &parties), 0u);
  Handle(MakeParties(3, 9));
  Handle(MakeError(ControlFault::kMismatch,
                   MakeCombine(CombineOperation::kReduce, Combiner::kMax, 0, kWhole),
                   MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 0, kWhole)));
  Handle(MakeParties(1, 2));
  Handle(MakeError(ControlFault::kFraming, 0, 0));
  EXPECT_TRUE(port_.TookDelivery());
  const uint32_t error = vcm5_port_error(&program_, &parties);
  EXPECT_EQ(VCM5_ERROR_KIND(error), static_cast<uint32_t>(ControlFault::kMismatch));
  EXPECT_EQ(VCM5_ERROR_NODE(parties, 0), 3u);
  EXPECT_EQ(VCM5_ERROR_NODE(parties, 1), 9u);
  const uint64_t right = uint64_t{VCM5_ERROR_PACKET(error, 1)} << kTypeShift;
  EXPECT_EQ(Operation(right), static_cast<uint32_t>(CombineOperation::kSyncOr));
}

TEST_F(SupervisorPortTest, AnErrorOfTheLinkHasNoParties) {
  Handle(MakeCombine(CombineOperation::kReduce, Combiner::kOr, 0, kWhole));
  uint32_t parties;
  const uint32_t error = vcm5_port_error(&program_, &parties);
  EXPECT_EQ(VCM5_ERROR_KIND(error), static_cast<uint32_t>(ControlFault::kUnexpectedResult));
  EXPECT_EQ(parties, 0xffffffffu);
}

TEST_F(SupervisorPortTest, AProgramThatTriesAPrivilegedKindFailsItsPort) {
  for (const auto kind : kPrivileged) {
    TestPage memory(SmallGeometry(), 0, 2);
    ControlPort port(memory.page(), Options(), supervised_.port());
    vcm5_port program;
    ASSERT_EQ(vcm5_port_attach(&program, memory.page(), memory.size()), nullptr);
    vcm5_port_control_first(&program, VCM5_FIFO_BROADCAST, VCM5_ENTRY_KIND(kind), 1, 1);
    EXPECT_EQ(port.Poll(false, packets_), 0u);
    EXPECT_EQ(port.error(), ControlPortError::kPrivileged);
    // The supervisor of the same node is not concerned.
    ASSERT_TRUE(Send(kind, {1}));
    EXPECT_EQ(port.Poll(false, packets_), 1u);
  }
}

TEST_F(SupervisorPortTest, APageWithoutSupervisorTakesNoPrivilegedPackets) {
  ControlPort port(memory_.page(), Options());
  port.Handle(SealControlPacket(MakeBroadcast(BroadcastOperation::kUtility, 1, kWhole)));
  EXPECT_EQ(port.link_fault(), ControlFault::kBadPacket);
}

TEST_F(SupervisorPortTest, ASupervisorFailsOnNonsense) {
  supervised_.page()->supervisor.out_tail[VCM5_BROADCAST_UTILITY] =
      VCM5_SUPERVISOR_DEPTH + 1;
  EXPECT_EQ(Poll(), 0u);
  EXPECT_EQ(port_.supervisor_error(), ControlPortError::kOutgoingTail);
  EXPECT_TRUE(port_.TookNeeds());
  EXPECT_FALSE(port_.failed());
}

}  // namespace
}  // namespace vcm5
