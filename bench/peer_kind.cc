#include "bench/peer_kind.h"

#include <algorithm>

namespace vcm5::bench {
namespace {

const std::vector<PeerKind>& Kinds() {
  static const std::vector<PeerKind> kinds = {
      {.name = "openmpi",
       .title = "Open MPI",
       .compilers = {"mpicc.openmpi", "mpicc"},
       .launchers = {"mpirun.openmpi", "mpirun"},
       // More ranks than cores are usual here; then a rank that waits has to let others run.
       .launch_arguments = {"--oversubscribe", "--mca", "mpi_yield_when_idle", "1"},
       .variables = {},
       .root_variables = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
       .packages = "openmpi-bin libopenmpi-dev"},
      {.name = "mpich",
       .title = "MPICH",
       .compilers = {"mpicc.mpich"},
       .launchers = {"mpiexec.mpich"},
       .launch_arguments = {},
       .variables = {},
       .root_variables = {},
       .packages = "mpich libmpich-dev",
       .version_line = "Version:"},
      {.name = "floor",
       .title = "the floor: three processes, two of which pass messages by way of the third",
       .compilers = {},
       .launchers = {},
       .launch_arguments = {},
       .variables = {},
       .root_variables = {},
       .packages = "",
       .program = "vcm5-bench-floor",
       .benchmarks = {"latency", "barrier"},
       .nodes = 2},
  };
  return kinds;
}

}  // namespace

bool PeerKind::CanMeasure(std::string_view benchmark, uint32_t on_nodes) const {
  return (nodes == 0 || on_nodes == nodes) &&
         (benchmarks.empty() ||
          std::find(benchmarks.begin(), benchmarks.end(), benchmark) != benchmarks.end());
}

const PeerKind* FindPeerKind(std::string_view name) {
  for (const PeerKind& kind : Kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string PeerNames() {
  std::string names;
  for (const PeerKind& kind : Kinds()) {
    const bool last = &kind == &Kinds().back();
    names += (names.empty() ? "" : last ? " or " : ", ") + std::string(kind.name);
  }
  return names;
}

}  // namespace vcm5::bench
