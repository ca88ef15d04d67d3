// Who can carry out a benchmark: our engines, and the peers.
#ifndef VCM5_BENCH_SAMPLER_H_
#define VCM5_BENCH_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/benchmarks.h"
#include "bench/options.h"
#include "bench/subprocess.h"

namespace vcm5::bench {

class Sampler {
 public:
  virtual ~Sampler() = default;
  // Measures a case so many times, after the warm-up. `on_value` gets each value, in the
  // benchmark's unit, as soon as it is there.
  virtual absl::Status Run(const Case& what, uint32_t repetitions,
                           const std::function<void(double)>& on_value) = 0;
};

// A command that runs the benchmark program on so many nodes; the program's arguments follow.
using CommandFor = std::function<Command(uint32_t nodes)>;

// Runs whole jobs. The program prints its samples (bench/peers/harness.h); for the benchmark
// `launch` the jobs themselves are timed. `options` must outlive it.
std::unique_ptr<Sampler> MakeProcessSampler(const Options& options, CommandFor command_for);

// Runs machines in this process.
std::unique_ptr<Sampler> MakeEmbeddedSampler(const Options& options);

// What `options` asks to be measured: the engine's sampler. For `launch` it is always processes.
absl::StatusOr<std::unique_ptr<Sampler>> MakeOurSampler(const Options& options);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_SAMPLER_H_
