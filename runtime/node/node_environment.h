// What the launcher tells a node process: the descriptors that it inherits, in one environment
// variable. The launcher formats it; the node parses it, and trusts nothing in it.
#ifndef VCM5_RUNTIME_NODE_NODE_ENVIRONMENT_H_
#define VCM5_RUNTIME_NODE_NODE_ENVIRONMENT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace vcm5 {

inline constexpr char kNodeVariable[] = "VCM5_NODE";

struct NodeEnvironment {
  int memory = -1;  // NI memory
  uint32_t memory_bytes = 0;
  int data_doorbell = -1;
  uint32_t data_bells = 0;
  int control_doorbell = -1;
  uint32_t control_bells = 0;
  int interrupt_line = -1;

  // "1:FD:BYTES:FD:BELLS:FD:BELLS:FD"; the first number is the format's version.
  std::string Format() const;
  static absl::StatusOr<NodeEnvironment> Parse(const char* text);
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_NODE_NODE_ENVIRONMENT_H_
