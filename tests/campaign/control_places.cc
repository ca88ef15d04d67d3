#include "tests/campaign/control_places.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemons/driver/node_ranges.h"
#include "switches/topology/binary_tree.h"
#include "switches/topology/control_settings.h"

namespace vcm5::campaign {
namespace {

// The leaves below a link: from first to last.
struct Below {
  uint32_t first;
  uint32_t last;
  bool is_leaf;
};

// Nothing if the partition has no such link.
std::optional<Below> LinkOf(const ControlLinkFault& fault, const Partition& partition,
                            const BinaryTree& tree) {
  const auto member = std::find(partition.begin(), partition.end(), fault.leaf);
  if (member == partition.end()) return std::nullopt;
  auto id = static_cast<uint32_t>(member - partition.begin());
  for (uint32_t height = 1; height < fault.height; ++height) {
    if (id == tree.root()) return std::nullopt;
    id = tree.parent(id);
  }
  if (id == tree.root() && fault.height > 1) return std::nullopt;
  Below below = {id, id, tree.is_leaf(id)};
  while (!tree.is_leaf(below.first)) below.first = tree.child(below.first, BinaryTree::kLeft);
  while (!tree.is_leaf(below.last)) below.last = tree.child(below.last, BinaryTree::kRight);
  return below;
}

}  // namespace

ControlPlaces PlacesOf(const MachineSpec& spec, const std::vector<Partition>& partitions) {
  const ControlSettings settings = SetControlSwitches(spec, partitions).value();
  ControlPlaces places;
  for (const ControlLinkFault& fault : spec.control_link_faults) {
    for (size_t i = 0; i < partitions.size(); ++i) {
      const std::optional<Below> link = LinkOf(fault, partitions[i], settings.trees[i]);
      if (!link) continue;
      if (link->is_leaf && fault.down) {
        places.leaves.push_back(absl::StrCat(NodeName(partitions, spec.nodes, fault.leaf), ": "));
        continue;
      }
      std::vector<uint32_t> below(link->last - link->first + 1);
      std::iota(below.begin(), below.end(), link->first);
      places.ends.push_back(absl::StrCat(", on the link ", fault.down ? "down to " : "up from ",
                                         link->is_leaf ? "" : "the combining node of ",
                                         NodeRanges(below, NodesOf(partitions[i], spec.nodes))));
    }
  }
  return places;
}

std::vector<bool> CutOff(const MachineSpec& spec, const std::vector<Partition>& partitions, size_t index) {
  const ControlSettings settings = SetControlSwitches(spec, partitions).value();
  std::vector<bool> cut_off(partitions[index].size());
  for (const ControlLinkFault& fault : spec.control_link_faults) {
    const std::optional<Below> link = LinkOf(fault, partitions[index], settings.trees[index]);
    if (!link || !fault.down || fault.every == 0) continue;
    for (uint32_t self = link->first; self <= link->last; ++self) cut_off[self] = true;
  }
  return cut_off;
}

}  // namespace vcm5::campaign
