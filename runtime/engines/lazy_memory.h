// Zeroed memory that is touched only as it is used.
#ifndef VCM5_RUNTIME_ENGINES_LAZY_MEMORY_H_
#define VCM5_RUNTIME_ENGINES_LAZY_MEMORY_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "runtime/base/check.h"

namespace vcm5 {

class LazyMemory {
 public:
  explicit LazyMemory(size_t bytes) : bytes_(bytes) {
    data_ = static_cast<uint8_t*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    VCM5_CHECK_MSG(data_ != MAP_FAILED, "no memory for the machine's network interfaces");
  }
  LazyMemory(const LazyMemory&) = delete;
  LazyMemory& operator=(const LazyMemory&) = delete;
  ~LazyMemory() { munmap(data_, bytes_); }
  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_;
  size_t bytes_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_LAZY_MEMORY_H_
