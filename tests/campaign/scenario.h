// One run of the fault campaign, drawn from a seed: a random machine, a program for each of its
// partitions, and what goes wrong. The same seed and number give the same scenario, and a scenario
// gives the same run.
#ifndef VCM5_TESTS_CAMPAIGN_SCENARIO_H_
#define VCM5_TESTS_CAMPAIGN_SCENARIO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/engines/embedded.h"

namespace vcm5::campaign {

// What goes wrong in a run: a row of the table.
enum class Kind : uint8_t {
  kNothing,
  kFall,            // nothing, but the data networks are emptied and filled again (DN7)
  kFlip,            // data network: one bit
  kFlips,           // two to four bits of a message
  kLose,
  kDuplicate,
  kMixture,         // two to four of these, on links of their own
  kFallFlip,        // all-fall-down in a network with such a fault
  kFallLose,
  kFallDuplicate,
  kControlFlip,     // control network: one to three bits of a packet
  kCollision,       // a program of which two nodes broadcast at once (CN2)
  kMismatch,        // a program of which one node does another operation (CN8)
  kSwap,            // nothing, but all that users have in the machine is saved and restored (SY2)
  kSwapControlFlip,
};
inline constexpr unsigned kKinds = 15;
const char* KindName(Kind kind);

constexpr bool Falls(Kind kind) {
  return kind == Kind::kFall || kind == Kind::kFallFlip || kind == Kind::kFallLose ||
         kind == Kind::kFallDuplicate;
}
constexpr bool Swaps(Kind kind) { return kind == Kind::kSwap || kind == Kind::kSwapControlFlip; }
constexpr bool FlipsControl(Kind kind) {
  return kind == Kind::kControlFlip || kind == Kind::kSwapControlFlip;
}
constexpr bool BreaksARule(Kind kind) {
  return kind == Kind::kCollision || kind == Kind::kMismatch;
}

enum class ProgramKind : uint8_t {
  kTraffic,      // random messages through the registers, requests and replies
  kPermutation,  // rounds of messages until the routers are done, then something collective
  kAllToOne,     // the same, all to one node
  kCollectives,  // scans, reductions, broadcasts and synchronous ORs, several under way at once
  kBulk,         // long messages by the API
  kCollision,    // breaks a rule
  kMismatch,     // breaks a rule
  kEndless,      // never ends; for the tests of the campaign itself
};

struct Scenario {
  uint64_t campaign = 0;  // its seed
  uint64_t run = 0;
  Kind kind = Kind::kNothing;
  EmbeddedOptions options;  // faults are in options.spec; partitions are given, with hosts
  std::vector<ProgramKind> programs;  // by partition
  uint64_t seed = 0;                  // of what the programs do, and of the cuts
};

Scenario DrawScenario(uint64_t campaign, uint64_t run);

// A few lines: machine, programs, faults.
std::string Describe(const Scenario& scenario);

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_SCENARIO_H_
