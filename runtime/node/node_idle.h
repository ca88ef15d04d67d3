// What a node process does when a status read found nothing: spin a little if a processor is to
// spare, then let others run, then sleep until a network delivers.
//
// Sleeping, and who wakes: the node sets page->node_control.waiting, fences, and looks once more at the
// positions that the networks write; a network publishes positions, fences, and looks at `waiting`
// (NodeWake in daemons/driver). So one of the two sees the other. What counts as news is a position
// that moved since the last look, not a FIFO that is not empty: a program may wait for one FIFO
// and leave another unread. Sleeps are bounded besides, so that nobody can be kept asleep.
#ifndef VCM5_RUNTIME_NODE_NODE_IDLE_H_
#define VCM5_RUNTIME_NODE_NODE_IDLE_H_

#include <cstdint>

#include "netif/port/network_positions.h"
#include "netif/port/ni_port.h"

namespace vcm5 {

class NodeIdle {
 public:
  explicit NodeIdle(const vcm5_ni_page& page)
      : spins_(page.processors > page.runners ? kSpins : 0) {}

  // Called after each miss; port.misses counts those in a row.
  void Miss(vcm5_port& port);

 private:
  static constexpr uint32_t kSpins = 200;   // pauses, when there is a processor for everybody
  static constexpr uint32_t kYields = 64;   // then times that others are let run
  static constexpr uint64_t kSleepMinNs = 1'000'000;
  static constexpr uint64_t kSleepMaxNs = 100'000'000;

  void Sleep(vcm5_ni_page& page);

  const uint32_t spins_;
  uint64_t sleep_ns_ = kSleepMinNs;
  NetworkPositions seen_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_NODE_NODE_IDLE_H_
