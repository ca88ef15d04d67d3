// The SPMD function of the benchmarks: the same code under every engine.
#ifndef VCM5_BENCH_SPMD_MEASURE_H_
#define VCM5_BENCH_SPMD_MEASURE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "bench/spmd/workload.h"
#include "vcm5/node.hpp"

namespace vcm5::bench {

using ReportSample = std::function<void(double seconds, uint64_t iterations)>;

// Collective: carries out the workload's plan. `report` is called on node 0 after each repetition.
// Returns what was wrong with this node's results, or "".
std::string Measure(Node& node, const Workload& workload, const ReportSample& report);

// Collective: one token, once round all nodes; for the benchmark `launch`. Returns the same.
std::string PassRing(Node& node);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_SPMD_MEASURE_H_
