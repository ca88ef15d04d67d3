#include "daemons/driver/control_agent.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "daemons/driver/control_reports.h"
#include "netif/port/supervisor.h"
#include "switches/control/control_network.h"
#include "tests/support/ni_memory.h"

namespace vcm5 {
namespace {

constexpr uint32_t kNodes = 4;

// An agent and the ports of its nodes; every turn of the agent is a call.
class ControlAgentTest : public ::testing::Test {
 protected:
  void Make(uint32_t broadcast_depth = 256) {
    MachineSpec spec;
    spec.nodes = kNodes;
    spec.broadcast_depth = broadcast_depth;
    const uint32_t kBells = vcm5_control_bells(kNodes);
    bells_.resize(Doorbell::BytesFor(kBells) / sizeof(uint64_t));
    Doorbell::Create(bells_.data(), kBells);
    doorbell_ = Doorbell(bells_.data(), kBells);
    ControlAgentOptions options;
    options.spec = spec;
    options.members.resize(kNodes);
    std::iota(options.members.begin(), options.members.end(), 0u);
    options.tree = BinaryTree::Balanced(kNodes);
    options.doorbell = doorbell_;
    ports_.resize(kNodes);
    for (uint32_t node = 0; node < kNodes; ++node) {
      memory_.push_back(std::make_unique<NiMemory>(spec, node));
      memory_.back()->Attach(port(node));
      port(node)->control_doorbell = doorbell_.shared();
      port(node)->control_bell = doorbell_.bell(vcm5_control_bell(node));
      options.pages.push_back(memory_.back()->page());
      vcm5_supervisor_page_init(&supervisor_pages_[node], node, kNodes);
      options.supervisor_pages.push_back(&supervisor_pages_[node]);
      ASSERT_EQ(vcm5_supervisor_attach(&supervisor_ports_[node], &supervisor_pages_[node]),
                nullptr);
      supervisor_ports_[node].doorbell = doorbell_.shared();
      supervisor_ports_[node].bell = doorbell_.bell(vcm5_supervisor_bell(node));
      ASSERT_EQ(pipe2(lines_[node], O_NONBLOCK | O_CLOEXEC), 0);
      options.interrupt_lines.push_back(lines_[node][1]);
    }
    agent_ = MakeControlAgent(std::move(options));
  }
  ~ControlAgentTest() override {
    for (const auto& line : lines_) {
      for (const int fd : line) close(fd);
    }
  }
  vcm5_port* port(uint32_t node) { return &ports_[node]; }
  Supervisor supervisor(uint32_t node) { return Supervisor(supervisor_ports_[node]); }
  void Work() {
    for (int turn = 0; turn < 1000 && agent_->DoWork() != 0; ++turn) {
    }
  }
  // Bytes that have come on a node's interrupt line.
  int Interrupts(uint32_t node) {
    char bytes[16];
    const ssize_t count = read(lines_[node][0], bytes, sizeof bytes);
    return count < 0 ? 0 : static_cast<int>(count);
  }
  // What the agent complains about, "leaf: message".
  std::vector<std::string> Errors() {
    std::vector<std::string> lines;
    for (const FabricError& error : agent_->TakeErrors()) {
      lines.push_back(std::to_string(error.leaf) + ": " + error.message);
    }
    return lines;
  }

  void Broadcast(uint32_t node, uint32_t length) {
    vcm5_port_control_first(port(node), VCM5_FIFO_BROADCAST, 0, length, 1);
    for (uint32_t i = 1; i < length; ++i) {
      vcm5_port_control_word(port(node), VCM5_FIFO_BROADCAST, i + 1);
    }
    ASSERT_TRUE(vcm5_port_control_send_ok(port(node), VCM5_FIFO_BROADCAST));
  }
  // Words that a node reads from its broadcasts.
  uint32_t Read(uint32_t node) {
    uint32_t words = 0;
    while (vcm5_port_control_peek(port(node), VCM5_FIFO_BROADCAST) != nullptr) {
      vcm5_port_control_receive_word(port(node), VCM5_FIFO_BROADCAST);
      ++words;
    }
    return words;
  }

  std::vector<uint64_t> bells_;
  Doorbell doorbell_;
  std::vector<std::unique_ptr<NiMemory>> memory_;
  std::vector<vcm5_port> ports_;
  vcm5_supervisor_page supervisor_pages_[kNodes] = {};
  vcm5_supervisor_port supervisor_ports_[kNodes];
  int lines_[kNodes][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  std::unique_ptr<Agent> agent_;
};

TEST_F(ControlAgentTest, ABellIsForOneFifo) {
  Make();
  for (uint32_t node = 0; node < kNodes; ++node) {
    vcm5_port_control_first(port(node), VCM5_FIFO_SYNC_OR, 0, 1, node == 2);
    vcm5_port_combine_first(port(node), VCM5_ADD, VCM5_REDUCE, 1, 1);
    port(node)->control_bell[VCM5_CONTROL_BELL_STRIDE * VCM5_FIFO_SYNC_OR] = 0;
  }
  EXPECT_GT(agent_->DoWork(), 0u);
  for (uint32_t node = 0; node < kNodes; ++node) {
    EXPECT_EQ(vcm5_port_control_receive_word(port(node), VCM5_FIFO_COMBINE), kNodes);
    EXPECT_EQ(vcm5_port_control_peek(port(node), VCM5_FIFO_SYNC_OR), nullptr);
    vcm5_port_ring_control_bell(port(node), VCM5_FIFO_SYNC_OR);
  }
  EXPECT_GT(agent_->DoWork(), 0u);
  for (uint32_t node = 0; node < kNodes; ++node) {
    EXPECT_EQ(vcm5_port_control_receive_word(port(node), VCM5_FIFO_SYNC_OR), 1u);
  }
  EXPECT_EQ(agent_->DoWork(), 0u);
}

TEST_F(ControlAgentTest, TheAsynchronousOrRingsTheBellOfBroadcasts) {
  Make();
  vcm5_port_set_async_or(port(3), 1);
  EXPECT_GT(agent_->DoWork(), 0u);
  for (uint32_t node = 0; node < kNodes; ++node) EXPECT_EQ(vcm5_port_async_or(port(node)), 1u);
}

// A message of 8 words needs the whole window of depth 8, and no ring says that the 7th word of the
// message before has been read.
TEST_F(ControlAgentTest, SeesUnaskedThatBroadcastsHaveBeenRead) {
  Make(8);
  for (const uint32_t length : {7u, 8u, 1u, 8u, 3u, 6u, 8u}) {
    Broadcast(0, length);
    for (int turn = 0; turn < 4; ++turn) agent_->DoWork();
    for (uint32_t node = 0; node < kNodes; ++node) EXPECT_EQ(Read(node), length);
  }
}

TEST_F(ControlAgentTest, IsIdleWhileProgramsDoNotRead) {
  Make(8);
  Broadcast(0, 8);
  EXPECT_GT(agent_->DoWork(), 0u);
  for (int turn = 0; turn < 10; ++turn) EXPECT_EQ(agent_->DoWork(), 0u);
}

TEST_F(ControlAgentTest, DifferentOperationsAreNamedWithTheirNodes) {
  Make();
  for (uint32_t node = 0; node < kNodes; ++node) {
    vcm5_port_combine_first(port(node), VCM5_ADD, node < 2 ? VCM5_REDUCE : VCM5_SCAN_BACKWARD, 1,
                            1);
  }
  Work();
  EXPECT_THAT(Errors(), testing::ElementsAre(
                            "0: the control network signals: different operations met: a reduction "
                            "with signed addition of nodes 0-1, and a backward scan with signed "
                            "addition of nodes 2-3"));
  for (uint32_t node = 0; node < kNodes; ++node) {
    uint32_t parties;
    EXPECT_NE(vcm5_port_error(port(node), &parties), 0u);
    EXPECT_EQ(VCM5_ERROR_NODE(parties, 1), 2u);
  }
  // Who waits for what will not come is told why.
  EXPECT_THAT(agent_->Waiting(), testing::Contains(testing::HasSubstr("different operations met")));
}

TEST_F(ControlAgentTest, LengthsThatDifferAreNamed) {
  Make();
  for (uint32_t node = 0; node < kNodes; ++node) {
    vcm5_port_combine_first(port(node), VCM5_OR, VCM5_REDUCE, node == 3 ? 2 : 1, 1);
    vcm5_port_control_word(port(node), VCM5_FIFO_COMBINE, 1);
  }
  Work();
  EXPECT_THAT(Errors(), testing::ElementsAre(
                            "2: the control network signals: different operations met: a reduction "
                            "with OR (its last word) of node 2, and a reduction with OR (not its "
                            "last word) of node 3"));
}

// An agent takes messages through the tree whole, so two sources meet only where links have a
// length.
TEST(ControlReportsTest, TellsWhoCollided) {
  ControlNetwork network(BinaryTree::Balanced(8));
  const auto send = [&](uint32_t leaf, BroadcastOperation kind, uint64_t flags) {
    network.HandlePacket(leaf, SealControlPacket(control_body::MakeBroadcast(kind, 1, flags)));
  };
  send(6, BroadcastOperation::kSupervisor, control_body::kFirst);
  send(1, BroadcastOperation::kSupervisor, control_body::kFirst);
  send(3, BroadcastOperation::kUser, control_body::kLast);
  network.HandlePacket(5, SealControlPacket(control_body::MakeError(
                              ControlFault::kBroadcastCollision,
                              control_body::MakeBroadcast(BroadcastOperation::kUser, 0, 0), 0)));
  ControlPacket damaged = SealControlPacket(control_body::MakeSynchronise(1));
  damaged.crc ^= 1;
  network.HandlePacket(7, damaged);
  do {
    network.Run();
    network.ClearDepartures();
  } while (network.HasWork());
  std::vector<std::string> lines;
  for (const ControlEvent& event : network.events()) {
    lines.push_back(DescribeControlEvent(event, network.tree(), network.tree().leaves()));
  }
  EXPECT_THAT(lines,
              testing::ElementsAre(
                  "the control network signals: broadcast collision: a supervisor broadcast of "
                  "node 1, and a "
                  "supervisor broadcast of node 6",
                  "the control network signals: message framing: a user broadcast, at the "
                  "combining node of "
                  "nodes 2-3",
                  "the control network signals: broadcast collision: a user broadcast, at node 5",
                  "the control network signals: damaged packet: an idle packet, on the link "
                  "up from node 7"));
}

TEST_F(ControlAgentTest, APrivilegedAttemptEndsTheJobAndHarmsNobody) {
  Make();
  vcm5_port_control_first(port(2), VCM5_FIFO_BROADCAST, VCM5_ENTRY_KIND(VCM5_BROADCAST_INTERRUPT),
                          1, 9);
  Work();
  EXPECT_THAT(Errors(), testing::ElementsAre(
                            "2: tried a privileged operation (a broadcast of a kind that only "
                            "the supervisor may send); the port is closed"));
  for (uint32_t node = 0; node < kNodes; ++node) {
    EXPECT_EQ(memory_[node]->page()->control.interrupts, 0u);
    EXPECT_EQ(Interrupts(node), 0);
  }
  Broadcast(0, 3);
  Work();
  EXPECT_EQ(Read(3), 3u);
}

TEST_F(ControlAgentTest, AnInterruptBroadcastWritesIntoEveryLine) {
  Make();
  ASSERT_TRUE(supervisor(3).Interrupt(17));
  Work();
  for (uint32_t node = 0; node < kNodes; ++node) {
    EXPECT_EQ(Interrupts(node), 1);
    EXPECT_EQ(memory_[node]->page()->control.interrupt_word, 17u);
  }
  for (uint32_t word = 0; word < 20; ++word) {
    ASSERT_TRUE(supervisor(3).Interrupt(word));
    Work();
  }
  EXPECT_EQ(memory_[0]->page()->control.interrupts, 21u);
  EXPECT_TRUE(Errors().empty());
}

TEST_F(ControlAgentTest, TheAsynchronousOrWritesIntoTheLinesOfThoseWhoAsked) {
  Make();
  vcm5_port_set_async_or_handler(
      port(1), [](void*) {}, nullptr);
  vcm5_port_set_async_or(port(2), 1);
  Work();
  EXPECT_EQ(Interrupts(0), 0);
  EXPECT_EQ(Interrupts(1), 1);
  vcm5_port_set_async_or(port(2), 0);
  Work();
  EXPECT_EQ(Interrupts(1), 0);
}

TEST_F(ControlAgentTest, AHardErrorIsToldToAllAndInterruptsThemAsItRises) {
  Make();
  Work();
  uint32_t heard = 0;
  vcm5_port_set_attention_handler(
      port(1), [](uint32_t word, void* to) { *static_cast<uint32_t*>(to) = word; }, &heard);
  for (const bool bit : {true, false, true}) {
    heard = 0;
    supervisor(2).SetHardError(bit);
    Work();
    for (uint32_t node = 0; node < kNodes; ++node) {
      EXPECT_EQ(vcm5_port_hard_error(port(node)), bit);
      EXPECT_EQ(supervisor(node).HardError(), bit);
      EXPECT_EQ(Interrupts(node), bit ? 1 : 0);
    }
    vcm5_port_miss(port(1));
    EXPECT_EQ(heard, bit ? VCM5_ATTENTION_HARD_ERROR : 0);
  }
  EXPECT_TRUE(Errors().empty());
}

TEST_F(ControlAgentTest, ASupervisorThatWritesNonsenseIsReported) {
  Make();
  supervisor_pages_[1].supervisor.out_tail[VCM5_BROADCAST_SUPERVISOR] = 100;
  supervisor(1).SetAsyncOr(true);
  Work();
  EXPECT_THAT(Errors(), testing::ElementsAre(testing::HasSubstr("1: its supervisor overwrote")));
}

}  // namespace
}  // namespace vcm5
