#include "switches/data/kirchhoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/packets.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// 16 leaves: four chips at level 1, two above them.
class KirchhoffTest : public ::testing::Test {
 protected:
  KirchhoffTest() : tree_(16, {2, 2, 4}), law_(tree_) {}
  const FatTree tree_;
  Kirchhoff law_;
};

TEST_F(KirchhoffTest, OfNothingNothingIsKnown) { EXPECT_THAT(law_.Find(), IsEmpty()); }

TEST_F(KirchhoffTest, ALinkWithOneKnownEndIsNotJudged) {
  law_.SetEnd(LeafEnd(5), {.in = 0, .out = 7});
  law_.SetEnd(ChipEnd(tree_.chip(1, 0, 0), 4), {.in = 3, .out = 7});
  EXPECT_THAT(law_.Find(), IsEmpty());
}

TEST_F(KirchhoffTest, NamesTheDirectionOfALinkThatLostMessages) {
  const LinkEnd below = ChipEnd(tree_.chip(1, 3, 0), 5);
  const LinkEnd above = FarEnd(tree_, below);
  law_.SetEnd(below, {.in = 10, .out = 20});
  law_.SetEnd(above, {.in = 18, .out = 10});
  const auto findings = law_.Find();
  ASSERT_THAT(findings, ElementsAre(Kirchhoff::Finding{false, below, 2}));
  EXPECT_EQ(law_.Describe(findings[0]),
            "2 messages lost on the link from level 1 chip 3 port 5 to level 2 chip 1 port 3");
}

TEST_F(KirchhoffTest, CountsWhatIsTooMuchAcrossTheWrapOfACounter) {
  law_.SetEnd(LeafEnd(6), {.in = 0, .out = 0xffffffffu});
  law_.SetEnd(tree_.leaf_peer(6), {.in = 0, .out = 0});
  const auto findings = law_.Find();
  ASSERT_THAT(findings, ElementsAre(Kirchhoff::Finding{false, LeafEnd(6), -1}));
  EXPECT_EQ(law_.Describe(findings[0]),
            "1 message duplicated on the link from leaf 6 to level 1 chip 1 port 2");
}

// In the sum over the whole network they would cancel.
TEST_F(KirchhoffTest, ALossIsNotHiddenByASurplusElsewhere) {
  law_.SetEnd(LeafEnd(0), {.in = 0, .out = 5});
  law_.SetEnd(tree_.leaf_peer(0), {.in = 4, .out = 0});
  law_.SetEnd(LeafEnd(1), {.in = 0, .out = 5});
  law_.SetEnd(tree_.leaf_peer(1), {.in = 6, .out = 0});
  EXPECT_THAT(law_.Find(), ElementsAre(Kirchhoff::Finding{false, LeafEnd(0), 1},
                                       Kirchhoff::Finding{false, LeafEnd(1), -1}));
}

TEST_F(KirchhoffTest, ChipsAccountForWhatTheyHoldAndDrop) {
  RegionOptions options;
  options.leaf_credit = 1;
  Region region(tree_, options);
  const auto inject = [&](uint32_t leaf, uint32_t route, uint32_t destination) {
    const DataPacket packet = MakePacket(route, destination, 5, 0, leaf);
    CopyPacket(region.InjectSlot(leaf), &packet, 5);
    region.Inject(leaf);
  };
  inject(0, FatTree::Route(0, 9), 9);
  inject(1, FatTree::Route(1, 9), 9);          // waits for the leaf's credit
  inject(2, RoutingInstructions(3, 0), 9);     // higher than the top
  region.Run();
  law_.SetChips(region);
  for (uint32_t leaf = 0; leaf < 16; ++leaf) {
    law_.SetEnd(LeafEnd(leaf), {.in = leaf == 9 ? 1u : 0u, .out = leaf < 3 ? 1u : 0u});
  }
  EXPECT_THAT(law_.Find(), IsEmpty());
}

TEST_F(KirchhoffTest, NamesAChipWhosePortsDoNotAddUp) {
  Region region(tree_, RegionOptions());
  law_.SetChips(region);
  const ChipId chip = tree_.chip(2, 0, 1);
  const LinkEnd from = ChipEnd(tree_.chip(1, 2, 0), 5);
  ASSERT_EQ(FarEnd(tree_, from), ChipEnd(chip, 2));
  law_.SetEnd(from, {.in = 0, .out = 3});
  law_.SetEnd(ChipEnd(chip, 2), {.in = 3, .out = 0});
  // Both chips: one sent three that never came to it, the other kept them.
  const auto findings = law_.Find();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(law_.Describe(findings[0]), "3 messages duplicated in level 1 chip 2");
  EXPECT_EQ(law_.Describe(findings[1]), "3 messages lost in level 2 chip 1");
}

}  // namespace
}  // namespace vcm5
