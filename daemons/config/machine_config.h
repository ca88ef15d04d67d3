// Machine descriptions as people write them: protobuf text (machine.proto) in, MachineSpec out.
// machine_rules.h decides which numbers a machine may have.
#ifndef VCM5_DAEMONS_CONFIG_MACHINE_CONFIG_H_
#define VCM5_DAEMONS_CONFIG_MACHINE_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

// Parses and checks a description. `name` is what faults call the text, usually the file's path.
// The error's message has one line for each fault: "NAME:LINE: what is wrong, what is expected".
absl::StatusOr<MachineSpec> ParseMachine(const std::string& name, const std::string& text);

// The same for a file; one that cannot be read is a fault too.
absl::StatusOr<MachineSpec> ReadMachineFile(const std::string& path);

// The default description of a machine with `nodes` nodes (in range), with comments. ParseMachine
// of it gives MachineSpec{.nodes = nodes}.
std::string PrintDefaultMachine(uint32_t nodes);

// What a machine is, for people: nodes, levels, chips, links. Several lines.
std::string DescribeMachine(const MachineSpec& spec);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_MACHINE_CONFIG_H_
