#include "harness.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void bench_print_sample(double seconds, uint64_t iterations) {
  printf("sample %.9f %" PRIu64 "\n", seconds, iterations);
  fflush(stdout);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static bool parse_whole(const char *text, uint64_t *number) {
  char *end;
  errno = 0;
  *number = strtoull(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

const char *bench_plan_parse(int argc, char **argv, struct bench_plan *plan) {
  static const char kUsage[] = "expected NAME BYTES SEED REPETITIONS WARMUP ITERATIONS SECONDS";
  uint64_t repetitions, warmup;
  char *end;
  memset(plan, 0, sizeof *plan);
  if (argc != 8 || strlen(argv[1]) >= sizeof plan->name) return kUsage;
  strcpy(plan->name, argv[1]);
  plan->seconds = strtod(argv[7], &end);
  if (!parse_whole(argv[2], &plan->bytes) || !parse_whole(argv[3], &plan->seed) ||
      !parse_whole(argv[4], &repetitions) || !parse_whole(argv[5], &warmup) ||
      !parse_whole(argv[6], &plan->iterations) || end == argv[7] || *end != '\0') {
    return kUsage;
  }
  plan->repetitions = (uint32_t)repetitions;
  plan->warmup = (uint32_t)warmup;
  return NULL;
}

/* ---- the repetitions ------------------------------------------------------------------------- */

/* Collective. What it took, on node 0. */
static double time_once(const struct bench_world *world, uint64_t iterations) {
  world->barrier(world->context);
  const double start = bench_now();
  world->run(world->context, iterations);
  return bench_now() - start;
}

/* How many iterations fill plan->seconds: node 0 tries more and more and tells the others what
 * comes next. Everybody learns the result. */
static uint64_t calibrate(const struct bench_plan *plan, const struct bench_world *world) {
  uint64_t trial = 1;
  while (true) {
    const double seconds = time_once(world, trial);
    uint64_t next = trial * 8;
    bool enough = false;
    if (world->self == 0 && seconds > plan->seconds / 16) {
      enough = true;
      next = (uint64_t)((double)trial * plan->seconds / seconds);
    }
    if (next == 0) next = 1;
    enough = world->broadcast(world->context, enough) != 0;
    trial = world->broadcast(world->context, next);
    if (enough) return trial;
  }
}

void bench_repeat(const struct bench_plan *plan, const struct bench_world *world) {
  uint64_t iterations = plan->iterations;
  if (iterations == 0) iterations = calibrate(plan, world);
  for (uint32_t i = 0; i < plan->warmup; ++i) time_once(world, iterations);
  for (uint32_t i = 0; i < plan->repetitions; ++i) {
    const double seconds = time_once(world, iterations);
    if (world->self == 0) world->report(world->context, seconds, iterations);
  }
  world->barrier(world->context);
}
