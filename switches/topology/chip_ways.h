// Which of its links a router chip of a machine with broken parts may use (DN8). What it must know is
// little: a message tells it only how far it climbs, and if it falls (DN7), not even where to.
#ifndef VCM5_SWITCHES_TOPOLOGY_CHIP_WAYS_H_
#define VCM5_SWITCHES_TOPOLOGY_CHIP_WAYS_H_

#include <array>
#include <cstdint>

namespace vcm5 {

struct ChipWays {
  // closed[c]: parent ports (bits 4 to 7) that a message with c levels yet to climb must not take.
  // c is what four bits of a header say, whatever the height of the tree.
  std::array<uint8_t, 16> closed = {};
  // Child ports (bits 0 to 3) that a falling message must not be dealt to.
  uint8_t no_fall = 0;
  // Ports whose links are mapped out: no message between leaves that remain takes them, up or down.
  uint8_t idle = 0;

  bool operator==(const ChipWays&) const = default;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_CHIP_WAYS_H_
