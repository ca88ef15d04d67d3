// Faults as people write them, after `vcm5 run --fault` and in a machine description:
//
//   data.left: chip 2/3 port 1 flip bit 17 once at message 1000
//   data.right: leaf 5 lose every 100
//   control: leaf 5 link 2 up flip bit 60 once at packet 7
//
// The word before the colon says which network; the rest is that network's own (kNetworks in the .cc
// file is the table). Chips, ports and leaves are numbered as in all reports (link_names.h).
#ifndef VCM5_DAEMONS_CONFIG_FAULT_SPEC_H_
#define VCM5_DAEMONS_CONFIG_FAULT_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

// Adds what `text` says to the faults of `spec`, whose other fields are checked and final. The error
// is one line: what is wrong, where in the text, and what was expected.
absl::Status AddFault(const std::string& text, MachineSpec* spec);

// The faults of a machine as text: AddFault of each gives them again.
std::vector<std::string> FormatFaults(const MachineSpec& spec);

// The grammar, with examples, for `vcm5 help faults`.
extern const char kFaultHelp[];

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_FAULT_SPEC_H_
