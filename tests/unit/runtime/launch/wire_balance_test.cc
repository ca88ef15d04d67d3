#include "runtime/launch/wire_balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A machine of 16 leaves in two parts, with four wires between them.
class WireBalanceTest : public ::testing::Test {
 protected:
  WireBalanceTest() : tree_(16, {2, 2, 4}), cut_(CutWires(tree_, 2)), balance_(Spec(), {{0, 14}}, 2) {}
  static MachineSpec Spec() {
    MachineSpec spec;
    spec.nodes = 15;
    return spec;
  }
  static constexpr uint32_t kWire = 1;

  // Both daemons answer: of one wire, in the right half, its child's and its parent's end.
  bool Round(uint32_t child_in, uint32_t child_out, uint32_t parent_in, uint32_t parent_out) {
    Take(cut_[kWire].child_part, VCM5_RIGHT, kWire, child_in, child_out);
    Take(cut_[kWire].parent_part, VCM5_RIGHT, kWire, parent_in, parent_out);
    return balance_.EndRound();
  }
  void Take(uint32_t daemon, uint32_t half, uint32_t wire, uint32_t in, uint32_t out) {
    google::protobuf::RepeatedPtrField<config::WireEnd> ends;
    config::WireEnd* end = ends.Add();
    end->set_half(half);
    end->set_wire(wire);
    end->set_in(in);
    end->set_out(out);
    balance_.Take(daemon, ends);
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const FabricError& loss : balance_.Losses()) lines.push_back(loss.message);
    return lines;
  }

  const FatTree tree_;
  const std::vector<CutWire> cut_;
  WireBalance balance_;
};

TEST_F(WireBalanceTest, EqualEndsNeedOneRound) {
  EXPECT_FALSE(Round(5, 7, 7, 5));
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(WireBalanceTest, WhatStaysUnequalIsALoss) {
  EXPECT_TRUE(Round(5, 7, 6, 5)) << "it may be on its way";
  EXPECT_TRUE(Round(5, 7, 6, 5)) << "or not even in the link";
  EXPECT_THAT(Lines(), IsEmpty());
  EXPECT_FALSE(Round(5, 7, 6, 5));
  EXPECT_THAT(Lines(),
              ElementsAre("right data network: 1 message lost on the " +
                          LinkName(tree_, ChipEnd(cut_[kWire].child_chip, cut_[kWire].child_port))));
}

TEST_F(WireBalanceTest, AMessageFromTheParentThatCameTwiceIsASurplus) {
  EXPECT_TRUE(Round(9, 0, 0, 7));
  EXPECT_TRUE(Round(9, 0, 0, 7));
  EXPECT_FALSE(Round(9, 0, 0, 7));
  EXPECT_THAT(
      Lines(),
      ElementsAre("right data network: 2 messages duplicated on the " +
                  LinkName(tree_, ChipEnd(cut_[kWire].parent_chip, cut_[kWire].parent_port))));
}

TEST_F(WireBalanceTest, WhatWasOnItsWayArrives) {
  EXPECT_TRUE(Round(5, 7, 6, 5));
  EXPECT_TRUE(Round(5, 7, 6, 5));
  EXPECT_FALSE(Round(5, 7, 7, 5));
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(WireBalanceTest, TrafficThatGoesOnIsNeverALoss) {
  unsigned rounds = 1;
  for (uint32_t sent = 10; Round(0, sent, sent - 1, 0); ++sent) ASSERT_LT(++rounds, 100u);
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(WireBalanceTest, ANewInquiryBeginsAnew) {
  EXPECT_TRUE(Round(5, 7, 6, 5));
  EXPECT_TRUE(Round(5, 7, 6, 5));
  balance_.Begin();
  EXPECT_TRUE(Round(5, 7, 6, 5));
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(WireBalanceTest, AnEndThatIsNotKnownIsNotJudged) {
  for (int round = 0; round < 4; ++round) {
    Take(cut_[kWire].child_part, VCM5_LEFT, kWire, 0, 7);
    EXPECT_FALSE(balance_.EndRound());
  }
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(WireBalanceTest, NonsenseIsIgnored) {
  Take(0, 2, 0, 0, 7);
  Take(0, VCM5_LEFT, 4, 0, 7);
  Take(0, VCM5_LEFT, 0xffffffffu, 0, 7);
  Take(2, VCM5_LEFT, 0, 0, 7);
  EXPECT_FALSE(balance_.EndRound());
  EXPECT_THAT(Lines(), IsEmpty());
}

}  // namespace
}  // namespace vcm5
