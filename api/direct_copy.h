// Reading the memory of another node on this host, which has said that it may be read: the one copy
// of a large put.
#ifndef VCM5_API_DIRECT_COPY_H_
#define VCM5_API_DIRECT_COPY_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace vcm5 {

// Lets the programs of this job read this process's memory, where the system would not by itself
// (ptrace(2), "Yama"). Others gain nothing. Once, before the first offer.
void AllowDirectCopies();

// Copies into.size() bytes from `address` in process `pid`, which may be this one. False if the
// system does not allow that or the memory is not there; `into` may have been written in part.
bool CopyDirectly(uint32_t pid, uint64_t address, std::span<std::byte> into);

}  // namespace vcm5

#endif  // VCM5_API_DIRECT_COPY_H_
