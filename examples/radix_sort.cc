#include "examples/radix_sort.h"

#include <algorithm>

namespace examples {
namespace {

constexpr unsigned kDigitBits = 8;
constexpr uint32_t kDigits = 1u << kDigitBits;

uint32_t DigitOf(const SortRecord& record, unsigned shift) {
  return static_cast<uint32_t>(record.key >> shift) & (kDigits - 1);
}

}  // namespace

RadixSort::RadixSort(vcm5::Node& node, const Blocks& blocks) : node_(node), blocks_(blocks) {
  for (Side& side : sides_) {
    side.records.resize(blocks.Size(node.self()));
    side.buffer = node.RegisterBuffer(std::span(side.records));
  }
}

void RadixSort::Place(Side& side, uint64_t rank, const SortRecord& record) {
  const uint32_t owner = blocks_.Owner(rank);
  node_.Put(owner, side.buffer, (rank - blocks_.Begin(owner)) * sizeof record,
            std::span(&record, 1));
}

void RadixSort::AwaitFull(Side& side) {
  side.expected += side.records.size() * sizeof(SortRecord);
  node_.PollUntil([&] { return node_.BytesReceived(side.buffer) == side.expected; });
}

void RadixSort::Load(uint64_t first, std::span<const SortRecord> records) {
  for (const SortRecord& record : records) Place(sides_[current_], first++, record);
  AwaitFull(sides_[current_]);
}

void RadixSort::Sort() {
  for (unsigned shift = 0; shift < 64; shift += kDigitBits) Pass(shift);
}

void RadixSort::Pass(unsigned shift) {
  uint32_t counts[kDigits] = {};
  uint32_t least = kDigits;
  uint32_t greatest = 0;
  for (const SortRecord& record : records()) {
    const uint32_t digit = DigitOf(record, shift);
    ++counts[digit];
    least = std::min(least, digit);
    greatest = std::max(greatest, digit);
  }
  // Only the digits in use are worth counting; if there is but one, all stays as it is. After these
  // two operations all nodes have filled their side, and are done with the other.
  least = node_.Reduce(vcm5::kMin, least);
  greatest = node_.Reduce(vcm5::kMax, greatest);
  if (least >= greatest) return;

  const std::span<const uint32_t> used = std::span(counts).subspan(least, greatest - least + 1);
  std::vector<uint32_t> before(used.size());
  std::vector<uint32_t> total(used.size());
  node_.ScanForward(vcm5::kAdd, used, std::span(before));
  node_.Reduce(vcm5::kAdd, used, std::span(total));

  // The rank of the next record with each digit.
  std::vector<uint64_t> rank(used.size());
  uint64_t smaller = 0;
  for (size_t digit = 0; digit < used.size(); ++digit) {
    rank[digit] = smaller + before[digit];
    smaller += total[digit];
  }
  Side& target = sides_[1 - current_];
  for (const SortRecord& record : records()) {
    Place(target, rank[DigitOf(record, shift) - least]++, record);
  }
  AwaitFull(target);
  current_ = 1 - current_;
}

}  // namespace examples
