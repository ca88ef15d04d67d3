// An SPMD program on the C and C++ API that exercises the control network's rarer sides, for tests
// under both engines: `collective MODE`.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "vcm5/ni.h"
#include "vcm5/vcm5.hpp"

namespace {

int Synthesised(vcm5::Node& node) {
  const uint32_t self = node.self();
  const uint32_t size = node.size();
  // Segments of three nodes.
  const uint32_t first = self - self % 3;
  const uint32_t last = first + 2 < size ? first + 2 : size - 1;
  uint32_t sum = 0;
  int64_t product = 1;
  for (uint32_t i = first; i <= last; ++i) {
    sum += i;
    product *= int64_t{i} - 2;
  }
  bool good = node.ReduceSegment(vcm5::kAdd, self, self % 3 == 0) == sum;
  good = good && node.ReduceSegment(vcm5::kMultiply, int64_t{self} - 2, self % 3 == 0) == product;
  uint32_t factorial = 1;
  for (uint32_t i = 1; i <= size; ++i) factorial *= i;
  good = good && node.Reduce(vcm5::kMultiply, self + 1) == factorial;
  good = good && node.Reduce(vcm5::kLogicalOr, self == 1) == (size > 1);
  if (!node.Reduce(vcm5::kLogicalAnd, good)) return 1;
  if (self == 0) std::printf("synthesised\n");
  return 0;
}

int Interrupt(vcm5::Node& node) {
  uint32_t came = 0;
  node.OnInterrupt([&came](uint32_t word) { came = word; });
  node.Barrier();
  if (node.self() == 0) {
    std::printf("waiting\n");
    std::fflush(stdout);
  }
  while (came == 0) node.Poll();
  std::printf("node %u got %u\n", node.self(), came);
  return 0;
}

int OrInterrupt(vcm5::Node& node) {
  static int rises;
  vcm5_ni_set_async_or_handler([](void* count) { ++*static_cast<int*>(count); }, &rises);
  vcm5_ni_enable_interrupts();
  node.Barrier();
  if (node.self() + 1 == node.size()) vcm5_ni_async_or_set(true);
  while (rises == 0) node.Poll();
  node.Barrier();
  uint32_t parties;
  if (vcm5_ni_error(&parties) != 0 || vcm5_ni_hard_error()) return 1;
  std::printf("node %u saw %d\n", node.self(), rises);
  return 0;
}

int Mismatch(vcm5::Node& node) {
  if (node.self() == 2) node.ScanForward(vcm5::kAdd, 1);
  node.ScanBackward(vcm5::kAdd, 1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  vcm5::Node& node = vcm5::self();
  const char* mode = argc > 1 ? argv[1] : "";
  if (std::strcmp(mode, "synthesised") == 0) return Synthesised(node);
  if (std::strcmp(mode, "interrupt") == 0) return Interrupt(node);
  if (std::strcmp(mode, "or-interrupt") == 0) return OrInterrupt(node);
  if (std::strcmp(mode, "mismatch") == 0) return Mismatch(node);
  std::fprintf(stderr, "collective: no such mode\n");
  return 64;
}
