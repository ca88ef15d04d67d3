// "node 3", "node 1:3", "nodes 0-29, 31", "leaf 40": nodes, sets of nodes and their errors in reports.
#ifndef VCM5_DAEMONS_DRIVER_NODE_RANGES_H_
#define VCM5_DAEMONS_DRIVER_NODE_RANGES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemons/driver/agent.h"
#include "switches/topology/partition.h"

namespace vcm5 {

// What users call a physical address: "node 3", by its relative address; "node 1:3" if there are
// several partitions; "leaf 40" if it is in none.
inline std::string NodeName(std::span<const Partition> partitions, uint32_t physical) {
  for (size_t i = 0; i < partitions.size(); ++i) {
    const Partition& members = partitions[i];
    const auto at = std::lower_bound(members.begin(), members.end(), physical);
    if (at == members.end() || *at != physical) continue;
    const auto self = at - members.begin();
    return partitions.size() == 1 ? absl::StrCat("node ", self) : absl::StrCat("node ", i, ":", self);
  }
  return absl::StrCat("leaf ", physical);
}

// "node 3: sent a message ...", "left data network: a message was damaged ...".
inline std::string ErrorLine(std::span<const Partition> partitions, const FabricError& error) {
  if (error.leaf == FabricError::kNetwork) return error.message;
  return absl::StrCat(NodeName(partitions, error.leaf), ": ", error.message);
}

// `nodes` ascends.
inline std::string NodeRanges(const std::vector<uint32_t>& nodes) {
  std::string text = nodes.size() == 1 ? "node" : "nodes";
  const char* separator = " ";
  for (size_t first = 0; first < nodes.size();) {
    size_t last = first;
    while (last + 1 < nodes.size() && nodes[last + 1] == nodes[last] + 1) ++last;
    absl::StrAppend(&text, separator, nodes[first]);
    if (last > first) absl::StrAppend(&text, "-", nodes[last]);
    separator = ", ";
    first = last + 1;
  }
  return text;
}

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_NODE_RANGES_H_
