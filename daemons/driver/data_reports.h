// The words in which a data agent reports: names of links, faults and counters.
#ifndef VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_
#define VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
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

// What the programs at ports have not received, and what the network has not taken of them. Members of
// a partition of whom the same is to be said are named together.
class WaitingReport {
 public:
  WaitingReport(std::span<const Partition> partitions, uint32_t nodes, int half)
      : partitions_(partitions), nodes_(nodes), half_(half) {}

  void Add(const DataPort& port, const vcm5_ni_page& page);
  std::vector<std::string> Lines() const;

 private:
  void Note(uint32_t physical, uint32_t messages, const std::string& what);

  const std::span<const Partition> partitions_;
  const uint32_t nodes_;
  const int half_;
  std::vector<std::string> closed_;
  // By partition, and what is said of them: relative addresses.
  std::map<std::pair<size_t, std::string>, std::vector<uint32_t>> alike_;
};

// The region's ends of the wires to other parts.
std::vector<WireEnd> CountWireEnds(const Region& region, int half);

// Messages in the input buffers of the region's chips.
uint64_t MessagesHeld(const Region& region);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_REPORTS_H_
