// What a data agent is made of, from its options.
#ifndef VCM5_DAEMONS_DRIVER_DATA_AGENT_SETUP_H_
#define VCM5_DAEMONS_DRIVER_DATA_AGENT_SETUP_H_

#include <cstdint>

#include "daemons/driver/data_agent.h"
#include "netif/ni/data_port.h"
#include "switches/data/region.h"

namespace vcm5 {

RegionOptions RegionOptionsOf(const DataAgentOptions& options);
// Of the NI at an address that has one.
DataPort::Options PortOptionsOf(const DataAgentOptions& options, uint32_t leaf);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_DATA_AGENT_SETUP_H_
