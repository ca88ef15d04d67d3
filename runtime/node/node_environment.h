// What the launcher tells a node process: the descriptors that it inherits, in one environment
// variable; and in another what a process that begins as vcm5-boot needs besides. The launcher formats
// them; the process parses them, and trusts nothing in them.
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

// For vcm5-boot, which a program with a host begins as (runtime/boot).
inline constexpr char kBootVariable[] = "VCM5_BOOT";

// Longest node program that is broadcast, in bytes.
inline constexpr uint32_t kBootBytesMax = 64u << 20;

struct BootEnvironment {
  int supervisor_memory = -1;  // supervisor pages
  uint32_t pages = 0;          // how many
  uint32_t page = 0;           // this process's
  int program = 0;             // memory that holds the node program, to be sent; 0: it is received
  uint32_t program_bytes = 0;

  // "1:FD:PAGES:PAGE:FD:BYTES"
  std::string Format() const;
  static absl::StatusOr<BootEnvironment> Parse(const char* text);
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_NODE_NODE_ENVIRONMENT_H_
