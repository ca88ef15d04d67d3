// Programs as bytes: what those who look into ELF files have in common.
#ifndef VCM5_RUNTIME_BASE_ELF_FILE_H_
#define VCM5_RUNTIME_BASE_ELF_FILE_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace vcm5 {

#if defined(__x86_64__)
inline constexpr uint16_t kElfMachine = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr uint16_t kElfMachine = EM_AARCH64;
#else
#error "programs are looked into for x86-64 and AArch64"
#endif

// Reads a T at an offset of the file, if it lies within.
template <class T>
std::optional<T> ElfAt(const std::vector<uint8_t>& file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

}  // namespace vcm5

#endif  // VCM5_RUNTIME_BASE_ELF_FILE_H_
