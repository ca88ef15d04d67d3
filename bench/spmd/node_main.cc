// vcm5-bench-node: the benchmarks as a program of `vcm5 run`.
#include <cstdio>
#include <string>

#include "bench/peers/harness.h"
#include "bench/spmd/measure.h"
#include "bench/spmd/workload.h"
#include "vcm5/vcm5.hpp"

int main(int argc, char** argv) {
  bench_plan plan;
  if (const char* wrong = bench_plan_parse(argc, argv, &plan)) {
    std::fprintf(stderr, "vcm5-bench-node: %s; it is started by `vcm5 bench`\n", wrong);
    return 2;
  }
  vcm5::Node& node = vcm5::self();
  const vcm5::bench::Workload workload(plan, node.size());
  const std::string wrong = workload.name() == "launch"
                                ? vcm5::bench::PassRing(node)
                                : vcm5::bench::Measure(node, workload, bench_print_sample);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "vcm5-bench-node: %s on node %u: %s\n", plan.name, node.self(),
               wrong.c_str());
  return 1;
}
