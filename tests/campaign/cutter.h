// Empties the data networks of a running program at random moments and fills them again (DN7):
// chips go into all-fall-down mode in a random order while nodes go on; what falls lies in the
// supervisor's store for a while, and is sent again.
#ifndef VCM5_TESTS_CAMPAIGN_CUTTER_H_
#define VCM5_TESTS_CAMPAIGN_CUTTER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemons/driver/all_fall_down.h"
#include "runtime/base/prng.h"
#include "runtime/engines/embedded.h"
#include "switches/topology/partition.h"

namespace vcm5::campaign {

class Cutter {
 public:
  // `members`: all nodes of the machine that run programs.
  Cutter(uint64_t seed, Partition members)
      : members_(std::move(members)),
        prng_(seed),
        pause_(1 + prng_.Below(200)),
        hurry_(1 + prng_.Below(20)) {}

  // To be called between the turns of nodes. After a failure it does nothing more.
  void OnSwitch(Embedded& machine);

  // A drain that failed: what it said; and whether its books agreed with the NIs' positions.
  const std::string& failure() const { return failure_; }
  bool books_agree() const { return books_agree_; }
  uint64_t cuts() const { return cuts_; }
  uint64_t captured() const { return captured_; }  // messages
  // Nothing may move now, until some further turn.
  bool cutting() const { return fall_ && failure_.empty(); }

 private:
  void Begin(Embedded& machine);
  void EnterSome(Embedded& machine);
  void Drain(Embedded& machine);

  const Partition members_;
  Prng prng_;
  uint32_t pause_;  // between steps, in turns
  uint32_t hurry_;
  std::optional<AllFallDown> fall_;
  std::vector<uint32_t> order_;  // of chips yet to enter
  std::optional<AllFallDown::Captured> saved_;
  std::string failure_;
  bool books_agree_ = true;
  uint64_t cuts_ = 0;
  uint64_t captured_ = 0;
};

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_CUTTER_H_
