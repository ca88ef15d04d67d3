// `vcm5 bench`: measures the networks, alone or beside an MPI library in the same session.
#ifndef VCM5_BENCH_BENCH_H_
#define VCM5_BENCH_BENCH_H_

namespace vcm5 {

// argv[0] is "bench". Returns the exit status: 1 if a measurement failed, 2 for a wrong command
// line.
int BenchMain(int argc, char** argv);

}  // namespace vcm5

#endif  // VCM5_BENCH_BENCH_H_
