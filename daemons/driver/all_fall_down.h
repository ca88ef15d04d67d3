// Empties the data network of a running program, and fills it again (paper section 3; DN7, SY2,
// SY3): puts the chips into all-fall-down mode in any order, while nodes send and receive; then
// stops the sending and runs the networks until they are empty; proves that what was captured is
// what was injected and not ejected; puts the chips back and sends the captured messages to their
// true destinations.
//
//   Enter(chip), in any order and with turns of the agents between, as often as wanted
//   Drain()      the other chips enter, too; afterwards the chips are empty
//   Leave()      all chips go back; captured messages are sent again as the agents get their turns
//
// The order decides how evenly messages fall, not whether they all do. They fall from the chip
// where they are when it enters the mode, or from the first in the mode to which they come: if a
// chip near a node for which many wait enters early and turns follow, they fall there. So enter
// none before Drain, or (with turns between) from the highest number down: each agent's chips are
// numbered level by level from the leaves up.
//
// Whoever runs the agents calls this, on the same thread; it holds no state that a program could
// reach, and can be dropped and made anew at any time.
#ifndef VCM5_DAEMONS_DRIVER_ALL_FALL_DOWN_H_
#define VCM5_DAEMONS_DRIVER_ALL_FALL_DOWN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemons/driver/data_agent.h"

namespace vcm5 {

class AllFallDown {
 public:
  // What fell, by agent: to be saved with the user's state.
  using Captured = std::vector<std::vector<CapturedMessage>>;

  // The agents of every part of one or both halves, joined by links in this process if at all.
  explicit AllFallDown(std::vector<DataNetworkAgent*> agents);

  uint32_t chips() const { return static_cast<uint32_t>(chips_.size()); }
  void Enter(uint32_t chip) { Set(chip, true); }

  // Fails if a half does not get empty, or a message was lost or made: it says which and how many.
  // Chips that are in the mode stay in it.
  absl::Status Drain();

  // Out of the store. May be taken as often as wanted from the first Enter on.
  Captured TakeCaptured();

  // Back to routing. `captured` (of this or of another machine like it) is sent again.
  void Leave(Captured captured);
  void Leave() { Leave(TakeCaptured()); }

  // Of both halves, or one: what the NIs and the chips next to them have counted.
  DataCounts Counts(int half) const;

 private:
  void Set(uint32_t chip, bool on);
  absl::Status Prove(int half) const;

  std::vector<DataNetworkAgent*> agents_;
  std::vector<std::pair<DataNetworkAgent*, uint32_t>> chips_;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_ALL_FALL_DOWN_H_
