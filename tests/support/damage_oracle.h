// A dumb second opinion about broken parts: it marks what is broken on the wires of the tree
// (FatTree::peer), walks every way that chips may choose with some parent links closed, and says
// when one comes to something broken or does not reach a leaf that it must. It knows nothing of how
// the closed links were found.
#ifndef VCM5_TESTS_SUPPORT_DAMAGE_ORACLE_H_
#define VCM5_TESTS_SUPPORT_DAMAGE_ORACLE_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "switches/topology/broken_part.h"
#include "switches/topology/chip_ways.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

// What is broken in one half, at both ends of each link.
struct Damage {
  std::set<ChipId> chips;
  std::set<std::pair<ChipId, unsigned>> ports;

  Damage(const FatTree& tree, const std::vector<BrokenPart>& parts, int half);
  bool Chip(ChipId chip) const { return chips.contains(chip); }
  bool Port(ChipId chip, unsigned port) const { return ports.contains({chip, port}); }
};

class DamageOracle {
 public:
  DamageOracle(const FatTree& tree, const Damage& damage, std::span<const ChipWays> ways);

  // "" if every two leaves of `live` (ascending) reach each other whatever open parent links are
  // chosen, and come near nothing broken, and what falls on the way up comes to one of them;
  // otherwise what went wrong.
  std::string AllReachAll(const std::vector<uint32_t>& live);

  // The same for one pair, by following `route` through every choice, link by link.
  std::string FollowEveryWay(uint32_t source, uint32_t destination, uint32_t route) const;

 private:
  using Set = std::vector<uint64_t>;  // of leaves

  std::string Climb(ChipId chip, unsigned from_port, unsigned t);
  std::string Turn(ChipId chip, unsigned from_port) const;
  std::string Fall(ChipId chip);
  bool Climbs(ChipId chip, unsigned port, unsigned climb) const;
  std::string Follow(ChipId chip, uint32_t destination, uint32_t route) const;
  std::string Crosses(ChipId chip, unsigned port) const;

  const FatTree& tree_;
  const Damage& damage_;
  std::span<const ChipWays> ways_;
  Set live_;
  std::vector<Set> below_;    // by ChipId * kChildren + port: leaves wired below, broken or not
  std::vector<Set> reached_;  // by ChipId: leaves that a packet that goes down reaches
  std::vector<uint16_t> seen_;  // by ChipId * kChildren + port: climbs that were followed, by level
  std::vector<uint8_t> fell_;   // by ChipId
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_DAMAGE_ORACLE_H_
