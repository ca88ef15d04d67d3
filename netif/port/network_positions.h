// Everything that the networks write for a node to wait on, as of one look: for a node that is about to
// sleep. It says that it will, fences, looks once more, and stays awake if anything has moved since
// the look before. What it knew then and let be (a FIFO that its program does not read) is no reason.
#ifndef VCM5_NETIF_PORT_NETWORK_POSITIONS_H_
#define VCM5_NETIF_PORT_NETWORK_POSITIONS_H_

#include <cstdint>

#include "netif/shm/atomic_words.h"
#include "netif/shm/ni_page.h"

namespace vcm5 {

struct NetworkPositions {
  uint32_t at[2 * VCM5_HALVES + 2 * VCM5_CONTROL_FIFOS + 1] = {};

  bool operator==(const NetworkPositions&) const = default;

  static NetworkPositions Look(const vcm5_ni_page& page) {
    NetworkPositions positions;
    uint32_t* next = positions.at;
    for (int half = 0; half < VCM5_HALVES; ++half) {
      *next++ = vcm5_load_acquire(&page.data[half].in_tail);
      *next++ = vcm5_load_acquire(&page.data[half].out_head);
    }
    for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
      *next++ = vcm5_load_acquire(&page.control.in_tail[fifo]);
      *next++ = vcm5_load_acquire(&page.control.out_head[fifo]);
    }
    *next = vcm5_load_acquire(&page.control.events);
    return positions;
  }
};

}  // namespace vcm5

#endif  // VCM5_NETIF_PORT_NETWORK_POSITIONS_H_
