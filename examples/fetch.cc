// fetch: remote reads, by all nodes of all nodes, at once.
//
// A table is spread over the nodes. Each node reads entries all over it as fast as it can ask, and
// answers the others meanwhile. With one network and finite buffers this deadlocks: a node that
// cannot send an answer must not stop receiving, but has no place for the requests (the
// fetch-deadlock problem of paper section 3). Here requests go through the left half of the data
// network and replies through the right one. While a reply cannot be sent a node takes in replies
// only, which need no room; so the replies drain, so the requests do. No buffer grows with the
// number of nodes or reads.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/common/blocks.h"
#include "examples/common/program.h"

namespace {

// A hash of 64 bits (SplitMix64's): the same table and the same reads for any number of nodes.
uint64_t Mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t EntryOf(uint64_t index) { return Mix(index ^ 0x5eed); }

}  // namespace

int main(int argc, char** argv) {
  vcm5::Node& node = vcm5::self();
  uint64_t entries = 65536;
  uint64_t reads = 100000;
  uint64_t seed = 1;
  CLI::App app("Reads entries of a table that is spread over all nodes, and prints their sum.");
  app.add_option("--entries", entries, "entries of the table, all nodes together")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 28));
  app.add_option("--reads", reads, "reads, all nodes together")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 32));
  app.add_option("--seed", seed, "which entries are read")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  examples::ParseCommandLine(node, app, argc, argv);

  const examples::Blocks table_blocks{entries, node.size()};
  const uint64_t first = table_blocks.Begin(node.self());
  std::vector<uint64_t> table(table_blocks.Size(node.self()));
  for (uint64_t i = 0; i < table.size(); ++i) table[i] = EntryOf(first + i);

  uint64_t sum = 0;
  uint64_t wrong = 0;
  uint64_t answers = 0;
  const auto reply = node.AddHandler([&](uint32_t index, uint64_t entry) {
    sum += entry;
    wrong += entry != EntryOf(index) ? 1 : 0;
    ++answers;
  });
  const auto request = node.AddHandler(
      [&](uint32_t from, uint32_t index) { node.Reply(from, reply, index, table[index - first]); });

  const examples::Blocks read_blocks{reads, node.size()};
  for (uint64_t i = read_blocks.Begin(node.self()); i < read_blocks.End(node.self()); ++i) {
    const auto index = static_cast<uint32_t>(Mix(seed * 0x9e3779b9 + i) % entries);
    node.Request(table_blocks.Owner(index), request, node.self(), index);
  }
  // All requests have been answered when nothing is in the network any more.
  node.Quiesce();

  sum = node.Reduce(vcm5::kAdd, sum);
  wrong = node.Reduce(vcm5::kAdd, wrong);
  answers = node.Reduce(vcm5::kAdd, answers);
  if (node.self() == 0) {
    std::printf("%llu reads of %llu entries: sum %llu, %llu wrong\n",
                static_cast<unsigned long long>(answers), static_cast<unsigned long long>(entries),
                static_cast<unsigned long long>(sum), static_cast<unsigned long long>(wrong));
  }
  return answers == reads && wrong == 0 ? 0 : 1;
}
