// Messages of the system through data agents, in one or several parts (NI8, NI9).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemons/driver/all_fall_down.h"
#include "tests/support/data_machine.h"

namespace vcm5 {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint32_t kNodes = 20;

MachineSpec Spec() {
  MachineSpec spec;
  spec.nodes = kNodes;
  spec.data_fifo_depth = 8;
  spec.link_depth = 2;
  return spec;
}

class SystemMessagesTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  SystemMessagesTest() : machine_(Spec(), GetParam(), 1) {}

  bool Send(uint32_t from, uint32_t to, int half, uint32_t word, uint32_t tag = 14) {
    return machine_.supervisor(from).SendMessage(half, to, tag, {&word, 1});
  }
  void Settle() {
    for (int quiet = 0; quiet < 10;) quiet = machine_.RunAll() != 0 ? 0 : quiet + 1;
  }
  std::vector<uint32_t> ReceiveAll(uint32_t node, int half) {
    std::vector<uint32_t> words;
    vcm5_system_message message;
    while (machine_.supervisor(node).ReceiveMessage(half, &message)) {
      words.push_back(message.words[0]);
    }
    return words;
  }
  void ExpectBalanced() {
    for (size_t i = 0; i < machine_.agents(); ++i) {
      EXPECT_THAT(machine_.agent(i).Unbalanced(), IsEmpty());
    }
  }

  DataMachine machine_;
};
INSTANTIATE_TEST_SUITE_P(Parts, SystemMessagesTest, ::testing::Values(1u, 3u, 5u));

TEST_P(SystemMessagesTest, GoFromEverySupervisorToEveryOtherPastTheirPrograms) {
  for (int half = 0; half < VCM5_HALVES; ++half) {
    for (uint32_t from = 0; from < kNodes; ++from) {
      for (uint32_t to = 0; to < kNodes; ++to) {
        ASSERT_TRUE(Send(from, to, half, 100 * from + to, 14 + to % 2));
        Settle();
        ASSERT_TRUE(machine_.supervisor(from).MessagesSent(half));
        ASSERT_EQ(ReceiveAll(to, half), std::vector<uint32_t>{100 * from + to});
        ASSERT_THAT(ReceiveAll(to, 1 - half), IsEmpty());
        ASSERT_EQ(vcm5_port_peek(&machine_.port(to), half), nullptr);
      }
    }
  }
  EXPECT_THAT(machine_.errors(), IsEmpty());
  EXPECT_EQ(machine_.Stat("messages injected"), 0u);
  EXPECT_EQ(machine_.Stat("messages delivered"), 0u);
  EXPECT_EQ(machine_.Stat("messages of the system injected"), 2u * kNodes * kNodes);
  EXPECT_EQ(machine_.Stat("messages of the system delivered"), 2u * kNodes * kNodes);
  for (uint32_t node = 0; node < kNodes; ++node) {
    const vcm5_ni_page& page = *machine_.page(node);
    for (int half = 0; half < VCM5_HALVES; ++half) {
      EXPECT_EQ(page.data[half].out_head, 0u) << "router done would count it";
      EXPECT_EQ(page.data[half].in_tail, 0u);
    }
  }
  ExpectBalanced();
}

TEST_P(SystemMessagesTest, ASupervisorThatDoesNotReadHoldsNobodyUp) {
  uint32_t sent = 0;
  for (int round = 0; round < 40; ++round) {
    while (Send(7, 18, VCM5_LEFT, sent)) ++sent;
    Settle();
  }
  EXPECT_EQ(sent, 40 * VCM5_SYSTEM_DEPTH) << "all were taken";
  EXPECT_EQ(machine_.supervisor(18).messages_dropped(VCM5_LEFT), sent - VCM5_SYSTEM_DEPTH);
  EXPECT_THAT(ReceiveAll(18, VCM5_LEFT), SizeIs(VCM5_SYSTEM_DEPTH));
  const uint32_t word = 5;
  ASSERT_TRUE(vcm5_port_send(&machine_.port(7), VCM5_LEFT, 18, 0, &word, 1));
  Settle();
  EXPECT_NE(vcm5_port_peek(&machine_.port(18), VCM5_LEFT), nullptr);
  EXPECT_THAT(machine_.errors(), IsEmpty());
  ExpectBalanced();
}

// With room for one message a turn, neither the program nor the supervisor has all of it.
TEST_P(SystemMessagesTest, AFloodLetsTheProgramSend) {
  uint32_t by_user = 0;
  for (uint32_t turn = 0; turn < 400; ++turn) {
    while (Send(7, 6, VCM5_LEFT, turn)) {
    }
    while (vcm5_port_send(&machine_.port(7), VCM5_LEFT, 5, 0, &turn, 1)) {
    }
    machine_.RunAll();
    while (vcm5_port_peek(&machine_.port(5), VCM5_LEFT) != nullptr) {
      vcm5_port_receive_word(&machine_.port(5), VCM5_LEFT);
      ++by_user;
    }
    vcm5_port_flush_half(&machine_.port(5), VCM5_LEFT);
  }
  EXPECT_GE(by_user, 100u);
  EXPECT_GE(machine_.Stat("messages of the system injected"), 100u);
}

TEST_P(SystemMessagesTest, MessagesThatMakeNoSenseAreTheNodesFault) {
  ASSERT_TRUE(Send(3, kNodes, VCM5_LEFT, 1));
  Settle();
  ASSERT_TRUE(machine_.supervisor(4).SendMessage(VCM5_RIGHT, 2, 14, std::vector<uint32_t>(6)));
  Settle();
  vcm5_supervisor_page* page = machine_.supervisor_page(5);
  ASSERT_TRUE(Send(5, 2, VCM5_LEFT, 1));
  page->data_out[VCM5_LEFT][0].control = VCM5_SYSTEM_CONTROL(3, 1);
  Settle();
  ASSERT_TRUE(Send(6, 2, VCM5_LEFT, 1));
  machine_.supervisor_page(6)->supervisor_data.out_tail[VCM5_LEFT] = 1000;
  Settle();
  std::vector<std::string> errors;
  for (const FabricError& error : machine_.errors()) {
    errors.push_back(std::to_string(error.leaf) + " " + error.message);
  }
  EXPECT_THAT(errors, SizeIs(4));
  EXPECT_THAT(errors, Contains("3 its supervisor sent a message on the left data network to "
                               "physical address 20, where no node is"));
  EXPECT_THAT(errors, Contains("4 its supervisor sent a message on the right data network of 6 "
                               "words; this machine's longest has 5"));
  EXPECT_THAT(errors, Contains("5 its supervisor sent a message on the left data network with tag "
                               "3; those of the system are 14 to 15"));
  EXPECT_THAT(errors, Contains(HasSubstr("6 its supervisor overwrote the positions")));
  EXPECT_THAT(ReceiveAll(2, VCM5_LEFT), IsEmpty());
  ExpectBalanced();
}

TEST_P(SystemMessagesTest, FallAndAreSentAgain) {
  for (uint32_t from = 0; from < kNodes; ++from) {
    ASSERT_TRUE(Send(from, (from + 7) % kNodes, VCM5_RIGHT, from));
  }
  for (DataNetworkAgent* agent : machine_.data_agents()) agent->DoWork();
  for (uint32_t from = 0; from < kNodes; ++from) {
    ASSERT_TRUE(Send(from, (from + 9) % kNodes, VCM5_RIGHT, 100 + from));
  }
  AllFallDown fall(machine_.data_agents());
  ASSERT_TRUE(fall.Drain().ok()) << fall.Drain();
  fall.Leave(fall.TakeCaptured());
  Settle();
  for (uint32_t node = 0; node < kNodes; ++node) {
    EXPECT_THAT(ReceiveAll(node, VCM5_RIGHT),
                ::testing::UnorderedElementsAre((node + kNodes - 7) % kNodes,
                                                100 + (node + kNodes - 9) % kNodes));
  }
  EXPECT_THAT(machine_.errors(), IsEmpty());
  ExpectBalanced();
}

}  // namespace
}  // namespace vcm5
