// From the command line to what a node is asked to do.
#ifndef VCM5_BENCH_PLAN_H_
#define VCM5_BENCH_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/benchmarks.h"
#include "bench/options.h"
#include "bench/peers/harness.h"

namespace vcm5::bench {

bench_plan MakePlan(const Options& options, const Case& what, uint32_t repetitions);

// As bench_plan_parse reads them.
std::vector<std::string> PlanArguments(const bench_plan& plan);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_PLAN_H_
