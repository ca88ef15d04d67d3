#include "netif/ni/control_port.h"

#include <gtest/gtest.h>

#include <array>

#include "netif/port/ni_port.h"
#include "tests/property/control/control_world.h"

namespace vcm5 {
namespace {

using namespace control_body;

constexpr uint64_t kWhole = kFirst | kLast;

class ControlPortTest : public ::testing::Test {
 protected:
  ControlPortTest() : memory_(SmallGeometry(), 0, 2), port_(memory_.page(), Options()) {
    EXPECT_EQ(vcm5_port_attach(&program_, memory_.page(), memory_.size()), nullptr);
  }
  ~ControlPortTest() override {
    port_.CheckInvariants();
    EXPECT_TRUE(memory_.guard_intact());
  }
  static ControlPort::Options Options() {
    ControlPort::Options options;
    options.geometry = SmallGeometry();
    options.window = {8, 1, 4};
    return options;
  }
  unsigned Poll(bool resample = false) { return port_.Poll(resample, packets_); }
  uint64_t body(unsigned i) const { return packets_[i].body; }
  void Handle(uint64_t body) { port_.Handle(SealControlPacket(body)); }
  void PushEntry(unsigned fifo, uint32_t word, uint32_t control) {
    vcm5_port_control_put(&program_, static_cast<int>(fifo), word, control);
    vcm5_port_control_publish(&program_, static_cast<int>(fifo));
  }
  void Fails(ControlPortError error) {
    EXPECT_EQ(Poll(), 0u);
    EXPECT_EQ(port_.error(), error) << ControlPortErrorName(port_.error());
  }

  TestPage memory_;
  ControlPort port_;
  vcm5_port program_;
  std::array<ControlPacket, 32> packets_;
};

TEST_F(ControlPortTest, MakesPacketsOfACombineMessage) {
  program_.segment_start = VCM5_ENTRY_SEGMENT;
  vcm5_port_combine_first(&program_, VCM5_UADD, VCM5_SCAN_BACKWARD, 2, 5);
  vcm5_port_control_word(&program_, VCM5_FIFO_COMBINE, 6);
  ASSERT_EQ(Poll(), 2u);
  EXPECT_EQ(body(0), MakeCombine(CombineOperation::kScanBackward, Combiner::kUnsignedAdd, 5,
                                 kFirst | kSegment));
  EXPECT_EQ(body(1), MakeCombine(CombineOperation::kScanBackward, Combiner::kUnsignedAdd, 6,
                                 kLast | kSegment));
  EXPECT_TRUE(ControlPacketCrcGood(packets_[0]));
  EXPECT_EQ(Poll(), 0u);
  // The words are kept until their results are there.
  EXPECT_EQ(vcm5_port_control_space(&program_, VCM5_FIFO_COMBINE), 14u);
  Handle(WithWord(body(0) & ~kSegment, 0));
  EXPECT_EQ(vcm5_port_control_space(&program_, VCM5_FIFO_COMBINE), 14u);
  Handle(WithWord(body(1) & ~kSegment, 0));
  EXPECT_EQ(vcm5_port_control_space(&program_, VCM5_FIFO_COMBINE), 16u);
}

TEST_F(ControlPortTest, SegmentsMatterToScansOnly) {
  program_.segment_start = VCM5_ENTRY_SEGMENT;
  vcm5_port_combine_first(&program_, VCM5_ADD, VCM5_REDUCE, 1, 5);
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0) & kSegment, 0u);
  Handle(MakeCombine(CombineOperation::kReduce, Combiner::kAdd, 12, kWhole));
  EXPECT_EQ(vcm5_port_control_receive_word(&program_, VCM5_FIFO_COMBINE), 12u);
}

TEST_F(ControlPortTest, PublishesTheWordsOfAMessageTogether) {
  vcm5_port_combine_first(&program_, VCM5_ADD, VCM5_REDUCE, 2, 5);
  vcm5_port_control_word(&program_, VCM5_FIFO_COMBINE, 6);
  Poll();
  Handle(MakeCombine(CombineOperation::kReduce, Combiner::kAdd, 10, kFirst));
  EXPECT_EQ(vcm5_port_control_peek(&program_, VCM5_FIFO_COMBINE), nullptr);
  EXPECT_FALSE(port_.TookDelivery());
  Handle(MakeCombine(CombineOperation::kReduce, Combiner::kAdd, 11, kLast | kOverflow));
  EXPECT_TRUE(port_.TookDelivery());
  EXPECT_FALSE(port_.TookDelivery());
  const vcm5_control_entry* entry = vcm5_port_control_peek(&program_, VCM5_FIFO_COMBINE);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(VCM5_ENTRY_LENGTH_OF(entry->control), 2u);
  EXPECT_NE(entry->control & VCM5_ENTRY_OVERFLOW, 0u);
  EXPECT_EQ(vcm5_port_control_receive_word(&program_, VCM5_FIFO_COMBINE), 10u);
  EXPECT_EQ(vcm5_port_control_receive_word(&program_, VCM5_FIFO_COMBINE), 11u);
}

TEST_F(ControlPortTest, ALeafThatStartsASegmentReceivesTheIdentity) {
  program_.segment_start = VCM5_ENTRY_SEGMENT;
  vcm5_port_combine_first(&program_, VCM5_MAX, VCM5_SCAN_FORWARD, 1, 5);
  Poll();
  Handle(MakeCombine(CombineOperation::kScanForward, Combiner::kMax, 77, kWhole));
  EXPECT_EQ(vcm5_port_control_receive_word(&program_, VCM5_FIFO_COMBINE), 0x80000000u);
}

TEST_F(ControlPortTest, KeepsToTheWindow) {
  for (uint32_t i = 0; i < 10; ++i) {
    vcm5_port_combine_first(&program_, VCM5_OR, VCM5_REDUCE, 1, i);
  }
  EXPECT_EQ(Poll(), 8u);
  EXPECT_EQ(port_.stats(VCM5_FIFO_COMBINE).stalls_window, 1u);
  EXPECT_FALSE(port_.WantsPoll());
  Handle(MakeCombine(CombineOperation::kReduce, Combiner::kOr, 0, kWhole));
  EXPECT_TRUE(port_.WantsPoll());
  EXPECT_EQ(Poll(), 1u);
}

TEST_F(ControlPortTest, SendsOnlyWhatHasRoomForItsResult) {
  for (uint32_t i = 0; i < 4; ++i) {
    vcm5_port_control_first(&program_, VCM5_FIFO_SYNC_OR, 0, 1, 1);
  }
  ASSERT_EQ(Poll(), 4u);
  for (uint32_t i = 0; i < 4; ++i) {
    Handle(MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 1, kWhole));
  }
  vcm5_port_control_first(&program_, VCM5_FIFO_SYNC_OR, 0, 1, 1);
  EXPECT_EQ(Poll(), 0u);
  EXPECT_TRUE(port_.AwaitsProgram());
  EXPECT_EQ(port_.stats(VCM5_FIFO_SYNC_OR).stalls_unread, 1u);
  EXPECT_EQ(vcm5_port_control_receive_word(&program_, VCM5_FIFO_SYNC_OR), 1u);
  EXPECT_EQ(Poll(), 1u);
  EXPECT_FALSE(port_.AwaitsProgram());
}

TEST_F(ControlPortTest, GoesOnWhereAFullSpanStoppedIt) {
  vcm5_port_combine_first(&program_, VCM5_OR, VCM5_REDUCE, 3, 1);
  vcm5_port_control_word(&program_, VCM5_FIFO_COMBINE, 2);
  vcm5_port_control_word(&program_, VCM5_FIFO_COMBINE, 3);
  EXPECT_EQ(port_.Poll(false, std::span(packets_).first(2)), 2u);
  EXPECT_TRUE(port_.WantsPoll());
  EXPECT_EQ(Poll(), 1u);
  EXPECT_EQ(Word(body(0)), 3u);
  EXPECT_FALSE(port_.WantsPoll());
}

TEST_F(ControlPortTest, AbstainsOnlyAfterItsOperationsAreDone) {
  vcm5_port_combine_first(&program_, VCM5_OR, VCM5_REDUCE, 1, 1);
  vcm5_port_set_abstain(&program_, VCM5_FIFO_COMBINE, true);
  EXPECT_EQ(Poll(), 1u);
  Handle(MakeCombine(CombineOperation::kReduce, Combiner::kOr, 0, kWhole));
  EXPECT_TRUE(port_.WantsPoll());
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeAbstain(kStreamCombine, true));
  vcm5_port_set_abstain(&program_, VCM5_FIFO_COMBINE, false);
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeAbstain(kStreamCombine, false));
}

TEST_F(ControlPortTest, RouterDoneCountsSentOnlyAfterReceivedIsKnown) {
  vcm5_ni_page* page = memory_.page();
  page->node_data.received[VCM5_LEFT] = 3;
  page->node_data.received[VCM5_RIGHT] = 1;
  page->node_data.out_tail[VCM5_LEFT] = 5;
  vcm5_port_control_first(&program_, VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
  const auto wave = [](CombineOperation operation, uint32_t sum) {
    return MakeCombine(operation, Combiner::kUnsignedAdd, sum, kWhole);
  };
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), wave(CombineOperation::kRouterDoneReceived, 4));
  EXPECT_EQ(Poll(true), 0u);
  page->node_data.out_tail[VCM5_LEFT] = 6;
  Handle(wave(CombineOperation::kRouterDoneReceived, 9));
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), wave(CombineOperation::kRouterDoneSent, 6));
  Handle(wave(CombineOperation::kRouterDoneSent, 10));
  EXPECT_EQ(Poll(false), 0u);
  EXPECT_TRUE(port_.AwaitsResample());
  EXPECT_EQ(Poll(true), 1u);
  Handle(wave(CombineOperation::kRouterDoneReceived, 10));
  Poll();
  EXPECT_EQ(vcm5_port_control_peek(&program_, VCM5_FIFO_ROUTER_DONE), nullptr);
  Handle(wave(CombineOperation::kRouterDoneSent, 10));
  EXPECT_NE(vcm5_port_control_peek(&program_, VCM5_FIFO_ROUTER_DONE), nullptr);
}

TEST_F(ControlPortTest, TellsChangesOfTheAsynchronousOr) {
  EXPECT_EQ(Poll(), 0u);
  vcm5_port_set_async_or(&program_, 1);
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeSynchronise(1));
  EXPECT_EQ(Poll(), 0u);
  Handle(MakeSynchronise(1));
  EXPECT_EQ(vcm5_port_async_or(&program_), 1u);
}

TEST_F(ControlPortTest, ReportsConsumedBroadcastWordsInBatches) {
  for (uint32_t i = 0; i < 4; ++i) Handle(MakeBroadcast(BroadcastOperation::kUser, i, kWhole));
  EXPECT_TRUE(port_.AwaitsProgram());
  EXPECT_EQ(Poll(), 0u);
  for (uint32_t i = 0; i < 3; ++i) vcm5_port_control_receive_word(&program_, VCM5_FIFO_BROADCAST);
  EXPECT_EQ(Poll(), 0u);
  EXPECT_EQ(vcm5_port_control_receive_word(&program_, VCM5_FIFO_BROADCAST), 3u);
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeFlowControl(BroadcastOperation::kUser, 4));
  EXPECT_FALSE(port_.AwaitsProgram());
}

TEST_F(ControlPortTest, AnAbstainingLeafReportsWhatItDropsUnasked) {
  vcm5_port_set_abstain(&program_, VCM5_FIFO_BROADCAST, true);
  EXPECT_EQ(Poll(), 0u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(port_.WantsPoll());
    Handle(MakeBroadcast(BroadcastOperation::kUser, i, kWhole));
  }
  EXPECT_TRUE(port_.WantsPoll());
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeFlowControl(BroadcastOperation::kUser, 4));
  EXPECT_EQ(vcm5_port_control_peek(&program_, VCM5_FIFO_BROADCAST), nullptr);
}

TEST_F(ControlPortTest, CountsWordsAsSentButNotAbstaining) {
  vcm5_port_set_abstain(&program_, VCM5_FIFO_COMBINE, true);
  vcm5_port_combine_first(&program_, VCM5_OR, VCM5_REDUCE, 1, 1);
  EXPECT_EQ(Poll(), 2u);
  EXPECT_EQ(port_.stats(VCM5_FIFO_COMBINE).sent, 1u);
}

TEST_F(ControlPortTest, ABroadcastWordWithoutRoomIsSignalled) {
  for (uint32_t i = 0; i < 17; ++i) Handle(MakeBroadcast(BroadcastOperation::kUser, i, kWhole));
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(FaultOf(body(0)), ControlFault::kBroadcastCollision);
  EXPECT_TRUE(WellFormed(body(0)));
}

TEST_F(ControlPortTest, ADamagedPacketIsANetworkFault) {
  ControlPacket packet = SealControlPacket(MakeSynchronise(1));
  packet.crc ^= 1;
  port_.Handle(packet);
  EXPECT_EQ(port_.network_fault(), ControlFault::kCrc);
  EXPECT_EQ(port_.link_fault(), ControlFault::kCrc);
  EXPECT_EQ(vcm5_port_async_or(&program_), 0u);
  // It is a hard error of this NI, of which the others are to hear.
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeSynchronise(kSyncHardError));
}

TEST_F(ControlPortTest, AResultAfterADamagedOneIsNotTakenForIt) {
  vcm5_port_combine_first(&program_, VCM5_ADD, VCM5_REDUCE, 1, 1);
  vcm5_port_combine_first(&program_, VCM5_ADD, VCM5_REDUCE, 1, 1);
  ASSERT_EQ(Poll(), 2u);
  const uint64_t result = MakeCombine(CombineOperation::kReduce, Combiner::kAdd, 4, kWhole);
  ControlPacket damaged = SealControlPacket(result);
  damaged.body ^= 1;
  port_.Handle(damaged);
  Handle(result);
  EXPECT_EQ(vcm5_port_control_peek(&program_, VCM5_FIFO_COMBINE), nullptr);
  Handle(MakeBroadcast(BroadcastOperation::kUser, 7, kWhole));
  EXPECT_EQ(vcm5_port_control_peek(&program_, VCM5_FIFO_BROADCAST), nullptr);
  // It still hears what others have to say.
  Handle(MakeSynchronise(kSyncUser));
  EXPECT_EQ(vcm5_port_async_or(&program_), 1u);
}

TEST_F(ControlPortTest, AResultThatNobodyAskedForIsANetworkFault) {
  Handle(MakeCombine(CombineOperation::kReduce, Combiner::kOr, 0, kWhole));
  EXPECT_EQ(port_.network_fault(), ControlFault::kUnexpectedResult);
}

TEST_F(ControlPortTest, FailsOnMoreEntriesThanTheFifoHolds) {
  memory_.page()->node_control.out_tail[VCM5_FIFO_COMBINE] = 17;
  Fails(ControlPortError::kOutgoingTail);
}

TEST_F(ControlPortTest, FailsOnReadsOfWhatHasNotCome) {
  memory_.page()->node_control.in_head[VCM5_FIFO_SYNC_OR] = 1;
  for (uint32_t i = 0; i < 4; ++i) {
    vcm5_port_control_first(&program_, VCM5_FIFO_SYNC_OR, 0, 1, 1);
  }
  EXPECT_EQ(Poll(), 4u);
  EXPECT_FALSE(port_.failed());
  for (uint32_t i = 0; i < 4; ++i) {
    Handle(MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 1, kWhole));
  }
  memory_.page()->node_control.in_head[VCM5_FIFO_SYNC_OR] = 5;
  vcm5_port_control_first(&program_, VCM5_FIFO_SYNC_OR, 0, 1, 1);
  Fails(ControlPortError::kIncomingHead);
}

TEST_F(ControlPortTest, FailsOnAMessageThatDoesNotBegin) {
  PushEntry(VCM5_FIFO_COMBINE, 0, VCM5_ENTRY_LENGTH(1) | VCM5_ENTRY_LAST);
  Fails(ControlPortError::kEntry);
}

TEST_F(ControlPortTest, FailsOnALengthOfNothingOrTooMuch) {
  PushEntry(VCM5_FIFO_COMBINE, 0, VCM5_ENTRY_LENGTH(0) | VCM5_ENTRY_FIRST);
  Fails(ControlPortError::kEntry);
}

TEST_F(ControlPortTest, FailsOnALengthBeyondTheLongest) {
  PushEntry(VCM5_FIFO_BROADCAST, 0, VCM5_ENTRY_LENGTH(9) | VCM5_ENTRY_FIRST);
  Fails(ControlPortError::kEntry);
}

TEST_F(ControlPortTest, FailsOnAMessageThatChangesItsMind) {
  PushEntry(VCM5_FIFO_COMBINE, 0, VCM5_ENTRY_LENGTH(2) | VCM5_ENTRY_FIRST);
  EXPECT_EQ(Poll(), 1u);
  PushEntry(VCM5_FIFO_COMBINE, 0,
            VCM5_ENTRY_LENGTH(2) | VCM5_ENTRY_LAST | (VCM5_XOR << VCM5_ENTRY_COMBINER_SHIFT));
  Fails(ControlPortError::kEntry);
}

TEST_F(ControlPortTest, FailsOnACombinerOrPatternThatDoesNotExist) {
  PushEntry(VCM5_FIFO_COMBINE, 0,
            VCM5_ENTRY_LENGTH(1) | ControlFifo::kFraming | (5u << VCM5_ENTRY_COMBINER_SHIFT));
  Fails(ControlPortError::kOperation);
}

TEST_F(ControlPortTest, AFailedPortStillReportsBroadcastsAsConsumed) {
  memory_.page()->node_control.out_tail[VCM5_FIFO_COMBINE] = 17;
  Fails(ControlPortError::kOutgoingTail);
  for (uint32_t i = 0; i < 40; ++i) Handle(MakeBroadcast(BroadcastOperation::kUser, i, kWhole));
  ASSERT_EQ(Poll(), 1u);
  EXPECT_EQ(body(0), MakeFlowControl(BroadcastOperation::kUser, 40));
  EXPECT_EQ(port_.network_fault(), ControlFault::kNone);
}

}  // namespace
}  // namespace vcm5
