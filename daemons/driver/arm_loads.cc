#include "daemons/driver/arm_loads.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/data_reports.h"

namespace vcm5 {
namespace {

struct Load {
  uint64_t up = 0;
  uint64_t down = 0;
};

std::string ArmName(const FatTree& tree, unsigned level, uint32_t node) {
  if (level == 0) return absl::StrCat("arm of leaf ", node);
  const uint64_t size = uint64_t{1} << (2 * level);
  const uint64_t first = node * size;
  return absl::StrCat("arm of leaves ", first, "-",
                      std::min<uint64_t>(first + size, tree.leaves()) - 1);
}

}  // namespace

void AppendArmLoads(const Region& region, int half, std::vector<FabricStat>* stats) {
  const FatTree& tree = region.tree();
  std::map<std::pair<unsigned, uint32_t>, Load> loads;  // by level and node at the lower end
  for (uint32_t i = 0; i < region.chips(); ++i) {
    const ChipPlace place = tree.place(region.chip_id(i));
    const RouterChipStats chip = region.chip(i).stats();
    if (place.level == 1) {
      for (unsigned child = 0; child < kChildren; ++child) {
        Load& of_leaf = loads[{0, place.node * kChildren + child}];
        of_leaf.up += chip.in[child];
        of_leaf.down += chip.out[child];
      }
    }
    Load& of_node = loads[{place.level, place.node}];
    for (unsigned port = kChildren; port < kChipPorts; ++port) {
      of_node.up += chip.out[port];
      of_node.down += chip.in[port];
    }
  }
  for (const auto& [at, load] : loads) {
    const auto [level, node] = at;
    const uint32_t links = level == 0 ? 1 : tree.chips_per_node(level) * tree.parents(level);
    const std::string name = absl::StrCat(HalfName(half), ": ", ArmName(tree, level, node));
    if (load.up != 0) stats->push_back({name + ", up", load.up, false, links});
    if (load.down != 0) stats->push_back({name + ", down", load.down, false, links});
  }
}

}  // namespace vcm5
