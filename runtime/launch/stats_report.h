// `vcm5 run --stats`: what the networks carried, why they waited, their busiest arm and links.
#ifndef VCM5_RUNTIME_LAUNCH_STATS_REPORT_H_
#define VCM5_RUNTIME_LAUNCH_STATS_REPORT_H_

#include <string>
#include <vector>

#include "daemons/driver/agent.h"

namespace vcm5 {

// Lines without newlines, in the order of first appearance. Counters of the same name, from
// daemons that play parts of one network, are added up.
std::vector<std::string> FormatStats(const std::vector<FabricStat>& stats);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_STATS_REPORT_H_
