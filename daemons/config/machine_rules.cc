#include "daemons/config/machine_rules.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemons/config/place_names.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/health.h"

namespace vcm5 {
namespace {

constexpr size_t kFaultsMax = 20;

// One number of a description: what people call it, where it goes, and its bounds.
struct Rule {
  const char* field;
  uint32_t MachineSpec::*member;
  uint32_t min;
  uint32_t max;
  bool power_of_two;
};

constexpr Rule kRules[] = {
    {"nodes", &MachineSpec::nodes, 1, kNodesMax, false},
    {"control_processors", &MachineSpec::control_processors, 0, kControlProcessorsMax, false},
    {"io_channels", &MachineSpec::io_channels, 0, 1024, false},
    {"network_interface.words_max", &MachineSpec::words_max, 1, 18, false},
    {"network_interface.data_fifo_depth", &MachineSpec::data_fifo_depth, 2, 1 << 16, true},
    {"data_network.link_depth", &MachineSpec::link_depth, 1, 1024, true},
    {"control_network.combine_depth", &MachineSpec::combine_depth, 8, 1 << 16, true},
    {"control_network.broadcast_depth", &MachineSpec::broadcast_depth, 8, 1 << 16, true},
};

void CheckNumber(const std::string& where, const char* field, uint64_t value, uint64_t min,
                 uint64_t max, bool power_of_two, std::vector<std::string>& faults) {
  if (value >= min && value <= max && (!power_of_two || std::has_single_bit(value))) return;
  faults.push_back(absl::StrCat(where, field, " is ", value, "; expected ",
                                power_of_two ? "a power of two from " : "", min, " to ", max));
}

// Of a machine that is otherwise right.
void CheckBroken(const MachineSpec& spec, const LocateField& locate,
                 std::vector<std::string>& faults) {
  const int last = static_cast<int>(spec.broken.size()) - 1;
  if (spec.broken.size() > kBrokenPartsMax) {
    faults.push_back(absl::StrCat(locate("broken", last), "broken has ", spec.broken.size(),
                                  " entries; expected at most ", kBrokenPartsMax));
    return;
  }
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  const ControlSwitches switches(spec);
  for (int i = 0; i <= last; ++i) {
    const BrokenPart& part = spec.broken[static_cast<size_t>(i)];
    const std::string wrong =
        part.halves == kControlNetwork ? PlaceFault(switches, part) : PlaceFault(tree, part);
    if (wrong.empty()) continue;
    faults.push_back(
        absl::StrCat(locate("broken", i), "broken is \"", PlaceName(part), "\"; ", wrong));
  }
  if (faults.empty() && UsableNodes(spec).empty()) {
    faults.push_back(absl::StrCat(locate("broken", last),
                                  "broken leaves no node; expected at least one that can be used"));
  }
}

}  // namespace

std::vector<std::string> MachineFaults(const MachineSpec& spec, const LocateField& locate) {
  std::vector<std::string> faults;
  for (const Rule& rule : kRules) {
    CheckNumber(locate(rule.field, -1), rule.field, spec.*rule.member, rule.min, rule.max,
                rule.power_of_two, faults);
  }
  const char* const parents = "data_network.parents_per_level";
  if (spec.parents_per_level.empty() || spec.parents_per_level.size() > 10) {
    faults.push_back(absl::StrCat(locate(parents, -1), parents, " has ",
                                  spec.parents_per_level.size(), " entries; expected 1 to 10"));
  }
  for (size_t level = 0; level < spec.parents_per_level.size(); ++level) {
    CheckNumber(locate(parents, static_cast<int>(level)), parents, spec.parents_per_level[level], 1,
                kParentsMax, false, faults);
  }
  if (faults.empty() && spec.leaves() > kLeavesMax) {
    faults.push_back(absl::StrCat(locate("nodes", -1), "nodes, control_processors and io_channels are ",
                                  spec.leaves(), " together; expected at most ", kLeavesMax));
  }
  if (faults.empty() && !spec.broken.empty()) CheckBroken(spec, locate, faults);
  return faults;
}

absl::Status FaultsToStatus(std::vector<std::string> faults) {
  if (faults.empty()) return absl::OkStatus();
  if (faults.size() > kFaultsMax) faults.resize(kFaultsMax);
  return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
}

absl::Status CheckMachineSpec(const MachineSpec& spec) {
  return FaultsToStatus(
      MachineFaults(spec, [](const std::string&, int) { return std::string(); }));
}

}  // namespace vcm5
