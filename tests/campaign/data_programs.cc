// Programs of which the messages are the point: random traffic, and long messages by the API.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/prng.h"
#include "tests/campaign/program.h"
#include "tests/sim/embedded/traffic.h"
#include "vcm5/node.hpp"

namespace vcm5::campaign {
namespace {

class Traffic final : public Program {
 public:
  Traffic(uint64_t seed, const MachineSpec& spec) : plan_(seed, spec, MessagesOf(seed, spec)) {
    nodes_.resize(spec.nodes);
  }

  void Run(vcm5_port& port) override {
    port.send_refuse = port.refused_sends_left = plan_.seed() % 2 == 0 ? 5 : 0;
    nodes_[port.self].emplace(plan_, port);
    nodes_[port.self]->Run();
  }

  Seen Judge() override {
    Seen seen;
    std::vector<uint32_t> ids;
    for (const auto& node : nodes_) {
      if (!node) continue;
      if (!node->wrong().empty()) seen.AddBad(node->wrong());
      ids.insert(ids.end(), node->arrived().begin(), node->arrived().end());
    }
    std::sort(ids.begin(), ids.end());
    const auto unique = static_cast<size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
    seen.twice = ids.size() - unique;
    seen.missing = plan_.total() - std::min<uint64_t>(plan_.total(), unique);
    return seen;
  }

 private:
  static uint32_t MessagesOf(uint64_t seed, const MachineSpec& spec) {
    return 2 + Prng(seed).Below(spec.nodes > 64 ? 6 : 30);
  }

  const TrafficPlan plan_;
  std::vector<std::optional<TrafficNode>> nodes_;
};

// Each node puts a part into some others' buffers, waits until the routers are done, and looks.
class BulkRounds final : public Program {
 public:
  BulkRounds(uint64_t seed, uint32_t nodes)
      : seed_(seed),
        rounds_(1 + Prng(seed).Below(3)),
        partners_(std::min(nodes, 1 + Prng(seed + 1).Below(4))),
        bytes_(4 + Prng(seed + 2).Below(90)),
        states_(nodes) {}

  void Run(vcm5_port& port) override {
    State& state = states_[port.self].emplace(port);
    Node& node = state.node;
    const auto size = static_cast<uint32_t>(states_.size());  // a host is one more
    state.inbox.resize(size_t{partners_} * bytes_);
    state.data.resize(bytes_);
    const BufferId buffer = node.RegisterBuffer(std::span(state.inbox));
    for (uint32_t round = 0; round < rounds_; ++round) {
      std::fill(state.inbox.begin(), state.inbox.end(), uint8_t{0});
      node.Barrier();
      for (uint32_t i = 0; i < partners_; ++i) {
        for (uint32_t at = 0; at < bytes_; ++at) state.data[at] = Byte(round, node.self(), i, at);
        node.Put((node.self() + i + round) % size, buffer, size_t{i} * bytes_,
                 std::span<const uint8_t>(state.data));
      }
      node.Quiesce();
      for (uint32_t i = 0; i < partners_; ++i) {
        const uint32_t from = (node.self() + 2 * size - (i + round) % size) % size;
        for (uint32_t at = 0; at < bytes_; ++at) {
          const uint8_t byte = state.inbox[size_t{i} * bytes_ + at];
          if (byte == Byte(round, from, i, at)) continue;
          const std::string what = absl::StrCat("node ", node.self(), ": byte ", at, " from node ", from);
          byte == 0 ? seen_.AddEarly(what) : seen_.AddBad(what);
        }
      }
      if (node.Reduce(kAdd, node.self()) != size * (size - 1) / 2) {
        return seen_.AddBad(absl::StrCat("node ", node.self(), ": a sum"));
      }
    }
  }

  Seen Judge() override { return seen_; }

 private:
  struct State {
    explicit State(vcm5_port& port) : node(port) {}
    Node node;
    std::vector<uint8_t> inbox;
    std::vector<uint8_t> data;
  };

  uint8_t Byte(uint32_t round, uint32_t from, uint32_t part, uint32_t at) const {
    return static_cast<uint8_t>(seed_ + 101 * round + 37 * from + 59 * part + 11 * at + 1);
  }

  const uint64_t seed_;
  const uint32_t rounds_;
  const uint32_t partners_;
  const uint32_t bytes_;
  std::vector<std::optional<State>> states_;
  Seen seen_;
};

}  // namespace

std::unique_ptr<Program> MakeTraffic(uint64_t seed, const MachineSpec& spec, uint32_t nodes) {
  MachineSpec as_seen = spec;
  as_seen.nodes = nodes;
  return std::make_unique<Traffic>(seed, as_seen);
}

std::unique_ptr<Program> MakeBulk(uint64_t seed, uint32_t nodes) {
  return std::make_unique<BulkRounds>(seed, nodes);
}

}  // namespace vcm5::campaign
