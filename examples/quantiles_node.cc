// quantiles, the nodes: each keeps its part of the numbers, sorted, and answers the host's questions.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "examples/common/blocks.h"
#include "examples/quantiles.h"
#include "vcm5/vcm5.hpp"

int main() {
  vcm5::Node& node = vcm5::self();
  if (!node.has_host()) {
    if (node.self() == 0) {
      std::fprintf(stderr, "quantiles_node needs a host: vcm5 run --host quantiles_host "
                           "--host-arg FILE quantiles_node\n");
    }
    return 2;
  }
  uint64_t count;
  node.Broadcast(node.host(), count);
  if (count == examples::kNoNumbers) return 0;

  const examples::Blocks blocks{count, node.size()};
  std::vector<int64_t> mine(blocks.Size(node.self()));
  node.RegisterBuffer(std::as_writable_bytes(std::span(mine)));
  node.Barrier();  // the host deals out when all are ready
  node.Quiesce();
  std::sort(mine.begin(), mine.end());

  node.Reduce(vcm5::kMin, mine.empty() ? INT64_MAX : mine.front());
  node.Reduce(vcm5::kMax, mine.empty() ? INT64_MIN : mine.back());
  for (;;) {
    examples::Question question;
    node.Broadcast(node.host(), question);
    if (question.is_last != 0) return 0;
    const auto up_to = std::upper_bound(mine.begin(), mine.end(), question.pivot);
    node.Reduce(vcm5::kAdd, static_cast<uint64_t>(up_to - mine.begin()));
  }
}
