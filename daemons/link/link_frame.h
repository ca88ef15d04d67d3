// What travels on every kind of link: frames. A frame is one 64-bit head, and for a packet its
// bytes. All of it comes from another process, so the head is checked before anything is done.
//
//   bits  0-31  wire
//   bits 32-39  packet: its length in words, 1..18; credit: 0
//   bits 40-55  credit: packets, 1..depth; packet: 0
//   bits 56-63  zero
#ifndef VCM5_DAEMONS_LINK_LINK_FRAME_H_
#define VCM5_DAEMONS_LINK_LINK_FRAME_H_

#include <cstdint>

namespace vcm5 {

// What both ends of a link know about it, from the machine description.
struct LinkGeometry {
  uint32_t wires = 0;      // > 0
  uint32_t depth = 0;      // credits of a wire, < 65536
  uint32_t words_max = 0;  // longest packet

  // The most packets, and the most credit frames, that can be under way in one direction: a packet
  // needs a free slot at the far end, and a credit frame gives back at least one.
  uint64_t in_flight_max() const { return uint64_t{wires} * depth; }
};

struct LinkFrame {
  uint32_t wire = 0;
  unsigned length = 0;  // of a packet; 0: a credit
  uint32_t credit = 0;

  bool is_packet() const { return length != 0; }

  static constexpr uint64_t MakePacket(uint32_t wire, unsigned length) {
    return uint64_t{wire} | (uint64_t{length} << 32);
  }
  static constexpr uint64_t MakeCredit(uint32_t wire, uint32_t packets) {
    return uint64_t{wire} | (uint64_t{packets} << 40);
  }

  // Decodes `head`; false if it is not one of a link of this geometry.
  static bool Decode(uint64_t head, const LinkGeometry& geometry, LinkFrame* frame) {
    frame->wire = static_cast<uint32_t>(head);
    frame->length = static_cast<unsigned>(head >> 32) & 0xff;
    frame->credit = static_cast<uint32_t>(head >> 40) & 0xffff;
    if ((head >> 56) != 0 || frame->wire >= geometry.wires) return false;
    return frame->length != 0 ? frame->length <= geometry.words_max && frame->credit == 0
                              : frame->credit != 0 && frame->credit <= geometry.depth;
  }
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_LINK_LINK_FRAME_H_
