// The words in which a data agent reports: names of links, faults and counters.
#ifndef VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_
#define VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemons/driver/agent.h"
#include "netif/ni/data_port.h"
#include "switches/data/kirchhoff.h"
#include "netif/shm/ni_page.h"
#include "switches/data/region.h"

namespace vcm5 {

const char* HalfName(int half);  // "left", "right"

// What a program did, or a network to it; to follow "node 3: ". The fault is not kNone.
std::string DescribeFault(const DataPortReport& report, int half, uint32_t partition_size,
                          uint32_t words_max);
// What a chip found wrong with a message: "left data network: ...".
FabricError ErrorOf(const RegionFault& fault, const FatTree& tree, int half);
// A message that was damaged on the link that leaves `from`.
FabricError DamageOf(const LinkEnd& from, const FatTree& tree, int half);
// Where messages were lost or made: an error for each of the first few places that concern the same
// of `partitions`, and one for all others of these.
std::vector<FabricError> DescribeLosses(const Kirchhoff& law, int half, const FatTree& tree,
                                        std::span<const Partition> partitions);

// Counters of the region's chips: sums, and one a link; and of faults that were asked for.
void AppendRegionStats(const Region& region, int half, std::vector<FabricStat>* stats);

// What the program at a port has not received, and what the network has not taken of it.
void AppendWaiting(const DataPort& port, const vcm5_ni_page& page, int half,
                   const std::string& node, std::vector<std::string>* lines);

// The region's ends of the wires to other parts.
std::vector<WireEnd> CountWireEnds(const Region& region, int half);

// Messages in the input buffers of the region's chips.
uint64_t MessagesHeld(const Region& region);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_
