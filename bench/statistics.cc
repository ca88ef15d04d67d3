#include "bench/statistics.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace vcm5::bench {
namespace {

double Better(double ours, double peer, bool less_is_better) {
  return less_is_better ? peer / ours : ours / peer;
}

}  // namespace

Summary Summarize(std::vector<double> values) {
  VCM5_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

std::vector<double> Flatten(const Rounds& rounds) {
  std::vector<double> all;
  for (const std::vector<double>& round : rounds) all.insert(all.end(), round.begin(), round.end());
  return all;
}

Ratio Compare(const Rounds& ours, const Rounds& peer, bool less_is_better) {
  VCM5_CHECK(ours.size() == peer.size() && !ours.empty());
  std::vector<double> ratios;
  for (size_t i = 0; i < ours.size(); ++i) {
    ratios.push_back(Better(Summarize(ours[i]).median, Summarize(peer[i]).median, less_is_better));
  }
  const Summary spread = Summarize(ratios);
  return {Better(Summarize(Flatten(ours)).median, Summarize(Flatten(peer)).median, less_is_better),
          spread.min, spread.max};
}

}  // namespace vcm5::bench
