/* The benchmarks of `vcm5 bench`, in MPI. Each file of kernels offers the ones that its name says.
 */
#ifndef VCM5_BENCH_PEERS_MPI_PEER_H_
#define VCM5_BENCH_PEERS_MPI_PEER_H_

#include <stdint.h>

#include "harness.h"

/* What a kernel works with. */
struct peer {
  struct bench_plan plan;
  uint32_t self;
  uint32_t nodes;
  void (*kernel)(struct peer *peer, uint64_t iterations);
  char *data;     /* plan.bytes of payload */
  char *incoming; /* where messages go; those of a window side by side */
  uint32_t destinations[BENCH_WINDOW];
  uint32_t sources[BENCH_WINDOW];
  uint32_t carry; /* from one iteration of a combine to the next */
};

typedef void (*peer_kernel)(struct peer *peer, uint64_t iterations);

/* The kernel of that name, or NULL. */
peer_kernel peer_point_to_point(const char *name);
peer_kernel peer_permutation(const char *name);
peer_kernel peer_collective(const char *name);

/* What `permutation` needs before its kernel runs. */
void peer_prepare_permutation(struct peer *peer);

/* One token, once round all nodes. */
void peer_ring(const struct peer *peer);

/* Says what went wrong and ends the job. */
void peer_fail(const struct peer *peer, const char *what);

#endif /* VCM5_BENCH_PEERS_MPI_PEER_H_ */
