// What a router chip does with packets that are damaged or lost, and with a driver that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/switches/data/chip_rig.h"

namespace vcm5 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(RouterChipErrors, NeverMovesAPacketFromParentToParent) {
  ChipRig rig;
  for (unsigned port = kUp0; port < kChipPorts; ++port) {
    rig.Put(port, Climb(2), port);
    EXPECT_THAT(rig.Route(), IsEmpty());
  }
  EXPECT_EQ(rig.chip().stats().misrouted, 4u);
  EXPECT_THAT(rig.freed(), SizeIs(4)) << "its slot is free again";
}

TEST(RouterChipErrors, APacketThatClimbsFromAParentDoesNotWaitForCredit) {
  ChipRig rig;
  rig.BlockAll();
  rig.Put(kUp0, Climb(), 1);
  rig.Route();
  EXPECT_EQ(rig.chip().stats().misrouted, 1u);
}

TEST(RouterChipErrors, CountsAPacketThatClimbsAboveTheTop) {
  ChipRig rig(0);
  rig.Put(1, Climb(), 1);
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.chip().stats().misrouted, 1u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(1, 1)));
}

TEST(RouterChipErrors, CountsAPacketForAChildThatDoesNotExist) {
  ChipRig rig(2, 0b0111);
  rig.Put(kUp0, Descend(3), 1);
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.chip().stats().misrouted, 1u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(kUp0, 1)));
}

TEST(RouterChipErrors, CountsAndDropsACorruptedPacket) {
  ChipRig rig;
  DataPacket packet = MakePacket(Descend(1), 9, 5, 0, 9);
  packet.words[4] ^= 0x100;
  rig.Put(0, packet);
  EXPECT_THAT(rig.Route(), IsEmpty());
  EXPECT_EQ(rig.moved(), 1u);
  EXPECT_EQ(rig.chip().stats().crc_errors, 1u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(0, 1)));
  EXPECT_EQ(rig.chip().Credit(1), kDepth) << "nothing was sent";
  unsigned port = 99;
  ASSERT_TRUE(rig.chip().has_fault());
  EXPECT_EQ(rig.chip().TakeFault(&port), RouterChipFault::kCrc);
  EXPECT_EQ(port, 0u);
  EXPECT_FALSE(rig.chip().has_fault());
}

TEST(RouterChipErrors, FindsAnyBitThatFlips) {
  for (unsigned bit = 0; bit < 8 * sizeof(PacketUnit); ++bit) {
    ChipRig rig;
    DataPacket packet = MakePacket(Descend(1), 9, 5, 0, 9);
    auto* bytes = reinterpret_cast<uint8_t*>(&packet);
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << bit % 8));
    rig.Put(0, packet);
    ASSERT_THAT(rig.Route(), IsEmpty()) << "bit " << bit;
    ASSERT_EQ(rig.chip().stats().crc_errors, 1u) << "bit " << bit;
  }
}

TEST(RouterChipErrors, CountsLengthsThatTheMachineDoesNotHaveAsCorrupted) {
  for (const unsigned length : {0u, 6u, 31u}) {
    ChipRig rig;
    DataPacket packet = MakePacket(Descend(1), 9, 5, 0, 9);
    packet.header = data_header::Make(Descend(1), length, 0, 9);
    rig.Put(0, packet);
    EXPECT_THAT(rig.Route(), IsEmpty());
    EXPECT_EQ(rig.chip().stats().crc_errors, 1u);
  }
}

TEST(RouterChipErrors, ADroppedPacketDoesNotHoldUpTheNext) {
  ChipRig rig;
  DataPacket bad = MakePacket(Descend(1), 9, 5, 0, 9);
  bad.crc = ~bad.crc;
  rig.Put(0, bad);
  rig.Put(0, Descend(1), 2);
  const auto outs = rig.Route();
  ASSERT_THAT(outs, SizeIs(1));
  EXPECT_EQ(outs[0].id(), 2u);
  EXPECT_THAT(rig.freed(), ElementsAre(Pair(0, 2)));
}

using RouterChipDeathTest = ::testing::Test;

TEST(RouterChipDeathTest, APacketWithoutCreditIsTheDriversBug) {
  ChipRig rig;
  rig.BlockAll();
  for (uint32_t id = 0; id < kDepth; ++id) rig.Put(0, Climb(), id);
  EXPECT_DEATH(rig.Put(0, Climb(), 99), "packet sent without credit");
}

TEST(RouterChipDeathTest, CreditForALinkThatDoesNotExistIsTheDriversBug) {
  ChipRig rig(2);
  EXPECT_DEATH(rig.chip().SetCredit(kUp0 + 2, 1), "linked_");
}

TEST(RouterChipDeathTest, DepthIsAPowerOfTwo) { EXPECT_DEATH(ChipRig(2, 0xf, 1, 3), "depth"); }

}  // namespace
}  // namespace vcm5
