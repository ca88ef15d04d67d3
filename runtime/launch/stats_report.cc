#include "runtime/launch/stats_report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace vcm5 {
namespace {

constexpr size_t kLinksShown = 8;

std::string Line(const FabricStat& stat, size_t width) {
  const std::string value = absl::StrCat(stat.value);
  const size_t pad = stat.name.size() + value.size() < width
                         ? width - stat.name.size() - value.size()
                         : 0;
  return absl::StrCat("  ", stat.name, std::string(pad + 2, ' '), value);
}

// The arm with the most messages a link; nothing if none carried any.
std::vector<std::string> BusiestArm(const std::map<std::string, FabricStat>& arms) {
  const FabricStat* busiest = nullptr;
  for (const auto& [name, arm] : arms) {
    if (busiest == nullptr || arm.value * busiest->arm_links > busiest->value * arm.arm_links) {
      busiest = &arm;
    }
  }
  if (busiest == nullptr) return {};
  return {absl::StrFormat("busiest arm of the data network: %s: %d messages over %d links, %.1f a link",
                          busiest->name, busiest->value, busiest->arm_links,
                          static_cast<double>(busiest->value) / busiest->arm_links)};
}

}  // namespace

std::vector<std::string> FormatStats(const std::vector<FabricStat>& stats) {
  std::vector<FabricStat> sums;
  std::map<std::string, size_t> places;
  std::vector<FabricStat> links;
  std::map<std::string, FabricStat> arms;
  for (const FabricStat& stat : stats) {
    if (stat.arm_links != 0) {
      const auto [arm, is_new] = arms.emplace(stat.name, stat);
      if (!is_new) arm->second.value += stat.value;
      continue;
    }
    if (stat.is_link) {
      if (stat.value != 0) links.push_back(stat);
      continue;
    }
    const auto [place, is_new] = places.emplace(stat.name, sums.size());
    if (is_new) {
      sums.push_back(stat);
    } else {
      sums[place->second].value += stat.value;
    }
  }
  std::stable_sort(links.begin(), links.end(), [](const FabricStat& a, const FabricStat& b) {
    return a.value > b.value;
  });
  if (links.size() > kLinksShown) links.resize(kLinksShown);

  size_t width = 0;
  for (const auto* list : {&sums, &links}) {
    for (const FabricStat& stat : *list) {
      width = std::max(width, stat.name.size() + absl::StrCat(stat.value).size());
    }
  }
  std::vector<std::string> lines = {"what the networks carried:"};
  for (const FabricStat& stat : sums) lines.push_back(Line(stat, width));
  for (std::string& line : BusiestArm(arms)) lines.push_back(std::move(line));
  lines.push_back(links.empty() ? "no link carried anything" : "busiest links:");
  for (const FabricStat& stat : links) lines.push_back(Line(stat, width));
  return lines;
}

}  // namespace vcm5
