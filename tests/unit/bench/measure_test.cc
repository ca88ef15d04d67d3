// Every kernel on embedded machines of many sizes: results right, as many samples as planned.
#include "bench/spmd/measure.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/options.h"
#include "bench/plan.h"
#include "bench/sampler.h"
#include "vcm5/embedded.hpp"

namespace vcm5::bench {
namespace {

TEST(Measure, RunsEveryBenchmarkOnMachinesOfManySizes) {
  for (const unsigned threads : {1u, 2u}) {
    Options options;
    options.threads = threads;
    options.iterations = 3;
    const std::unique_ptr<Sampler> sampler = MakeEmbeddedSampler(options);
    for (const Benchmark& benchmark : Benchmarks()) {
      if (MeasuresJobs(benchmark)) continue;
      for (const uint32_t nodes : {1u, 2u, 5u, 70u}) {
        if (nodes < benchmark.nodes_min) continue;
        SCOPED_TRACE(std::string(benchmark.name) + " on " + std::to_string(nodes) + " nodes");
        std::vector<double> values;
        const absl::Status status = sampler->Run(
            {&benchmark, nodes, benchmark.name == std::string("bulk") ? 1001 : benchmark.bytes}, 2,
            [&](double value) { values.push_back(value); });
        EXPECT_TRUE(status.ok()) << status;
        ASSERT_EQ(values.size(), 2u);
        for (const double value : values) EXPECT_GT(value, 0);
      }
    }
  }
}

TEST(Measure, FindsTheNumberOfIterationsThatFillsTheTime) {
  Options options;
  options.seconds = 0.002;
  options.warmup = 0;
  const Case what{FindBenchmark("barrier"), 3, 0};
  const Workload workload(MakePlan(options, what, 2), what.nodes);
  EmbeddedMachine machine(what.nodes);
  uint64_t iterations = 0;
  int samples = 0;
  const absl::Status status = machine.Run([&](Node& node) {
    const std::string wrong = Measure(node, workload, [&](double, uint64_t count) {
      iterations = count;
      ++samples;
    });
    EXPECT_EQ(wrong, "");
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(samples, 2);
  EXPECT_GE(iterations, 1u);
}

TEST(PassRing, ComesRoundOnMachinesOfEverySize) {
  for (const uint32_t nodes : {1u, 2u, 5u, 33u}) {
    EmbeddedMachine machine(nodes);
    const absl::Status status = machine.Run([](Node& node) { EXPECT_EQ(PassRing(node), ""); });
    EXPECT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace vcm5::bench
