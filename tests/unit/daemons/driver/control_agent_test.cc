#include "daemons/driver/control_agent.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

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
    options.doorbell = doorbell_;
    ports_.resize(kNodes);
    for (uint32_t node = 0; node < kNodes; ++node) {
      memory_.push_back(std::make_unique<NiMemory>(spec, node));
      memory_.back()->Attach(port(node));
      port(node)->control_doorbell = doorbell_.shared();
      port(node)->control_bell = doorbell_.bell(vcm5_control_bell(node));
      options.pages.push_back(memory_.back()->page());
    }
    agent_ = MakeControlAgent(std::move(options));
  }
  vcm5_port* port(uint32_t node) { return &ports_[node]; }

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

}  // namespace
}  // namespace vcm5
