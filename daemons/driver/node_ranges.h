// "node 3", "node 1:3", "host", "nodes 0-29, 31", "leaf 40": members of partitions, sets of them and
// their errors in reports.
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

// What users call a physical address of a machine of `nodes` nodes: "node 3", by its relative address;
// "host" for a control processor; "node 1:3" and "host 1" if there are several partitions; "leaf 40" if
// it is in none.
inline std::string NodeName(std::span<const Partition> partitions, uint32_t nodes,
                            uint32_t physical) {
  for (size_t i = 0; i < partitions.size(); ++i) {
    const Partition& members = partitions[i];
    const auto at = std::lower_bound(members.begin(), members.end(), physical);
    if (at == members.end() || *at != physical) continue;
    const auto self = at - members.begin();
    if (physical >= nodes) return partitions.size() == 1 ? "host" : absl::StrCat("host ", i);
    return partitions.size() == 1 ? absl::StrCat("node ", self) : absl::StrCat("node ", i, ":", self);
  }
  return absl::StrCat("leaf ", physical);
}

// "node 3: sent a message ...", "left data network: a message was damaged ...".
inline std::string ErrorLine(std::span<const Partition> partitions, uint32_t nodes,
                             const FabricError& error) {
  if (error.leaf == FabricError::kNetwork) return error.message;
  return absl::StrCat(NodeName(partitions, nodes, error.leaf), ": ", error.message);
}

// `nodes` ascends and is not empty; relative address `host` is the host's.
inline std::string NodeRanges(std::vector<uint32_t> nodes, uint32_t host) {
  const bool has_host = nodes.back() == host;
  if (has_host) nodes.pop_back();
  if (nodes.empty()) return "host";
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
  if (has_host) text += ", host";
  return text;
}

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_NODE_RANGES_H_
