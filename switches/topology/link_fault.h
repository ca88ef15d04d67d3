// A fault of one direction of a data-network link, as a test, a command line or a machine
// description asks for it. switches/data/link_faults.h plays it; daemons/config/fault_spec.h is how
// people write it.
#ifndef VCM5_SWITCHES_TOPOLOGY_LINK_FAULT_H_
#define VCM5_SWITCHES_TOPOLOGY_LINK_FAULT_H_

#include <cstdint>

#include "switches/topology/link_names.h"

namespace vcm5 {

// Whether a fault that strikes first at message `first` of a link (from 1), and at each `every`-th
// after it (0: never again), strikes at this one.
constexpr bool FaultStrikes(uint64_t first, uint64_t every, uint64_t message) {
  return message == first || (every != 0 && message > first && (message - first) % every == 0);
}

struct LinkFault {
  enum class Kind : uint8_t {
    kFlip,       // a bit of the packet arrives inverted
    kLose,       // the packet does not arrive
    kDuplicate,  // it arrives twice
  };

  int half = 0;      // VCM5_LEFT or VCM5_RIGHT
  LinkEnd from;      // the end that the packets leave
  Kind kind = Kind::kFlip;
  uint32_t bit = 0;  // kFlip: bit (B mod 8) of byte (B / 8); in a shorter packet counted round
  uint64_t first = 1;  // the message of this link that it strikes first, from 1
  uint64_t every = 0;  // and each so many after it; 0: none

  bool Strikes(uint64_t message) const { return FaultStrikes(first, every, message); }
  bool operator==(const LinkFault&) const = default;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_TOPOLOGY_LINK_FAULT_H_
