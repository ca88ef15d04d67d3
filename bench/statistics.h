// Repetitions in three numbers, and how much better one series is than another.
#ifndef VCM5_BENCH_STATISTICS_H_
#define VCM5_BENCH_STATISTICS_H_

#include <vector>

namespace vcm5::bench {

struct Summary {
  double min = 0;
  double median = 0;  // of an even number: halfway between the two in the middle
  double max = 0;
};

// Of at least one value.
Summary Summarize(std::vector<double> values);

// How many times better `ours` is than the peer's: by the medians of everything, and the least and
// the greatest of the rounds, each by its own medians.
struct Ratio {
  double ratio = 0;
  double min = 0;
  double max = 0;
};

// rounds[i] are the values of round i. As many rounds on both sides, no empty one.
using Rounds = std::vector<std::vector<double>>;
Ratio Compare(const Rounds& ours, const Rounds& peer, bool less_is_better);

// All rounds as one series.
std::vector<double> Flatten(const Rounds& rounds);

}  // namespace vcm5::bench

#endif  // VCM5_BENCH_STATISTICS_H_
