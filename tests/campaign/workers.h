// Carries out many runs in several processes: runs share nothing, a process that fails a check or
// hangs is one run's fault, and the engine's own checks may end a process.
#ifndef VCM5_TESTS_CAMPAIGN_WORKERS_H_
#define VCM5_TESTS_CAMPAIGN_WORKERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/campaign/table.h"

namespace vcm5::campaign {

struct CampaignOptions {
  uint64_t seed = 1;
  uint64_t runs = 0;  // 1 to this
  unsigned jobs = 1;
  // A run that takes longer hangs inside of a turn, where no bound of turns helps. Any other takes
  // some milliseconds.
  unsigned watchdog_s = 120;
};

struct Failure {
  uint64_t run;
  Kind kind;
  std::string why;
};

struct Outcome {
  Table table;
  std::vector<Failure> failures;  // by run
  uint64_t done = 0;              // runs
  bool interrupted = false;
};

// What a process does with one run. The campaign's own is CarryOut; tests have others.
using RunFunction = std::function<Result(uint64_t seed, uint64_t run)>;

// Draws the run and carries it out; now and then twice, to see the same.
Result CarryOut(uint64_t seed, uint64_t run);

// The same for any number of jobs. `progress` is called now and then, and ends the campaign early
// by returning false. The caller has one thread only.
Outcome RunCampaign(const CampaignOptions& options, const RunFunction& run,
                    const std::function<bool(const Outcome&)>& progress);

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_WORKERS_H_
