// What the control network costs: a hop through a combining node, a port's look at its program, and
// whole operations over all leaves of a partition, NI ports included, on one core.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "netif/ni/control_port.h"
#include "netif/port/ni_port.h"
#include "switches/control/control_network.h"

namespace vcm5 {
namespace {

using namespace control_body;

// Both children's words arrive, the combination leaves; the result comes and goes to both.
void CombiningNodeOperation(benchmark::State& state) {
  CombiningNode node{CombiningNodeOptions{}};
  const auto operation = static_cast<CombineOperation>(state.range(0));
  uint64_t up = 0;
  uint64_t down = 0;
  CombiningNode::Down below;
  uint32_t word = 0;
  for (auto _ : state) {
    const uint64_t body = MakeCombine(operation, Combiner::kAdd, ++word, kFirst | kLast);
    node.HandleFromChild(0, body, &up);
    node.HandleFromChild(1, body, &up);
    TurnAtRoot(up, &down);
    node.HandleFromParent(down, &below);
    benchmark::DoNotOptimize(below);
  }
}
BENCHMARK(CombiningNodeOperation)->Arg(VCM5_REDUCE)->Arg(VCM5_SCAN_FORWARD);

// One node's mapped memory.
class Page {
 public:
  Page(uint32_t self, uint32_t partition_size)
      : bytes_(NiGeometry{}.Offsets().bytes),
        memory_(static_cast<vcm5_ni_page*>(std::aligned_alloc(4096, bytes_))) {
    std::memset(memory_.get(), 0, bytes_);
    const NiGeometry geometry;
    memory_->magic = VCM5_NI_MAGIC;
    memory_->version = VCM5_NI_VERSION;
    memory_->self = self;
    memory_->partition_size = partition_size;
    memory_->words_max = 5;
    memory_->slot_bytes = geometry.slot_bytes;
    memory_->data_depth = geometry.data_depth;
    for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
      memory_->control_depth[fifo] = geometry.control_depth[fifo];
    }
    memory_->bytes = bytes_;
  }
  vcm5_ni_page* page() { return memory_.get(); }
  uint32_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(vcm5_ni_page* memory) const { std::free(memory); }
  };
  uint32_t bytes_;
  std::unique_ptr<vcm5_ni_page, Free> memory_;
};

// A partition as an engine drives it: ports polled in leaf order, departures handled.
class Partition {
 public:
  explicit Partition(uint32_t leaves) : network_(BinaryTree::Balanced(leaves)) {
    for (uint32_t i = 0; i < leaves; ++i) {
      pages_.push_back(std::make_unique<Page>(i, leaves));
      ports_.push_back(
          std::make_unique<ControlPort>(pages_[i]->page(), ControlPort::Options{}));
      programs_.emplace_back();
      vcm5_port_attach(&programs_[i], pages_[i]->page(), pages_[i]->size());
    }
  }

  void Round() {
    std::array<ControlPacket, 16> packets;
    for (uint32_t i = 0; i < ports_.size(); ++i) {
      const unsigned count = ports_[i]->Poll(false, packets);
      for (unsigned p = 0; p < count; ++p) network_.HandlePacket(i, packets[p]);
      if (network_.input_space() < packets.size()) Deliver();
    }
    Deliver();
  }
  void Deliver() {
    do {
      network_.Run();
      for (const ControlDeparture& departure : network_.departures()) {
        ports_[departure.leaf]->Handle(departure.packet);
      }
      network_.ClearDepartures();
    } while (network_.HasWork());
  }
  std::vector<vcm5_port>& programs() { return programs_; }

 private:
  ControlNetwork network_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<ControlPort>> ports_;
  std::vector<vcm5_port> programs_;
};

void PollIdlePort(benchmark::State& state) {
  Page page(0, 1);
  ControlPort port(page.page(), {});
  std::array<ControlPacket, 16> packets;
  for (auto _ : state) benchmark::DoNotOptimize(port.Poll(false, packets));
}
BENCHMARK(PollIdlePort);

void Barrier(benchmark::State& state) {
  Partition partition(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    for (vcm5_port& program : partition.programs()) {
      vcm5_port_control_first(&program, VCM5_FIFO_SYNC_OR, 0, 1, 1);
    }
    partition.Round();
    for (vcm5_port& program : partition.programs()) {
      benchmark::DoNotOptimize(vcm5_port_control_receive_word(&program, VCM5_FIFO_SYNC_OR));
    }
  }
}
BENCHMARK(Barrier)->Arg(2)->Arg(16)->Arg(64)->Arg(1024)->Arg(16384)->Unit(benchmark::kMicrosecond);

void ScanAdd(benchmark::State& state) {
  Partition partition(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    for (vcm5_port& program : partition.programs()) {
      vcm5_port_combine_first(&program, VCM5_ADD, VCM5_SCAN_FORWARD, 1, 1);
    }
    partition.Round();
    for (vcm5_port& program : partition.programs()) {
      benchmark::DoNotOptimize(vcm5_port_control_receive_word(&program, VCM5_FIFO_COMBINE));
    }
  }
}
BENCHMARK(ScanAdd)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void Broadcast8Words(benchmark::State& state) {
  Partition partition(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    vcm5_port* source = &partition.programs()[0];
    vcm5_port_control_first(source, VCM5_FIFO_BROADCAST, 0, 8, 1);
    for (uint32_t i = 1; i < 8; ++i) vcm5_port_control_word(source, VCM5_FIFO_BROADCAST, i);
    partition.Round();
    for (vcm5_port& program : partition.programs()) {
      for (uint32_t i = 0; i < 8; ++i) {
        benchmark::DoNotOptimize(vcm5_port_control_receive_word(&program, VCM5_FIFO_BROADCAST));
      }
    }
  }
}
BENCHMARK(Broadcast8Words)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace vcm5

BENCHMARK_MAIN();
