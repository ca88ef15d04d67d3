// The register level, on a machine of one node: vcm5/ni.h speaks of this process's only port.
#include "vcm5/ni.h"

#include <gtest/gtest.h>

#include "vcm5/embedded.hpp"

namespace {

// Runs `body` as the program of a one-node machine.
void RunAlone(const std::function<void()>& body, uint32_t data_fifo_depth = 16) {
  vcm5::EmbeddedOptions options;
  options.spec.nodes = 1;
  options.spec.data_fifo_depth = data_fifo_depth;
  vcm5::EmbeddedMachine machine(options);
  const absl::Status status = machine.Run([&](vcm5::Node& node) {
    vcm5_self_port = &node.port();
    body();
    vcm5_self_port = &vcm5_unattached_port;
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(NiTest, MessageGoesOutWordByWordAndComesBack) {
  RunAlone([] {
    EXPECT_EQ(vcm5_ni_self(), 0u);
    EXPECT_EQ(vcm5_ni_partition_size(), 1u);
    EXPECT_EQ(vcm5_ni_words_max(), 5u);
    for (const int half : {VCM5_LEFT, VCM5_RIGHT}) {
      do {
        vcm5_ni_dr_send_first(half, 6, 3, 0);
        for (uint32_t i = 0; i < 3; ++i) vcm5_ni_dr_send_word(half, 100 + i);
      } while (!vcm5_ni_dr_send_ok(half));
      while (!vcm5_ni_dr_receive_ok(half)) {
      }
      EXPECT_EQ(vcm5_ni_dr_receive_tag(half), 6u);
      EXPECT_EQ(vcm5_ni_dr_receive_length(half), 3u);
      for (uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(vcm5_ni_dr_receive_length_left(half), 3 - i);
        EXPECT_EQ(vcm5_ni_dr_receive_word(half), 100 + i);
      }
      EXPECT_FALSE(vcm5_ni_dr_receive_ok(half));
      EXPECT_EQ(vcm5_ni_dr_messages_sent(half), 1u);
      EXPECT_EQ(vcm5_ni_dr_messages_received(half), 1u);
    }
  });
}

TEST(NiTest, StatusTellsAllFields) {
  RunAlone([] {
    const uint32_t words[] = {1, 2, 3, 4, 5};
    ASSERT_TRUE(vcm5_ni_dr_send(VCM5_LEFT, 9, 0, words, 5));
    uint32_t status = vcm5_ni_dr_status(VCM5_LEFT);
    EXPECT_TRUE(VCM5_SEND_OK(status));
    while (!VCM5_RECEIVE_OK(status)) status = vcm5_ni_dr_status(VCM5_LEFT);
    EXPECT_EQ(VCM5_RECEIVE_TAG(status), 9u);
    EXPECT_EQ(VCM5_RECEIVE_LENGTH(status), 5u);
    EXPECT_EQ(VCM5_RECEIVE_LENGTH_LEFT(status), 5u);
    EXPECT_TRUE(VCM5_SEND_EMPTY(status));
    EXPECT_EQ(VCM5_SEND_SPACE(status), 16u);
    vcm5_ni_dr_receive_word(VCM5_LEFT);
    EXPECT_EQ(VCM5_RECEIVE_LENGTH_LEFT(vcm5_ni_dr_status(VCM5_LEFT)), 4u);
    for (int i = 0; i < 4; ++i) vcm5_ni_dr_receive_word(VCM5_LEFT);
  });
}

TEST(NiTest, MessageOfWrongLengthIsRefusedWhole) {
  RunAlone([] {
    for (const uint32_t length : {0u, 6u, 18u, 19u, 1000u}) {
      vcm5_ni_dr_send_first(VCM5_LEFT, 0, length, 0);
      for (uint32_t i = 0; i < length; ++i) vcm5_ni_dr_send_word(VCM5_LEFT, i);
      EXPECT_FALSE(vcm5_ni_dr_send_ok(VCM5_LEFT));
    }
    EXPECT_EQ(vcm5_ni_dr_messages_sent(VCM5_LEFT), 0u);
  });
}

TEST(NiTest, SendIsRefusedWhenTheFifoIsFull) {
  RunAlone(
      [] {
        const uint32_t word = 5;
        uint32_t sent = 0;
        // Without a question in between nothing is taken out of the FIFO.
        while (vcm5_port_send(vcm5_self_port, VCM5_RIGHT, 0, 1, &word, 1)) ++sent;
        EXPECT_EQ(sent, 4u);
        uint32_t received = 0;
        while (received < sent) {
          while (!vcm5_ni_dr_receive_ok(VCM5_RIGHT)) {
          }
          EXPECT_EQ(vcm5_ni_dr_receive_word(VCM5_RIGHT), 5u);
          ++received;
        }
        EXPECT_EQ(vcm5_ni_dr_send_space(VCM5_RIGHT), 4u);
      },
      4);
}

TEST(NiTest, EveryNthSendIsRefused) {
  RunAlone([] {
    vcm5_ni_set_send_refuse(3);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 30; ++i) {
      vcm5_ni_dr_send_first(VCM5_LEFT, 0, 1, 0);
      vcm5_ni_dr_send_word(VCM5_LEFT, i);
      if (!vcm5_ni_dr_send_ok(VCM5_LEFT)) ++refused;
      while (vcm5_ni_dr_receive_ok(VCM5_LEFT)) vcm5_ni_dr_receive_word(VCM5_LEFT);
    }
    EXPECT_EQ(refused, 10u);
    vcm5_ni_set_send_refuse(0);
  });
}

TEST(NiTest, CombineOfSeveralWords) {
  RunAlone([] {
    // The loop of the CM-5's programs: push the whole value until it is accepted.
    vcm5_ni_set_send_refuse(2);
    for (int round = 0; round < 4; ++round) {
      uint32_t status;
      do {
        vcm5_ni_com_send_first(VCM5_UADD, VCM5_REDUCE, 2, 7);
        vcm5_ni_com_send_word(8);
        status = vcm5_ni_com_status();
      } while (!VCM5_SEND_OK(status));
      while (!VCM5_RECEIVE_OK(vcm5_ni_com_status())) {
      }
      EXPECT_EQ(VCM5_RECEIVE_LENGTH(vcm5_ni_com_status()), 2u);
      EXPECT_EQ(vcm5_ni_com_receive_word(), 7u);
      EXPECT_EQ(VCM5_RECEIVE_LENGTH_LEFT(vcm5_ni_com_status()), 1u);
      EXPECT_EQ(vcm5_ni_com_receive_word(), 8u);
    }
  });
}

TEST(NiTest, ScanOfOneNodeGivesTheIdentity) {
  RunAlone([] {
    for (const bool segment : {false, true}) {
      EXPECT_EQ(vcm5_ni_set_segment_start(segment), false);
      while (vcm5_ni_com_send_first(VCM5_MAX, VCM5_SCAN_FORWARD, 1, 5), !vcm5_ni_com_send_ok()) {
      }
      while (!vcm5_ni_com_receive_ok()) {
      }
      EXPECT_EQ(vcm5_ni_com_receive_word(), 0x80000000u);
      EXPECT_EQ(vcm5_ni_set_segment_start(false), segment);
    }
  });
}

TEST(NiTest, BroadcastComesBack) {
  RunAlone([] {
    vcm5_ni_bc_send_first(8, 0);
    for (uint32_t i = 1; i < 8; ++i) vcm5_ni_bc_send_word(i * i);
    ASSERT_TRUE(vcm5_ni_bc_send_ok());
    while (!vcm5_ni_bc_receive_ok()) {
    }
    EXPECT_EQ(VCM5_RECEIVE_LENGTH(vcm5_ni_bc_status()), 8u);
    for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(vcm5_ni_bc_receive_word(), i * i);
  });
}

TEST(NiTest, OrsAndRouterDone) {
  RunAlone([] {
    for (const bool bit : {true, false, true}) {
      ASSERT_TRUE(vcm5_ni_sync_or_send(bit));
      while (!vcm5_ni_sync_or_complete()) {
      }
      EXPECT_EQ(vcm5_ni_sync_or_read(), bit);
    }
    EXPECT_FALSE(vcm5_ni_async_or_read());
    vcm5_ni_async_or_set(true);
    while (!vcm5_ni_async_or_read()) {
    }
    const uint32_t word = 1;
    ASSERT_TRUE(vcm5_ni_dr_send(VCM5_LEFT, 0, 0, &word, 1));
    ASSERT_TRUE(vcm5_ni_router_done_send());
    for (int i = 0; i < 20; ++i) ASSERT_FALSE(vcm5_ni_router_done_complete());
    while (!vcm5_ni_dr_receive_ok(VCM5_LEFT)) {
    }
    vcm5_ni_dr_receive_word(VCM5_LEFT);
    while (!vcm5_ni_router_done_complete()) {
    }
  });
}

TEST(NiTest, TagInTheMaskInterrupts) {
  RunAlone([] {
    static uint32_t seen;
    seen = 0;
    vcm5_ni_set_interrupt_handler(
        [](void*) {
          while (vcm5_ni_dr_receive_ok(VCM5_LEFT)) seen = vcm5_ni_dr_receive_word(VCM5_LEFT);
        },
        nullptr);
    EXPECT_EQ(vcm5_ni_set_interrupt_mask(1u << 4), 0u);
    EXPECT_FALSE(vcm5_ni_enable_interrupts());
    const uint32_t word = 77;
    ASSERT_TRUE(vcm5_ni_dr_send(VCM5_LEFT, 4, 0, &word, 1));
    while (seen == 0) vcm5_ni_dr_receive_ok(VCM5_RIGHT);
    EXPECT_EQ(seen, 77u);
    EXPECT_TRUE(vcm5_ni_disable_interrupts());
    EXPECT_EQ(vcm5_ni_set_interrupt_mask(0), 1u << 4);
    // Without interrupts the message waits to be received.
    ASSERT_TRUE(vcm5_ni_dr_send(VCM5_LEFT, 4, 0, &word, 1));
    while (!vcm5_ni_dr_receive_ok(VCM5_LEFT)) {
    }
    vcm5_ni_dr_receive_word(VCM5_LEFT);
    vcm5_ni_set_interrupt_handler(nullptr, nullptr);
  });
}

TEST(NiDeathTest, OutsideOfAMachineTheFirstCallSaysSo) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(vcm5_ni_self(), testing::ExitedWithCode(2), "vcm5");
  EXPECT_EXIT(while (!vcm5_ni_dr_receive_ok(VCM5_LEFT)){}, testing::ExitedWithCode(2), "vcm5");
  EXPECT_EXIT(vcm5_ni_com_status(), testing::ExitedWithCode(2), "vcm5");
  EXPECT_EXIT(vcm5_ni_set_abstain(VCM5_FIFO_COMBINE, true), testing::ExitedWithCode(2), "vcm5");
}

}  // namespace
