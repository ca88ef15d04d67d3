#include "tests/support/tree_oracle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

unsigned ParentLinks(const FatTree& tree, ChipId chip) {
  unsigned links = 0;
  for (unsigned port = kChildren; port < kChipPorts; ++port) {
    if (tree.peer(chip, port).kind == FatTreePeer::Kind::kChip) ++links;
  }
  return links;
}

}  // namespace

const std::vector<uint32_t>& TreeOracle::Below(ChipId chip) {
  const auto found = below_.find(chip);
  if (found != below_.end()) return found->second;
  std::vector<uint32_t> leaves;
  for (unsigned port = 0; port < kChildren; ++port) {
    const FatTreePeer peer = tree_.peer(chip, port);
    if (peer.kind == FatTreePeer::Kind::kLeaf) leaves.push_back(peer.id);
    if (peer.kind == FatTreePeer::Kind::kChip) {
      const std::vector<uint32_t>& more = Below(peer.id);
      leaves.insert(leaves.end(), more.begin(), more.end());
    }
  }
  std::sort(leaves.begin(), leaves.end());
  return below_[chip] = std::move(leaves);
}

bool TreeOracle::Covers(ChipId chip, uint32_t leaf) {
  const std::vector<uint32_t>& leaves = Below(chip);
  return std::binary_search(leaves.begin(), leaves.end(), leaf);
}

// One chip of the way up, or the whole way down.
std::string TreeOracle::Step(ChipId chip, uint32_t destination, uint32_t route,
                             const std::function<std::string(ChipId chip, uint32_t route)>& go_up) {
  if ((route & 0xf) != 0) {
    if (Covers(chip, destination)) return absl::StrCat("climbs above the common chip ", chip);
    return go_up(chip, route - 1);
  }
  if (!Covers(chip, destination)) {
    return absl::StrCat("turns round at chip ", chip, ", from which there is no way down");
  }
  for (uint32_t path = route >> 4;; path >>= 2) {
    const FatTreePeer peer = tree_.peer(chip, path & 3);
    if (peer.kind == FatTreePeer::Kind::kNothing) {
      return absl::StrCat("goes down a link that chip ", chip, " does not have");
    }
    if (peer.kind == FatTreePeer::Kind::kChip) {
      chip = peer.id;
      continue;
    }
    if (peer.id != destination) return absl::StrCat("arrives at leaf ", peer.id);
    return path >> 2 == 0 ? "" : "arrives with instructions left";
  }
}

std::string TreeOracle::Follow(uint32_t source, uint32_t destination, uint32_t route,
                               const std::function<unsigned(unsigned links)>& choose) {
  std::function<std::string(ChipId, uint32_t)> up = [&](ChipId chip, uint32_t rest) -> std::string {
    const unsigned links = ParentLinks(tree_, chip);
    if (links == 0) return absl::StrCat("climbs above the top chip ", chip);
    const FatTreePeer peer = tree_.peer(chip, kChildren + choose(links));
    return Step(peer.id, destination, rest, up);
  };
  return Step(tree_.leaf_peer(source).id, destination, route, up);
}

std::string TreeOracle::FollowEveryWay(uint32_t source, uint32_t destination, uint32_t route) {
  std::function<std::string(ChipId, uint32_t)> up = [&](ChipId chip, uint32_t rest) -> std::string {
    const unsigned links = ParentLinks(tree_, chip);
    if (links == 0) return absl::StrCat("climbs above the top chip ", chip);
    for (unsigned link = 0; link < links; ++link) {
      const FatTreePeer peer = tree_.peer(chip, kChildren + link);
      std::string wrong = Step(peer.id, destination, rest, up);
      if (!wrong.empty()) return wrong;
    }
    return "";
  };
  return Step(tree_.leaf_peer(source).id, destination, route, up);
}

}  // namespace vcm5
