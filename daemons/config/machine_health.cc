#include "daemons/config/machine_health.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "daemons/config/place_names.h"
#include "switches/topology/health.h"

namespace vcm5 {
namespace {

double Percent(uint64_t part, uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// "1 node", "2 nodes".
std::string Count(uint64_t number, const char* what) {
  return absl::StrCat(number, " ", what, number == 1 ? "" : "s");
}

std::string Span(uint32_t first, uint32_t count) {
  return count == 1 ? absl::StrCat(first) : absl::StrCat(first, "-", first + count - 1);
}

// "leaf 7", "leaves 0-3, 9".
std::string LeafSet(const std::vector<uint32_t>& leaves) {
  std::vector<std::string> spans;
  for (const AddressRun& run : AddressRuns(leaves)) spans.push_back(Span(run.physical, run.count));
  return absl::StrCat(leaves.size() == 1 ? "leaf " : "leaves ", absl::StrJoin(spans, ", "));
}

std::string ChannelShare(uint64_t channels, const Health& health) {
  return absl::StrFormat("%.2f%% of the data network (%d of %d directions of links)",
                         Percent(channels, health.channels()), channels, health.channels());
}

std::string LeafShare(uint64_t leaves, const Health& health) {
  return absl::StrFormat("%.2f%% of the leaves", Percent(leaves, health.tree().leaves()));
}

std::string ControlShare(uint64_t links, const Health& health) {
  return absl::StrFormat("%.2f%% of the control network (%d of %d links)",
                         Percent(links, health.control().links()), links, health.control().links());
}

std::string ExplainDecision(const BrokenPart& part, const HealthDecision& decision,
                            const Health& health) {
  if (decision.way == HealthDecision::Way::kRoutedAround && part.halves == kControlNetwork) {
    return absl::StrCat("routed around, which loses ",
                        ControlShare(decision.control_links_lost, health), "\n");
  }
  if (decision.way == HealthDecision::Way::kRoutedAround) {
    std::string text = absl::StrCat("routed around, which loses ",
                                    ChannelShare(decision.channels_lost, health), "\n");
    if (decision.other_leaves.has_value()) {
      absl::StrAppend(&text, "    instead of mapping out ", *decision.other_leaves, " more leaves, ",
                      LeafShare(*decision.other_leaves, health), "\n");
    }
    return text;
  }
  if (decision.leaves.empty()) return "mapped out with the leaves below it, for another part\n";
  std::string text = absl::StrCat("mapped out with ", LeafSet(decision.leaves), ", ",
                                  LeafShare(decision.leaves.size(), health), "\n");
  if (decision.other_channels.has_value()) {
    absl::StrAppend(&text, "    instead of routing around it, which would lose ",
                    ChannelShare(*decision.other_channels, health), "\n");
  } else {
    absl::StrAppend(&text, "    there is no way around it for them\n");
  }
  return text;
}

const char* WayName(HealthDecision::Way way) {
  return way == HealthDecision::Way::kRoutedAround ? "routed around" : "mapped out";
}

}  // namespace

std::vector<AddressRun> AddressRuns(const std::vector<uint32_t>& members) {
  std::vector<AddressRun> runs;
  for (uint32_t relative = 0; relative < members.size(); ++relative) {
    const uint32_t physical = members[relative];
    if (!runs.empty() && runs.back().physical + runs.back().count == physical) {
      ++runs.back().count;
    } else {
      runs.push_back({relative, physical, 1});
    }
  }
  return runs;
}

std::string ExplainMachine(const MachineSpec& spec) {
  const Health health(spec);
  const std::vector<uint32_t> members = health.Nodes();
  std::string text = absl::StrCat(Count(spec.broken.size(), "broken part"), "; ", members.size(), " of ",
                                  Count(spec.nodes, "node"), " usable\n");
  for (size_t i = 0; i < spec.broken.size(); ++i) {
    absl::StrAppend(&text, "  ", PlaceName(spec.broken[i]), ": ",
                    ExplainDecision(spec.broken[i], health.decisions()[i], health));
  }
  if (!spec.broken.empty()) {
    absl::StrAppend(&text, "together they lose ", ChannelShare(health.channels_lost(), health), "\n");
    if (health.control_links_lost() != 0) {
      absl::StrAppend(&text, "  and ", ControlShare(health.control_links_lost(), health), "\n");
    }
    absl::StrAppend(&text, "  and ", LeafShare(health.leaves_lost(), health), "\n");
  }
  absl::StrAppend(&text, "addresses of nodes:\n");
  for (const AddressRun& run : AddressRuns(members)) {
    absl::StrAppend(&text, "  relative ", Span(run.relative, run.count), " is physical ",
                    Span(run.physical, run.count), "\n");
  }
  return text;
}

// Names of places hold nothing that JSON would have escaped.
std::string ExplainMachineJson(const MachineSpec& spec) {
  const Health health(spec);
  const std::vector<uint32_t> members = health.Nodes();
  std::string text = absl::StrCat(
      "{\n  \"nodes\": ", spec.nodes, ",\n  \"leaves\": ", health.tree().leaves(),
      ",\n  \"usable_nodes\": ", members.size(), ",\n  \"channels\": ", health.channels(),
      ",\n  \"channels_lost\": ", health.channels_lost(),
      absl::StrFormat(",\n  \"network_percent_lost\": %.3f",
                      Percent(health.channels_lost(), health.channels())),
      ",\n  \"control_links\": ", health.control().links(),
      ",\n  \"control_links_lost\": ", health.control_links_lost(),
      ",\n  \"leaves_lost\": ", health.leaves_lost(), ",\n  \"broken\": [");
  for (size_t i = 0; i < spec.broken.size(); ++i) {
    const HealthDecision& decision = health.decisions()[i];
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", "    {\"part\": \"", PlaceName(spec.broken[i]),
                    "\", \"way\": \"", WayName(decision.way), "\", \"choice\": ",
                    decision.other_channels || decision.other_leaves ? "true" : "false",
                    ", \"channels_lost\": ", decision.channels_lost, ", \"control_links_lost\": ",
                    decision.control_links_lost, ", \"leaves_lost\": [",
                    absl::StrJoin(decision.leaves, ", "), "]");
    if (decision.other_channels) {
      absl::StrAppend(&text, ", \"other_way_channels_lost\": ", *decision.other_channels);
    }
    if (decision.other_leaves) {
      absl::StrAppend(&text, ", \"other_way_leaves_lost\": ", *decision.other_leaves);
    }
    absl::StrAppend(&text, "}");
  }
  absl::StrAppend(&text, spec.broken.empty() ? "],\n" : "\n  ],\n", "  \"addresses\": [");
  const char* separator = "\n";
  for (const AddressRun& run : AddressRuns(members)) {
    absl::StrAppend(&text, separator, "    {\"relative\": ", run.relative, ", \"physical\": ",
                    run.physical, ", \"count\": ", run.count, "}");
    separator = ",\n";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace vcm5
