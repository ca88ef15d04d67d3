#include "switches/data/region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/packets.h"

namespace vcm5 {
namespace {

using ::testing::SizeIs;

void Inject(Region& region, uint32_t source, uint32_t destination, uint32_t id) {
  const DataPacket packet = MakePacket(FatTree::Route(source, destination), destination, 5, 0, id);
  CopyPacket(region.InjectSlot(source), &packet, 5);
  region.Inject(source);
}

RegionOptions Part(uint32_t part, uint32_t parts) {
  RegionOptions options;
  options.part = part;
  options.parts = parts;
  options.depth = 4;
  options.leaf_credit = 2;
  return options;
}

TEST(Region, CarriesAPacketFromLeafToLeaf) {
  const FatTree tree(64, {2, 2, 4});
  Region region(tree, Part(0, 1));
  Inject(region, 3, 60, 77);
  EXPECT_FALSE(region.Idle());
  EXPECT_EQ(region.Run(), 5u) << "three chips up, two down";
  ASSERT_THAT(region.departures(), SizeIs(1));
  EXPECT_EQ(region.departures()[0].port, 60u);
  EXPECT_EQ(region.departures()[0].length, 5u);
  EXPECT_TRUE(DataPacketCrcGood(region.departure_packet(0)));
  EXPECT_TRUE(WordsAreOf(77, region.departure_packet(0).words, 5));
  region.ClearDepartures();
  EXPECT_TRUE(region.Idle());
}

TEST(Region, DeliversWithinTheCreditOfTheLeaf) {
  const FatTree tree(4, {2});
  Region region(tree, Part(0, 1));
  for (uint32_t id = 0; id < 4; ++id) Inject(region, id % 2, 3, id);
  region.Run();
  EXPECT_THAT(region.departures(), SizeIs(2));
  region.ClearDepartures();
  EXPECT_EQ(region.Run(), 0u);
  region.HandleLeafCredit(3, 1);
  region.Run();
  EXPECT_THAT(region.departures(), SizeIs(1));
}

TEST(Region, NamesTheChipAndPortWhereADamagedPacketWasFound) {
  const FatTree tree(64, {2, 2, 4});
  Region region(tree, Part(0, 1));
  Inject(region, 3, 60, 77);
  DataPacket damaged = MakePacket(FatTree::Route(6, 7), 7, 5, 0, 78);
  damaged.words[2] ^= 1;
  CopyPacket(region.InjectSlot(6), &damaged, 5);
  region.Inject(6);
  region.Run();
  ASSERT_THAT(region.departures(), SizeIs(2)) << "the damaged one is marked and goes on";
  EXPECT_TRUE(DataPacketCrcMarked(region.departure_packet(0)));
  EXPECT_TRUE(DataPacketCrcGood(region.departure_packet(1)));
  ASSERT_THAT(region.faults(), SizeIs(1));
  EXPECT_EQ(region.faults()[0].fault, RouterChipFault::kPrimary);
  EXPECT_EQ(region.faults()[0].chip, tree.chip(1, 1, 0));
  EXPECT_EQ(region.faults()[0].port, 2u);
  region.ClearFaults();
  EXPECT_TRUE(region.faults().empty());
}

TEST(Region, SpaceToInjectShrinksAndComesBack) {
  const FatTree tree(4, {2});
  Region region(tree, Part(0, 1));
  EXPECT_EQ(region.InjectSpace(0), 4u);
  for (uint32_t id = 0; id < 4; ++id) Inject(region, 0, 1, id);
  EXPECT_EQ(region.InjectSpace(0), 0u);
  region.Run();
  EXPECT_EQ(region.InjectSpace(0), 2u) << "leaf 1 had credit for two";
}

TEST(Region, CutWiresAreTheLinksBetweenParts) {
  const FatTree tree(16, {2, 2, 4});
  const std::vector<CutWire> wires = CutWires(tree, 2);
  // Four chips at level 1 with two parent links each; chip 0 above them is part 0's, chip 1 part
  // 1's: every second link crosses.
  ASSERT_THAT(wires, SizeIs(4));
  for (const CutWire& wire : wires) {
    EXPECT_NE(wire.child_part, wire.parent_part);
    EXPECT_EQ(tree.PartOfChip(wire.child_chip, 2), wire.child_part);
    EXPECT_EQ(tree.PartOfChip(wire.parent_chip, 2), wire.parent_part);
    const FatTreePeer peer = tree.peer(wire.child_chip, wire.child_port);
    EXPECT_EQ(peer.id, wire.parent_chip);
    EXPECT_EQ(peer.port, wire.parent_port);
  }
  EXPECT_TRUE(CutWires(tree, 1).empty());
}

// Two parts of a 16-leaf machine; `wire` climbs from part 0 to part 1.
class RegionOfTwo : public ::testing::Test {
 protected:
  RegionOfTwo() : tree_(16, {2, 2, 4}), low_(tree_, Part(0, 2)), high_(tree_, Part(1, 2)) {
    const std::vector<CutWire> wires = CutWires(tree_, 2);
    while (wires[wire_].child_part != 0) ++wire_;
  }
  DataPacket Climbing(uint32_t id) {
    return MakePacket(RoutingInstructions(0, FatTree::Route(0, 15) >> kPathShift), 15, 5, 0, id);
  }
  FatTree tree_;
  Region low_;
  Region high_;
  uint32_t wire_ = 0;
};

TEST_F(RegionOfTwo, GivesCreditForAPacketThatMovedOnFromAWire) {
  ASSERT_TRUE(high_.HandleWirePacket(wire_, Climbing(1), 5));
  high_.TakeWireCredits([](uint32_t, uint32_t) { ADD_FAILURE() << "it has not moved yet"; });
  high_.Run();
  uint32_t given = 0;
  high_.TakeWireCredits([&](uint32_t wire, uint32_t packets) {
    EXPECT_EQ(wire, wire_);
    given += packets;
  });
  EXPECT_EQ(given, 1u);
  high_.TakeWireCredits([](uint32_t, uint32_t) { ADD_FAILURE() << "given once"; });
}

TEST_F(RegionOfTwo, RefusesAPacketWithoutCredit) {
  for (uint32_t id = 0; id < 4; ++id) ASSERT_TRUE(high_.HandleWirePacket(wire_, Climbing(id), 5));
  EXPECT_FALSE(high_.HandleWirePacket(wire_, Climbing(9), 5));
  high_.CheckInvariants();
}

TEST_F(RegionOfTwo, RefusesMoreCreditThanPacketsSent) {
  EXPECT_FALSE(low_.HandleWireCredit(wire_, 1));
  EXPECT_FALSE(low_.HandleWireCredit(wire_, 0xffffffffu));
  uint32_t sent = 0;
  for (uint32_t id = 0; sent == 0 && id < 100; ++id) {
    Inject(low_, 0, 15, id);
    low_.Run();
    for (const Departure& departure : low_.departures()) {
      if (departure.port == (Departure::kWireBit | wire_)) ++sent;
    }
    low_.ClearDepartures();
    if (low_.InjectSpace(0) == 0) break;
  }
  ASSERT_EQ(sent, 1u);
  EXPECT_TRUE(low_.HandleWireCredit(wire_, 1));
  EXPECT_FALSE(low_.HandleWireCredit(wire_, 1));
}

TEST_F(RegionOfTwo, RefusesWhatComesOnAWireOfOthers) {
  const FatTree tree(64, {2, 2, 4});
  Region region(tree, Part(0, 4));
  const std::vector<CutWire> wires = CutWires(tree, 4);
  for (uint32_t wire = 0; wire < wires.size(); ++wire) {
    if (wires[wire].child_part == 0 || wires[wire].parent_part == 0) continue;
    EXPECT_FALSE(region.HandleWirePacket(wire, Climbing(1), 5));
    EXPECT_FALSE(region.HandleWireCredit(wire, 1));
  }
}

}  // namespace
}  // namespace vcm5
