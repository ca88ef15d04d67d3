// Where in the tree of a partition the faults of control-network links are, in the words of reports.
#ifndef VCM5_TESTS_CAMPAIGN_CONTROL_PLACES_H_
#define VCM5_TESTS_CAMPAIGN_CONTROL_PLACES_H_

#include <string>
#include <vector>

#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5::campaign {

// How a report of damage ends, for each fault in this partition: ", on the link up from node 5". Of
// damage on a leaf's link from the tree, which its NI finds: how it begins, "node 5: ".
struct ControlPlaces {
  std::vector<std::string> ends;
  std::vector<std::string> leaves;
};
ControlPlaces PlacesOf(const MachineSpec& spec, const std::vector<Partition>& partitions);

// Of a partition, by relative address: nodes that a report need not reach, since it has to pass a link on which
// faults strike again and again.
std::vector<bool> CutOff(const MachineSpec& spec, const std::vector<Partition>& partitions, size_t index);

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_CONTROL_PLACES_H_
