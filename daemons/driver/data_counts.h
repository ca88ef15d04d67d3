// What the NIs and chips of one or more parts of a half have counted since the beginning (NI10,
// DN5), for the law that every message injected is ejected, captured, lost or still held.
#ifndef VCM5_DAEMONS_DRIVER_DATA_COUNTS_H_
#define VCM5_DAEMONS_DRIVER_DATA_COUNTS_H_

#include <cstdint>

#include "switches/data/region.h"

namespace vcm5 {

struct DataCounts {
  int half = 0;
  uint64_t injected = 0;       // taken out of the nodes' outgoing FIFOs into the network
  uint64_t resent = 0;         // captured ones that were injected again
  uint64_t ejected = 0;        // put into the nodes' incoming FIFOs
  uint64_t captured = 0;       // all-fall-down messages
  uint64_t lost = 0;           // refused at a leaf, or dropped by a chip;
  uint64_t lost_in_chips = 0;  // the latter
  uint64_t held = 0;           // in the chips now
  uint64_t chips_in = 0;       // by the chips' counters: from leaves
  uint64_t chips_out = 0;      // and to leaves
};

// What the region's chips count; the NIs' counts are 0.
DataCounts CountsOf(const Region& region, int half);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_COUNTS_H_
