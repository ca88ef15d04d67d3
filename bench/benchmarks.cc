#include "bench/benchmarks.h"

#include "bench/peers/harness.h"

namespace vcm5::bench {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr Unit kUs = Unit::kMicroseconds;
constexpr Unit kMessages = Unit::kMessagesPerSecond;

// Messages of the default machine have one to five words.
constexpr Benchmark kBenchmarks[] = {
    {"latency", "half a ping-pong of one message, node 0 and the last", kUs, 4, 4, 20, 4, 2},
    {"rate", "a stream of messages from node 0 to the last", kMessages, 20, 4, 20, 4, 2},
    {"permutation", "messages along random permutations, 64 a node under way",
     kMessages, 20, 4, 20, 4, 1},
    {"barrier", "a barrier over all nodes", kUs, 0, 0, 0, 1, 1},
    {"reduce", "the sum of one word of each node, on every node", kUs, 4, 4, 4, 1, 1},
    {"scan", "an exclusive scan (+) of one word of each node", kUs, 4, 4, 4, 1, 1},
    {"scan-barrier", "the same and a barrier, so that no node runs ahead", kUs, 4, 4, 4, 1, 1},
    {"broadcast", "a broadcast to all nodes; the first and the last node in turns", kUs, 32, 1,
     16 * kMiB, 1, 1},
    {"bulk", "puts into a buffer of the last node, from node 0", Unit::kBytesPerSecond, kMiB, 1,
     256 * kMiB, 1, 2},
    {"launch", "a whole job: start, one trip round a ring of all nodes, end", kUs, 0, 0, 0, 1, 1},
};

}  // namespace

std::span<const Benchmark> Benchmarks() { return kBenchmarks; }

const Benchmark* FindBenchmark(std::string_view name) {
  for (const Benchmark& benchmark : kBenchmarks) {
    if (benchmark.name == name) return &benchmark;
  }
  return nullptr;
}

bool MeasuresJobs(const Benchmark& benchmark) {
  return std::string_view(benchmark.name) == "launch";
}

const char* UnitName(Unit unit) {
  switch (unit) {
    case Unit::kMicroseconds:
      return "us";
    case Unit::kMessagesPerSecond:
      return "msg/s";
    case Unit::kBytesPerSecond:
      return "B/s";
  }
  return "";
}

double ValueOf(const Case& what, double seconds, uint64_t iterations) {
  const std::string_view name = what.benchmark->name;
  const auto count = static_cast<double>(iterations);
  switch (what.benchmark->unit) {
    case Unit::kMicroseconds:
      return 1e6 * seconds / count / (name == "latency" ? 2 : 1);
    case Unit::kMessagesPerSecond:
      return count * (name == "permutation" ? what.nodes : 1) * int{BENCH_WINDOW} / seconds;
    case Unit::kBytesPerSecond:
      return count * static_cast<double>(what.bytes) / seconds;
  }
  return 0;
}

}  // namespace vcm5::bench
