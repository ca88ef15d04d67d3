/* ring: a token goes round all nodes, at register level (vcm5/ni.h).
 *
 * Node 0 sends the token to node 1, which adds its address and sends it on; the last node sends it
 * back to node 0. That is one trip. It is the smallest program that uses every node and every
 * register of a half of the data network: a send that may be refused, and a receive that polls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vcm5/ni.h"

static const char usage[] =
    "Usage: ring [--trips N]\n"
    "Sends a token round all nodes, each of which adds its address to it.\n"
    "  --trips N   trips round the ring, 1 to 1000000000; default 1\n"
    "  --help      print this\n";

enum { kTag = 1 };

static void send_token(uint64_t token, uint32_t dest) {
  do {
    vcm5_ni_dr_send_first(VCM5_LEFT, kTag, 2, dest);
    vcm5_ni_dr_send_word(VCM5_LEFT, (uint32_t)token);
    vcm5_ni_dr_send_word(VCM5_LEFT, (uint32_t)(token >> 32));
    /* There is one message in the network, and it is not for this node: nothing to receive here. */
  } while (!vcm5_ni_dr_send_ok(VCM5_LEFT));
}

static uint64_t receive_token(void) {
  while (!vcm5_ni_dr_receive_ok(VCM5_LEFT)) continue;
  const uint64_t low = vcm5_ni_dr_receive_word(VCM5_LEFT);
  const uint64_t high = vcm5_ni_dr_receive_word(VCM5_LEFT);
  return high << 32 | low;
}

/* Waits until all nodes are here. */
static void barrier(void) {
  while (!vcm5_ni_sync_or_send(false)) continue;
  while (!vcm5_ni_sync_or_complete()) continue;
  vcm5_ni_sync_or_read();
}

/* All nodes see the same command line; one of them speaks. */
static void end(int status, const char *what, const char *argument) {
  if (vcm5_ni_self() == 0) {
    if (status == 0) {
      fputs(usage, stdout);
      fflush(stdout);
    } else {
      fprintf(stderr, "ring: %s%s (--help shows the options)\n", what, argument);
    }
  }
  barrier();
  exit(status);
}

static unsigned long parse_trips(const char *text) {
  char *rest;
  errno = 0;
  const unsigned long trips = strtoul(text, &rest, 10);
  if (errno != 0 || *text < '0' || *text > '9' || *rest != 0 || trips < 1 || trips > 1000000000) {
    end(2, "--trips wants a number from 1 to 1000000000, not ", text);
  }
  return trips;
}

int main(int argc, char **argv) {
  unsigned long trips = 1;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      end(0, NULL, NULL);
    } else if (strcmp(argv[i], "--trips") == 0 && i + 1 < argc) {
      trips = parse_trips(argv[++i]);
    } else if (strncmp(argv[i], "--trips=", 8) == 0) {
      trips = parse_trips(argv[i] + 8);
    } else {
      end(2, "cannot make sense of ", argv[i]);
    }
  }

  const uint32_t self = vcm5_ni_self();
  const uint32_t size = vcm5_ni_partition_size();
  const uint32_t next = (self + 1) % size;
  uint64_t token = 0;
  for (unsigned long trip = 0; trip < trips; ++trip) {
    if (self == 0) {
      send_token(token, next);
      token = receive_token();
    } else {
      send_token(receive_token() + self, next);
    }
  }
  if (self == 0) {
    printf("%u nodes, %lu %s: the token is %llu\n", size, trips, trips == 1 ? "trip" : "trips",
           (unsigned long long)token);
  }
  return 0;
}
