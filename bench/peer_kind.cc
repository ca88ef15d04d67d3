#include "bench/peer_kind.h"

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
  };
  return kinds;
}

}  // namespace

const PeerKind* FindPeerKind(std::string_view name) {
  for (const PeerKind& kind : Kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string PeerNames() {
  std::string names;
  for (const PeerKind& kind : Kinds())
    names += (names.empty() ? "" : " or ") + std::string(kind.name);
  return names;
}

}  // namespace vcm5::bench
