// What all nodes of a process share while they measure: the plan, and what follows from it.
// Constant.
#ifndef VCM5_BENCH_SPMD_WORKLOAD_H_
#define VCM5_BENCH_SPMD_WORKLOAD_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/peers/harness.h"

namespace vcm5::bench {

class Workload {
 public:
  Workload(const bench_plan& plan, uint32_t nodes);

  const bench_plan& plan() const { return plan_; }
  std::string_view name() const { return plan_.name; }
  uint32_t nodes() const { return nodes_; }
  // Of messages in the data network.
  uint32_t words() const { return static_cast<uint32_t>(plan_.bytes / 4); }

  // Where message w of a window goes from `node`; only of the benchmark `permutation`.
  uint32_t Destination(uint32_t w, uint32_t node) const {
    return permutations_[uint64_t{w} * nodes_ + node];
  }
  // The sum of the addresses of those who send to `node` in one window.
  uint32_t SumOfSources(uint32_t node) const { return sums_of_sources_[node]; }

 private:
  const bench_plan plan_;
  const uint32_t nodes_;
  std::vector<uint32_t> permutations_;
  std::vector<uint32_t> sums_of_sources_;
};

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_SPMD_WORKLOAD_H_
