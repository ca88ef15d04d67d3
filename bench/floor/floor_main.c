/* vcm5-bench-floor: what a message between two processes costs at least on this machine when a third
 * one passes it on, as a switch daemon does: two nodes and a relay, a ring of shared memory each way
 * between the relay and each node, and nothing else. No routing, no CRC, no flow control (a ping-pong
 * has one message under way), no counters. Measured by the harness that measures everybody. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/peers/harness.h"

enum { SLOTS = 64, WORDS = 5, SPINS = 1000 };
enum { BARRIER, MESSAGE, END };

struct slot {
  _Alignas(32) _Atomic uint32_t sequence; /* position + 1 of what it holds */
  uint32_t kind;
  uint32_t words[WORDS];
};
struct ring {
  _Alignas(64) struct slot slots[SLOTS];
};
struct shared {
  struct ring up[2];   /* from a node to the relay */
  struct ring down[2]; /* and back */
  bool spins;
};

struct node {
  struct shared *shared;
  uint32_t self;
  uint32_t sent;
  uint32_t received;
  const char *benchmark;
};

static void put(struct ring *ring, uint32_t *position, uint32_t kind, const uint32_t *words) {
  struct slot *slot = &ring->slots[*position % SLOTS];
  slot->kind = kind;
  memcpy(slot->words, words, sizeof slot->words);
  atomic_store_explicit(&slot->sequence, ++*position, memory_order_release);
}

static const struct slot *look(const struct ring *ring, uint32_t position) {
  const struct slot *slot = &ring->slots[position % SLOTS];
  return atomic_load_explicit(&slot->sequence, memory_order_acquire) == position + 1 ? slot : NULL;
}

/* Spins only with a processor for each of the three; else who waits is in the way. */
static bool has_processors(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) >= 3;
}

static void wait_a_little(unsigned *idle, bool spins) {
  if (spins && ++*idle < SPINS) {
    __builtin_ia32_pause();
  } else {
    sched_yield();
  }
}

static void send_words(struct node *node, uint32_t kind, const uint32_t *words) {
  put(&node->shared->up[node->self], &node->sent, kind, words);
}

static const struct slot *receive(struct node *node) {
  const struct slot *slot;
  unsigned idle = 0;
  while ((slot = look(&node->shared->down[node->self], node->received)) == NULL) {
    wait_a_little(&idle, node->shared->spins);
  }
  ++node->received;
  return slot;
}

static void relay(struct shared *shared) {
  uint32_t taken[2] = {0, 0}, given[2] = {0, 0};
  unsigned waiting = 0, idle = 0;
  const uint32_t nothing[WORDS] = {0};
  for (;;) {
    bool moved = false;
    for (unsigned from = 0; from < 2; ++from) {
      const struct slot *slot = look(&shared->up[from], taken[from]);
      if (slot == NULL) continue;
      ++taken[from];
      moved = true;
      if (slot->kind == END) return;
      if (slot->kind == MESSAGE) {
        put(&shared->down[1 - from], &given[1 - from], MESSAGE, slot->words);
      } else if (++waiting == 2) {
        waiting = 0;
        for (unsigned to = 0; to < 2; ++to) put(&shared->down[to], &given[to], BARRIER, nothing);
      }
    }
    if (moved) {
      idle = 0;
    } else {
      wait_a_little(&idle, shared->spins);
    }
  }
}

static void barrier(void *context) {
  const uint32_t nothing[WORDS] = {0};
  send_words(context, BARRIER, nothing);
  receive(context);
}

static uint64_t broadcast(void *context, uint64_t value) {
  struct node *node = context;
  uint32_t words[WORDS] = {(uint32_t)value, (uint32_t)(value >> 32)};
  if (node->self == 0) {
    send_words(node, MESSAGE, words);
    return value;
  }
  memcpy(words, receive(node)->words, sizeof words);
  return words[0] | (uint64_t)words[1] << 32;
}

static void run(void *context, uint64_t iterations) {
  struct node *node = context;
  const uint32_t words[WORDS] = {1, 2, 3, 4, 5};
  if (strcmp(node->benchmark, "barrier") == 0) {
    for (uint64_t i = 0; i < iterations; ++i) barrier(node);
    return;
  }
  for (uint64_t i = 0; i < iterations; ++i) {
    if (node->self == 0) send_words(node, MESSAGE, words);
    receive(node);
    if (node->self == 1) send_words(node, MESSAGE, words);
  }
}

static void report(void *context, double seconds, uint64_t iterations) {
  (void)context;
  bench_print_sample(seconds, iterations);
}

static void play(struct shared *shared, uint32_t self, const struct bench_plan *plan) {
  struct node node = {.shared = shared, .self = self, .benchmark = plan->name};
  const struct bench_world world = {.context = &node,
                                    .self = self,
                                    .barrier = barrier,
                                    .broadcast = broadcast,
                                    .run = run,
                                    .report = report};
  const uint32_t nothing[WORDS] = {0};
  bench_repeat(plan, &world);
  barrier(&node);
  if (self == 0) send_words(&node, END, nothing);
}

/* Starts a process that ends when this one does. */
static pid_t split(void) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  return 0;
}

int main(int argc, char **argv) {
  struct bench_plan plan;
  const char *wrong = bench_plan_parse(argc, argv, &plan);
  if (wrong == NULL && strcmp(plan.name, "latency") != 0 && strcmp(plan.name, "barrier") != 0) {
    wrong = "there are latency and barrier only";
  }
  if (wrong != NULL) {
    fprintf(stderr, "vcm5-bench-floor: %s; it is started by `vcm5 bench`\n", wrong);
    return 2;
  }
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    perror("vcm5-bench-floor: mmap");
    return 1;
  }
  shared->spins = has_processors();
  const pid_t switch_process = split();
  if (switch_process == 0) {
    relay(shared);
    return 0;
  }
  const pid_t other = switch_process > 0 ? split() : -1;
  if (other < 0) {
    perror("vcm5-bench-floor: fork");
    return 1;
  }
  play(shared, other == 0 ? 1 : 0, &plan);
  if (other == 0) return 0;
  int status = 0, failed = 0;
  while (wait(&status) > 0) failed |= status != 0;
  return failed;
}
