#include "bench/spmd/workload.h"

#include "bench/peers/permutations.h"

namespace vcm5::bench {

Workload::Workload(const bench_plan& plan, uint32_t nodes) : plan_(plan), nodes_(nodes) {
  if (name() != "permutation") return;
  permutations_.resize(size_t{BENCH_WINDOW} * nodes);
  bench_fill_permutations(plan.seed, BENCH_WINDOW, nodes, permutations_.data());
  sums_of_sources_.resize(nodes);
  for (uint32_t w = 0; w < BENCH_WINDOW; ++w) {
    for (uint32_t i = 0; i < nodes; ++i) sums_of_sources_[Destination(w, i)] += i;
  }
}

}  // namespace vcm5::bench
