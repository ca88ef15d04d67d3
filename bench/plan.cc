#include "bench/plan.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace vcm5::bench {

bench_plan MakePlan(const Options& options, const Case& what, uint32_t repetitions) {
  bench_plan plan{};
  std::snprintf(plan.name, sizeof plan.name, "%s", what.benchmark->name);
  plan.bytes = what.bytes;
  plan.seed = options.seed;
  plan.repetitions = repetitions;
  plan.warmup = options.warmup;
  plan.iterations = options.iterations;
  plan.seconds = options.seconds;
  return plan;
}

std::vector<std::string> PlanArguments(const bench_plan& plan) {
  return {plan.name,
          absl::StrCat(plan.bytes),
          absl::StrCat(plan.seed),
          absl::StrCat(plan.repetitions),
          absl::StrCat(plan.warmup),
          absl::StrCat(plan.iterations),
          absl::StrFormat("%.9g", plan.seconds)};
}

}  // namespace vcm5::bench
