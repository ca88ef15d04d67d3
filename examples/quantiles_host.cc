// quantiles, the host: reads whole numbers from a file (or from standard input, for `-`), deals them
// out to the nodes, and prints their quartiles.
//
// The scalar part runs here, the parallel part on the nodes (paper section 5): the host looks for each
// quartile by bisection, and each step is a broadcast to the nodes and a reduction of what they count.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "examples/common/blocks.h"
#include "examples/quantiles.h"
#include "vcm5/vcm5.hpp"

namespace {

using examples::Question;

bool ReadNumbers(std::istream& in, std::vector<int64_t>* numbers) {
  for (int64_t number; in >> number;) numbers->push_back(number);
  return in.eof();
}

// Numbers that are at most `pivot`, by the nodes' count.
uint64_t CountUpTo(vcm5::Node& node, int64_t pivot) {
  Question question{pivot, 0};
  node.Broadcast(node.host(), question);
  return node.Reduce(vcm5::kAdd, uint64_t{0});
}

// The least number of [low, high] that more than `rank` numbers are at most.
int64_t NumberOfRank(vcm5::Node& node, uint64_t rank, int64_t low, int64_t high) {
  while (low < high) {
    const auto width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const auto middle = static_cast<int64_t>(static_cast<uint64_t>(low) + width / 2);
    if (CountUpTo(node, middle) > rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

void DealOut(vcm5::Node& node, const std::vector<int64_t>& numbers) {
  // Nodes register their memory as the first buffer; it goes by that number here, too.
  const vcm5::BufferId buffer = node.RegisterBuffer({});
  node.Barrier();
  const examples::Blocks blocks{numbers.size(), node.size()};
  for (uint32_t to = 0; to < node.size(); ++to) {
    const std::span block(numbers.data() + blocks.Begin(to), blocks.Size(to));
    node.Put(to, buffer, 0, std::as_bytes(block));
  }
  node.Quiesce();
}

void EndNodes(vcm5::Node& node) {
  uint64_t count = examples::kNoNumbers;
  node.Broadcast(node.host(), count);
}

int GiveUp(vcm5::Node& node, const std::string& why) {
  std::fprintf(stderr, "quantiles: %s\n", why.c_str());
  EndNodes(node);
  return 2;
}

int Help(vcm5::Node& node) {
  std::printf("Quartiles of whole numbers, which the host reads and the nodes keep.\n"
              "Usage: vcm5 run -n N --host quantiles_host --host-arg FILE quantiles_node\n\n"
              "FILE holds numbers of 64 bits, with white space between; -: standard input\n");
  EndNodes(node);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  vcm5::Node& node = vcm5::self();
  if (!node.is_host()) {
    if (node.self() == 0) {
      std::fprintf(stderr, "quantiles_host is a host's program: vcm5 run --host quantiles_host "
                           "--host-arg FILE quantiles_node\n");
    }
    return 2;
  }
  if (argc != 2) return GiveUp(node, "expected one argument: a file of whole numbers, or -");
  const std::string path = argv[1];
  if (path == "--help") return Help(node);
  std::vector<int64_t> numbers;
  std::ifstream file;
  if (path != "-") file.open(path);
  if (path != "-" && !file) return GiveUp(node, "cannot read " + path);
  if (!ReadNumbers(path == "-" ? std::cin : file, &numbers)) {
    return GiveUp(node, path + ": number " + std::to_string(numbers.size() + 1) +
                            " is no whole number of 64 bits");
  }
  if (numbers.empty()) return GiveUp(node, path + " has no numbers");

  uint64_t count = numbers.size();
  node.Broadcast(node.host(), count);
  DealOut(node, numbers);
  const int64_t low = node.Reduce(vcm5::kMin, INT64_MAX);
  const int64_t high = node.Reduce(vcm5::kMax, INT64_MIN);
  constexpr const char* kNames[] = {"minimum", "lower quartile", "median", "upper quartile",
                                    "maximum"};
  for (uint64_t quarter = 0; quarter <= 4; ++quarter) {
    const uint64_t rank = (count - 1) / 4 * quarter + (count - 1) % 4 * quarter / 4;
    std::printf("%-14s %lld\n", kNames[quarter],
                static_cast<long long>(NumberOfRank(node, rank, low, high)));
  }
  Question last{0, 1};
  node.Broadcast(node.host(), last);
  return 0;
}
