/* The MPI program that `vcm5 bench --against` builds and runs. */
#include "mpi_peer.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void peer_fail(const struct peer *peer, const char *what) {
  fprintf(stderr, "MPI rank %u of %u: %s: %s\n", peer->self, peer->nodes, peer->plan.name, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void barrier(void *context) {
  (void)context;
  MPI_Barrier(MPI_COMM_WORLD);
}

static uint64_t broadcast(void *context, uint64_t value) {
  (void)context;
  MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return value;
}

static void run(void *context, uint64_t iterations) {
  struct peer *peer = context;
  peer->kernel(peer, iterations);
}

static void report(void *context, double seconds, uint64_t iterations) {
  (void)context;
  bench_print_sample(seconds, iterations);
}

static void measure(struct peer *peer) {
  const size_t bytes = peer->plan.bytes;
  const bool windowed =
      strcmp(peer->plan.name, "rate") == 0 || strcmp(peer->plan.name, "permutation") == 0;
  peer->data = malloc(bytes + 1);
  peer->incoming = malloc((windowed ? BENCH_WINDOW : 1) * bytes + 1);
  if (peer->data == NULL || peer->incoming == NULL) peer_fail(peer, "out of memory");
  memset(peer->data, 1, bytes);
  peer->kernel = peer_point_to_point(peer->plan.name);
  if (peer->kernel == NULL) peer->kernel = peer_collective(peer->plan.name);
  if (peer->kernel == NULL) {
    peer->kernel = peer_permutation(peer->plan.name);
    if (peer->kernel != NULL) peer_prepare_permutation(peer);
  }
  if (peer->kernel == NULL) peer_fail(peer, "no such benchmark");
  const struct bench_world world = {.context = peer,
                                    .self = peer->self,
                                    .barrier = barrier,
                                    .broadcast = broadcast,
                                    .run = run,
                                    .report = report};
  bench_repeat(&peer->plan, &world);
  free(peer->data);
  free(peer->incoming);
}

int main(int argc, char **argv) {
  struct peer peer = {0};
  int self, nodes;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &nodes);
  peer.self = (uint32_t)self;
  peer.nodes = (uint32_t)nodes;
  const char *wrong = bench_plan_parse(argc, argv, &peer.plan);
  if (wrong != NULL) peer_fail(&peer, wrong);
  if (strcmp(peer.plan.name, "launch") == 0) {
    peer_ring(&peer);
  } else {
    measure(&peer);
  }
  MPI_Finalize();
  return 0;
}
