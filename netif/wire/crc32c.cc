#include "netif/wire/crc32c.h"

#include <array>

namespace vcm5::crc32c_internal {
namespace {

constexpr uint32_t kPolynomialReflected = 0x82f63b78u;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomialReflected : 0);
    table[i] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace

uint32_t PortableStep64(uint32_t crc, uint64_t data) {
  for (int i = 0; i < 8; ++i) {
    crc = (crc >> 8) ^ kTable[(crc ^ data) & 0xff];
    data >>= 8;
  }
  return crc;
}

uint32_t PortableStep32(uint32_t crc, uint32_t data) {
  for (int i = 0; i < 4; ++i) {
    crc = (crc >> 8) ^ kTable[(crc ^ data) & 0xff];
    data >>= 8;
  }
  return crc;
}

}  // namespace vcm5::crc32c_internal
