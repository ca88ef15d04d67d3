// Bytes that decide what a fuzzed test does next: libFuzzer's, or a seed's.
#ifndef VCM5_TESTS_SUPPORT_FUZZ_INPUT_H_
#define VCM5_TESTS_SUPPORT_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/base/prng.h"

namespace vcm5 {

class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool done() const { return at_ >= size_; }

  // Zeros once the input is used up.
  template <class Integer>
  Integer Take() {
    Integer value{};
    const size_t bytes = at_ + sizeof value <= size_ ? sizeof value : size_ - at_;
    if (bytes != 0) std::memcpy(&value, data_ + at_, bytes);
    at_ += bytes;
    return value;
  }
  uint32_t Below(uint32_t bound) { return Take<uint8_t>() % bound; }  // bound <= 256

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

// So many bytes of a seed, as input to the same code.
inline std::vector<uint8_t> RandomBytes(uint64_t seed, size_t bytes) {
  Prng prng(seed);
  std::vector<uint8_t> data(bytes);
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(prng.Next());
  return data;
}

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_FUZZ_INPUT_H_
