// Which numbers a machine may have. Apart from the text parser, so that a daemon can check what it
// is told without linking one.
#ifndef VCM5_DAEMONS_CONFIG_MACHINE_RULES_H_
#define VCM5_DAEMONS_CONFIG_MACHINE_RULES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

// Says where the value of a field (of entry `index`, or -1) came from: "file:7: ", or nothing.
using LocateField = std::function<std::string(const std::string& field, int index)>;

// One line for each fault: "WHERE FIELD is VALUE; expected ...".
std::vector<std::string> MachineFaults(const MachineSpec& spec, const LocateField& locate);

// The faults as one error, a line each. OK if there is none.
absl::Status FaultsToStatus(std::vector<std::string> faults);

// Checks numbers that did not come from a text, such as those of a command line.
absl::Status CheckMachineSpec(const MachineSpec& spec);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_MACHINE_RULES_H_
