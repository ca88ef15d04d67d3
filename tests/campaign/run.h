// Carries a scenario out on an embedded machine, and judges what came of it.
#ifndef VCM5_TESTS_CAMPAIGN_RUN_H_
#define VCM5_TESTS_CAMPAIGN_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/campaign/program.h"
#include "tests/campaign/scenario.h"

namespace vcm5::campaign {

// What was struck, as the networks counted it.
struct Struck {
  uint64_t flipped = 0;  // bits, of data messages
  uint64_t lost = 0;     // messages
  uint64_t duplicated = 0;
  uint64_t control = 0;  // bits, of control packets
  uint64_t rules = 0;    // programs that broke one

  uint64_t all() const { return flipped + lost + duplicated + control + rules; }
};

// A run as its owner sees it from outside.
struct Observed {
  std::vector<std::string> reports;  // all lines with which the run ended
  bool stopped = false;              // it did nothing more, or too long, and was ended
  bool endless = false;              // the latter
  bool books_agree = true;           // of all-fall-down
  uint64_t messages = 0;             // delivered
  uint64_t cuts = 0;                 // all-fall-downs
  uint64_t captured = 0;             // messages, by them
  uint64_t turns = 0;                // that the engine asked whether to go on
  Struck struck;
  Seen seen;                       // by all programs
  std::vector<uint32_t> culprits;  // nodes of partition 0 that broke a rule
  bool all_ended = false;          // every program ended as it should
  bool told = true;  // every node of a partition whose control network signalled an error knows it
};

// With `corrupt`, the first message is damaged behind the last check, in the NI's incoming FIFO: no
// network can see that, and so tests can see that the campaign does.
Observed Carry(const Scenario& scenario, bool corrupt = false);

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_RUN_H_
