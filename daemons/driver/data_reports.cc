#include "daemons/driver/data_reports.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "daemons/driver/node_ranges.h"
#include "switches/topology/concerned.h"
#include "switches/topology/link_names.h"

namespace vcm5 {
namespace {

constexpr size_t kPlacesMax = 8;  // that a report lists of those that concern the same

}  // namespace

const char* HalfName(int half) { return half == VCM5_LEFT ? "left" : "right"; }

std::string DescribeFault(const DataPortReport& report, int half, uint32_t partition_size,
                          uint32_t words_max) {
  const char* name = HalfName(half);
  switch (report.fault) {
    case DataPortFault::kNone:
      break;
    case DataPortFault::kBadDestination:
      return absl::StrCat("sent a message on the ", name, " data network to node ", report.value,
                          ", which is outside the partition (0 to ", partition_size - 1, ")");
    case DataPortFault::kBadTag:
      return absl::StrCat("sent a message on the ", name, " data network with tag ", report.value,
                          "; programs may use 0 to ", kFirstSystemTag - 1);
    case DataPortFault::kBadLength:
      return absl::StrCat("sent a message of ", report.value, " words on the ", name,
                          " data network; this machine's longest has ", words_max);
    case DataPortFault::kBadPosition:
      return absl::StrCat("overwrote the FIFO positions of its ", name,
                          " data-network port; the port is closed");
    case DataPortFault::kPrimary:
      return absl::StrCat("the ", name, " data network delivered a damaged message");
    case DataPortFault::kMisdelivered:
      return absl::StrCat("the ", name, " data network delivered a message for address ",
                          report.value);
  }
  return "";
}

FabricError ErrorOf(const RegionFault& fault, const FatTree& tree, int half) {
  const LinkEnd from = FarEnd(tree, ChipEnd(fault.chip, fault.port));
  if (fault.fault == RouterChipFault::kPrimary) return DamageOf(from, tree, half);
  return {FabricError::kNetwork,
          absl::StrCat(HalfName(half), " data network: ", ChipName(tree, fault.chip),
                       " dropped a message with an impossible route, which came by the ",
                       LinkName(tree, from)),
          LeavesBelowLink(tree, from)};
}

FabricError DamageOf(const LinkEnd& from, const FatTree& tree, int half) {
  return {FabricError::kNetwork,
          absl::StrCat(HalfName(half), " data network: a message was damaged on the ",
                       LinkName(tree, from)),
          LeavesBelowLink(tree, from)};
}

std::vector<FabricError> DescribeLosses(const Kirchhoff& law, int half, const FatTree& tree,
                                        std::span<const Partition> partitions) {
  struct Places {
    size_t count = 0;
    Subtree one{};
  };
  std::map<std::vector<uint32_t>, Places> of;  // by partitions concerned
  std::vector<FabricError> errors;
  const std::string network = absl::StrCat(HalfName(half), " data network: ");
  for (const Kirchhoff::Finding& finding : law.Find()) {
    const Subtree below = finding.in_chip ? LeavesBelow(tree, finding.from.id)
                                          : LeavesBelowLink(tree, finding.from);
    Places& places = of[ConcernedBy(partitions, below)];
    places.one = below;
    if (++places.count > kPlacesMax) continue;
    errors.push_back({FabricError::kNetwork, network + law.Describe(finding), below});
  }
  for (const auto& [concerned, places] : of) {
    if (places.count <= kPlacesMax) continue;
    errors.push_back({FabricError::kNetwork,
                      absl::StrCat(network, "messages lost or duplicated in ",
                                   places.count - kPlacesMax, " more places"),
                      places.one});
  }
  return errors;
}

void AppendRegionStats(const Region& region, int half, std::vector<FabricStat>* stats) {
  const std::string name = HalfName(half);
  RouterChipStats sum{};
  uint64_t hops = 0;
  for (uint32_t i = 0; i < region.chips(); ++i) {
    const RouterChipStats chip = region.chip(i).stats();
    for (unsigned port = 0; port < kChipPorts; ++port) {
      hops += chip.out[port];
      if (chip.out[port] == 0) continue;
      stats->push_back(
          {absl::StrCat(name, ": ", LinkEndName(region.tree(), ChipEnd(region.chip_id(i), port)),
                        port >= kChildren ? ", up" : ", down"),
           chip.out[port], true});
    }
    sum.stalled_up += chip.stalled_up;
    sum.stalled_down += chip.stalled_down;
    sum.primary_errors += chip.primary_errors;
    sum.secondary_errors += chip.secondary_errors;
    sum.misrouted += chip.misrouted;
    sum.dropped += chip.dropped;
  }
  stats->push_back({name + ": hops between chips", hops});
  stats->push_back({name + ": stalls, all parent links busy", sum.stalled_up});
  stats->push_back({name + ": stalls, child link busy", sum.stalled_down});
  stats->push_back({name + ": CRC errors, primary", sum.primary_errors});
  stats->push_back({name + ": CRC errors, secondary", sum.secondary_errors});
  stats->push_back({name + ": packets with impossible routes", sum.misrouted});
  stats->push_back({name + ": packets that chips dropped", sum.dropped});
  if (region.ignored() != 0) {
    stats->push_back({name + ": signals of mapped-out parts, ignored", region.ignored()});
  }
  if (const LinkFaults* faults = region.link_faults()) {
    stats->push_back({name + ": faults, bits flipped", faults->counts().flipped});
    stats->push_back({name + ": faults, messages lost", faults->counts().lost});
    stats->push_back({name + ": faults, messages duplicated", faults->counts().duplicated});
  }
}

void WaitingReport::Add(const DataPort& port, const vcm5_ni_page& page) {
  const std::string network = absl::StrCat(HalfName(half_), " data network");
  if (port.failed()) {
    closed_.push_back(absl::StrCat(NodeName(partitions_, nodes_, port.self()), "'s port to the ",
                                   network, " is closed"));
    return;
  }
  Note(port.self(), port.Undelivered(), absl::StrCat(" to receive on the ", network));
  Note(port.self(), vcm5_load_acquire(&page.node_data.out_tail[half_]) - port.taken(),
       absl::StrCat(" that the ", network, " has not taken"));
}

void WaitingReport::Note(uint32_t physical, uint32_t messages, const std::string& what) {
  if (messages == 0) return;
  const std::string text = absl::StrCat(messages, messages == 1 ? " message" : " messages", what);
  for (size_t i = 0; i < partitions_.size(); ++i) {
    const Partition& members = partitions_[i];
    const auto at = std::lower_bound(members.begin(), members.end(), physical);
    if (at == members.end() || *at != physical) continue;
    alike_[{i, text}].push_back(static_cast<uint32_t>(at - members.begin()));
  }
}

std::vector<std::string> WaitingReport::Lines() const {
  std::vector<std::string> lines = closed_;
  for (const auto& [said, members] : alike_) {
    const auto& [index, text] = said;
    const Partition& partition = partitions_[index];
    if (members.size() == 1) {
      const std::string name = NodeName(partitions_, nodes_, partition[members.front()]);
      lines.push_back(absl::StrCat(name, " has ", text));
      continue;
    }
    lines.push_back(absl::StrCat(
        partitions_.size() == 1 ? "" : absl::StrCat("partition ", index, ": "),
        NodeRanges(members, NodesOf(partition, nodes_)), " each have ", text));
  }
  return lines;
}

std::vector<WireEnd> CountWireEnds(const Region& region, int half) {
  std::vector<WireEnd> ends;
  for (uint32_t wire = 0; wire < region.wires(); ++wire) {
    uint64_t in = 0;
    uint64_t out = 0;
    if (!region.WireCounts(wire, &in, &out)) continue;
    ends.push_back({half, wire, static_cast<uint32_t>(in), static_cast<uint32_t>(out)});
  }
  return ends;
}

uint64_t MessagesHeld(const Region& region) {
  uint64_t held = 0;
  for (uint32_t i = 0; i < region.chips(); ++i) {
    for (unsigned port = 0; port < kChipPorts; ++port) held += region.chip(i).Waiting(port);
  }
  return held;
}

}  // namespace vcm5
