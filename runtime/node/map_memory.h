// Mapping what a node process inherits as descriptors, checked. Each takes the descriptor; `what` begins
// the error.
#ifndef VCM5_RUNTIME_NODE_MAP_MEMORY_H_
#define VCM5_RUNTIME_NODE_MAP_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "netif/shm/shared_memory.h"

namespace vcm5 {

absl::StatusOr<SharedMemory> AttachMemory(int fd, size_t bytes, const char* what);
absl::StatusOr<SharedMemory> AttachDoorbell(int fd, uint32_t bells, const char* what);

}  // namespace vcm5

#endif  // VCM5_RUNTIME_NODE_MAP_MEMORY_H_
