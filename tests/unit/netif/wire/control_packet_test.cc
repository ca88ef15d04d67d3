// The control network's packet (paper section 5, figure 5).
#include "netif/wire/control_packet.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/base/prng.h"

namespace vcm5 {
namespace {

using namespace control_body;  // NOLINT: the fields under test

constexpr unsigned kBodyBits = 51;
constexpr unsigned kCrcBits = 14;

TEST(ControlPacket, LiesInMemoryAsDocumented) {
  const uint64_t body = MakeCombine(CombineOperation::kScanBackward, Combiner::kUnsignedAdd,
                                    0x12345678, kFirst | kSegment);
  const ControlPacket packet{body, 0x2bcd, 0};
  uint8_t bytes[sizeof packet];
  std::memcpy(bytes, &packet, sizeof bytes);
  //                          word                    type, operation, combiner, flags
  const uint8_t expected[] = {0x78, 0x56, 0x34, 0x12, 0x0a, 0x0b, 0x00, 0x00,
                              0xcd, 0x2b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  EXPECT_EQ(std::memcmp(bytes, expected, sizeof bytes), 0);
}

// Bodies that a leaf may send and random ones: what is well formed has no bit beyond the body, and
// no CRC has one beyond its field.
TEST(ControlPacket, Has65Bits) {
  static_assert(kBodyBits + kCrcBits == 65);
  EXPECT_EQ(kZeroMask, ~uint64_t{0} << kBodyBits);
  Prng prng(1);
  unsigned well_formed = 0;
  uint32_t crc_bits = 0;
  for (int i = 0; i < 100000; ++i) {
    // As often as not with all that a packet of its type leaves out.
    uint64_t body = prng.Next();
    if (prng.Chance(3, 4)) body &= uint64_t{0xffffffffffff} >> prng.Below(16);
    crc_bits |= ControlPacketCrc(body);
    if (!WellFormed(body)) continue;
    ++well_formed;
    ASSERT_EQ(body >> kBodyBits, 0u);
  }
  EXPECT_GT(well_formed, 1000u);
  EXPECT_EQ(crc_bits, (1u << kCrcBits) - 1);
  for (unsigned bit = kBodyBits; bit < 64; ++bit) {
    EXPECT_FALSE(WellFormed(MakeBroadcast(BroadcastOperation::kUser, 1, kFirst | kLast) |
                            (uint64_t{1} << bit)))
        << "bit " << bit;
  }
}

TEST(ControlPacket, TypesAndOperationsComeBackAsMade) {
  for (unsigned operation = 0; operation < kCombineOperations; ++operation) {
    for (unsigned combiner = 0; combiner < kCombiners; ++combiner) {
      const uint64_t body = MakeCombine(static_cast<CombineOperation>(operation),
                                        static_cast<Combiner>(combiner), 0xffffffff, kLast);
      ASSERT_TRUE(WellFormed(body));
      EXPECT_EQ(Type(body), ControlType::kMultipleSource);
      EXPECT_EQ(Operation(body), operation);
      EXPECT_EQ(CombinerOf(body), static_cast<Combiner>(combiner));
      EXPECT_EQ(Word(body), 0xffffffffu);
    }
  }
  for (unsigned operation = 0; operation < kBroadcastClasses; ++operation) {
    const uint64_t body = MakeBroadcast(static_cast<BroadcastOperation>(operation), 7, kFirst);
    ASSERT_TRUE(WellFormed(body));
    EXPECT_EQ(Type(body), ControlType::kSingleSource);
    EXPECT_EQ(Operation(body), operation);
  }
  EXPECT_EQ(Type(MakeSynchronise(5)), ControlType::kIdle);
  EXPECT_EQ(Sync(MakeSynchronise(5)), 5u);
  EXPECT_EQ(Type(MakeAbstain(kStreamSyncOr, true)), ControlType::kAbstain);
}

TEST(ControlPacket, CrcFindsEveryErrorOfUpToThreeBits) {
  const ControlPacket good =
      SealControlPacket(MakeBroadcast(BroadcastOperation::kUser, 0x600df00d, kFirst | kLast));
  ASSERT_TRUE(ControlPacketCrcGood(good));
  const auto flip = [](ControlPacket packet, unsigned bit) {
    if (bit < kBodyBits) {
      packet.body ^= uint64_t{1} << bit;
    } else {
      packet.crc ^= 1u << (bit - kBodyBits);
    }
    return packet;
  };
  for (unsigned a = 0; a < kBodyBits + kCrcBits; ++a) {
    ASSERT_FALSE(ControlPacketCrcGood(flip(good, a))) << a;
    for (unsigned b = 0; b < a; ++b) {
      ASSERT_FALSE(ControlPacketCrcGood(flip(flip(good, a), b))) << a << " " << b;
      for (unsigned c = 0; c < b; ++c) {
        ASSERT_FALSE(ControlPacketCrcGood(flip(flip(flip(good, a), b), c)))
            << a << " " << b << " " << c;
      }
    }
  }
}

}  // namespace
}  // namespace vcm5
