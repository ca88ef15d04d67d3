#include "netif/shm/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::Status Failure(const char* what) {
  return absl::InternalError(absl::StrCat("shared memory: ", what, ": ", std::strerror(errno)));
}

}  // namespace

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      fd_(std::exchange(other.fd_, -1)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(fd_, other.fd_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
  CloseFd();
}

void SharedMemory::CloseFd() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

absl::StatusOr<SharedMemory> SharedMemory::Create(const char* label, size_t bytes) {
  SharedMemory memory(nullptr, bytes, memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory.fd_ < 0) return Failure("memfd_create");
  if (ftruncate(memory.fd_, static_cast<off_t>(bytes)) != 0) return Failure("ftruncate");
  if (fcntl(memory.fd_, F_ADD_SEALS, kSeals) != 0) return Failure("sealing the size");
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.fd_, 0);
  if (data == MAP_FAILED) return Failure("mmap");
  memory.data_ = static_cast<uint8_t*>(data);
  return memory;
}

absl::StatusOr<SharedMemory> SharedMemory::Attach(int fd, size_t bytes) {
  SharedMemory memory(nullptr, bytes, fd);
  struct stat status;
  if (fstat(fd, &status) != 0) return Failure("fstat");
  if (status.st_size != static_cast<off_t>(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("shared memory: ", status.st_size,
                                                   " bytes where ", bytes, " were expected"));
  }
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return absl::InvalidArgumentError("shared memory: the descriptor's size is not sealed");
  }
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return Failure("mmap");
  memory.data_ = static_cast<uint8_t*>(data);
  return memory;
}

}  // namespace vcm5
