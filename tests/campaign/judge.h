// Whether a run went as it must: everything that was struck was found and named, and nothing else.
#ifndef VCM5_TESTS_CAMPAIGN_JUDGE_H_
#define VCM5_TESTS_CAMPAIGN_JUDGE_H_

#include <cstdint>
#include <string>

#include "tests/campaign/run.h"
#include "tests/campaign/scenario.h"

namespace vcm5::campaign {

struct Verdict {
  bool detected = false;   // a report says that what happened happened
  bool localised = false;  // and all reports name the very links, or nodes, at fault
  uint64_t bad = 0;        // messages and results that were not as they should be
  uint64_t lost = 0;       // messages that were, unnoticed
  uint64_t doubled = 0;    // the same
  uint64_t alarms = 0;     // reports of what was not
  bool hang = false;       // ended by its bound, for no reason
  std::string why;         // the first thing that is wrong, or ""
};

Verdict Judge(const Scenario& scenario, const Observed& observed);

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_JUDGE_H_
