#include "runtime/node/map_memory.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "netif/shm/ni_page.h"

namespace vcm5 {

absl::StatusOr<SharedMemory> AttachMemory(int fd, size_t bytes, const char* what) {
  absl::StatusOr<SharedMemory> memory = SharedMemory::Attach(fd, bytes);
  if (!memory.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", std::string(memory.status().message())));
  }
  memory->CloseFd();
  return memory;
}

absl::StatusOr<SharedMemory> AttachDoorbell(int fd, uint32_t bells, const char* what) {
  absl::StatusOr<SharedMemory> memory =
      AttachMemory(fd, sizeof(vcm5_doorbell) + ((size_t{bells} + 63) & ~size_t{63}), what);
  if (!memory.ok()) return memory;
  const auto* doorbell = reinterpret_cast<const vcm5_doorbell*>(memory->data());
  if (doorbell->magic != VCM5_DOORBELL_MAGIC || doorbell->version != VCM5_NI_VERSION ||
      doorbell->bells != bells) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": not a doorbell of this version"));
  }
  return memory;
}

}  // namespace vcm5
