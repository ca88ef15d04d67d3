// barrier, reduce, scan, scan-barrier, broadcast. Every result goes into what is combined next, so
// that none can be left out, and is checked.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "bench/spmd/kernel.h"

namespace vcm5::bench {
namespace {

class Barrier final : public Kernel {
 public:
  explicit Barrier(Node& node) : node_(node) {}
  void Run(uint64_t iterations) override {
    for (uint64_t i = 0; i < iterations; ++i) node_.Barrier();
  }

 private:
  Node& node_;
};

class Reduce final : public Kernel {
 public:
  explicit Reduce(Node& node) : node_(node) {}
  void Run(uint64_t iterations) override {
    const uint32_t nodes = node_.size();
    const auto addresses = static_cast<uint32_t>(uint64_t{nodes} * (nodes - 1) / 2);
    uint32_t expected = carry_;
    for (uint64_t i = 0; i < iterations; ++i) {
      carry_ = node_.Reduce(kAdd, carry_ + node_.self());
      expected = nodes * expected + addresses;
    }
    Expect(carry_ == expected, "a wrong sum");
  }

 private:
  Node& node_;
  uint32_t carry_ = 0;
};

// Contributions are alike on all nodes, so that each knows its result; an error goes on into the
// next one.
class Scan final : public Kernel {
 public:
  Scan(Node& node, bool barrier) : node_(node), barrier_(barrier) {}
  void Run(uint64_t iterations) override {
    const uint32_t expected = carry_ + static_cast<uint32_t>(iterations);
    for (uint64_t i = 0; i < iterations; ++i) {
      const uint32_t before = node_.ScanForward(kAdd, carry_);
      carry_ += 1 + (before - node_.self() * carry_);
      if (barrier_) node_.Barrier();
    }
    if (!barrier_) node_.Barrier();
    Expect(carry_ == expected, "a wrong scan");
  }

 private:
  Node& node_;
  const bool barrier_;
  uint32_t carry_ = 0;
};

// The first and the last node in turns, each when it has the other's.
class Broadcast final : public Kernel {
 public:
  Broadcast(Node& node, const Workload& workload) : node_(node), data_(workload.plan().bytes) {}
  void Run(uint64_t iterations) override {
    std::fill(data_.begin(), data_.end(), std::byte(node_.self() == 0));
    for (uint64_t i = 0; i < iterations; ++i) {
      node_.Broadcast(i % 2 == 0 ? 0 : node_.size() - 1, std::span(data_));
    }
    node_.Barrier();
    Expect(std::all_of(data_.begin(), data_.end(), [](std::byte b) { return b == std::byte{1}; }),
           "a wrong broadcast");
  }

 private:
  Node& node_;
  std::vector<std::byte> data_;
};

}  // namespace

std::unique_ptr<Kernel> MakeCollective(Node& node, const Workload& workload) {
  if (workload.name() == "barrier") return std::make_unique<Barrier>(node);
  if (workload.name() == "reduce") return std::make_unique<Reduce>(node);
  if (workload.name() == "scan") return std::make_unique<Scan>(node, false);
  if (workload.name() == "scan-barrier") return std::make_unique<Scan>(node, true);
  if (workload.name() == "broadcast") return std::make_unique<Broadcast>(node, workload);
  return nullptr;
}

}  // namespace vcm5::bench
