// The loads of the fat tree's arms (paper 3.7). An arm is all of the links, in one direction, between a
// node of the tree, or a leaf, and the node above it. The largest ratio of an arm's load to its links,
// over all arms, estimates how long a set of messages takes.
#ifndef VCM5_DAEMONS_DRIVER_ARM_LOADS_H_
#define VCM5_DAEMONS_DRIVER_ARM_LOADS_H_

#include <vector>

#include "daemons/driver/agent.h"
#include "switches/data/region.h"

namespace vcm5 {

// What the region's chips count of each arm that carried anything; of an arm whose node's chips lie in
// several parts, each says its own, under the same name. Links that are mapped out count as links.
void AppendArmLoads(const Region& region, int half, std::vector<FabricStat>* stats);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_ARM_LOADS_H_
