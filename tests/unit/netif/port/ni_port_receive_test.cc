// The data network's incoming registers, and interrupts.
#include <gmock/gmock.h>

#include "tests/unit/netif/port/ni_port_fixture.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;

TEST_F(NiPortTest, NothingThereReadsAsNothing) {
  EXPECT_FALSE(vcm5_port_receive_ok(&port_, kHalf));
  EXPECT_EQ(idles_, 1) << "looking in vain lets others run";
  EXPECT_EQ(vcm5_port_receive_word(&port_, kHalf), 0u);
  EXPECT_EQ(vcm5_port_receive_length(&port_, kHalf), 0u);
  EXPECT_EQ(vcm5_port_receive_length_left(&port_, kHalf), 0u);
  EXPECT_EQ(vcm5_port_receive_tag(&port_, kHalf), 0u);
}

TEST_F(NiPortTest, ReceivesAMessageWordByWord) {
  Arrive(77, 3, 9);
  ASSERT_TRUE(vcm5_port_receive_ok(&port_, kHalf));
  EXPECT_EQ(idles_, 0);
  EXPECT_EQ(vcm5_port_receive_tag(&port_, kHalf), 9u);
  EXPECT_EQ(vcm5_port_receive_length(&port_, kHalf), 3u);
  std::vector<uint32_t> words;
  std::vector<uint32_t> left;
  for (int i = 0; i < 3; ++i) {
    left.push_back(vcm5_port_receive_length_left(&port_, kHalf));
    words.push_back(vcm5_port_receive_word(&port_, kHalf));
  }
  EXPECT_THAT(left, ElementsAre(3, 2, 1));
  EXPECT_TRUE(WordsAreOf(77, words.data(), 3));
  EXPECT_FALSE(vcm5_port_receive_ok(&port_, kHalf));
}

TEST_F(NiPortTest, TheLastWordMakesRoomForTheNextMessage) {
  Arrive(1, 2);
  Arrive(2, 1);
  vcm5_port_receive_word(&port_, kHalf);
  EXPECT_EQ(vcm5_port_receive_length_left(&port_, kHalf), 1u);
  vcm5_port_receive_word(&port_, kHalf);
  EXPECT_EQ(vcm5_port_receive_length_left(&port_, kHalf), 1u);
  EXPECT_EQ(vcm5_port_receive_word(&port_, kHalf), 2u);
}

TEST_F(NiPortTest, ReleasingDropsTheRestOfAMessage) {
  Arrive(1, 5);
  Arrive(2, 1);
  vcm5_port_receive_word(&port_, kHalf);
  vcm5_port_release(&port_, kHalf);
  EXPECT_EQ(vcm5_port_receive_word(&port_, kHalf), 2u);
}

TEST_F(NiPortTest, AMessageCountsAsReceivedWithItsLastWord) {
  Arrive(1, 2);
  vcm5_port_receive_word(&port_, kHalf);
  EXPECT_EQ(memory_.page()->node_data.received[kHalf], 0u);
  vcm5_port_receive_word(&port_, kHalf);
  EXPECT_EQ(memory_.page()->node_data.received[kHalf], 1u);
}

TEST_F(NiPortTest, APeekedMessageCountsAsReceivedWhenTheProgramSaysSo) {
  Arrive(1, 2);
  ASSERT_NE(vcm5_port_peek(&port_, kHalf), nullptr);
  vcm5_port_release(&port_, kHalf);
  EXPECT_EQ(memory_.page()->node_data.received[kHalf], 0u);
  vcm5_port_count_received(&port_, kHalf);
  EXPECT_EQ(memory_.page()->node_data.received[kHalf], 1u);
}

TEST_F(NiPortTest, FreedSlotsAreToldInBatches) {
  const uint32_t batch = kDepth / 4;
  for (uint32_t i = 0; i < 2 * batch; ++i) Arrive(i, 1);
  for (uint32_t received = 1; received <= 2 * batch; ++received) {
    vcm5_port_receive_word(&port_, kHalf);
    EXPECT_EQ(told_received(), received / batch * batch);
  }
}

TEST_F(NiPortTest, AMissTellsOfTheSlotsHeldBack) {
  Arrive(1, 1);
  vcm5_port_receive_word(&port_, kHalf);
  EXPECT_EQ(told_received(), 0u);
  EXPECT_FALSE(vcm5_port_receive_ok(&port_, kHalf));
  EXPECT_EQ(told_received(), 1u);
}

TEST_F(NiPortTest, ARefusedSendTellsOfTheSlotsHeldBack) {
  Arrive(1, 1);
  vcm5_port_receive_word(&port_, kHalf);
  FillOutgoing();
  PushRegisters(0, 0, {1});
  EXPECT_FALSE(vcm5_port_send_ok(&port_, kHalf));
  EXPECT_EQ(told_received(), 1u);
}

TEST_F(NiPortTest, IncomingPositionsWrapAround) {
  memory_.StartAt(&port_, kHalf, 0xfffffff6u);
  for (uint32_t round = 0; round < 10; ++round) {
    for (uint32_t i = 0; i < kDepth; ++i) Arrive(round * kDepth + i, 1 + i % 5);
    for (uint32_t i = 0; i < kDepth; ++i) {
      ASSERT_TRUE(vcm5_port_receive_ok(&port_, kHalf));
      ASSERT_EQ(vcm5_port_receive_length(&port_, kHalf), 1 + i % 5);
      ASSERT_EQ(vcm5_port_receive_word(&port_, kHalf), round * kDepth + i);
      while (vcm5_port_receive_length_left(&port_, kHalf) != 0 && i % 5 != 0 &&
             port_.half[kHalf].pop_left != 0) {
        vcm5_port_receive_word(&port_, kHalf);
      }
    }
    ASSERT_FALSE(vcm5_port_receive_ok(&port_, kHalf));
    ASSERT_EQ(told_received(), memory_.page()->data[kHalf].in_tail);
  }
}

// ---- interrupts (NI5) ----

class NiPortInterruptTest : public NiPortTest {
 protected:
  NiPortInterruptTest() {
    port_.interrupts_enabled = true;
    vcm5_port_note_interrupts(&port_);
    port_.interrupt_argument = this;
    port_.interrupt_handler = [](void* self) {
      auto* test = static_cast<NiPortInterruptTest*>(self);
      ++test->interrupts_;
      vcm5_port_take_interrupts(&test->port_);
      vcm5_port_receive_word(&test->port_, kHalf);
    };
    memory_.page()->node_data.interrupt_mask = 1u << 5;
  }
  int interrupts_ = 0;
};

TEST_F(NiPortInterruptTest, AWaitingTagOfTheMaskCallsTheHandler) {
  Arrive(1, 1, 5);
  EXPECT_TRUE(vcm5_port_take_interrupts(&port_));
  EXPECT_EQ(interrupts_, 1) << "a handler is not interrupted itself";
  EXPECT_FALSE(vcm5_port_take_interrupts(&port_));
}

TEST_F(NiPortInterruptTest, OtherTagsDoNot) {
  Arrive(1, 1, 4);
  EXPECT_FALSE(vcm5_port_take_interrupts(&port_));
}

TEST_F(NiPortInterruptTest, NothingInterruptsWhileDisabled) {
  port_.interrupts_enabled = false;
  vcm5_port_note_interrupts(&port_);
  Arrive(1, 1, 5);
  EXPECT_FALSE(vcm5_port_take_interrupts(&port_));
  EXPECT_EQ(interrupts_, 0);
}

TEST_F(NiPortInterruptTest, AMissTakesInterrupts) {
  Arrive(1, 1, 5);
  FillOutgoing();
  PushRegisters(0, 0, {1});
  EXPECT_FALSE(vcm5_port_send_ok(&port_, kHalf));
  EXPECT_EQ(interrupts_, 1);
}

}  // namespace
}  // namespace vcm5
