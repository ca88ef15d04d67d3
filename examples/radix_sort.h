// Radix sort over all nodes, by scans (paper section 5; Blelloch, "Vector Models for Data-Parallel
// Computing"): one stable pass for each digit of the key, least significant digit first.
//
// In a pass each node counts its records by digit. A forward scan of these counts, all digits at
// once, tells every node how many records with that digit lie on the nodes before it; a reduction
// tells how many there are. So each node knows the rank of each of its records without having seen
// any other, and puts it where that rank is held.
#ifndef VCM5_EXAMPLES_RADIX_SORT_H_
#define VCM5_EXAMPLES_RADIX_SORT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "examples/common/blocks.h"
#include "vcm5/vcm5.hpp"

namespace examples {

// What is sorted. 16 bytes: one message of the CM-5.
struct SortRecord {
  uint64_t key;
  uint32_t line;    // for lines of text: which
  uint32_t length;  // and how long
};

class RadixSort {
 public:
  // Collective. Ranks are dealt out in blocks; fewer than 2^32 records.
  RadixSort(vcm5::Node& node, const Blocks& blocks);

  // This node's records, in rank order.
  std::span<SortRecord> records() { return sides_[current_].records; }

  // Puts records at ranks `first`, `first + 1`, ... wherever these are held. Collective; together
  // the nodes give all records.
  void Load(uint64_t first, std::span<const SortRecord> records);

  // Sorts by key. Records of equal keys keep their order.
  void Sort();

 private:
  struct Side {
    std::vector<SortRecord> records;
    vcm5::BufferId buffer;
    uint64_t expected = 0;  // bytes received when it has been filled
  };

  void Pass(unsigned shift);
  void Place(Side& side, uint64_t rank, const SortRecord& record);
  void AwaitFull(Side& side);

  vcm5::Node& node_;
  Blocks blocks_;
  Side sides_[2];  // a pass goes from one to the other
  unsigned current_ = 0;
};

}  // namespace examples

#endif  // VCM5_EXAMPLES_RADIX_SORT_H_
