#include "runtime/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace vcm5 {

void CheckFailed(const char* file, int line, const char* expression, const char* detail) {
  if (detail != nullptr) {
    std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", file, line, expression, detail);
  } else {
    std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, expression);
  }
  std::abort();
}

}  // namespace vcm5
