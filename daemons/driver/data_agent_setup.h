// What a data agent is made of, from its options.
#ifndef VCM5_DAEMONS_DRIVER_DATA_AGENT_SETUP_H_
#define VCM5_DAEMONS_DRIVER_DATA_AGENT_SETUP_H_

#include <cstdint>
#include <vector>

#include "daemons/driver/data_agent.h"
#include "netif/ni/data_port.h"
#include "switches/data/region.h"
#include "switches/topology/partition.h"
#include "switches/topology/route_table.h"

namespace vcm5 {

RegionOptions RegionOptionsOf(const DataAgentOptions& options);
// Of the NI at an address that has one.
DataPort::Options PortOptionsOf(const DataAgentOptions& options, uint32_t leaf);

// Fills `routes`, a table a partition and one for leaves in none; returns which each leaf has.
std::vector<const RouteTable*> MakeRoutes(uint32_t leaves, const std::vector<Partition>& partitions,
                                          std::vector<RouteTable>* routes);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_AGENT_SETUP_H_
