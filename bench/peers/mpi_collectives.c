/* barrier, reduce, scan, scan-barrier, broadcast. Every result goes into what is combined next. */
#include <mpi.h>
#include <string.h>

#include "mpi_peer.h"

static void barrier(struct peer *peer, uint64_t iterations) {
  (void)peer;
  for (uint64_t i = 0; i < iterations; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

static void reduce(struct peer *peer, uint64_t iterations) {
  const uint32_t addresses = peer->nodes * (peer->nodes - 1) / 2;
  uint32_t expected = peer->carry;
  for (uint64_t i = 0; i < iterations; ++i) {
    const uint32_t value = peer->carry + peer->self;
    MPI_Allreduce(&value, &peer->carry, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    expected = peer->nodes * expected + addresses;
  }
  if (peer->carry != expected) peer_fail(peer, "a wrong sum");
}

/* Contributions are alike on all ranks, so that each knows its result; an error goes on into the
 * next one. */
static uint32_t scan_once(const struct peer *peer, uint32_t value) {
  uint32_t before = 0;
  MPI_Exscan(&value, &before, 1, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
  if (peer->self == 0) before = 0; /* undefined there */
  return value + 1 + (before - peer->self * value);
}

static void scan(struct peer *peer, uint64_t iterations) {
  const uint32_t expected = peer->carry + (uint32_t)iterations;
  for (uint64_t i = 0; i < iterations; ++i) peer->carry = scan_once(peer, peer->carry);
  MPI_Barrier(MPI_COMM_WORLD);
  if (peer->carry != expected) peer_fail(peer, "a wrong scan");
}

static void scan_barrier(struct peer *peer, uint64_t iterations) {
  const uint32_t expected = peer->carry + (uint32_t)iterations;
  for (uint64_t i = 0; i < iterations; ++i) {
    peer->carry = scan_once(peer, peer->carry);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (peer->carry != expected) peer_fail(peer, "a wrong scan");
}

/* The first and the last rank in turns, each when it has the other's. */
static void broadcast(struct peer *peer, uint64_t iterations) {
  const int last = (int)peer->nodes - 1;
  for (uint64_t i = 0; i < iterations; ++i) {
    MPI_Bcast(peer->data, (int)peer->plan.bytes, MPI_BYTE, i % 2 == 0 ? 0 : last, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

peer_kernel peer_collective(const char *name) {
  if (strcmp(name, "barrier") == 0) return barrier;
  if (strcmp(name, "reduce") == 0) return reduce;
  if (strcmp(name, "scan") == 0) return scan;
  if (strcmp(name, "scan-barrier") == 0) return scan_barrier;
  if (strcmp(name, "broadcast") == 0) return broadcast;
  return NULL;
}
