#include "daemons/driver/data_agent_setup.h"

#include "daemons/driver/node_memory.h"
#include "runtime/base/prng.h"
#include "switches/topology/health.h"

namespace vcm5 {

RegionOptions RegionOptionsOf(const DataAgentOptions& options) {
  RegionOptions region;
  region.part = options.part;
  region.parts = options.parts;
  region.depth = options.spec.link_depth;
  region.words_max = options.spec.words_max;
  region.leaf_credit = options.spec.data_fifo_depth;
  region.seed = DeriveSeed(options.spec.seed, static_cast<uint64_t>(options.half));
  region.ways = WaysOfChips(options.spec, options.half);
  for (const LinkFault& fault : options.spec.link_faults) {
    if (fault.half == options.half) region.link_faults.push_back(fault);
  }
  return region;
}

DataPort::Options PortOptionsOf(const DataAgentOptions& options, uint32_t leaf) {
  const NiGeometry geometry = GeometryOf(options.spec);
  const vcm5_ni_offsets offsets = geometry.Offsets();
  DataPort::Options port;
  port.page = options.pages[leaf];
  port.half = options.half;
  port.physical_self = leaf;
  port.slot_bytes = geometry.slot_bytes;
  port.depth = geometry.data_depth;
  port.words_max = options.spec.words_max;
  port.out_offset = offsets.data_out[options.half];
  port.in_offset = offsets.data_in[options.half];
  return port;
}

}  // namespace vcm5
