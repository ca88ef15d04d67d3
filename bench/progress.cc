#include "bench/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "bench/peers/harness.h"

namespace vcm5::bench {
namespace {

constexpr double kFirst = 1;
constexpr double kBetweenOnTerminal = 0.2;
constexpr double kBetweenLines = 10;

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0), next_(bench_now() + kFirst) {}

void Progress::Say(const std::string& what) {
  if (bench_now() < next_) return;
  next_ = bench_now() + (terminal_ ? kBetweenOnTerminal : kBetweenLines);
  if (terminal_) {
    std::fprintf(stderr, "\r\033[Kvcm5: %s", what.c_str());
    shown_ = true;
  } else {
    std::fprintf(stderr, "vcm5: %s\n", what.c_str());
  }
}

void Progress::Clear() {
  if (std::exchange(shown_, false)) std::fputs("\r\033[K", stderr);
}

}  // namespace vcm5::bench
