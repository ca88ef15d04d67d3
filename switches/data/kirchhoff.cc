#include "switches/data/kirchhoff.h"

#include <algorithm>

#include "switches/data/region_search.h"

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

int32_t Kirchhoff::LostIn(ChipId chip) const {
  if (!chips_[chip].known) return 0;
  uint32_t lost = 0u - chips_[chip].kept;
  for (unsigned port = 0; port < kChipPorts; ++port) {
    const EndCounts& counts = ends_[Place(ChipEnd(chip, port))].counts;
    lost += counts.in - counts.out;
  }
  return static_cast<int32_t>(lost);
}

int32_t Kirchhoff::LostOn(const LinkEnd& from) const {
  const LinkEnd to = FarEnd(tree_, from);
  if (to.kind == LinkEnd::Kind::kNothing) return 0;
  const End& near = ends_[Place(from)];
  const End& far = ends_[Place(to)];
  if (!near.known || !far.known) return 0;
  return static_cast<int32_t>(near.counts.out - far.counts.in);
}

template <class Visit>
void Kirchhoff::VisitCell(ChipId chip, Visit&& visit) const {
  if (const int32_t lost = LostIn(chip); lost != 0) visit(Finding{true, ChipEnd(chip, 0), lost});
  for (unsigned port = 0; port < kChildren; ++port) {
    const LinkEnd above = ChipEnd(chip, port);
    const LinkEnd below = FarEnd(tree_, above);
    if (below.kind == LinkEnd::Kind::kNothing) continue;
    for (const LinkEnd& from : {above, below}) {
      if (const int32_t lost = LostOn(from); lost != 0) visit(Finding{false, from, lost});
    }
  }
}

std::vector<Kirchhoff::Finding> Kirchhoff::Find(uint64_t* asked) const {
  // off[c]: what the cells of chips 0 to c - 1 are off together.
  std::vector<uint64_t> off(tree_.chips() + 1);
  for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
    off[chip + 1] = off[chip];
    VisitCell(chip, [&](const Finding& finding) {
      const int64_t lost = finding.lost;
      off[chip + 1] += static_cast<uint64_t>(lost < 0 ? -lost : lost);
    });
  }
  const RegionSearch::Balances balances = [&off](ChipId first, ChipId last) {
    return off[first] == off[last];
  };
  RegionSearch search(tree_, balances);
  std::vector<Finding> findings;
  const std::vector<ChipId> cells = search.Find();
  for (const ChipId chip : cells) {
    VisitCell(chip, [&](const Finding& finding) { findings.push_back(finding); });
  }
  if (asked != nullptr) *asked = search.asked() + cells.size() * (1 + 2 * kChildren);
  std::sort(findings.begin(), findings.end(), [this](const Finding& a, const Finding& b) {
    return a.in_chip != b.in_chip ? a.in_chip : Place(a.from) < Place(b.from);
  });
  return findings;
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
