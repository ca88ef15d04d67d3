/* permutation: every rank sends a window of messages, each along a permutation of its own, and
 * receives as many. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_peer.h"
#include "permutations.h"

void peer_prepare_permutation(struct peer *peer) {
  uint32_t *table = malloc((size_t)BENCH_WINDOW * peer->nodes * sizeof *table);
  if (table == NULL) peer_fail(peer, "out of memory");
  bench_fill_permutations(peer->plan.seed, BENCH_WINDOW, peer->nodes, table);
  for (uint32_t w = 0; w < BENCH_WINDOW; ++w) {
    const uint32_t *permutation = table + (size_t)w * peer->nodes;
    peer->destinations[w] = permutation[peer->self];
    for (uint32_t i = 0; i < peer->nodes; ++i) {
      if (permutation[i] == peer->self) peer->sources[w] = i;
    }
  }
  free(table);
}

static void permutation(struct peer *peer, uint64_t iterations) {
  const int bytes = (int)peer->plan.bytes;
  MPI_Request requests[2 * BENCH_WINDOW];
  uint32_t sum = 0, expected = 0;
  memcpy(peer->data, &peer->self, sizeof peer->self);
  for (int w = 0; w < BENCH_WINDOW; ++w) expected += peer->sources[w];
  for (uint64_t i = 0; i < iterations; ++i) {
    for (int w = 0; w < BENCH_WINDOW; ++w) {
      MPI_Irecv(peer->incoming + (size_t)w * peer->plan.bytes, bytes, MPI_BYTE,
                (int)peer->sources[w], 0, MPI_COMM_WORLD, &requests[w]);
    }
    for (int w = 0; w < BENCH_WINDOW; ++w) {
      MPI_Isend(peer->data, bytes, MPI_BYTE, (int)peer->destinations[w], 0, MPI_COMM_WORLD,
                &requests[BENCH_WINDOW + w]);
    }
    MPI_Waitall(2 * BENCH_WINDOW, requests, MPI_STATUSES_IGNORE);
    for (int w = 0; w < BENCH_WINDOW; ++w) {
      uint32_t word;
      memcpy(&word, peer->incoming + (size_t)w * peer->plan.bytes, sizeof word);
      sum += word;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (sum != (uint32_t)iterations * expected) peer_fail(peer, "wrong messages arrived");
}

peer_kernel peer_permutation(const char *name) {
  return strcmp(name, "permutation") == 0 ? permutation : NULL;
}
