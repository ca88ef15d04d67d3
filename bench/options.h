// The command line of `vcm5 bench`.
#ifndef VCM5_BENCH_OPTIONS_H_
#define VCM5_BENCH_OPTIONS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/peer_kind.h"

namespace vcm5::bench {

enum class Engine { kDaemons, kEmbedded };

struct Options {
  std::vector<Case> cases;  // in the order of the command line
  Engine engine = Engine::kDaemons;
  unsigned threads = 0;  // of the engine `embedded`; 0: as ThreadsFor() says
  uint64_t seed = 1;
  uint32_t repetitions = 9;
  uint32_t warmup = 1;
  uint64_t iterations = 0;  // of each repetition; 0: as many as fill `seconds`
  double seconds = 0.1;
  double timeout_seconds = 120;  // of one run of a job
  bool json = false;
  std::string plot;  // file of the picture; empty: none
  std::vector<const PeerKind*> against;
};

const char* EngineName(Engine engine);

// Processors that this process may use.
unsigned Cores();

// Threads on which the engine `embedded` runs a benchmark: as the options say; else one for a time,
// which a cache line's way between processors would lengthen, and several for a rate.
unsigned ThreadsFor(const Options& options, const Benchmark& benchmark);

// The options; or, when there is nothing to measure, the exit status, everything having been said:
// --help on standard output, a fault in one line on standard error.
std::variant<Options, int> ReadCommandLine(int argc, char** argv);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_OPTIONS_H_
