// permutation: every node sends messages along random permutations and receives as many.
#include <array>

#include "bench/spmd/kernel.h"

namespace vcm5::bench {
namespace {

class Permutation final : public Kernel {
 public:
  Permutation(Node& node, const Workload& workload)
      : node_(node),
        length_(workload.words()),
        sum_of_sources_(workload.SumOfSources(node.self())) {
    for (uint32_t w = 0; w < BENCH_WINDOW; ++w) {
      destinations_[w] = workload.Destination(w, node.self());
    }
  }

  // A node is never more than a window ahead of what it has received, so that on average at most a
  // window a node is under way. Both halves in turns; when one is full, the other.
  void Run(uint64_t iterations) override {
    vcm5_port* const port = &node_.port();
    const uint32_t words[VCM5_WORDS_MAX] = {node_.self()};
    const uint64_t total = iterations * BENCH_WINDOW;
    uint64_t sent = 0;
    uint64_t received = 0;
    uint32_t sum = 0;
    while (sent < total || received < total) {
      const uint64_t before = sent + received;
      while (sent < total && sent < received + BENCH_WINDOW) {
        const uint32_t destination = destinations_[sent % BENCH_WINDOW];
        const int half = sent & 1;
        if (!vcm5_port_send(port, half, destination, 0, words, length_) &&
            !vcm5_port_send(port, half ^ 1, destination, 0, words, length_)) {
          break;
        }
        ++sent;
      }
      for (int half = 0; half < VCM5_HALVES; ++half) {
        while (const uint8_t* packet = vcm5_port_peek(port, half)) {
          sum += TakeMessage(port, half, packet);
          ++received;
        }
      }
      if (sent + received == before) vcm5_port_miss(port);
    }
    RegisterBarrier(port);
    Expect(sum == static_cast<uint32_t>(iterations) * sum_of_sources_, "wrong messages arrived");
  }

 private:
  Node& node_;
  const uint32_t length_;
  const uint32_t sum_of_sources_;
  std::array<uint32_t, BENCH_WINDOW> destinations_;
};

}  // namespace

std::unique_ptr<Kernel> MakePermutation(Node& node, const Workload& workload) {
  if (workload.name() != "permutation") return nullptr;
  return std::make_unique<Permutation>(node, workload);
}

}  // namespace vcm5::bench
