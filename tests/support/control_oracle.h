// A dumb second opinion about the switches of the control network. It knows the machine by the text of
// control_switches.h alone, keeps wires as a list of pairs of ends, and tries every choice of chips.
#ifndef VCM5_TESTS_SUPPORT_CONTROL_ORACLE_H_
#define VCM5_TESTS_SUPPORT_CONTROL_ORACLE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "switches/topology/control_settings.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

class ControlOracle {
 public:
  struct Chip {
    unsigned level;  // 0: a leaf
    uint32_t s;
    unsigned chip;
    auto operator<=>(const Chip&) const = default;
  };
  struct Wire {
    Chip below;
    unsigned parent_port;
    Chip above;
    unsigned child_port;
  };

  explicit ControlOracle(const MachineSpec& spec);

  // Every chip and every link, the latter by either end, as parts that may be broken.
  const std::vector<BrokenPart>& parts() const { return parts_; }
  size_t wires() const { return wires_.size(); }

  // "" if the settings are those of one tree for each partition, its leaves in order, which has the
  // shape of the machine and comes near nothing broken; otherwise what is wrong.
  std::string Wrong(const ControlSettings& settings, const std::vector<Partition>& partitions) const;

  // Whether there are settings at all.
  bool CanConnect(const std::vector<Partition>& partitions) const;

  // By trying every choice: all sets of leaves (by address) that one tree can join.
  std::set<std::vector<uint32_t>> SetsOfOneTree(const std::vector<uint8_t>& live) const;

 private:
  uint32_t Position(uint32_t leaf) const;
  uint32_t Leaf(uint32_t position) const;
  bool Broken(const Chip& chip) const;
  const Wire* WireOf(const Chip& below, const Chip& above) const;
  std::vector<std::vector<uint32_t>> Trees(const std::vector<Partition>& partitions) const;

  const MachineSpec spec_;
  uint32_t half_ = 1;
  unsigned levels_ = 1;
  std::vector<std::vector<uint32_t>> subtrees_;  // by level: those with leaves
  std::vector<Wire> wires_;                      // that work
  std::map<std::pair<Chip, Chip>, size_t> wire_of_;      // by below and above
  std::map<std::pair<Chip, unsigned>, size_t> wire_at_;  // by above and its child port
  std::set<Chip> broken_;
  std::vector<BrokenPart> parts_;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_CONTROL_ORACLE_H_
