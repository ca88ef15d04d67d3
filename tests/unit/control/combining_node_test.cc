#include "switches/control/combining_node.h"

#include <gtest/gtest.h>

namespace vcm5 {
namespace {

using namespace control_body;

constexpr uint64_t kWhole = kFirst | kLast;

uint64_t Reduce(Combiner combiner, uint32_t word, uint64_t flags = kWhole) {
  return MakeCombine(CombineOperation::kReduce, combiner, word, flags);
}
uint64_t Forward(uint32_t word, uint64_t flags = kWhole) {
  return MakeCombine(CombineOperation::kScanForward, Combiner::kAdd, word, flags);
}
uint64_t Backward(uint32_t word, uint64_t flags = kWhole) {
  return MakeCombine(CombineOperation::kScanBackward, Combiner::kAdd, word, flags);
}

class CombiningNodeTest : public ::testing::Test {
 protected:
  ~CombiningNodeTest() override { node_.CheckInvariants(); }
  bool Left(uint64_t body) { return node_.HandleFromChild(0, body, &up_); }
  bool Right(uint64_t body) { return node_.HandleFromChild(1, body, &up_); }
  void Parent(uint64_t body) { node_.HandleFromParent(body, &down_); }

  CombiningNode node_{CombiningNodeOptions{{4, 2, 2}}};
  uint64_t up_ = 0;
  CombiningNode::Down down_ = {};
};

TEST_F(CombiningNodeTest, WaitsForTheSibling) {
  EXPECT_FALSE(Left(Reduce(Combiner::kAdd, 3)));
  EXPECT_EQ(node_.stats().sibling_waits, 1u);
  ASSERT_TRUE(Right(Reduce(Combiner::kAdd, 4)));
  EXPECT_EQ(up_, Reduce(Combiner::kAdd, 7));
}

TEST_F(CombiningNodeTest, ReplicatesTheResultOfAReduction) {
  Left(Reduce(Combiner::kOr, 1));
  Right(Reduce(Combiner::kOr, 2));
  Parent(Reduce(Combiner::kOr, 0xff));
  EXPECT_EQ(down_.sides, 3u);
  EXPECT_EQ(down_.body[0], Reduce(Combiner::kOr, 0xff));
  EXPECT_EQ(down_.body[1], Reduce(Combiner::kOr, 0xff));
}

TEST_F(CombiningNodeTest, ForwardScanPutsTheLeftWordAsideForTheRightChild) {
  Left(Forward(3));
  ASSERT_TRUE(Right(Forward(4)));
  EXPECT_EQ(up_, Forward(7));
  EXPECT_EQ(node_.stream(kStreamCombine).put_aside(), 1u);
  Parent(Forward(100));
  EXPECT_EQ(down_.body[0], Forward(100));
  EXPECT_EQ(down_.body[1], Forward(103));
  EXPECT_EQ(node_.stream(kStreamCombine).put_aside(), 0u);
}

TEST_F(CombiningNodeTest, BackwardScanIsTheMirrorImage) {
  Left(Backward(3));
  Right(Backward(4));
  Parent(Backward(100));
  EXPECT_EQ(down_.body[0], Backward(104));
  EXPECT_EQ(down_.body[1], Backward(100));
}

TEST_F(CombiningNodeTest, ASegmentStartCutsTheScan) {
  Left(Forward(3, kWhole | kSegment));
  ASSERT_TRUE(Right(Forward(4)));
  EXPECT_EQ(up_, Forward(7, kWhole | kSegment));
  Parent(Forward(100));
  EXPECT_EQ(down_.body[0], Forward(100));
  EXPECT_EQ(down_.body[1], Forward(3));

  Left(Forward(3));
  ASSERT_TRUE(Right(Forward(4, kWhole | kSegment)));
  EXPECT_EQ(up_, Forward(4, kWhole | kSegment));
  Parent(Forward(100));
  EXPECT_EQ(down_.body[1], Forward(103));
}

TEST_F(CombiningNodeTest, CarriesFromWordToWordAndReportsOverflowAtTheLast) {
  Left(Reduce(Combiner::kUnsignedAdd, 0xffffffff, kFirst));
  ASSERT_TRUE(Right(Reduce(Combiner::kUnsignedAdd, 1, kFirst)));
  EXPECT_EQ(up_, Reduce(Combiner::kUnsignedAdd, 0, kFirst));
  Left(Reduce(Combiner::kUnsignedAdd, 0xffffffff, kLast));
  ASSERT_TRUE(Right(Reduce(Combiner::kUnsignedAdd, 0, kLast)));
  EXPECT_EQ(up_, Reduce(Combiner::kUnsignedAdd, 0, kLast | kOverflow));
}

TEST_F(CombiningNodeTest, MaximumComparesTheFirstWordSignedAndTheRestUnsigned) {
  Left(Reduce(Combiner::kMax, 0xffffffff, kFirst));
  ASSERT_TRUE(Right(Reduce(Combiner::kMax, 0xffffffff, kFirst)));
  EXPECT_EQ(Word(up_), 0xffffffffu);
  Left(Reduce(Combiner::kMax, 0x80000000, kLast));
  ASSERT_TRUE(Right(Reduce(Combiner::kMax, 0x7fffffff, kLast)));
  EXPECT_EQ(Word(up_), 0x80000000u);

  Left(Reduce(Combiner::kMax, 0xffffffff));
  ASSERT_TRUE(Right(Reduce(Combiner::kMax, 1)));
  EXPECT_EQ(Word(up_), 1u);
}

TEST_F(CombiningNodeTest, OnceAheadTheMaximumKeepsTheSide) {
  Left(Reduce(Combiner::kMax, 5, kFirst));
  Right(Reduce(Combiner::kMax, 4, kFirst));
  Left(Reduce(Combiner::kMax, 0, kLast));
  ASSERT_TRUE(Right(Reduce(Combiner::kMax, 0xffffffff, kLast)));
  EXPECT_EQ(Word(up_), 0u);
}

TEST_F(CombiningNodeTest, DoesNotWaitForAnAbstainingChild) {
  EXPECT_FALSE(Right(MakeAbstain(kStreamCombine, true)));
  ASSERT_TRUE(Left(Reduce(Combiner::kMax, 3)));
  EXPECT_EQ(up_, Reduce(Combiner::kMax, 3));
  Parent(Reduce(Combiner::kMax, 9));
  EXPECT_EQ(down_.sides, 1u);
}

TEST_F(CombiningNodeTest, AbstainingReleasesTheWordsThatWaited) {
  Left(Reduce(Combiner::kAdd, 1));
  Left(Reduce(Combiner::kAdd, 2));
  ASSERT_TRUE(Right(MakeAbstain(kStreamCombine, true)));
  EXPECT_EQ(up_, Reduce(Combiner::kAdd, 1));
  ASSERT_TRUE(node_.PollUp(kStreamCombine, &up_));
  EXPECT_EQ(up_, Reduce(Combiner::kAdd, 2));
  EXPECT_FALSE(node_.PollUp(kStreamCombine, &up_));
}

TEST_F(CombiningNodeTest, AbstainsWhenAllItsChildrenDo) {
  EXPECT_FALSE(Left(MakeAbstain(kStreamSyncOr, true)));
  ASSERT_TRUE(Right(MakeAbstain(kStreamSyncOr, true)));
  EXPECT_EQ(up_, MakeAbstain(kStreamSyncOr, true));
  ASSERT_TRUE(Left(MakeAbstain(kStreamSyncOr, false)));
  EXPECT_EQ(up_, MakeAbstain(kStreamSyncOr, false));
  EXPECT_FALSE(Right(MakeAbstain(kStreamSyncOr, false)));
}

TEST_F(CombiningNodeTest, AnOperationEndsAbstaining) {
  Left(MakeAbstain(kStreamCombine, true));
  Right(MakeAbstain(kStreamCombine, true));
  ASSERT_TRUE(Left(Reduce(Combiner::kAdd, 1)));
  EXPECT_EQ(up_, Reduce(Combiner::kAdd, 1));
  Right(Reduce(Combiner::kAdd, 2));
  EXPECT_EQ(node_.stream(kStreamCombine).waiting(1), 1u);
  Parent(Reduce(Combiner::kAdd, 1));
  ASSERT_TRUE(Left(Reduce(Combiner::kAdd, 3)));
  EXPECT_EQ(up_, Reduce(Combiner::kAdd, 5));
}

TEST_F(CombiningNodeTest, AMessageBegunWithoutAChildGoesOnWithoutIt) {
  Right(MakeAbstain(kStreamCombine, true));
  ASSERT_TRUE(Left(Reduce(Combiner::kAdd, 1, kFirst)));
  EXPECT_FALSE(Right(Reduce(Combiner::kAdd, 10)));
  EXPECT_TRUE(Left(Reduce(Combiner::kAdd, 2, 0)));
  ASSERT_TRUE(Left(Reduce(Combiner::kAdd, 2, kLast)));
  EXPECT_EQ(up_, Reduce(Combiner::kAdd, 2, kLast));
  ASSERT_TRUE(Left(Reduce(Combiner::kAdd, 3)));
  EXPECT_EQ(up_, Reduce(Combiner::kAdd, 13));
}

TEST_F(CombiningNodeTest, StreamsDoNotWaitForEachOther) {
  Left(Reduce(Combiner::kAdd, 1));
  Left(MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 1, kWhole));
  EXPECT_TRUE(Right(MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 0, kWhole)));
  EXPECT_EQ(Operation(up_), static_cast<uint32_t>(CombineOperation::kSyncOr));
}

TEST_F(CombiningNodeTest, DifferentOperationsMeetingAreAFaultThatNamesBoth) {
  Left(Reduce(Combiner::kAdd, 1));
  EXPECT_FALSE(Right(Reduce(Combiner::kXor, 2)));
  ASSERT_TRUE(node_.has_fault());
  const CombiningNode::Fault fault = node_.TakeFault();
  EXPECT_EQ(fault.kind, ControlFault::kMismatch);
  EXPECT_EQ(fault.left, Reduce(Combiner::kAdd, 1));
  EXPECT_EQ(fault.right, Reduce(Combiner::kXor, 2));
  EXPECT_FALSE(node_.has_fault());
}

TEST_F(CombiningNodeTest, MessagesOfDifferentLengthsAreAFault) {
  Left(Reduce(Combiner::kAdd, 1, kFirst));
  EXPECT_FALSE(Right(Reduce(Combiner::kAdd, 2, kWhole)));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kMismatch);
}

TEST_F(CombiningNodeTest, AContinuationWithoutABeginningIsAFault) {
  Left(Reduce(Combiner::kAdd, 1, kLast));
  EXPECT_FALSE(Right(Reduce(Combiner::kAdd, 2, kLast)));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kFraming);
}

TEST_F(CombiningNodeTest, MoreWordsThanTheWindowAreAFault) {
  for (uint32_t i = 0; i < 4; ++i) EXPECT_FALSE(Left(Reduce(Combiner::kAdd, i)));
  EXPECT_FALSE(node_.has_fault());
  EXPECT_FALSE(Left(Reduce(Combiner::kAdd, 4)));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kQueueOverflow);
}

TEST_F(CombiningNodeTest, AResultThatNobodyWaitsForIsAFault) {
  Parent(Reduce(Combiner::kAdd, 4));
  EXPECT_EQ(down_.sides, 0u);
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kUnexpectedResult);
}

TEST_F(CombiningNodeTest, AbstainingWithAnOperationInFlightIsAFault) {
  Left(Reduce(Combiner::kAdd, 1));
  Left(MakeAbstain(kStreamCombine, true));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kAbstainOutOfTurn);
}

TEST_F(CombiningNodeTest, SingleSourcePacketsOvertakeWaitingOnes) {
  Left(Reduce(Combiner::kAdd, 1));
  const uint64_t word = MakeBroadcast(BroadcastOperation::kUser, 42, kWhole);
  ASSERT_TRUE(Left(word));
  EXPECT_EQ(up_, word);
  Parent(word);
  EXPECT_EQ(down_.sides, 3u);
}

TEST_F(CombiningNodeTest, ASecondSourceDuringAMessageIsACollision) {
  EXPECT_TRUE(Left(MakeBroadcast(BroadcastOperation::kUser, 1, kFirst)));
  EXPECT_FALSE(Right(MakeBroadcast(BroadcastOperation::kUser, 2, kWhole)));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kBroadcastCollision);
}

TEST_F(CombiningNodeTest, OtherClassesOfBroadcastDoNotCollide) {
  EXPECT_TRUE(Left(MakeBroadcast(BroadcastOperation::kUser, 1, kFirst)));
  EXPECT_TRUE(Right(MakeBroadcast(BroadcastOperation::kInterrupt, 2, kWhole)));
  EXPECT_FALSE(node_.has_fault());
}

TEST_F(CombiningNodeTest, PassesTheLeastCountOfConsumedWordsWhenItGrows) {
  for (uint32_t i = 0; i < 8; ++i) Parent(MakeBroadcast(BroadcastOperation::kUser, i, kWhole));
  EXPECT_FALSE(Left(MakeFlowControl(BroadcastOperation::kUser, 8)));
  ASSERT_TRUE(Right(MakeFlowControl(BroadcastOperation::kUser, 4)));
  EXPECT_EQ(up_, MakeFlowControl(BroadcastOperation::kUser, 4));
  ASSERT_TRUE(Right(MakeFlowControl(BroadcastOperation::kUser, 8)));
  EXPECT_EQ(up_, MakeFlowControl(BroadcastOperation::kUser, 8));
}

TEST_F(CombiningNodeTest, ConsumingWhatWasNotSentIsAFault) {
  EXPECT_FALSE(Left(MakeFlowControl(BroadcastOperation::kUser, 1)));
  EXPECT_EQ(node_.TakeFault().kind, ControlFault::kFlowControl);
}

TEST_F(CombiningNodeTest, OrsSynchronisationBitsAndPassesChangesOnly) {
  ASSERT_TRUE(Left(MakeSynchronise(1)));
  EXPECT_EQ(up_, MakeSynchronise(1));
  EXPECT_FALSE(Right(MakeSynchronise(1)));
  EXPECT_FALSE(Left(MakeSynchronise(0)));
  ASSERT_TRUE(Right(MakeSynchronise(4)));
  EXPECT_EQ(up_, MakeSynchronise(4));
}

TEST(TurnAtRootTest, AScanBeginsWithTheIdentity) {
  uint64_t down;
  ASSERT_TRUE(TurnAtRoot(
      MakeCombine(CombineOperation::kScanForward, Combiner::kMax, 7, kWhole | kSegment), &down));
  EXPECT_EQ(down, MakeCombine(CombineOperation::kScanForward, Combiner::kMax, 0x80000000u, kWhole));
  ASSERT_TRUE(TurnAtRoot(
      MakeCombine(CombineOperation::kScanForward, Combiner::kMax, 7, kLast), &down));
  EXPECT_EQ(Word(down), 0u);
}

TEST(TurnAtRootTest, AbstainingEndsThere) {
  uint64_t down;
  EXPECT_FALSE(TurnAtRoot(MakeAbstain(kStreamCombine, true), &down));
}

}  // namespace
}  // namespace vcm5
