// The end of a timeslice, one transition a test: in a combining node, in a network, in a port.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "netif/port/supervisor.h"
#include "switches/control/combining_node.h"
#include "tests/property/control/control_world.h"

namespace vcm5 {
namespace {

using namespace control_body;

constexpr uint64_t kWhole = kFirst | kLast;

uint64_t Sum(uint32_t word, uint64_t flags = kWhole) {
  return MakeCombine(CombineOperation::kReduce, Combiner::kUnsignedAdd, word, flags);
}

class FlushedNode : public ::testing::Test {
 protected:
  ~FlushedNode() override { node_.CheckInvariants(); }
  bool Up(unsigned side, uint64_t body) {
    return node_.HandleFromChild(side, body, &up_) != CombiningNode::kNothing;
  }
  unsigned Down(uint64_t body) {
    node_.HandleFromParent(body, &down_);
    return down_.sides;
  }
  void Flush() {
    EXPECT_EQ(Down(MakeFlush(16)), 3u);
    EXPECT_FALSE(Up(0, MakeFlushed()));
    EXPECT_TRUE(Up(1, MakeFlushed()));
    EXPECT_EQ(up_, MakeFlushed());
  }
  CombiningNode node_{CombiningNodeOptions{}};
  CombiningNode::Down down_;
  uint64_t up_ = 0;
};

TEST_F(FlushedNode, PassesAFlushAheadOfWhatWaits) {
  EXPECT_FALSE(Up(0, Sum(1)));
  EXPECT_TRUE(Up(1, MakeFlush(16)));
  EXPECT_EQ(up_, MakeFlush(16));
  EXPECT_EQ(Down(MakeFlush(16)), 3u);
  EXPECT_TRUE(node_.flushing());
  EXPECT_EQ(node_.stream(kStreamCombine).waiting(0), 0u);
}

TEST_F(FlushedNode, DropsWhatComesUntilBothHaveAnswered) {
  Down(MakeFlush(16));
  EXPECT_FALSE(Up(0, Sum(1)));
  EXPECT_FALSE(Up(1, Sum(2)));
  EXPECT_FALSE(Up(0, MakeBroadcast(BroadcastOperation::kUser, 1, kWhole)));
  EXPECT_FALSE(Up(0, MakeFlowControl(BroadcastOperation::kUser, 0)));
  EXPECT_FALSE(Up(0, MakeFlushed()));
  EXPECT_FALSE(Up(1, Sum(3)));
  EXPECT_TRUE(Up(1, MakeFlushed()));
  EXPECT_FALSE(node_.flushing());
  EXPECT_FALSE(Up(0, Sum(4)));
  EXPECT_TRUE(Up(1, Sum(5)));
  EXPECT_EQ(up_, Sum(9));
  EXPECT_FALSE(node_.has_fault());
}

TEST_F(FlushedNode, ForgetsAMessageThatIsHalfThrough) {
  Up(0, Sum(~0u, kFirst));
  EXPECT_TRUE(Up(1, Sum(1, kFirst)));  // leaves a carry
  Flush();
  Up(0, Sum(1, kFirst));
  EXPECT_TRUE(Up(1, Sum(1, kFirst)));
  Up(0, Sum(0, kLast));
  EXPECT_TRUE(Up(1, Sum(0, kLast)));
  EXPECT_EQ(up_, Sum(0, kLast));
  EXPECT_EQ(node_.stream(kStreamCombine).put_aside(), 2u);
}

TEST_F(FlushedNode, ForgetsWhoAbstainsAndWhatIsBroken) {
  EXPECT_FALSE(Up(0, MakeAbstain(kStreamSyncOr, true)));
  Up(0, Sum(1));
  EXPECT_FALSE(Up(1, MakeCombine(CombineOperation::kReduce, Combiner::kOr, 1, kWhole)));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kMismatch);
  Flush();
  EXPECT_FALSE(Up(1, MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 1, kWhole)));
  Up(0, Sum(1));
  EXPECT_TRUE(Up(1, Sum(1)));
}

TEST_F(FlushedNode, LetsThePrivilegedPassAllTheTime) {
  Up(1, MakeSynchronise(kSyncHardError));
  Down(MakeFlush(16));
  EXPECT_TRUE(Up(0, MakeBroadcast(BroadcastOperation::kInterrupt, 1, kWhole)));
  EXPECT_EQ(Down(MakeBroadcast(BroadcastOperation::kInterrupt, 1, kWhole)), 3u);
  EXPECT_TRUE(Up(0, MakeSynchronise(kSyncUser)));
  EXPECT_EQ(Sync(up_), kSyncUser | kSyncHardError);
}

TEST_F(FlushedNode, DropsASecondFlushAndAnEarlyReinitiate) {
  Down(MakeFlush(16));
  EXPECT_FALSE(Up(0, MakeFlush(16)));
  EXPECT_FALSE(Up(0, MakeReinitiate()));
  EXPECT_FALSE(Up(0, MakeFlushed()));
  EXPECT_TRUE(Up(1, MakeFlushed()));
  EXPECT_TRUE(Up(0, MakeReinitiate()));
  EXPECT_EQ(Down(MakeReinitiate()), 3u);
}

TEST_F(FlushedNode, CallsAnAnswerToNothingAFault) {
  EXPECT_FALSE(Up(0, MakeFlushed()));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kBadPacket);
}

class FlushedWorld : public ::testing::Test {
 protected:
  void Flush() {
    vcm5_supervisor_flush(world_.supervisor(0));
    world_.Settle();
    ASSERT_TRUE(vcm5_supervisor_flushed(world_.supervisor(1)));
  }
  void Reinitiate() {
    vcm5_supervisor_reinitiate(world_.supervisor(1));
    world_.Settle();
    ASSERT_FALSE(vcm5_supervisor_flushed(world_.supervisor(0)));
  }
  void Push(uint32_t leaf, uint32_t word) {
    vcm5_port_combine_first(world_.program(leaf), VCM5_ADD, VCM5_REDUCE, 1, word);
  }
  uint32_t Pop(uint32_t leaf) {
    EXPECT_TRUE(vcm5_port_control_receive_ok(world_.program(leaf), VCM5_FIFO_COMBINE));
    return vcm5_port_control_receive_word(world_.program(leaf), VCM5_FIFO_COMBINE);
  }
  ControlWorld world_{BinaryTree::Balanced(2), SmallGeometry()};
};

TEST_F(FlushedWorld, KeepsWordsUntilTheirResultIsThere) {
  Push(0, 3);
  world_.Settle();
  EXPECT_EQ(vcm5_port_control_space(world_.program(0), VCM5_FIFO_COMBINE), 15u);
  Flush();
  Push(1, 4);
  world_.Settle();
  EXPECT_EQ(vcm5_port_control_peek(world_.program(0), VCM5_FIFO_COMBINE), nullptr);
  Reinitiate();
  EXPECT_EQ(Pop(0), 7u);
  EXPECT_EQ(Pop(1), 7u);
  EXPECT_EQ(vcm5_port_control_space(world_.program(0), VCM5_FIFO_COMBINE), 16u);
}

TEST_F(FlushedWorld, WhoAbstainedStillDoes) {
  EXPECT_TRUE(vcm5_port_set_abstain(world_.program(1), VCM5_FIFO_COMBINE, true));
  world_.Settle();
  Flush();
  Reinitiate();
  Push(0, 3);
  world_.Settle();
  EXPECT_EQ(Pop(0), 3u);
}

TEST_F(FlushedWorld, TheAsynchronousOrRestsMeanwhile) {
  vcm5_port_set_async_or(world_.program(0), 1);
  world_.Settle();
  Flush();
  vcm5_port_set_async_or(world_.program(0), 0);
  world_.Settle();
  EXPECT_EQ(vcm5_port_async_or(world_.program(1)), 1u);
  Reinitiate();
  EXPECT_EQ(vcm5_port_async_or(world_.program(1)), 0u);
}

TEST_F(FlushedWorld, ABroadcastFindsTheWindowOpenAgain) {
  vcm5_port* source = world_.program(0);
  for (int round = 0; round < 5; ++round) {
    // Leaf 1 has some of it unread each time.
    for (uint32_t word = 0; word < 12; ++word) {
      vcm5_port_control_first(source, VCM5_FIFO_BROADCAST, 0, 1, word);
      ASSERT_TRUE(vcm5_port_control_send_ok(source, VCM5_FIFO_BROADCAST));
      world_.Settle();
      EXPECT_EQ(vcm5_port_control_receive_word(source, VCM5_FIFO_BROADCAST), word);
    }
    Flush();
    Reinitiate();
    for (uint32_t word = 0; word < 12; ++word) {
      ASSERT_TRUE(vcm5_port_control_receive_ok(world_.program(1), VCM5_FIFO_BROADCAST));
      EXPECT_EQ(vcm5_port_control_receive_word(world_.program(1), VCM5_FIFO_BROADCAST), word);
    }
    world_.Settle();
  }
}

TEST_F(FlushedWorld, ReinitiatingWhatIsNotFlushedDoesNothing) {
  vcm5_supervisor_reinitiate(world_.supervisor(0));
  world_.Settle();
  Flush();
  EXPECT_TRUE(world_.port(0).held());
  Reinitiate();
  EXPECT_FALSE(world_.port(0).held());
}

TEST(FlushedAlone, APartitionOfOneLeafIsFlushedToo) {
  ControlWorld world(BinaryTree::Balanced(1), SmallGeometry());
  vcm5_supervisor_flush(world.supervisor(0));
  // The word leaves the port behind the flush, and before the port has heard of it.
  world.Poll(0);
  vcm5_port_combine_first(world.program(0), VCM5_ADD, VCM5_REDUCE, 1, 5);
  world.Poll(0);
  world.Settle();
  EXPECT_TRUE(world.port(0).flushed());
  EXPECT_EQ(vcm5_port_control_peek(world.program(0), VCM5_FIFO_COMBINE), nullptr);
  vcm5_supervisor_reinitiate(world.supervisor(0));
  world.Settle();
  EXPECT_EQ(vcm5_port_control_receive_word(world.program(0), VCM5_FIFO_COMBINE), 5u);
  EXPECT_EQ(world.port(0).network_fault(), ControlFault::kNone);
}

}  // namespace
}  // namespace vcm5
