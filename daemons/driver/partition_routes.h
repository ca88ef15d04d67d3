// To whom each leaf of a machine may send: the members of its partition, by relative address (NI8).
#ifndef VCM5_DAEMONS_DRIVER_PARTITION_ROUTES_H_
#define VCM5_DAEMONS_DRIVER_PARTITION_ROUTES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "switches/topology/partition.h"
#include "switches/topology/route_table.h"

namespace vcm5 {

class PartitionRoutes {
 public:
  PartitionRoutes(uint32_t leaves, std::span<const Partition> partitions)
      : of_(leaves, partitions.size()) {
    tables_.reserve(partitions.size() + 1);
    for (const Partition& partition : partitions) tables_.emplace_back(leaves, partition);
    tables_.emplace_back(leaves, Partition{});
    for (size_t i = 0; i < partitions.size(); ++i) {
      for (const uint32_t leaf : partitions[i]) of_[leaf] = i;
    }
  }

  // Lives as long as this. Of a leaf in no partition: one without addresses.
  const RouteTable& of(uint32_t leaf) const { return tables_[of_[leaf]]; }

 private:
  std::vector<RouteTable> tables_;  // by partition; the last is that of leaves in none
  std::vector<size_t> of_;          // by leaf
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_PARTITION_ROUTES_H_
