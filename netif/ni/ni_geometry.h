// The sizes of an NI's FIFOs as its machine description gives them. The networks' side of an NI
// computes every address from these, never from what the mapped page says (NI13).
#ifndef VCM5_NETIF_NI_NI_GEOMETRY_H_
#define VCM5_NETIF_NI_NI_GEOMETRY_H_

#include <array>
#include <cstdint>

#include "netif/shm/ni_page.h"

namespace vcm5 {

struct NiGeometry {
  uint32_t slot_bytes = 32;   // of a data FIFO
  uint32_t data_depth = 128;  // powers of two, this and the following
  std::array<uint32_t, VCM5_CONTROL_FIFOS> control_depth = {64, 256, 8, 8};

  vcm5_ni_offsets Offsets() const {
    return vcm5_ni_compute_offsets(slot_bytes, data_depth, control_depth.data());
  }
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_NI_GEOMETRY_H_
