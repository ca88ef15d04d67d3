// sort: sorts a file of integers, or the lines of a text, by radix sort (radix_sort.h).
//
// Integers have keys of 8 bytes. A line of text is a number of fixed-size blocks: 7 bytes of text
// and one that says how many of them there are. Lines are sorted by their last block first and
// their first block last; before each round a node fetches the block that it needs from the node
// that holds the line, by a request and a reply (paper section 3). So a line never moves until its
// place is known.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/common/blocks.h"
#include "examples/common/program.h"
#include "examples/radix_sort.h"

namespace {

using examples::Blocks;
using examples::RadixSort;
using examples::SortRecord;

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// ---- integers
// ------------------------------------------------------------------------------------

// The integers of this node's part of the file, as keys of the same order.
std::vector<SortRecord> ParseIntegers(vcm5::Node& node, std::string_view part) {
  constexpr uint64_t kTopBit = uint64_t{1} << 63;
  std::vector<SortRecord> records;
  std::string wrong;
  size_t at = 0;
  while (wrong.empty()) {
    while (at < part.size() && IsSpace(part[at])) ++at;
    if (at == part.size()) break;
    const size_t begin = at;
    while (at < part.size() && !IsSpace(part[at])) ++at;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data() + begin, part.data() + at, value);
    if (error != std::errc() || end != part.data() + at) {
      wrong = part.substr(begin, std::min<size_t>(at - begin, 40));
    }
    records.push_back({static_cast<uint64_t>(value) ^ kTopBit, 0, 0});
  }
  // The first node that met something else tells what it was.
  const uint32_t accuser = node.Reduce(vcm5::kMin, wrong.empty() ? node.size() : node.self());
  if (accuser < node.size()) {
    node.Broadcast(accuser, wrong);
    examples::Fail(node, "expected integers of at most 64 bits, not `" + wrong + "`");
  }
  return records;
}

std::string SortIntegers(vcm5::Node& node, std::string_view part) {
  const std::vector<SortRecord> mine = ParseIntegers(node, part);
  const uint64_t first = node.ScanForward(vcm5::kAdd, uint64_t{mine.size()});
  const uint64_t total = node.Reduce(vcm5::kAdd, uint64_t{mine.size()});
  RadixSort sort(node, Blocks{total, node.size()});
  sort.Load(first, mine);
  sort.Sort();
  std::string text;
  for (const SortRecord& record : sort.records()) {
    text += std::to_string(static_cast<int64_t>(record.key ^ (uint64_t{1} << 63)));
    text += '\n';
  }
  return examples::Gather(node, text);
}

// ---- lines of text
// -------------------------------------------------------------------------------

constexpr size_t kBlockBytes = 7;

std::vector<std::string_view> SplitLines(std::string_view part) {
  std::vector<std::string_view> lines;
  while (!part.empty()) {
    const size_t end = std::min(part.find('\n'), part.size());
    lines.push_back(part.substr(0, end));
    part.remove_prefix(std::min(end + 1, part.size()));
  }
  return lines;
}

// Block `index` of a line as a key. A line that is a prefix of another has smaller keys.
uint64_t BlockKey(std::string_view line, size_t index) {
  const std::string_view block = line.substr(std::min(line.size(), index * kBlockBytes));
  const size_t bytes = std::min(block.size(), kBlockBytes);
  uint64_t key = 0;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    key = key << 8 | (i < bytes ? static_cast<uint8_t>(block[i]) : 0u);
  }
  return key << 8 | bytes;
}

// The lines of a text, each on the node where it was read, and who has which.
class Lines {
 public:
  Lines(vcm5::Node& node, std::string_view part)
      : node_(node), lines_(SplitLines(part)), first_(node.size()) {
    const uint64_t all = node.Reduce(vcm5::kAdd, uint64_t{lines_.size()});
    if (all > UINT32_MAX) examples::Fail(node, "too many lines");
    total_ = static_cast<uint32_t>(all);
    // Every node's first line number, on every node: each gives its own, the maximum is all.
    first_[node.self()] = node.ScanForward(vcm5::kAdd, static_cast<uint32_t>(lines_.size()));
    node.Reduce(vcm5::kMax, first_, std::span(first_));
    size_t longest = 0;
    for (const std::string_view line : lines_) longest = std::max(longest, line.size());
    longest_ = node.Reduce(vcm5::kMax, uint64_t{longest});
  }

  uint32_t total() const { return total_; }
  uint64_t longest() const { return longest_; }
  uint32_t HomeOf(uint32_t line) const {
    // Nodes without lines have the same first line as the next one; the last of them has it.
    return static_cast<uint32_t>(std::upper_bound(first_.begin(), first_.end(), line) -
                                 first_.begin() - 1);
  }
  std::string_view Here(uint32_t line) const { return lines_[line - first_[node_.self()]]; }

 private:
  vcm5::Node& node_;
  std::vector<std::string_view> lines_;
  std::vector<uint32_t> first_;
  uint32_t total_;
  uint64_t longest_;
};

std::string SortLines(vcm5::Node& node, std::string_view part) {
  const Lines lines(node, part);
  const Blocks blocks{lines.total(), node.size()};
  RadixSort sort(node, blocks);

  // Remote reads: a request to the line's home, a reply with one block of it.
  size_t answers = 0;
  const auto answer = node.AddHandler([&](uint32_t slot, uint64_t key, uint32_t length) {
    SortRecord& record = sort.records()[slot];
    record.key = key;
    record.length = length;
    ++answers;
  });
  const auto fetch =
      node.AddHandler([&](uint32_t from, uint32_t slot, uint32_t line, uint32_t block) {
        const std::string_view text = lines.Here(line);
        node.Reply(from, answer, slot, BlockKey(text, block), static_cast<uint32_t>(text.size()));
      });

  auto rank = static_cast<uint32_t>(blocks.Begin(node.self()));
  for (SortRecord& record : sort.records()) record = {0, rank++, 0};
  for (uint64_t block = lines.longest() / kBlockBytes + 1; block-- > 0;) {
    const std::span<const SortRecord> records = sort.records();
    answers = 0;
    for (uint32_t slot = 0; slot < records.size(); ++slot) {
      const uint32_t line = records[slot].line;
      node.Request(lines.HomeOf(line), fetch, node.self(), slot, line,
                   static_cast<uint32_t>(block));
    }
    node.PollUntil([&] { return answers == records.size(); });
    sort.Sort();
  }

  // Every line's place in the output is the sum of the lengths before it: a scan. Its home puts it
  // there.
  uint64_t bytes = 0;
  for (const SortRecord& record : sort.records()) bytes += record.length + 1;
  uint64_t place = node.ScanForward(vcm5::kAdd, bytes);
  const uint64_t total = node.Reduce(vcm5::kAdd, bytes);
  std::string output(node.self() == 0 ? total : 0, '\n');
  const vcm5::BufferId buffer = node.RegisterBuffer(std::span(output));
  const auto emit = node.AddHandler([&](uint32_t line, uint64_t at) {
    const std::string_view text = lines.Here(line);
    node.Put(0, buffer, at, std::span(text));
  });
  for (const SortRecord& record : sort.records()) {
    node.Request(lines.HomeOf(record.line), emit, record.line, place);
    place += record.length + 1;
  }
  node.Quiesce();
  return output;
}

}  // namespace

int main(int argc, char** argv) {
  vcm5::Node& node = vcm5::self();
  std::string path;
  bool text = false;
  CLI::App app(
      "Sorts integers (64 bits, separated by white space), or lines of text by their bytes, and "
      "prints them one a line.");
  app.add_option("file", path, "what to sort; - is standard input")->required();
  app.add_flag("--text", text, "sort lines of text");
  examples::ParseCommandLine(node, app, argc, argv);

  const std::string whole = examples::ReadOnNodeZero(node, path);
  const uint64_t bytes = node.Reduce(vcm5::kMax, uint64_t{whole.size()});
  if (bytes >= uint64_t{1} << 31) examples::Fail(node, path + ": files are at most 2 GiB");
  const std::string part =
      examples::DealOut(node, whole, [&](char c) { return text ? c == '\n' : IsSpace(c); });
  examples::PrintOnNodeZero(node, text ? SortLines(node, part) : SortIntegers(node, part));
  return 0;
}
