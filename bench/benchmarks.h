// What can be measured. A new benchmark is a line of the table here, a kernel in bench/spmd/ and,
// if it is to have peers, one in bench/peers/.
#ifndef VCM5_BENCH_BENCHMARKS_H_
#define VCM5_BENCH_BENCHMARKS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace vcm5::bench {

enum class Unit { kMicroseconds, kMessagesPerSecond, kBytesPerSecond };

struct Benchmark {
  const char* name;
  const char* what;  // one line, for people
  Unit unit;
  uint64_t bytes;  // by default
  uint64_t bytes_min;
  uint64_t bytes_max;
  uint64_t bytes_step;
  uint32_t nodes_min;
};

// One line of a result.
struct Case {
  const Benchmark* benchmark;
  uint32_t nodes;
  uint64_t bytes;
};

std::span<const Benchmark> Benchmarks();
const Benchmark* FindBenchmark(std::string_view name);  // or null

// `launch` measures whole jobs, from outside; the others are timed by the job's node 0.
bool MeasuresJobs(const Benchmark& benchmark);

const char* UnitName(Unit unit);  // us, msg/s, B/s
inline bool LessIsBetter(Unit unit) { return unit == Unit::kMicroseconds; }

// What a repetition measured, in the benchmark's unit.
double ValueOf(const Case& what, double seconds, uint64_t iterations);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_BENCHMARKS_H_
