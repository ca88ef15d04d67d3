// Halo exchange for a grid dealt out in strips of rows: before each step every node needs the row
// above its strip and the row below it, which others hold.
//
// There is no barrier. A node puts its edge rows into its neighbours' memory and waits until as
// many bytes have come to itself. A neighbour can be one step ahead, but not two, for it needs this
// node's rows of that step; so two buffers, used in turn, are enough.
#ifndef VCM5_EXAMPLES_COMMON_HALO_H_
#define VCM5_EXAMPLES_COMMON_HALO_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vcm5/vcm5.hpp"

namespace examples {

// The neighbour rows of a strip with rows of `T`. Made on all nodes together.
template <typename T>
class Halo {
 public:
  // The nodes that hold the row above and the row below; none at an edge, or without a strip.
  Halo(vcm5::Node& node, size_t columns, std::optional<uint32_t> above,
       std::optional<uint32_t> below)
      : node_(node), columns_(columns), above_(above), below_(below) {
    for (Side& side : sides_) {
      side.rows.resize(2 * columns);
      side.buffer = node.RegisterBuffer(std::span(side.rows));
    }
  }
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  // Gives this strip's first and last row to the neighbours and waits for theirs.
  void Exchange(std::span<const T> first, std::span<const T> last) {
    current_ = 1 - current_;
    Side& side = sides_[current_];
    // This strip's first row is what its upper neighbour has below it.
    if (above_) node_.Put(*above_, side.buffer, columns_ * sizeof(T), first);
    if (below_) node_.Put(*below_, side.buffer, 0, last);
    side.expected += ((above_ ? 1 : 0) + (below_ ? 1 : 0)) * columns_ * sizeof(T);
    node_.PollUntil([&] { return node_.BytesReceived(side.buffer) == side.expected; });
  }

  // The neighbour rows of the last exchange; zeros where there is no neighbour.
  std::span<const T> above() const { return std::span(sides_[current_].rows).first(columns_); }
  std::span<const T> below() const { return std::span(sides_[current_].rows).last(columns_); }

 private:
  struct Side {
    std::vector<T> rows;  // the one above, the one below
    vcm5::BufferId buffer;
    uint64_t expected = 0;  // bytes received when all of the exchanges so far have come
  };

  vcm5::Node& node_;
  size_t columns_;
  std::optional<uint32_t> above_;
  std::optional<uint32_t> below_;
  Side sides_[2];
  unsigned current_ = 0;
};

}  // namespace examples

#endif  // VCM5_EXAMPLES_COMMON_HALO_H_
