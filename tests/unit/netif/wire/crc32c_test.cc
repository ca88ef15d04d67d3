#include "netif/wire/crc32c.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "runtime/base/prng.h"

namespace vcm5 {
namespace {

using crc32c_internal::PortableStep32;
using crc32c_internal::PortableStep64;

// The standard's CRC of `bytes` (a multiple of 4), with its inversions, made of our steps.
template <size_t kBytes>
uint32_t Standard(const std::array<uint8_t, kBytes>& bytes) {
  uint32_t crc = ~uint32_t{0};
  for (size_t at = 0; at < kBytes; at += 4) {
    uint32_t word;
    std::memcpy(&word, &bytes[at], 4);
    crc = Crc32cStep32(crc, word);
  }
  return ~crc;
}

TEST(Crc32c, AgreesWithTheVectorsOfRfc3720) {
  std::array<uint8_t, 32> bytes{};
  EXPECT_EQ(Standard(bytes), 0x8a9136aau);
  bytes.fill(0xff);
  EXPECT_EQ(Standard(bytes), 0x62a8ab43u);
  for (uint8_t i = 0; i < 32; ++i) bytes[i] = i;
  EXPECT_EQ(Standard(bytes), 0x46dd794eu);
  for (uint8_t i = 0; i < 32; ++i) bytes[i] = static_cast<uint8_t>(31 - i);
  EXPECT_EQ(Standard(bytes), 0x113fdb5cu);
}

TEST(Crc32c, TableAgreesWithTheInstruction) {
  Prng prng(1);
  for (int i = 0; i < 10000; ++i) {
    const uint32_t crc = static_cast<uint32_t>(prng.Next());
    const uint64_t data = prng.Next();
    ASSERT_EQ(PortableStep64(crc, data), Crc32cStep64(crc, data));
    const uint32_t word = static_cast<uint32_t>(data);
    ASSERT_EQ(PortableStep32(crc, word), Crc32cStep32(crc, word));
  }
}

TEST(Crc32c, AStepOf64BitsIsTwoOf32) {
  Prng prng(2);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t crc = static_cast<uint32_t>(prng.Next());
    const uint64_t data = prng.Next();
    const uint32_t low = Crc32cStep32(crc, static_cast<uint32_t>(data));
    ASSERT_EQ(Crc32cStep64(crc, data), Crc32cStep32(low, static_cast<uint32_t>(data >> 32)));
  }
}

TEST(Crc32c, IsLinear) {
  Prng prng(3);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t a = static_cast<uint32_t>(prng.Next());
    const uint32_t b = static_cast<uint32_t>(prng.Next());
    const uint64_t x = prng.Next();
    const uint64_t y = prng.Next();
    ASSERT_EQ(Crc32cStep64(a ^ b, x ^ y), Crc32cStep64(a, x) ^ Crc32cStep64(b, y));
  }
  EXPECT_EQ(Crc32cStep64(0, 0), 0u);
}

}  // namespace
}  // namespace vcm5
