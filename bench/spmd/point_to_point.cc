// latency, rate, bulk: node 0 and the last node; the others wait in a barrier.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "bench/spmd/kernel.h"

namespace vcm5::bench {
namespace {

constexpr uint32_t kTag = 1;

void SendMessage(vcm5_port* port, int half, uint32_t to, const uint32_t* words, uint32_t length) {
  while (!vcm5_port_send(port, half, to, kTag, words, length)) vcm5_port_miss(port);
}

uint32_t ReceiveMessage(vcm5_port* port, int half) {
  const uint8_t* packet;
  while ((packet = vcm5_port_peek(port, half)) == nullptr) vcm5_port_miss(port);
  return TakeMessage(port, half, packet);
}

class PointToPoint : public Kernel {
 protected:
  PointToPoint(Node& node, const Workload& workload)
      : node_(node), port_(&node.port()), length_(workload.words()), last_(node.size() - 1) {}
  bool first() const { return node_.self() == 0; }
  bool last() const { return node_.self() == last_; }

  Node& node_;
  vcm5_port* const port_;
  const uint32_t length_;
  const uint32_t last_;
};

// There on the left half, back on the right.
class Latency final : public PointToPoint {
 public:
  Latency(Node& node, const Workload& workload) : PointToPoint(node, workload) {}

  void Run(uint64_t iterations) override {
    uint32_t words[VCM5_WORDS_MAX] = {};
    if (first()) {
      for (uint64_t i = 0; i < iterations; ++i) {
        SendMessage(port_, VCM5_LEFT, last_, words, length_);
        words[0] = ReceiveMessage(port_, VCM5_RIGHT);
      }
      Expect(words[0] == static_cast<uint32_t>(iterations), "a ping-pong lost count");
    } else if (last()) {
      for (uint64_t i = 0; i < iterations; ++i) {
        words[0] = ReceiveMessage(port_, VCM5_LEFT) + 1;
        SendMessage(port_, VCM5_RIGHT, 0, words, length_);
      }
    }
  }
};

// One way, both halves in turns; one answer at the very end.
class Rate final : public PointToPoint {
 public:
  Rate(Node& node, const Workload& workload) : PointToPoint(node, workload) {}

  void Run(uint64_t iterations) override {
    const uint64_t total = iterations * BENCH_WINDOW;
    if (first()) {
      const uint32_t words[VCM5_WORDS_MAX] = {1};
      for (uint64_t i = 0; i < total; ++i) SendMessage(port_, i & 1, last_, words, length_);
      Expect(ReceiveMessage(port_, VCM5_RIGHT) == static_cast<uint32_t>(total),
             "messages were lost");
    } else if (last()) {
      uint32_t sum = 0;
      uint64_t received = 0;
      while (received < total) {
        const uint64_t before = received;
        for (int half = 0; half < VCM5_HALVES; ++half) {
          while (const uint8_t* packet = vcm5_port_peek(port_, half)) {
            sum += TakeMessage(port_, half, packet);
            ++received;
          }
        }
        if (received == before) vcm5_port_miss(port_);
      }
      SendMessage(port_, VCM5_RIGHT, 0, &sum, 1);
    }
  }
};

// Puts that follow each other; one answer at the very end.
class BulkPut final : public PointToPoint {
 public:
  BulkPut(Node& node, const Workload& workload)
      : PointToPoint(node, workload), memory_(first() || last() ? workload.plan().bytes : 0) {
    if (first()) {
      for (size_t i = 0; i < memory_.size(); ++i) memory_[i] = Pattern(i);
    }
    // Node 0's own memory is what it sends.
    buffer_ = node.RegisterBuffer(last() ? std::span(memory_) : std::span<std::byte>());
  }

  void Run(uint64_t iterations) override {
    if (first()) {
      for (uint64_t i = 0; i < iterations; ++i) node_.Put(last_, buffer_, 0, std::span(memory_));
      Expect(node_.Receive().As<uint32_t>() == kTag, "a put had no answer");
    } else if (last()) {
      expected_ += iterations * memory_.size();
      node_.PollUntil([this] { return node_.BytesReceived(buffer_) >= expected_; });
      node_.Send(0, kTag, kTag);
      bool right = true;
      for (size_t i = 0; i < memory_.size(); ++i) right = right && memory_[i] == Pattern(i);
      Expect(right, "a put brought wrong bytes");
      std::fill(memory_.begin(), memory_.end(), std::byte{0});
    }
  }

 private:
  static std::byte Pattern(size_t i) { return static_cast<std::byte>(i * 151 >> 3 | 1); }

  std::vector<std::byte> memory_;
  BufferId buffer_;
  uint64_t expected_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> MakePointToPoint(Node& node, const Workload& workload) {
  if (workload.name() == "latency") return std::make_unique<Latency>(node, workload);
  if (workload.name() == "rate") return std::make_unique<Rate>(node, workload);
  if (workload.name() == "bulk") return std::make_unique<BulkPut>(node, workload);
  return nullptr;
}

}  // namespace vcm5::bench
