// A MachineSpec on its way through the control plane.
#ifndef VCM5_DAEMONS_CONFIG_CONTROL_SPEC_H_
#define VCM5_DAEMONS_CONFIG_CONTROL_SPEC_H_

#include "absl/status/statusor.h"
#include "daemons/config/control_plane.pb.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

void PackSpec(const MachineSpec& spec, config::Spec* message);

// Checks what it unpacks: the other side is another process.
absl::StatusOr<MachineSpec> UnpackSpec(const config::Spec& message);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_CONTROL_SPEC_H_
