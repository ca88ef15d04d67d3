/* What every benchmark program here does, whatever it sends its messages with: read its plan from
 * the command line, warm up, find how many iterations fill a repetition, time the repetitions and
 * report them.
 *
 * The node program of vcm5 and its MPI peers compile the same harness.c, so that both sides of a
 * ratio were measured by the same code. C11 and C++. No globals: under the engine `embedded` all
 * nodes run it in one process.
 */
#ifndef VCM5_BENCH_PEERS_HARNESS_H_
#define VCM5_BENCH_PEERS_HARNESS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Messages that a node may have under way in `rate` and `permutation`; one iteration of these sends
 * so many. */
enum { BENCH_WINDOW = 64 };

struct bench_plan {
  char name[16];        /* of the benchmark, as `vcm5 bench` knows it */
  uint64_t bytes;       /* of a message */
  uint64_t seed;        /* of the permutations */
  uint32_t repetitions; /* timed, each reported */
  uint32_t warmup;      /* before these, not reported */
  uint64_t iterations;  /* of each repetition; 0: as many as fill `seconds` */
  double seconds;
};

/* Reads `NAME BYTES SEED REPETITIONS WARMUP ITERATIONS SECONDS`. Returns NULL, or what is expected.
 */
const char *bench_plan_parse(int argc, char **argv, struct bench_plan *plan);

/* How the harness acts on the machine. `context` is the first argument of each. */
struct bench_world {
  void *context;
  uint32_t self; /* node 0 holds the watch */
  void (*barrier)(void *context);
  /* Returns node 0's value on every node. */
  uint64_t (*broadcast)(void *context, uint64_t value);
  /* The benchmark: collective; on node 0 it returns when everything it stands for is over. */
  void (*run)(void *context, uint64_t iterations);
  /* On node 0, once a repetition. */
  void (*report)(void *context, double seconds, uint64_t iterations);
};

/* Collective: the whole plan. */
void bench_repeat(const struct bench_plan *plan, const struct bench_world *world);

/* A repetition on standard output, as the bench reads it: `sample SECONDS ITERATIONS`. */
void bench_print_sample(double seconds, uint64_t iterations);

/* Monotonic time. */
double bench_now(void);

#ifdef __cplusplus
}
#endif

#endif /* VCM5_BENCH_PEERS_HARNESS_H_ */
