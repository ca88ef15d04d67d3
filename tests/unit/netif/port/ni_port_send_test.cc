// Attaching, and the data network's outgoing registers.
#include <gmock/gmock.h>

#include "tests/unit/netif/port/ni_port_fixture.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::StrEq;

TEST_F(NiPortTest, AttachSaysWhatIsWrongWithThePage) {
  const auto expect = [&](const char* wrong, auto&& spoil) {
    NiMemory memory(MakeSpec());
    spoil(memory.page());
    vcm5_port port;
    EXPECT_THAT(vcm5_port_attach(&port, memory.page(), memory.bytes()), StrEq(wrong));
  };
  expect("not a network interface page", [](vcm5_ni_page* page) { page->magic ^= 1; });
  expect("a network interface page of another version", [](auto* page) { page->version++; });
  expect("bad longest message", [](vcm5_ni_page* page) { page->words_max = 0; });
  expect("bad longest message", [](vcm5_ni_page* page) { page->words_max = 19; });
  expect("bad slot size", [](vcm5_ni_page* page) { page->slot_bytes = 33; });
  expect("bad slot size", [](vcm5_ni_page* page) { page->words_max = 6; });
  expect("bad FIFO depth", [](vcm5_ni_page* page) { page->data_depth = 0; });
  expect("bad FIFO depth", [](vcm5_ni_page* page) { page->data_depth = 12; });
  expect("bad FIFO depth", [](vcm5_ni_page* page) { page->data_depth = 1u << 17; });
  expect("bad FIFO depth", [](vcm5_ni_page* page) { page->control_depth[2] = 3; });
  expect("bad size", [](vcm5_ni_page* page) { page->data_depth *= 128; });
  expect("bad size", [](vcm5_ni_page* page) { page->bytes += 4096; });
}

TEST_F(NiPortTest, AttachRefusesMemoryThatIsTooShortForAPage) {
  vcm5_port port;
  EXPECT_THAT(vcm5_port_attach(&port, memory_.page(), 64), StrEq("not a network interface page"));
}

TEST_F(NiPortTest, AMessageIsOfferedWithItsLastWord) {
  vcm5_port_send_first(&port_, kHalf, 7, 3, 2);
  vcm5_port_send_word(&port_, kHalf, 100);
  EXPECT_EQ(offered(), 0u);
  vcm5_port_send_word(&port_, kHalf, 200);
  EXPECT_EQ(offered(), 1u);
  EXPECT_TRUE(vcm5_port_send_ok(&port_, kHalf));
  uint64_t header;
  uint32_t words[2];
  std::memcpy(&header, OutSlot(0), sizeof header);
  std::memcpy(words, OutSlot(0) + 12, sizeof words);
  EXPECT_EQ(header, vcm5_send_header(7, 3, 2));
  EXPECT_THAT(words, ElementsAre(100, 200));
}

TEST_F(NiPortTest, SendingAWholeMessageLeavesTheSameInTheFifo) {
  const uint32_t words[] = {100, 200};
  PushRegisters(7, 3, {100, 200});
  ASSERT_TRUE(vcm5_port_send(&port_, kHalf, 7, 3, words, 2));
  EXPECT_EQ(offered(), 2u);
  EXPECT_EQ(std::memcmp(OutSlot(0), OutSlot(1), 8), 0);
  EXPECT_EQ(std::memcmp(OutSlot(0) + 12, OutSlot(1) + 12, 8), 0);
}

TEST_F(NiPortTest, BeginningAgainAbandonsTheUnfinishedMessage) {
  vcm5_port_send_first(&port_, kHalf, 7, 3, 2);
  vcm5_port_send_word(&port_, kHalf, 100);
  PushRegisters(8, 4, {1});
  EXPECT_EQ(offered(), 1u);
  uint64_t header;
  std::memcpy(&header, OutSlot(0), sizeof header);
  EXPECT_EQ(header, vcm5_send_header(8, 4, 1));
}

TEST_F(NiPortTest, AFullFifoRefusesTheMessageAsAWhole) {
  FillOutgoing();
  const std::vector<uint8_t> before(memory_.data(), memory_.data() + memory_.bytes());
  PushRegisters(1, 1, {1, 2, 3});
  EXPECT_EQ(std::memcmp(before.data(), memory_.data(), before.size()), 0)
      << "nothing of a refused message reaches the FIFO";
  EXPECT_FALSE(vcm5_port_send_ok(&port_, kHalf));
  EXPECT_EQ(idles_, 1) << "a refused send lets others run";
  const uint32_t word = 1;
  EXPECT_FALSE(vcm5_port_send(&port_, kHalf, 1, 1, &word, 1));
}

TEST_F(NiPortTest, ARefusedMessageIsAcceptedWhenPushedAgain) {
  FillOutgoing();
  PushRegisters(1, 1, {1, 2, 3});
  NetworkTakes(1);
  EXPECT_FALSE(vcm5_port_send_ok(&port_, kHalf)) << "space that came later does not change that";
  PushRegisters(1, 1, {1, 2, 3});
  EXPECT_TRUE(vcm5_port_send_ok(&port_, kHalf));
  EXPECT_EQ(offered(), kDepth + 1);
}

TEST_F(NiPortTest, SpaceIsWhatTheNetworkHasTaken) {
  EXPECT_EQ(vcm5_port_send_space(&port_, kHalf), kDepth);
  FillOutgoing();
  EXPECT_EQ(vcm5_port_send_space(&port_, kHalf), 0u);
  NetworkTakes(5);
  EXPECT_EQ(vcm5_port_send_space(&port_, kHalf), 5u);
}

TEST_F(NiPortTest, SpaceIsNoneWhenThePositionsMakeNoSense) {
  memory_.page()->data[kHalf].out_head = 1000;
  EXPECT_EQ(vcm5_port_send_space(&port_, kHalf), 0u);
}

TEST_F(NiPortTest, RefusesLengthsThatTheMachineDoesNotHave) {
  for (const uint32_t length : {0u, 6u, 18u, 19u, 0xffffffffu}) {
    vcm5_port_send_first(&port_, kHalf, 0, 0, length);
    for (uint32_t i = 0; i < std::min(length, 30u); ++i) vcm5_port_send_word(&port_, kHalf, i);
    EXPECT_FALSE(vcm5_port_send_ok(&port_, kHalf)) << length;
  }
  EXPECT_EQ(offered(), 0u);
}

TEST_F(NiPortTest, WordsBeyondTheMessageAreIgnored) {
  PushRegisters(0, 0, {1});
  vcm5_port_send_word(&port_, kHalf, 2);
  EXPECT_EQ(offered(), 1u);
}

TEST_F(NiPortTest, RefusesEverySoManyethMessageWhenTold) {
  port_.send_refuse = port_.refused_sends_left = 3;
  std::vector<bool> accepted;
  for (int i = 0; i < 7; ++i) {
    PushRegisters(0, 0, {1, 2});
    accepted.push_back(vcm5_port_send_ok(&port_, kHalf));
  }
  EXPECT_THAT(accepted, ElementsAre(true, true, false, true, true, false, true));
  EXPECT_EQ(offered(), 5u);
}

TEST_F(NiPortTest, SendingRingsTheBellAndWakesASleepingDaemon) {
  uint8_t bell = 0;
  vcm5_doorbell doorbell{};
  port_.data_bell[kHalf] = &bell;
  port_.data_doorbell[kHalf] = &doorbell;
  port_.wake = [](vcm5_doorbell* woken) { woken->sleeping = 2; };
  PushRegisters(0, 0, {1});
  EXPECT_EQ(bell, 1);
  EXPECT_EQ(doorbell.sleeping, 0u);
  doorbell.sleeping = 1;
  PushRegisters(0, 0, {1});
  EXPECT_EQ(doorbell.sleeping, 2u);
}

TEST_F(NiPortTest, OutgoingPositionsWrapAround) {
  const uint32_t start = 0xfffffff8u;
  memory_.StartAt(&port_, kHalf, start);
  for (uint32_t i = 0; i < 3 * kDepth; ++i) {
    ASSERT_EQ(vcm5_port_send_space(&port_, kHalf), kDepth);
    for (uint32_t message = 0; message < kDepth; ++message) {
      PushRegisters(0, 0, {i, message});
      ASSERT_TRUE(vcm5_port_send_ok(&port_, kHalf));
    }
    PushRegisters(0, 0, {0});
    ASSERT_FALSE(vcm5_port_send_ok(&port_, kHalf));
    ASSERT_EQ(offered(), start + (i + 1) * kDepth);
    NetworkTakes(kDepth);
  }
}

}  // namespace
}  // namespace vcm5
