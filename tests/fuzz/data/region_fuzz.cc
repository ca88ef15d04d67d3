#include "tests/support/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vcm5::FuzzRegion(data, size);
  return 0;
}
