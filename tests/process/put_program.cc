// Puts of all lengths between all nodes, large ones at the same time, checked to the byte.
//   put_program allowed|refused    `refused`: no node may read another process's memory
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "vcm5/vcm5.hpp"

namespace {

// From here on process_vm_readv fails with EPERM, as in a container that forbids it.
bool ForbidReadingOthers() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

uint8_t Pattern(uint32_t from, size_t at) { return static_cast<uint8_t>(from * 91 + at * 7 + 3); }

}  // namespace

int main(int argc, char** argv) {
  const bool refused = argc == 2 && std::string_view(argv[1]) == "refused";
  if (refused && !ForbidReadingOthers()) return 77;
  vcm5::Node& node = vcm5::self();
  const size_t lengths[] = {0, 1, 1000, 4095, 4096, 4099, 100000, refused ? 300000u : 9000000u};
  uint64_t total = 0;
  uint64_t large = 0;
  for (const size_t length : lengths) total += length;
  std::vector<uint8_t> inbox(total * node.size());
  const vcm5::BufferId buffer = node.RegisterBuffer(std::span(inbox));
  for (uint32_t step = 0; step < node.size(); ++step) {
    const uint32_t to = (node.self() + step) % node.size();
    uint64_t at = total * node.self();
    for (const size_t length : lengths) {
      std::vector<uint8_t> data(length + 1);
      for (size_t i = 0; i <= length; ++i) data[i] = Pattern(node.self(), i);
      node.Put(to, buffer, at, std::span(data).subspan(1));
      at += length;
      if (length >= vcm5::Bulk::kDirectBytes) large += length;
      // May change as soon as Put has returned.
      std::fill(data.begin(), data.end(), uint8_t{0});
    }
  }
  node.Quiesce();
  int wrong = node.BytesReceived(buffer) != inbox.size();
  for (uint32_t from = 0; from < node.size(); ++from) {
    uint64_t at = total * from;
    for (const size_t length : lengths) {
      for (size_t i = 0; i < length; ++i) wrong |= inbox[at++] != Pattern(from, i + 1);
    }
  }
  // One's own memory may be read in any case.
  const uint64_t direct = node.BytesCopiedDirectly();
  wrong |= refused ? direct >= large / 2 : direct != large;
  std::printf("node %u: %s, %llu of %llu bytes copied directly\n", node.self(),
              wrong != 0 ? "WRONG" : "right", static_cast<unsigned long long>(direct),
              static_cast<unsigned long long>(large));
  return wrong;
}
