// A peer's benchmark program: found, built when that is needed, and how to run it.
#ifndef VCM5_BENCH_PEER_BUILD_H_
#define VCM5_BENCH_PEER_BUILD_H_

#include <string>

#include "absl/status/statusor.h"
#include "bench/peer_kind.h"
#include "bench/sampler.h"

namespace vcm5::bench {

struct PeerProgram {
  std::string version;  // what the launcher says of itself
  CommandFor command_for;
};

// Compiles bench/peers/*.c unless that has been done since they changed: into this build, or, for
// an installed vcm5, into the user's cache folder. The error names the packages to install, if the
// library is not there.
absl::StatusOr<PeerProgram> BuildPeer(const PeerKind& kind);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_PEER_BUILD_H_
