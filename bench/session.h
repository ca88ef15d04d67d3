// One call of `vcm5 bench`: every case, in turns with the peers, reported as it is done.
#ifndef VCM5_BENCH_SESSION_H_
#define VCM5_BENCH_SESSION_H_

#include "absl/status/status.h"
#include "bench/options.h"

namespace vcm5::bench {

absl::Status RunSession(const Options& options);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_SESSION_H_
