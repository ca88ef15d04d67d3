#include "daemons/driver/data_agent.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "netif/wire/data_packet.h"
#include "tests/support/data_machine.h"
#include "tests/support/ni_memory.h"

namespace vcm5 {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MachineSpec SmallSpec(uint32_t nodes = 20) {
  MachineSpec spec;
  spec.nodes = nodes;
  spec.data_fifo_depth = 8;
  spec.link_depth = 2;
  return spec;
}

class DataAgentTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  DataAgentTest() : machine_(SmallSpec(), GetParam(), 1) {}

  bool Send(uint32_t from, uint32_t to, int half, uint32_t word, uint32_t tag = 0) {
    return vcm5_port_send(&machine_.port(from), half, to, tag, &word, 1);
  }
  // Pushes what no honest program would.
  void SendRaw(uint32_t from, int half, uint64_t header) {
    vcm5_port& port = machine_.port(from);
    std::memcpy(vcm5_port_out_slot(&port, half), &header, sizeof header);
    vcm5_port_commit(&port, half);
  }
  void Settle() {
    for (int quiet = 0; quiet < 10;) quiet = machine_.RunAll() != 0 ? 0 : quiet + 1;
  }
  std::vector<uint32_t> ReceiveAll(uint32_t node, int half) {
    std::vector<uint32_t> words;
    vcm5_port& port = machine_.port(node);
    while (vcm5_port_peek(&port, half) != nullptr) {
      words.push_back(vcm5_port_receive_word(&port, half));
    }
    vcm5_port_flush_half(&port, half);
    return words;
  }
  std::string OneError() {
    const auto& errors = machine_.errors();
    EXPECT_THAT(errors, SizeIs(1));
    return errors.empty() ? "" : "node " + std::to_string(errors[0].leaf) + " " + errors[0].message;
  }

  DataMachine machine_;
};

TEST_P(DataAgentTest, CarriesMessagesBetweenAllPairsOnBothHalves) {
  for (int half = 0; half < VCM5_HALVES; ++half) {
    for (uint32_t from = 0; from < machine_.nodes(); ++from) {
      for (uint32_t to = 0; to < machine_.nodes(); ++to) {
        ASSERT_TRUE(Send(from, to, half, 100 * from + to));
        Settle();
        ASSERT_THAT(ReceiveAll(to, half), ElementsAre(100 * from + to));
        ASSERT_EQ(vcm5_port_peek(&machine_.port(to), 1 - half), nullptr);
      }
    }
  }
  EXPECT_THAT(machine_.errors(), IsEmpty());
  EXPECT_EQ(machine_.Stat("messages injected"), 2u * 20 * 20);
  EXPECT_EQ(machine_.Stat("messages delivered"), 2u * 20 * 20);
}

TEST_P(DataAgentTest, ANodeThatDoesNotReceiveMakesItsSendersWait) {
  uint32_t accepted = 0;
  for (int round = 0; round < 100; ++round) {
    while (Send(7, 18, VCM5_LEFT, accepted)) ++accepted;
    Settle();
  }
  EXPECT_GE(accepted, 2 * 8u);
  EXPECT_LE(accepted, 200u) << "FIFOs and buffers on the way are bounded";
  std::vector<std::string> waiting;
  for (size_t i = 0; i < machine_.agents(); ++i) {
    for (std::string& line : machine_.agent(i).Waiting()) waiting.push_back(std::move(line));
  }
  EXPECT_THAT(waiting, Contains("node 18 has 8 messages to receive on the left data network"));
  EXPECT_THAT(waiting, Contains("node 7 has 8 messages that the left data network has not taken"));
  EXPECT_THAT(waiting, Contains(HasSubstr("wait in the router chips of the left")));

  size_t received = 0;
  for (size_t more = 1; more != 0; received += more) {
    Settle();
    more = ReceiveAll(18, VCM5_LEFT).size();
  }
  EXPECT_EQ(received, accepted);
}

TEST_P(DataAgentTest, NamesNodesTogetherOfWhomTheSameIsToBeSaid) {
  for (const uint32_t to : {4u, 5u, 7u, 6u, 6u}) ASSERT_TRUE(Send(0, to, VCM5_RIGHT, 1));
  Settle();
  std::vector<std::string> waiting;
  for (size_t i = 0; i < machine_.agents(); ++i) {
    for (std::string& line : machine_.agent(i).Waiting()) waiting.push_back(std::move(line));
  }
  EXPECT_THAT(waiting,
              ElementsAre("nodes 4-5, 7 each have 1 message to receive on the right data network",
                          "node 6 has 2 messages to receive on the right data network"));
}

TEST_P(DataAgentTest, ReportsADestinationOutsideThePartition) {
  SendRaw(3, VCM5_LEFT, vcm5_send_header(20, 0, 1));
  Settle();
  EXPECT_EQ(OneError(),
            "node 3 sent a message on the left data network to node 20, which is outside the "
            "partition (0 to 19)");
}

TEST_P(DataAgentTest, ReportsATagOfTheSystem) {
  SendRaw(19, VCM5_RIGHT, vcm5_send_header(0, 14, 1));
  Settle();
  EXPECT_EQ(OneError(),
            "node 19 sent a message on the right data network with tag 14; programs may use 0 to "
            "13");
}

TEST_P(DataAgentTest, ReportsALengthThatTheMachineDoesNotHave) {
  SendRaw(0, VCM5_RIGHT, vcm5_send_header(0, 0, 6));
  Settle();
  EXPECT_EQ(OneError(),
            "node 0 sent a message of 6 words on the right data network; this machine's longest "
            "has 5");
}

TEST_P(DataAgentTest, ARefusedMessageGivesItsSlotBack) {
  for (int i = 0; i < 100; ++i) {
    SendRaw(0, VCM5_LEFT, vcm5_send_header(99, 0, 1));
    Settle();
    ASSERT_EQ(vcm5_port_send_space(&machine_.port(0), VCM5_LEFT), 8u);
  }
  EXPECT_LE(machine_.errors().size(), 16u) << "the first few are enough";
}

TEST_P(DataAgentTest, SaysThatAPortIsClosed) {
  machine_.page(4)->node_data.in_head[VCM5_LEFT] = 77;
  machine_.RingAllBells(4);
  Settle();
  EXPECT_THAT(OneError(), HasSubstr("node 4 overwrote the FIFO positions of its left"));
  std::vector<std::string> waiting;
  for (size_t i = 0; i < machine_.agents(); ++i) {
    for (std::string& line : machine_.agent(i).Waiting()) waiting.push_back(std::move(line));
  }
  EXPECT_THAT(waiting, ElementsAre("node 4's port to the left data network is closed"));
}

// ---- faulty links ----

// Nodes 0 and 19 are in different parts unless there is one only; what goes from 0 to 19 leaves by
// leaf 0's link.
MachineSpec FaultySpec(LinkFault::Kind kind) {
  MachineSpec spec = SmallSpec();
  LinkFault fault;
  fault.half = VCM5_RIGHT;
  fault.from = LeafEnd(0);
  fault.kind = kind;
  fault.bit = 96;
  fault.first = 2;
  spec.link_faults = {fault};
  return spec;
}

struct FaultyOutcome {
  size_t received = 0;
  std::vector<std::string> errors;
  std::vector<std::string> unbalanced;
};

// Three messages from node 0 to node 19 over each half.
FaultyOutcome SendOverAFaultyLink(uint32_t parts, LinkFault::Kind kind) {
  DataMachine machine(FaultySpec(kind), parts, 1);
  FaultyOutcome outcome;
  for (uint32_t word = 0; word < 3; ++word) {
    for (int half = 0; half < VCM5_HALVES; ++half) {
      EXPECT_TRUE(vcm5_port_send(&machine.port(0), half, 19, 0, &word, 1));
    }
  }
  for (int quiet = 0; quiet < 10;) quiet = machine.RunAll() != 0 ? 0 : quiet + 1;
  while (vcm5_port_peek(&machine.port(19), VCM5_RIGHT) != nullptr) {
    vcm5_port_receive_word(&machine.port(19), VCM5_RIGHT);
    ++outcome.received;
  }
  for (const FabricError& error : machine.errors()) outcome.errors.push_back(error.message);
  for (size_t i = 0; i < machine.agents(); ++i) {
    for (FabricError& loss : machine.agent(i).Unbalanced()) {
      outcome.unbalanced.push_back(std::move(loss.message));
    }
  }
  return outcome;
}

TEST_P(DataAgentTest, NamesTheLinkThatDamagedAMessageWhichIsNotDelivered) {
  const FaultyOutcome outcome = SendOverAFaultyLink(GetParam(), LinkFault::Kind::kFlip);
  EXPECT_EQ(outcome.received, 2u);
  EXPECT_THAT(outcome.errors,
              ElementsAre("right data network: a message was damaged on the link from leaf 0 to "
                          "level 1 chip 0 port 0"));
  EXPECT_THAT(outcome.unbalanced, IsEmpty());
}

TEST_P(DataAgentTest, NamesTheLinkThatLostAMessage) {
  const FaultyOutcome outcome = SendOverAFaultyLink(GetParam(), LinkFault::Kind::kLose);
  EXPECT_EQ(outcome.received, 2u);
  EXPECT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(outcome.unbalanced, ElementsAre("right data network: 1 message lost on the link from "
                                              "leaf 0 to level 1 chip 0 port 0"));
}

TEST_P(DataAgentTest, NamesTheLinkThatDuplicatedAMessage) {
  const FaultyOutcome outcome = SendOverAFaultyLink(GetParam(), LinkFault::Kind::kDuplicate);
  EXPECT_EQ(outcome.received, 4u);
  EXPECT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(outcome.unbalanced, ElementsAre("right data network: 1 message duplicated on the link "
                                              "from leaf 0 to level 1 chip 0 port 0"));
}

// Both daemons count an end of each wire between them; nothing is on its way.
TEST_P(DataAgentTest, BothEndsOfAWireCountTheSame) {
  for (uint32_t node = 0; node < machine_.nodes(); ++node) {
    ASSERT_TRUE(Send(node, (node + 10) % machine_.nodes(), VCM5_LEFT, node));
  }
  Settle();
  std::map<std::pair<int, uint32_t>, std::vector<WireEnd>> wires;
  for (size_t i = 0; i < machine_.agents(); ++i) {
    for (const WireEnd& end : machine_.agent(i).WireEnds()) wires[{end.half, end.wire}].push_back(end);
  }
  EXPECT_EQ(wires.empty(), GetParam() == 1);
  for (const auto& [wire, ends] : wires) {
    ASSERT_THAT(ends, SizeIs(2));
    EXPECT_EQ(ends[0].in, ends[1].out);
    EXPECT_EQ(ends[0].out, ends[1].in);
  }
}

// Control processors and I/O channels have addresses and NIs like nodes (NI12, DN10).
TEST_P(DataAgentTest, CarriesMessagesFromAndToLeavesThatAreNotNodes) {
  MachineSpec spec = SmallSpec(14);
  spec.control_processors = 2;
  spec.io_channels = 5;
  DataMachine machine(spec, GetParam(), 1, DataMachine::Members::kLeaves);
  ASSERT_EQ(machine.nodes(), 21u);
  for (uint32_t from = 0; from < machine.nodes(); ++from) {
    for (uint32_t to = 0; to < machine.nodes(); ++to) {
      const uint32_t word = 100 * from + to;
      const int half = (from + to) % 2 == 0 ? VCM5_LEFT : VCM5_RIGHT;
      ASSERT_TRUE(vcm5_port_send(&machine.port(from), half, to, 0, &word, 1));
      for (int quiet = 0; quiet < 10;) quiet = machine.RunAll() != 0 ? 0 : quiet + 1;
      ASSERT_NE(vcm5_port_peek(&machine.port(to), half), nullptr) << from << " to " << to;
      ASSERT_EQ(vcm5_port_receive_word(&machine.port(to), half), word);
      vcm5_port_flush_half(&machine.port(to), half);
    }
  }
  EXPECT_THAT(machine.errors(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Parts, DataAgentTest, ::testing::Values(1, 2, 3, 5));

// ---- one node alone ----

class LoneDataAgentTest : public ::testing::Test {
 protected:
  LoneDataAgentTest() : spec_(SmallSpec(1)), memory_(spec_) {
    memory_.Attach(&port_);
    bells_.resize(Doorbell::BytesFor(8) / sizeof(uint64_t));
    Doorbell::Create(bells_.data(), 8);
    options_.spec = spec_;
    options_.pages = {memory_.page()};
    options_.partitions = {{0}};
    const Doorbell doorbell(bells_.data(), 8);
    options_.bells = {{doorbell, 0, 0, 1}};
    port_.data_bell[VCM5_LEFT] = doorbell.bell(0);
    port_.data_doorbell[VCM5_LEFT] = doorbell.shared();
  }
  void SendToSelf(uint32_t tag) {
    const uint32_t word = 1;
    ASSERT_TRUE(vcm5_port_send(&port_, VCM5_LEFT, 0, tag, &word, 1));
  }

  MachineSpec spec_;
  NiMemory memory_;
  vcm5_port port_;
  std::vector<uint64_t> bells_;
  DataAgentOptions options_;
};

TEST_F(LoneDataAgentTest, AnInterruptingTagWritesToTheNodesInterruptLine) {
  int line[2];
  ASSERT_EQ(pipe2(line, O_NONBLOCK | O_CLOEXEC), 0);
  options_.interrupt_lines = {line[1]};
  const auto agent = MakeDataAgent(std::move(options_));
  memory_.page()->node_data.interrupt_mask = 1u << 6;
  char byte;
  SendToSelf(5);
  agent->DoWork();
  EXPECT_EQ(read(line[0], &byte, 1), -1);
  SendToSelf(6);
  agent->DoWork();
  EXPECT_EQ(read(line[0], &byte, 1), 1);
  close(line[0]);
  close(line[1]);
}

TEST_F(LoneDataAgentTest, WakesANodeThatWaits) {
  const auto agent = MakeDataAgent(std::move(options_));
  SendToSelf(0);
  memory_.page()->node_control.waiting = 2;
  agent->DoWork();
  EXPECT_EQ(memory_.page()->node_control.waiting, 0u);
}

TEST_F(LoneDataAgentTest, DoesNothingForANodeThatHasNotRung) {
  const auto agent = MakeDataAgent(std::move(options_));
  EXPECT_EQ(agent->DoWork(), 0u);
  SendToSelf(0);
  *port_.data_bell[VCM5_LEFT] = 0;
  EXPECT_EQ(agent->DoWork(), 0u);
  *port_.data_bell[VCM5_LEFT] = 1;
  EXPECT_NE(agent->DoWork(), 0u);
}

}  // namespace
}  // namespace vcm5
