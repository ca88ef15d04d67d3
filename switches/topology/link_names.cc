#include "switches/topology/link_names.h"

namespace vcm5 {

std::string ChipName(const FatTree& tree, ChipId chip) {
  return "level " + std::to_string(tree.place(chip).level) + " chip " +
         std::to_string(ChipNumber(tree, chip));
}

std::string LinkEndName(const FatTree& tree, const LinkEnd& end) {
  switch (end.kind) {
    case FatTreePeer::Kind::kChip:
      return ChipName(tree, end.id) + " port " + std::to_string(end.port);
    case FatTreePeer::Kind::kLeaf:
      return "leaf " + std::to_string(end.id);
    case FatTreePeer::Kind::kNothing:
      break;
  }
  return "nowhere";
}

std::string LinkName(const FatTree& tree, const LinkEnd& from) {
  return "link from " + LinkEndName(tree, from) + " to " + LinkEndName(tree, FarEnd(tree, from));
}

}  // namespace vcm5
