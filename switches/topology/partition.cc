#include "switches/topology/partition.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

namespace {

bool HasLeaf(const Subtree& subtree, uint32_t leaf) { return leaf - subtree.first < subtree.size; }

std::span<const uint32_t> WithoutHost(const Partition& partition, uint32_t nodes) {
  return {partition.data(), NodesOf(partition, nodes)};
}

}  // namespace

Subtree SubtreeOf(std::span<const uint32_t> nodes) {
  VCM5_CHECK(!nodes.empty());
  const uint32_t last = nodes.back();
  const uint32_t size = uint32_t{1} << (2 * FatTree::CommonLevel(nodes.front(), last));
  return {last / size * size, size};
}

absl::Status CheckPartitions(std::span<const Partition> partitions, uint32_t nodes,
                             uint32_t control_processors) {
  for (size_t i = 0; i < partitions.size(); ++i) {
    const Partition& partition = partitions[i];
    if (partition.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("partition ", i, " has no nodes"));
    }
    if (std::adjacent_find(partition.begin(), partition.end(), std::greater_equal<>()) !=
        partition.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the addresses of partition ", i, " do not ascend"));
    }
    const bool has_host = HasHost(partition, nodes) && partition.back() - nodes < control_processors;
    const std::span<const uint32_t> members = {partition.data(), partition.size() - (has_host ? 1 : 0)};
    if (members.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("partition ", i, " has a host and no nodes"));
    }
    if (members.back() >= nodes) {
      return absl::InvalidArgumentError(absl::StrCat("partition ", i, " has node ", members.back(),
                                                     ", but the machine's are 0 to ", nodes - 1));
    }
    const Subtree mine = SubtreeOf(members);
    for (size_t j = 0; j < i; ++j) {
      if (has_host && partitions[j].back() == partition.back()) {
        return absl::InvalidArgumentError(
            absl::StrCat("partitions ", j, " and ", i, " have the same host"));
      }
      const Subtree other = SubtreeOf(WithoutHost(partitions[j], nodes));
      if (mine.first >= other.first + other.size || other.first >= mine.first + mine.size) continue;
      const Subtree& larger = mine.size > other.size ? mine : other;
      return absl::InvalidArgumentError(
          absl::StrCat("partitions ", j, " and ", i, " share chips: both are in the subtree of leaves ",
                       larger.first, " to ", larger.first + larger.size - 1));
    }
  }
  return absl::OkStatus();
}

std::optional<std::vector<Partition>> PlacePartitions(std::span<const uint32_t> sizes,
                                                      std::span<const uint32_t> nodes) {
  std::vector<Partition> placed;
  std::vector<Subtree> taken;
  const auto place = [&](uint32_t count, const Subtree& at) {
    for (const Subtree& other : taken) {
      if (at.first < other.first + other.size && other.first < at.first + at.size) return false;
    }
    const auto first = std::lower_bound(nodes.begin(), nodes.end(), at.first);
    const auto last = std::lower_bound(first, nodes.end(), at.first + at.size);
    if (last - first < static_cast<ptrdiff_t>(count)) return false;
    placed.emplace_back(first, first + count);
    taken.push_back(at);
    return true;
  };
  for (const uint32_t count : sizes) {
    VCM5_CHECK(count > 0);
    if (count > nodes.size()) return std::nullopt;
    const uint32_t last = nodes.back();
    bool done = false;
    for (unsigned level = FatTree::CommonLevel(0, count - 1);
         !done && level <= FatTree::CommonLevel(0, last); ++level) {
      Subtree at{0, uint32_t{1} << (2 * level)};
      for (; !done && at.first <= last; at.first += at.size) done = place(count, at);
    }
    if (!done) return std::nullopt;
  }
  return placed;
}

bool PlaceHosts(std::span<const uint32_t> control_processors, const std::vector<bool>& wanted,
                std::vector<Partition>* partitions) {
  VCM5_CHECK(wanted.size() == partitions->size());
  if (static_cast<size_t>(std::count(wanted.begin(), wanted.end(), true)) >
      control_processors.size()) {
    return false;
  }
  std::vector<Subtree> subtrees;
  for (const Partition& partition : *partitions) subtrees.push_back(SubtreeOf(partition));
  std::vector<uint32_t> left(control_processors.begin(), control_processors.end());
  std::vector<bool> wants = wanted;
  const auto take = [&](size_t i, auto suits) {
    const auto found = std::find_if(left.begin(), left.end(), suits);
    if (!wants[i] || found == left.end()) return;
    (*partitions)[i].push_back(*found);
    left.erase(found);
    wants[i] = false;
  };
  for (size_t i = 0; i < wants.size(); ++i) {
    take(i, [&](uint32_t leaf) { return HasLeaf(subtrees[i], leaf); });
  }
  for (size_t i = 0; i < wants.size(); ++i) {
    take(i, [&](uint32_t leaf) {
      return std::none_of(subtrees.begin(), subtrees.end(),
                          [&](const Subtree& subtree) { return HasLeaf(subtree, leaf); });
    });
  }
  for (size_t i = 0; i < wants.size(); ++i) take(i, [](uint32_t) { return true; });
  return true;
}

Partition AllMembers(std::span<const Partition> partitions) {
  Partition all;
  for (const Partition& partition : partitions) {
    all.insert(all.end(), partition.begin(), partition.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

uint32_t PlacedNodes(std::span<const Partition> partitions) {
  uint32_t nodes = 0;
  for (const Partition& partition : partitions) nodes = std::max(nodes, partition.back() + 1);
  return nodes;
}

uint32_t PlacedNodesApart(std::span<const Partition> partitions) {
  uint32_t nodes = 0;
  for (const Partition& partition : partitions) {
    const Subtree subtree = SubtreeOf(partition);
    nodes = std::max(nodes, subtree.first + subtree.size);
  }
  return nodes;
}

}  // namespace vcm5
