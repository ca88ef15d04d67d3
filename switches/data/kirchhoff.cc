#include "switches/data/kirchhoff.h"

namespace vcm5 {

Kirchhoff::Kirchhoff(const FatTree& tree)
    : tree_(tree),
      chips_(tree.chips()),
      ends_(size_t{tree.chips()} * kChipPorts + tree.leaves()) {}

void Kirchhoff::SetChip(ChipId chip, const RouterChip& counters) {
  const RouterChipStats stats = counters.stats();
  uint32_t kept = static_cast<uint32_t>(stats.dropped);
  for (unsigned port = 0; port < kChipPorts; ++port) {
    SetEnd(ChipEnd(chip, port),
           {static_cast<uint32_t>(stats.in[port]), static_cast<uint32_t>(stats.out[port])});
    kept += counters.Waiting(port);
  }
  chips_[chip] = {true, kept};
}

void Kirchhoff::SetEnd(const LinkEnd& end, const EndCounts& counts) {
  ends_[Place(end)] = {true, counts};
}

void Kirchhoff::SetChips(const Region& region) {
  for (uint32_t i = 0; i < region.chips(); ++i) SetChip(region.chip_id(i), region.chip(i));
}

std::vector<Kirchhoff::Finding> Kirchhoff::Find() const {
  std::vector<Finding> findings;
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    if (!chips_[chip].known) continue;
    uint32_t lost = 0u - chips_[chip].kept;
    for (unsigned port = 0; port < kChipPorts; ++port) {
      const EndCounts& counts = ends_[Place(ChipEnd(chip, port))].counts;
      lost += counts.in - counts.out;
    }
    if (lost != 0) findings.push_back({true, ChipEnd(chip, 0), static_cast<int32_t>(lost)});
  }
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    for (unsigned port = 0; port < kChipPorts; ++port) CheckLink(ChipEnd(chip, port), &findings);
  }
  for (uint32_t leaf = 0; leaf < tree_.leaves(); ++leaf) CheckLink(LeafEnd(leaf), &findings);
  return findings;
}

void Kirchhoff::CheckLink(const LinkEnd& from, std::vector<Finding>* findings) const {
  const End& near = ends_[Place(from)];
  if (!near.known) return;
  const LinkEnd to = FarEnd(tree_, from);
  if (to.kind == LinkEnd::Kind::kNothing || !ends_[Place(to)].known) return;
  const uint32_t lost = near.counts.out - ends_[Place(to)].counts.in;
  if (lost != 0) findings->push_back({false, from, static_cast<int32_t>(lost)});
}

std::string Kirchhoff::Describe(const Finding& finding) const {
  const int64_t lost = finding.lost;
  const uint64_t messages = static_cast<uint64_t>(lost < 0 ? -lost : lost);
  return std::to_string(messages) + (messages == 1 ? " message" : " messages") +
         (lost > 0 ? " lost" : " duplicated") +
         (finding.in_chip ? " in " + ChipName(tree_, finding.from.id)
                          : " on the " + LinkName(tree_, finding.from));
}

}  // namespace vcm5
