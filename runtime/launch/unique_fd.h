// A file descriptor with one owner.
#ifndef VCM5_RUNTIME_LAUNCH_UNIQUE_FD_H_
#define VCM5_RUNTIME_LAUNCH_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace vcm5 {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { Close(); }

  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_UNIQUE_FD_H_
