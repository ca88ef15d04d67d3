// What a machine does about its broken parts (switches/topology/health.h), for those who ask.
#ifndef VCM5_DAEMONS_CONFIG_MACHINE_HEALTH_H_
#define VCM5_DAEMONS_CONFIG_MACHINE_HEALTH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "switches/topology/machine_spec.h"

namespace vcm5 {

// A run of nodes whose relative and physical addresses both follow each other.
struct AddressRun {
  uint32_t relative;
  uint32_t physical;
  uint32_t count;
};

// Where the relative addresses of `members` (physical addresses, ascending) are.
std::vector<AddressRun> AddressRuns(const std::vector<uint32_t>& members);

// `spec` is checked, broken parts and all. Several lines: for each broken part which way was chosen,
// what is lost and what the other way would have lost; then how relative addresses map to physical.
std::string ExplainMachine(const MachineSpec& spec);

// The same as one JSON object.
std::string ExplainMachineJson(const MachineSpec& spec);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_MACHINE_HEALTH_H_
