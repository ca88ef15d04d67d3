#include "daemons/driver/data_counts.h"

namespace vcm5 {

DataCounts CountsOf(const Region& region, int half) {
  DataCounts counts;
  counts.half = half;
  for (uint32_t i = 0; i < region.chips(); ++i) {
    const RouterChip& chip = region.chip(i);
    const RouterChipStats stats = chip.stats();
    counts.lost_in_chips += stats.dropped;
    for (unsigned port = 0; port < kChipPorts; ++port) {
      counts.held += chip.Waiting(port);
      const FatTreePeer peer = region.tree().peer(region.chip_id(i), port);
      if (peer.kind != FatTreePeer::Kind::kLeaf) continue;
      counts.chips_in += stats.in[port];
      counts.chips_out += stats.out[port];
    }
  }
  return counts;
}

}  // namespace vcm5
