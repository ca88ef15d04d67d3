/* latency, rate, bulk: rank 0 and the last rank; the others wait in a barrier. Also the ring. */
#include <mpi.h>
#include <string.h>

#include "mpi_peer.h"

enum { TAG = 1, TAG_ACK = 2 };

static void send_ack(int to) { MPI_Send(NULL, 0, MPI_BYTE, to, TAG_ACK, MPI_COMM_WORLD); }
static void await_ack(int from) {
  MPI_Recv(NULL, 0, MPI_BYTE, from, TAG_ACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void latency(struct peer *peer, uint64_t iterations) {
  const int bytes = (int)peer->plan.bytes;
  const int last = (int)peer->nodes - 1;
  if (peer->self == 0) {
    for (uint64_t i = 0; i < iterations; ++i) {
      MPI_Send(peer->data, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
      MPI_Recv(peer->incoming, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else if ((int)peer->self == last) {
    for (uint64_t i = 0; i < iterations; ++i) {
      MPI_Recv(peer->incoming, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(peer->data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
  }
}

/* Windows follow each other without an answer; one at the very end. */
static void rate(struct peer *peer, uint64_t iterations) {
  const int bytes = (int)peer->plan.bytes;
  const int last = (int)peer->nodes - 1;
  MPI_Request requests[BENCH_WINDOW];
  if (peer->self == 0) {
    for (uint64_t i = 0; i < iterations; ++i) {
      for (int w = 0; w < BENCH_WINDOW; ++w) {
        MPI_Isend(peer->data, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD, &requests[w]);
      }
      MPI_Waitall(BENCH_WINDOW, requests, MPI_STATUSES_IGNORE);
    }
    await_ack(last);
  } else if ((int)peer->self == last) {
    for (uint64_t i = 0; i < iterations; ++i) {
      for (int w = 0; w < BENCH_WINDOW; ++w) {
        MPI_Irecv(peer->incoming + (size_t)w * peer->plan.bytes, bytes, MPI_BYTE, 0, TAG,
                  MPI_COMM_WORLD, &requests[w]);
      }
      MPI_Waitall(BENCH_WINDOW, requests, MPI_STATUSES_IGNORE);
    }
    send_ack(0);
  }
}

static void bulk(struct peer *peer, uint64_t iterations) {
  const int bytes = (int)peer->plan.bytes;
  const int last = (int)peer->nodes - 1;
  if (peer->self == 0) {
    for (uint64_t i = 0; i < iterations; ++i) {
      MPI_Send(peer->data, bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
    }
    await_ack(last);
  } else if ((int)peer->self == last) {
    for (uint64_t i = 0; i < iterations; ++i) {
      MPI_Recv(peer->incoming, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    send_ack(0);
  }
}

void peer_ring(const struct peer *peer) {
  const int right = (int)((peer->self + 1) % peer->nodes);
  const int left = (int)((peer->self + peer->nodes - 1) % peer->nodes);
  uint32_t token = 0;
  if (peer->nodes == 1) return;
  if (peer->self == 0) MPI_Send(&token, 1, MPI_UINT32_T, right, TAG, MPI_COMM_WORLD);
  MPI_Recv(&token, 1, MPI_UINT32_T, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++token;
  if (peer->self != 0) MPI_Send(&token, 1, MPI_UINT32_T, right, TAG, MPI_COMM_WORLD);
  if (peer->self == 0 && token != peer->nodes) peer_fail(peer, "the token missed a rank");
}

peer_kernel peer_point_to_point(const char *name) {
  if (strcmp(name, "latency") == 0) return latency;
  if (strcmp(name, "rate") == 0) return rate;
  if (strcmp(name, "bulk") == 0) return bulk;
  return NULL;
}
