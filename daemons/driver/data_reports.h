// The words in which a data agent reports: names of links, faults and counters.
#ifndef VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_
#define VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "daemons/driver/agent.h"
#include "netif/ni/data_port.h"
#include "netif/shm/ni_page.h"
#include "switches/data/region.h"

namespace vcm5 {

const char* HalfName(int half);  // "left", "right"

// What a program did, or a network to it; to follow "node 3: ". The fault is not kNone.
std::string DescribeFault(const DataPortReport& report, int half, uint32_t partition_size,
                          uint32_t words_max);
// A message that a chip dropped.
std::string DescribeFault(const RegionFault& fault, const FatTree& tree, int half);

// Counters of the region's chips: sums, and one a link.
void AppendRegionStats(const Region& region, int half, std::vector<FabricStat>* stats);

// For whom a node's NI waits, or who waits for it.
void AppendWaiting(const DataPort& port, const vcm5_ni_page& page, int half,
                   std::vector<std::string>* lines);

// Messages in the input buffers of the region's chips.
uint64_t MessagesHeld(const Region& region);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_
