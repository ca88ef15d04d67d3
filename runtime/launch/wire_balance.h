// Kirchhoff's law for the wires between data daemons, of which each knows one end: what left one end
// has come to the other, or was lost on the way (DN5).
//
// A message may be on its way when the daemons count, and they do not count at one instant. So where
// the two ends disagree the launcher asks again, after all have answered. Counters only grow, so ends
// that counted the same in several rounds did not count anything in between. And before each answer a
// daemon gives its agents a turn, in which they offer to their links what these could not take before
// and receive what lies there. So if both ends count the same in three rounds, then what one of them
// may have had to offer in the second the other would have received in the third: nothing is on its
// way, and a difference is a loss.
#ifndef VCM5_RUNTIME_LAUNCH_WIRE_BALANCE_H_
#define VCM5_RUNTIME_LAUNCH_WIRE_BALANCE_H_

#include <google/protobuf/repeated_field.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "daemons/config/control_plane.pb.h"
#include "daemons/driver/agent.h"
#include "netif/shm/ni_page.h"
#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

class WireBalance {
 public:
  WireBalance(const MachineSpec& spec, std::vector<Partition> partitions, uint32_t data_daemons);

  // A new inquiry: of the rounds before nothing is known.
  void Begin();
  // What a daemon counted in this round. Ends that it does not have are ignored.
  void Take(uint32_t daemon, const google::protobuf::RepeatedPtrField<config::WireEnd>& ends);
  // All have answered. True: ends disagree and it is not yet sure that they do; ask once more.
  bool EndRound();

  // Where messages were lost or made, for sure.
  const std::vector<FabricError>& Losses() const { return losses_; }

 private:
  struct Counts {
    uint32_t in;
    uint32_t out;
    bool operator==(const Counts&) const = default;
  };
  // Both ends of a wire in one half: the child's, the parent's.
  struct Ends {
    std::optional<Counts> end[2];
    bool operator==(const Ends&) const = default;
  };
  using Round = std::vector<Ends>;  // by half, then wire

  static bool Balanced(const Ends& ends);

  static constexpr unsigned kSameRounds = 3;
  static constexpr unsigned kRoundsMax = 10;

  const FatTree tree_;
  const std::vector<Partition> partitions_;
  const std::vector<CutWire> wires_;
  Round now_;
  Round before_;
  std::vector<unsigned> same_;  // by half and wire: the last so many rounds were alike
  unsigned rounds_ = 0;
  std::vector<FabricError> losses_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_WIRE_BALANCE_H_
