// What `vcm5 run` was asked to do, checked.
#ifndef VCM5_RUNTIME_LAUNCH_RUN_OPTIONS_H_
#define VCM5_RUNTIME_LAUNCH_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemons/link/make_link.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

struct ProgramFile {
  std::string path;                    // of an executable file
  std::vector<std::string> arguments;  // argv[1], ...
};

// A program and the partition whose nodes run it.
struct ProgramRun : ProgramFile {
  Partition partition;
  // What the partition's host runs, if it has one. Under `daemons` the nodes then get `image`, the
  // program that is at `path` (ReadNodeProgram), by broadcast.
  std::optional<ProgramFile> host;
  std::vector<uint8_t> image;
};

struct RunOptions {
  MachineSpec machine;
  std::vector<ProgramRun> programs;  // at least one; CheckPartitions() holds for their partitions
  uint32_t data_daemons = 1;
  LinkKind link = LinkKind::kShm;
  bool label = false;          // put "[3] " before each line of node 3; "[1:3] " in partition 1 of several
  double timeout_seconds = 0;  // 0: none
  bool stats = false;

  uint32_t nodes() const {  // of all partitions, hosts included
    size_t nodes = 0;
    for (const ProgramRun& program : programs) nodes += program.partition.size();
    return static_cast<uint32_t>(nodes);
  }

  std::vector<Partition> partitions() const {
    std::vector<Partition> partitions;
    for (const ProgramRun& program : programs) partitions.push_back(program.partition);
    return partitions;
  }

  // A member by its relative address, as `label` names it: "3", "host"; "1:3" in partition 1 of several.
  std::string LabelOf(size_t partition, uint32_t self) const {
    const bool is_host = self == NodesOf(programs[partition].partition, machine.nodes);
    const std::string name = is_host ? "host" : absl::StrCat(self);
    return programs.size() == 1 ? name : absl::StrCat(partition, ":", name);
  }
};

// Exit statuses of our own; a program's are passed on.
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeout = 124;  // as timeout(1)

}  // namespace vcm5

#endif  // VCM5_RUNTIME_LAUNCH_RUN_OPTIONS_H_
