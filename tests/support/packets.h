// Packets and message contents for tests.
#ifndef VCM5_TESTS_SUPPORT_PACKETS_H_
#define VCM5_TESTS_SUPPORT_PACKETS_H_

#include <cstdint>

#include "netif/wire/data_packet.h"
#include "runtime/base/prng.h"

namespace vcm5 {

// A packet with a good CRC. Word 0 is `id`; the others follow from it.
inline DataPacket MakePacket(uint32_t route, uint32_t destination, unsigned length, unsigned tag,
                             uint32_t id) {
  DataPacket packet{};
  packet.header = data_header::Make(route, length, tag, destination);
  Prng prng(id);
  for (unsigned word = 0; word < length; ++word) {
    packet.words[word] = word == 0 ? id : static_cast<uint32_t>(prng.Next());
  }
  packet.crc = DataPacketCrc(packet, length, packet.header);
  return packet;
}

// The words that MakePacket makes of `id`.
inline bool WordsAreOf(uint32_t id, const uint32_t* words, unsigned length) {
  Prng prng(id);
  for (unsigned word = 0; word < length; ++word) {
    if (words[word] != (word == 0 ? id : static_cast<uint32_t>(prng.Next()))) return false;
  }
  return true;
}

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_PACKETS_H_
