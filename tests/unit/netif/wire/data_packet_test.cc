#include "netif/wire/data_packet.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "runtime/base/prng.h"
#include "tests/support/packets.h"

namespace vcm5 {
namespace {

using namespace data_header;  // NOLINT: the fields under test

TEST(DataPacket, LiesInMemoryAsDocumented) {
  DataPacket packet{};
  packet.header = Make(RoutingInstructions(9, 0x12345), 17, 11, 0xabcde);
  packet.crc = 0x11223344;
  packet.words[0] = 0x55667788;
  uint8_t bytes[16];
  std::memcpy(bytes, &packet, sizeof bytes);
  //                          path.up      len tag  destination
  const uint8_t expected[] = {0x59, 0x34, 0x12, 0x71, 0xe1, 0xcd, 0xab, 0x00,
                              0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55};
  EXPECT_EQ(std::memcmp(bytes, expected, sizeof bytes), 0);
}

TEST(DataPacket, FieldsComeBackAsMade) {
  Prng prng(1);
  for (int i = 0; i < 1000; ++i) {
    const unsigned climb = prng.Below(kLevelsMax);
    const uint32_t path = prng.Below(1u << 20);
    const unsigned length = 1 + prng.Below(kCm5eWordsMax);
    const unsigned tag = prng.Below(kTags);
    const uint32_t destination = prng.Below(1u << kAddressBits);
    const uint64_t header = Make(RoutingInstructions(climb, path), length, tag, destination);
    ASSERT_EQ(Up(header), climb);
    ASSERT_EQ(NextChild(header), path & 3);
    ASSERT_EQ(Length(header), length);
    ASSERT_EQ(Tag(header), tag);
    ASSERT_EQ(Destination(header), destination);
    ASSERT_EQ(header & kZeroMask, 0u);
  }
}

TEST(DataPacket, OneLevelUpChangesOnlyTheClimb) {
  const uint64_t header = Make(RoutingInstructions(3, 0xfffff), 5, 15, 0xfffff);
  EXPECT_EQ(AfterUp(header), Make(RoutingInstructions(2, 0xfffff), 5, 15, 0xfffff));
}

TEST(DataPacket, OneLevelDownChangesOnlyThePath) {
  const uint64_t header = Make(RoutingInstructions(0, 0xe4e4f), 18, 15, 0xfffff);
  EXPECT_EQ(AfterDown(header), Make(RoutingInstructions(0, 0xe4e4f >> 2), 18, 15, 0xfffff));
}

TEST(DataPacket, TakesOneUnitForTheCm5AndThreeForTheCm5e) {
  EXPECT_EQ(PacketUnits(1), 1u);
  EXPECT_EQ(PacketUnits(kCm5WordsMax), 1u);
  EXPECT_EQ(PacketUnits(6), 2u);
  EXPECT_EQ(PacketUnits(13), 2u);
  EXPECT_EQ(PacketUnits(14), 3u);
  EXPECT_EQ(PacketUnits(kCm5eWordsMax), 3u);
}

class EveryLength : public ::testing::TestWithParam<unsigned> {};

TEST_P(EveryLength, CrcCarriedUpAndDownIsTheFreshOne) {
  const unsigned length = GetParam();
  for (uint32_t id = 1; id <= 50; ++id) {
    DataPacket packet =
        MakePacket(RoutingInstructions(6, id * 2654435761u >> 12), id, length, id % kTags, id);
    uint64_t header = packet.header;
    uint32_t crc = packet.crc;
    for (int step = 0; step < 12; ++step) {
      const uint64_t next = step < 6 ? AfterUp(header) : AfterDown(header);
      crc = CrcAfterHeaderChange(crc, header, next);
      header = next;
      ASSERT_EQ(crc, DataPacketCrc(packet, length, header));
    }
  }
}

TEST_P(EveryLength, CrcFindsEverySingleBitError) {
  const unsigned length = GetParam();
  const DataPacket good = MakePacket(RoutingInstructions(2, 0x1b), 77, length, 3, 4711);
  ASSERT_TRUE(DataPacketCrcGood(good));
  // Length bits aside: a router chip checks the length before it makes the CRC.
  for (unsigned bit = 0; bit < 8 * (12 + 4 * length); ++bit) {
    if (bit >= kLengthShift && bit < kTagShift) continue;
    DataPacket bad = good;
    auto* bytes = reinterpret_cast<uint8_t*>(&bad);
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1u << bit % 8));
    ASSERT_FALSE(DataPacketCrcGood(bad)) << "bit " << bit;
  }
}

TEST_P(EveryLength, CopyTakesTheWholePacketAndNoUnitMore) {
  const unsigned length = GetParam();
  const DataPacket packet = MakePacket(RoutingInstructions(1, 6), 6, length, 1, 99);
  DataPacket copy;
  std::memset(&copy, 0xee, sizeof copy);
  CopyPacket(&copy, &packet, length);
  EXPECT_EQ(std::memcmp(&copy, &packet, 12 + 4 * length), 0);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&copy);
  for (size_t at = sizeof(PacketUnit) * PacketUnits(length); at < sizeof copy; ++at) {
    ASSERT_EQ(bytes[at], 0xee);
  }
}

INSTANTIATE_TEST_SUITE_P(Words, EveryLength, ::testing::Range(1u, kCm5eWordsMax + 1));

}  // namespace
}  // namespace vcm5
