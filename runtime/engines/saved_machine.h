// All that users have in a machine (SY2, SY3): what the NIs of every partition hold of them, and what
// the data networks held, which fell to the NIs. Together with the memory of the programs, which the
// ports are a part of, it is enough to go on elsewhere: it names nodes by their relative addresses
// and nothing else of the machine, so that another machine will do whose partitions have as many
// nodes and whose FIFOs have room, of whatever topology, seed and cut.
#ifndef VCM5_RUNTIME_ENGINES_SAVED_MACHINE_H_
#define VCM5_RUNTIME_ENGINES_SAVED_MACHINE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "netif/ni/saved_ni.h"
#include "netif/port/saved_port.h"
#include "netif/shm/ni_page.h"
#include "netif/wire/data_packet.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

// A message of all-fall-down (DN7).
struct SavedMessage {
  uint32_t at = 0;       // whose NI captured it, and is to send it again
  uint32_t to = 0;       // its true destination; both are relative addresses
  DataPacket packet = {};  // length, tag and words
};

struct SavedPartition {
  struct Node {
    SavedNi ni;
    SavedPort port;
  };
  std::vector<Node> nodes;  // by relative address
  bool has_host = false;    // which is the last of them
  std::vector<SavedMessage> captured[VCM5_HALVES];
};

struct SavedMachine {
  std::vector<SavedPartition> partitions;

  // As words: a mark, the version, the number of words, what is above, and a CRC over all of it.
  std::vector<uint32_t> Encode() const;
  // The words may come from anywhere.
  static absl::StatusOr<SavedMachine> Decode(std::span<const uint32_t> words);

  // Whether a machine of `spec` with such partitions can go on with this; if not, which node of
  // which partition why.
  absl::Status Check(const MachineSpec& spec, const std::vector<Partition>& on) const;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_SAVED_MACHINE_H_
