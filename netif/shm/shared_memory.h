// Anonymous shared memory, handed from process to process as a file descriptor and never by name.
#ifndef VCM5_NETIF_SHM_SHARED_MEMORY_H_
#define VCM5_NETIF_SHM_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace vcm5 {

// A mapped memfd. Owns the mapping and, until CloseFd() or destruction, the descriptor. Movable.
// Its size is sealed at creation, so that nobody who has the descriptor can shrink it under a
// reader (which would be SIGBUS for the reader).
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // New zeroed memory of `bytes` (> 0). `label` is seen in /proc/PID/maps only. The descriptor is
  // close-on-exec.
  static absl::StatusOr<SharedMemory> Create(const char* label, size_t bytes);

  // Maps what `fd` refers to and takes the descriptor. Fails unless it is a memfd of exactly
  // `bytes` whose size is sealed.
  static absl::StatusOr<SharedMemory> Attach(int fd, size_t bytes);

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  int fd() const { return fd_; }  // -1 after CloseFd()

  // Gives up the descriptor; the mapping stays.
  void CloseFd();

 private:
  SharedMemory(uint8_t* data, size_t size, int fd) : data_(data), size_(size), fd_(fd) {}

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  int fd_ = -1;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_SHM_SHARED_MEMORY_H_
