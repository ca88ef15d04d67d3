// CRC-32C (Castagnoli) for packets: the SSE4.2 instruction where there is one, a table elsewhere.
//
// The raw step below has no initial or final inversion, so it is linear over GF(2):
//   Step(a ^ b, x ^ y) == Step(a, x) ^ Step(b, y).
// data_packet.h relies on that to carry a CRC *through* a router chip (DN4).
#ifndef VCM5_NETIF_WIRE_CRC32C_H_
#define VCM5_NETIF_WIRE_CRC32C_H_

#include <cstdint>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace vcm5 {

namespace crc32c_internal {
uint32_t PortableStep64(uint32_t crc, uint64_t data);
uint32_t PortableStep32(uint32_t crc, uint32_t data);
}  // namespace crc32c_internal

inline uint32_t Crc32cStep64(uint32_t crc, uint64_t data) {
#if defined(__SSE4_2__)
  return static_cast<uint32_t>(_mm_crc32_u64(crc, data));
#else
  return crc32c_internal::PortableStep64(crc, data);
#endif
}

inline uint32_t Crc32cStep32(uint32_t crc, uint32_t data) {
#if defined(__SSE4_2__)
  return _mm_crc32_u32(crc, data);
#else
  return crc32c_internal::PortableStep32(crc, data);
#endif
}

}  // namespace vcm5

#endif  // VCM5_NETIF_WIRE_CRC32C_H_
