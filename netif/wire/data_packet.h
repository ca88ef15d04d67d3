// The data network's packet (paper section 3, figure 4): routing instructions, length, tag, data
// words, CRC. Fixed binary layout, little endian, as it lies in FIFOs, chips and on links:
//
//   bytes 0-7   header      bits  0-3   up: levels still to climb above the current chip
//                           bits  4-23  path: the way down, two bits a level, next level lowest
//                           bits 24-28  length: data words, 1..18
//                           bits 29-32  tag
//                           bits 33-35  zero
//                           bits 36-55  destination: physical network address
//                           bits 56-62  zero
//                           bit  63     falls: an all-fall-down message (below)
//   bytes 8-11  crc         CRC-32C over the words, then the header
//   bytes 12-   words       `length` words of 32 bits
//
// A packet of up to 5 words (CM-5) fills 32 bytes, two to a cache line; one of 18 (CM-5E) fills 96.
//
// The routing instructions are chip-relative: a chip that sends a packet up decrements `up`, one
// that sends it down shifts `path`. The CRC covers the header last, so the change of header alone
// gives the change of CRC (StepUp, StepDown): no chip ever makes a fresh CRC for data that it
// stored, and a bit that flips inside a chip is found on the next link. The chip that finds it marks
// the packet with the complement of the CRC that would be right, and the complement stays one through
// all later changes: who finds it there knows that the error has been signalled (DN4).
//
// A message that a chip in all-fall-down mode made fall is marked by bit 63 and has no route: each
// chip deals it to one of its child links (switches/data/fall_down.h). While it waits for that link
// `up` is 0 and `path` is 4 + the link, so that the chip's way down turns it into 1 on the link.
// Destination, length, tag and words are the sender's.
#ifndef VCM5_NETIF_WIRE_DATA_PACKET_H_
#define VCM5_NETIF_WIRE_DATA_PACKET_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "netif/wire/crc32c.h"
#include "runtime/base/routing_instructions.h"

namespace vcm5 {

inline constexpr unsigned kCm5WordsMax = 5;    // the CM-5's NI
inline constexpr unsigned kCm5eWordsMax = 18;  // the CM-5E's NI
inline constexpr unsigned kAddressBits = 20;
inline constexpr unsigned kTags = 16;
inline constexpr unsigned kFirstSystemTag = 14;  // tags 14 and 15 are the system's

// One unit of packet memory. A packet takes 1, 2 or 3 units; storage is always whole units.
struct alignas(32) PacketUnit {
  uint8_t bytes[32];
};

constexpr unsigned PacketUnits(unsigned words) { return (12 + 4 * words + 31) / 32; }

inline constexpr unsigned kPacketUnitsMax = PacketUnits(kCm5eWordsMax);

struct alignas(32) DataPacket {
  uint64_t header;
  uint32_t crc;
  uint32_t words[(32 * kPacketUnitsMax - 12) / 4];
};
static_assert(sizeof(DataPacket) == 32 * kPacketUnitsMax);
static_assert(offsetof(DataPacket, words) == 12);

namespace data_header {

inline constexpr uint64_t kUpMask = 0xf;
inline constexpr uint64_t kPathMask = uint64_t{0xfffff} << kPathShift;
inline constexpr unsigned kLengthShift = 24;
inline constexpr unsigned kTagShift = 29;
inline constexpr unsigned kDestinationShift = 36;
inline constexpr uint64_t kZeroMask = (uint64_t{7} << 33) | (uint64_t{0x7f} << 56);
inline constexpr uint64_t kFalls = uint64_t{1} << 63;

constexpr unsigned Up(uint64_t header) { return static_cast<unsigned>(header & kUpMask); }
constexpr unsigned NextChild(uint64_t header) {
  return static_cast<unsigned>(header >> kPathShift) & 3;
}
constexpr unsigned Length(uint64_t header) {
  return static_cast<unsigned>(header >> kLengthShift) & 0x1f;
}
constexpr unsigned Tag(uint64_t header) { return static_cast<unsigned>(header >> kTagShift) & 0xf; }
constexpr bool IsSystem(uint64_t header) { return Tag(header) >= kFirstSystemTag; }
constexpr uint32_t Destination(uint64_t header) {
  return static_cast<uint32_t>(header >> kDestinationShift) & ((1u << kAddressBits) - 1);
}

// `route` holds up and path as the header does (bits 0-23).
constexpr uint64_t Make(uint32_t route, unsigned length, unsigned tag, uint32_t destination) {
  return uint64_t{route} | (uint64_t{length} << kLengthShift) | (uint64_t{tag} << kTagShift) |
         (uint64_t{destination} << kDestinationShift);
}

// The header after one level up, and after one level down. One level up needs Up() > 0.
constexpr uint64_t AfterUp(uint64_t header) { return header - 1; }
constexpr uint64_t AfterDown(uint64_t header) {
  return (header & ~kPathMask) | (((header & kPathMask) >> 2) & kPathMask);
}

// Of all-fall-down messages: the header that waits for child link `child`, whether a header is such
// a one, and whether it is as links carry it.
constexpr uint64_t DealtTo(uint64_t header, unsigned child) {
  return (header & ~(kUpMask | kPathMask)) | kFalls | (uint64_t{4 + child} << kPathShift);
}
constexpr bool Falls(uint64_t header) { return (header & kFalls) != 0; }
constexpr bool FallsAndIsDealt(uint64_t header) {
  const uint64_t any_child = uint64_t{3} << kPathShift;
  return (header & (kFalls | kUpMask | (kPathMask & ~any_child))) ==
         (kFalls | (uint64_t{4} << kPathShift));
}
constexpr bool FallsOnLink(uint64_t header) {
  return (header & (kFalls | kUpMask | kPathMask)) == (kFalls | (uint64_t{1} << kPathShift));
}

}  // namespace data_header

// CRC over `length` words, then the header.
inline uint32_t DataPacketCrc(const DataPacket& packet, unsigned length, uint64_t header) {
  uint32_t crc = ~uint32_t{0};
  unsigned i = 0;
  // The words begin 12 bytes into the unit, so word 1 is the first of an aligned pair.
  crc = Crc32cStep32(crc, packet.words[0]);
  for (i = 1; i + 2 <= length; i += 2) {
    uint64_t pair;
    std::memcpy(&pair, &packet.words[i], sizeof pair);
    crc = Crc32cStep64(crc, pair);
  }
  if (i < length) crc = Crc32cStep32(crc, packet.words[i]);
  return Crc32cStep64(crc, header);
}

// The CRC of a packet whose header changed from `before` to `after`.
inline uint32_t CrcAfterHeaderChange(uint32_t crc, uint64_t before, uint64_t after) {
  return crc ^ Crc32cStep64(0, before ^ after);
}

inline bool DataPacketCrcGood(const DataPacket& packet) {
  return DataPacketCrc(packet, data_header::Length(packet.header), packet.header) == packet.crc;
}

// The CRC is the complement of the right one: somebody on the way found the packet damaged.
inline bool DataPacketCrcMarked(const DataPacket& packet) {
  return DataPacketCrc(packet, data_header::Length(packet.header), packet.header) == ~packet.crc;
}

// Copies the units that `length` words need. Source and destination do not overlap and are both
// 32-byte aligned storage of at least that many units.
inline void CopyPacket(void* to, const void* from, unsigned length) {
  const auto* source = static_cast<const PacketUnit*>(from);
  auto* target = static_cast<PacketUnit*>(to);
  target[0] = source[0];
  if (length > kCm5WordsMax) {
    for (unsigned unit = 1; unit < PacketUnits(length); ++unit) target[unit] = source[unit];
  }
}

}  // namespace vcm5

#endif  // VCM5_NETIF_WIRE_DATA_PACKET_H_
