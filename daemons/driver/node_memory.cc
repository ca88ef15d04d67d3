#include "daemons/driver/node_memory.h"

#include "netif/wire/data_packet.h"

namespace vcm5 {

NiGeometry GeometryOf(const MachineSpec& spec) {
  NiGeometry geometry;
  geometry.slot_bytes = 32 * PacketUnits(spec.words_max);
  geometry.data_depth = spec.data_fifo_depth;
  geometry.control_depth[VCM5_FIFO_COMBINE] = spec.combine_depth;
  geometry.control_depth[VCM5_FIFO_BROADCAST] = spec.broadcast_depth;
  geometry.control_depth[VCM5_FIFO_ROUTER_DONE] = 4;
  geometry.control_depth[VCM5_FIFO_SYNC_OR] = 16;
  return geometry;
}

void InitializeNodePage(void* memory, const MachineSpec& spec, const NodeIdentity& identity) {
  const NiGeometry geometry = GeometryOf(spec);
  auto* page = static_cast<vcm5_ni_page*>(memory);
  page->version = VCM5_NI_VERSION;
  page->self = identity.self;
  page->partition_size = identity.partition_size;
  page->addresses = identity.partition_size + (identity.has_host ? 1 : 0);
  page->words_max = spec.words_max;
  page->slot_bytes = geometry.slot_bytes;
  page->data_depth = geometry.data_depth;
  for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    page->control_depth[fifo] = geometry.control_depth[fifo];
  }
  page->bytes = geometry.Offsets().bytes;
  page->processors = identity.processors;
  page->runners = identity.runners;
  for (int half = 0; half < VCM5_HALVES; ++half) page->data_bell[half] = identity.data_bell[half];
  page->control_bell = identity.control_bell;
  page->magic = VCM5_NI_MAGIC;  // last: the page is whole
}

}  // namespace vcm5
