// Places in the networks as people write them, in machine descriptions and reports:
//
//   data.left: chip 2/3                 the fourth router chip of level 2 of the left half
//   data.right: link of chip 1/4 port 5 the link of its parent port 1, both directions
//   data.left: leaf 7                   the link between leaf 7 and the left half
//   leaf 7                              leaf 7 itself: a node, control processor or I/O channel
//
// Levels count from 1, next to the leaves. Chips of a level are numbered from 0, those of one tree
// node together. Ports of a chip: child links 0 to 3, parent links from 4.
#ifndef VCM5_DAEMONS_CONFIG_PLACE_NAMES_H_
#define VCM5_DAEMONS_CONFIG_PLACE_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "switches/topology/broken_part.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

// The error says what was expected. Whether a machine has the place, PlaceFault says.
absl::StatusOr<BrokenPart> ParsePlace(const std::string& text);

// As ParsePlace takes it.
std::string PlaceName(const BrokenPart& part);

// What was expected where a machine has no such place; "" if it has it.
std::string PlaceFault(const FatTree& tree, const BrokenPart& part);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_PLACE_NAMES_H_
