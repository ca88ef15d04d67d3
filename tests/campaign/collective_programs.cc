// Programs of which the control network is the point: scans, reductions, broadcasts and synchronous
// ORs, several under way at once; and two that break its rules.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "netif/wire/control_packet.h"
#include "runtime/base/prng.h"
#include "tests/campaign/program.h"

namespace vcm5::campaign {
namespace {

// A scan or reduction of one word.
struct Operation {
  vcm5_pattern pattern;
  vcm5_combiner combiner;
  uint64_t seed;
  bool segmented;

  uint32_t Value(uint32_t node) const { return static_cast<uint32_t>(DeriveSeed(seed, node)); }
  bool Starts(uint32_t node) const {
    return segmented && pattern != VCM5_REDUCE && DeriveSeed(~seed, node) % 4 == 0;
  }
};

uint32_t Combine(vcm5_combiner combiner, uint32_t a, uint32_t b) {
  switch (combiner) {
    case VCM5_OR:
      return a | b;
    case VCM5_XOR:
      return a ^ b;
    case VCM5_MAX:
      return static_cast<int32_t>(a) > static_cast<int32_t>(b) ? a : b;
    default:
      return a + b;
  }
}

// By the book: node after node.
std::vector<uint32_t> Results(const Operation& operation, uint32_t nodes) {
  const uint32_t identity = IdentityWord(static_cast<Combiner>(operation.combiner), true);
  std::vector<uint32_t> results(nodes, identity);
  uint32_t sum = identity;
  for (uint32_t i = 0; i < nodes; ++i) {
    const uint32_t node = operation.pattern == VCM5_SCAN_BACKWARD ? nodes - 1 - i : i;
    if (operation.Starts(node)) sum = identity;
    results[node] = sum;
    sum = Combine(operation.combiner, sum, operation.Value(node));
  }
  if (operation.pattern == VCM5_REDUCE) std::fill(results.begin(), results.end(), sum);
  return results;
}

class Collectives final : public Program {
 public:
  Collectives(uint64_t seed, const MachineSpec& spec, uint32_t nodes) : states_(nodes) {
    Prng prng(seed);
    const uint32_t batches = 2 + prng.Below(nodes > 64 ? 4 : 12);
    for (uint32_t i = 0; i < batches; ++i) {
      Batch& batch = batches_.emplace_back();
      for (uint32_t left = 1 + prng.Below(std::min(8u, spec.combine_depth)); left != 0; --left) {
        const Operation operation = {static_cast<vcm5_pattern>(prng.Below(VCM5_PATTERNS)),
                                     static_cast<vcm5_combiner>(prng.Below(VCM5_COMBINERS)),
                                     prng.Next(), prng.Chance(1, 2)};
        batch.operations.push_back(operation);
        results_.push_back(Results(operation, nodes));
      }
      batch.root = prng.Below(nodes);
      for (uint32_t left = prng.Below(VCM5_CONTROL_WORDS_MAX + 1); left != 0; --left) {
        batch.words.push_back(static_cast<uint32_t>(prng.Next()));
      }
      words_.insert(words_.end(), batch.words.begin(), batch.words.end());
      batch.loud = prng.Below(2 * nodes);
      ors_.push_back(batch.loud < nodes ? 1 : 0);
    }
  }

  void Run(vcm5_port& port) override {
    states_[port.self].port = &port;
    for (const Batch& batch : batches_) RunBatch(port, batch);
  }

  // What lies in the FIFOs still has been delivered.
  Seen Judge() override {
    for (const State& state : states_) {
      if (state.port == nullptr) continue;
      for (const int fifo : {VCM5_FIFO_COMBINE, VCM5_FIFO_BROADCAST, VCM5_FIFO_SYNC_OR}) {
        while (vcm5_port_control_peek(state.port, fifo) != nullptr) Take(*state.port, fifo);
      }
    }
    return seen_;
  }

 private:
  struct Batch {
    std::vector<Operation> operations;  // all pushed before the first result is read
    uint32_t root;                      // of a broadcast
    std::vector<uint32_t> words;        // of it; none: there is none
    uint32_t loud;  // the node whose bit is set in the synchronous OR; nodes_ and more: none
  };
  struct State {
    vcm5_port* port = nullptr;
    size_t taken[VCM5_CONTROL_FIFOS] = {};
  };

  void RunBatch(vcm5_port& port, const Batch& batch) {
    for (const Operation& operation : batch.operations) {
      port.segment_start = operation.Starts(port.self) ? VCM5_ENTRY_SEGMENT : 0;
      do {
        vcm5_port_combine_first(&port, operation.combiner, operation.pattern, 1,
                                operation.Value(port.self));
      } while (!vcm5_port_control_send_ok(&port, VCM5_FIFO_COMBINE));
    }
    const auto words = static_cast<uint32_t>(batch.words.size());
    if (port.self == batch.root && words != 0) {
      do {
        vcm5_port_control_first(&port, VCM5_FIFO_BROADCAST, 0, words, batch.words[0]);
        for (uint32_t i = 1; i < words; ++i) {
          vcm5_port_control_word(&port, VCM5_FIFO_BROADCAST, batch.words[i]);
        }
      } while (!vcm5_port_control_send_ok(&port, VCM5_FIFO_BROADCAST));
    }
    Await(port, VCM5_FIFO_BROADCAST, words);
    Await(port, VCM5_FIFO_COMBINE, static_cast<uint32_t>(batch.operations.size()));
    do {
      vcm5_port_control_first(&port, VCM5_FIFO_SYNC_OR, 0, 1, port.self == batch.loud ? 1 : 0);
    } while (!vcm5_port_control_send_ok(&port, VCM5_FIFO_SYNC_OR));
    Await(port, VCM5_FIFO_SYNC_OR, 1);
  }

  void Await(vcm5_port& port, int fifo, uint32_t words) {
    for (; words != 0; --words) {
      while (!vcm5_port_control_receive_ok(&port, fifo)) {
      }
      Take(port, fifo);
    }
  }

  void Take(vcm5_port& port, int fifo) {
    const uint32_t word = vcm5_port_control_receive_word(&port, fifo);
    const size_t at = states_[port.self].taken[fifo]++;
    const auto check = [&](const char* what, bool there, auto&& expected) {
      if (there && word == expected()) return;
      seen_.AddBad(absl::StrCat("node ", port.self, ": ", what, " is ", word));
    };
    if (fifo == VCM5_FIFO_COMBINE) {
      check("a result", at < results_.size(), [&] { return results_[at][port.self]; });
    } else if (fifo == VCM5_FIFO_BROADCAST) {
      check("a broadcast word", at < words_.size(), [&] { return words_[at]; });
    } else {
      check("an OR", at < ors_.size(), [&] { return ors_[at]; });
    }
  }

  std::vector<Batch> batches_;
  // What each node is to receive, in order.
  std::vector<std::vector<uint32_t>> results_;  // by operation and node
  std::vector<uint32_t> words_;
  std::vector<uint32_t> ors_;
  std::vector<State> states_;  // by node
  Seen seen_;
};

// Two nodes broadcast without agreeing who may. Each sends more than all may hold, so that neither
// can be done before the other begins; whole messages come, or the network signals an error.
class Collision final : public Program {
 public:
  Collision(uint64_t seed, uint32_t nodes) : next_(nodes) {
    Prng prng(seed);
    one_ = prng.Below(nodes);
    other_ = (one_ + 1 + prng.Below(nodes - 1)) % nodes;
  }

  void Run(vcm5_port& port) override {
    const bool source = port.self == one_ || port.self == other_;
    for (uint32_t sent = 0; source && sent < kMessages;) {
      const uint32_t first = port.self * kMessages * kWords + sent * kWords;
      vcm5_port_control_first(&port, VCM5_FIFO_BROADCAST, 0, kWords, first);
      for (uint32_t i = 1; i < kWords; ++i) {
        vcm5_port_control_word(&port, VCM5_FIFO_BROADCAST, first + i);
      }
      if (vcm5_port_control_send_ok(&port, VCM5_FIFO_BROADCAST)) ++sent;
      Receive(port);
    }
    while (next_[port.self].one + next_[port.self].other < 2 * kMessages * kWords) Receive(port);
  }

  Seen Judge() override { return seen_; }
  std::vector<uint32_t> culprits() const override {
    return {std::min(one_, other_), std::max(one_, other_)};
  }

 private:
  static constexpr uint32_t kWords = 7;
  static constexpr uint32_t kMessages = 100;

  struct Next {
    uint32_t one = 0;  // words of each source that have come
    uint32_t other = 0;
  };

  void Receive(vcm5_port& port) {
    if (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_BROADCAST)) return;
    const uint32_t word = vcm5_port_control_receive_word(&port, VCM5_FIFO_BROADCAST);
    Next& next = next_[port.self];
    // A message is not interrupted by another.
    if (word == one_ * kMessages * kWords + next.one && next.other % kWords == 0) {
      ++next.one;
    } else if (word == other_ * kMessages * kWords + next.other && next.one % kWords == 0) {
      ++next.other;
    } else {
      seen_.AddBad(absl::StrCat("node ", port.self, ": broadcast word ", word));
    }
  }

  uint32_t one_;
  uint32_t other_;
  std::vector<Next> next_;  // by node
  Seen seen_;
};

// All reduce again and again; once, one node does something else.
class Mismatch final : public Program {
 public:
  Mismatch(uint64_t seed, uint32_t nodes) : nodes_(nodes) {
    Prng prng(seed);
    offender_ = prng.Below(nodes);
    round_ = prng.Below(20);
    const uint32_t other = 1 + prng.Below(kCombiners * VCM5_PATTERNS - 1);
    combiner_ = static_cast<vcm5_combiner>((VCM5_ADD + other) % kCombiners);
    pattern_ = static_cast<vcm5_pattern>(other / kCombiners);
  }

  void Run(vcm5_port& port) override {
    for (uint32_t round = 0; round < 30; ++round) {
      const bool odd = port.self == offender_ && round == round_;
      vcm5_port_combine_first(&port, odd ? combiner_ : VCM5_ADD, odd ? pattern_ : VCM5_REDUCE, 1,
                              port.self + round);
      while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_COMBINE)) {
      }
      const uint32_t sum = vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE);
      if (round >= round_ || sum != nodes_ * (nodes_ - 1) / 2 + round * nodes_) {
        return seen_.AddBad(absl::StrCat("node ", port.self, ": the sum of round ", round));
      }
    }
  }

  Seen Judge() override { return seen_; }
  std::vector<uint32_t> culprits() const override { return {offender_}; }

 private:
  const uint32_t nodes_;
  uint32_t offender_;
  uint32_t round_;
  vcm5_combiner combiner_;
  vcm5_pattern pattern_;
  Seen seen_;
};

class Endless final : public Program {
 public:
  void Run(vcm5_port& port) override {
    for (;;) vcm5_port_miss(&port);
  }
  Seen Judge() override { return {}; }
};

}  // namespace

std::unique_ptr<Program> MakeProgram(ProgramKind kind, uint64_t seed, const MachineSpec& spec,
                                     uint32_t nodes) {
  switch (kind) {
    case ProgramKind::kTraffic:
      return MakeTraffic(seed, spec, nodes);
    case ProgramKind::kPermutation:
      return MakeRounds(seed, spec, nodes, false);
    case ProgramKind::kAllToOne:
      return MakeRounds(seed, spec, nodes, true);
    case ProgramKind::kBulk:
      return MakeBulk(seed, nodes);
    case ProgramKind::kCollectives:
      return std::make_unique<Collectives>(seed, spec, nodes);
    case ProgramKind::kCollision:
      return std::make_unique<Collision>(seed, nodes);
    case ProgramKind::kMismatch:
      return std::make_unique<Mismatch>(seed, nodes);
    case ProgramKind::kEndless:
      break;
  }
  return std::make_unique<Endless>();
}

}  // namespace vcm5::campaign
