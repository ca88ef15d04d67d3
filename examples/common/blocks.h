// Dealing out `items` things over nodes in blocks: consecutive items to consecutive nodes, sizes
// that differ by at most one, any number of items and nodes.
#ifndef VCM5_EXAMPLES_COMMON_BLOCKS_H_
#define VCM5_EXAMPLES_COMMON_BLOCKS_H_

#include <cstdint>

namespace examples {

struct Blocks {
  uint64_t items;
  uint32_t nodes;

  uint64_t Begin(uint32_t node) const { return items * node / nodes; }
  uint64_t End(uint32_t node) const { return Begin(node + 1); }
  uint64_t Size(uint32_t node) const { return End(node) - Begin(node); }
  // The node whose block has this item.
  uint32_t Owner(uint64_t item) const {
    return static_cast<uint32_t>(((item + 1) * nodes - 1) / items);
  }
};

}  // namespace examples

#endif  // VCM5_EXAMPLES_COMMON_BLOCKS_H_
