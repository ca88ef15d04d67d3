// Places in the networks as people write them, in machine descriptions and reports:
//
//   data.left: chip 2/3                 the fourth router chip of level 2 of the left half
//   data.right: link of chip 1/4 port 5 the link of its parent port 1, both directions
//   data.left: leaf 7                   the link between leaf 7 and the left half
//   control: chip 2/3                   the fourth switch of level 2 of the control network, and
//                                       likewise its links and leaves
//   leaf 7                              leaf 7 itself: a node, control processor or I/O channel
//
// Levels count from 1, next to the leaves: in the data network each has a quarter of the subtrees of
// the one below, in the control network half of them (control_switches.h). Chips of a level are numbered
// from 0, those of one subtree together. Ports of a chip: child links 0 to 3, parent links from 4.
#ifndef VCM5_DAEMONS_CONFIG_PLACE_NAMES_H_
#define VCM5_DAEMONS_CONFIG_PLACE_NAMES_H_

#include <string>

#include "absl/status/statusor.h"
#include "switches/topology/broken_part.h"
#include "switches/topology/control_switches.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

// The error says what was expected. Whether a machine has the place, PlaceFault says.
absl::StatusOr<BrokenPart> ParsePlace(const std::string& text);

// As ParsePlace takes it.
std::string PlaceName(const BrokenPart& part);

// What was expected where a network, the data network's halves or the control network, has no such
// place; "" if it has it.
std::string PlaceFault(const FatTree& tree, const BrokenPart& part);
std::string PlaceFault(const ControlSwitches& switches, const BrokenPart& part);

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_PLACE_NAMES_H_
