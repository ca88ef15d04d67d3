// Scans and reductions against a serial fold over the leaves: five combiners, both directions,
// segments, one to four words, abstaining leaves, any tree shape, any schedule of programs, ports
// and links, many operations in flight. VCM5_TEST_SEED=n runs seed n alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/property/control/control_world.h"

namespace vcm5 {
namespace {

__extension__ typedef unsigned __int128 Wide;  // a value of up to four words

struct Operation {
  vcm5_combiner combiner;
  vcm5_pattern pattern;
  uint32_t words;
};

// What one leaf contributes to an operation, and must receive.
struct Contribution {
  Wide value = 0;
  bool segment = false;
  Wide result = 0;
  bool overflow = false;
};

Wide Mask(uint32_t words) { return words == 4 ? ~Wide{0} : (Wide{1} << (32 * words)) - 1; }
Wide SignBit(uint32_t words) { return Wide{1} << (32 * words - 1); }

Wide Identity(const Operation& operation) {
  return operation.combiner == VCM5_MAX ? SignBit(operation.words) : 0;
}

// The serial fold's step.
Wide Fold(const Operation& operation, Wide a, Wide b, bool* overflow) {
  const Wide mask = Mask(operation.words);
  const Wide sign = SignBit(operation.words);
  switch (operation.combiner) {
    case VCM5_OR:
      return a | b;
    case VCM5_XOR:
      return a ^ b;
    case VCM5_MAX:
      return (a ^ sign) > (b ^ sign) ? a : b;
    case VCM5_ADD: {
      const Wide sum = (a + b) & mask;
      if ((a & sign) == (b & sign) && (sum & sign) != (a & sign)) *overflow = true;
      return sum;
    }
    case VCM5_UADD: {
      const Wide sum = (a + b) & mask;
      if (sum < a) *overflow = true;
      return sum;
    }
    default:
      return 0;
  }
}

// Fills in what each participant must receive.
void Expect(const Operation& operation, const std::vector<Contribution*>& in_order) {
  Wide running = Identity(operation);
  bool overflow = false;
  if (operation.pattern == VCM5_REDUCE) {
    for (const Contribution* c : in_order) running = Fold(operation, running, c->value, &overflow);
    for (Contribution* c : in_order) {
      c->result = running;
      c->overflow = overflow;
    }
    return;
  }
  const size_t count = in_order.size();
  for (size_t i = 0; i < count; ++i) {
    Contribution* c = in_order[operation.pattern == VCM5_SCAN_FORWARD ? i : count - 1 - i];
    if (c->segment) {
      running = Identity(operation);
      overflow = false;
    }
    c->result = running;
    c->overflow = overflow;
    running = Fold(operation, running, c->value, &overflow);
  }
}

uint32_t RandomWord(Prng& random) {
  constexpr uint32_t kCorners[] = {0, 1, 0x7fffffffu, 0x80000000u, 0xffffffffu};
  const uint32_t corner = random.Below(8);
  return corner < 5 ? kCorners[corner] : static_cast<uint32_t>(random.Next());
}

Wide RandomWide(Prng& random, uint32_t words) {
  Wide value = 0;
  for (uint32_t w = 0; w < words; ++w) value = (value << 32) | RandomWord(random);
  return value;
}

// Signed sums overflow on the way or not by the order of addition unless all have one sign.
Wide RandomValue(Prng& random, const Operation& operation, uint32_t flavour) {
  const Wide value = RandomWide(random, operation.words);
  if (operation.combiner != VCM5_ADD) return value;
  switch (flavour) {
    case 0:
      return value & ~SignBit(operation.words) & Mask(operation.words);
    case 1:
      return (value | SignBit(operation.words)) & Mask(operation.words);
    default:
      return (Wide{random.Below(2000)} - 1000) & Mask(operation.words);
  }
}

// Word `index` in the order of sending.
uint32_t WordAt(const Operation& operation, Wide value, uint32_t index) {
  const bool most_significant_first = operation.combiner == VCM5_MAX;
  const uint32_t place = most_significant_first ? operation.words - 1 - index : index;
  return static_cast<uint32_t>(value >> (32 * place));
}

// One leaf's program in one phase: it takes part in the first `stop` operations, then abstains,
// without waiting for results or for anybody.
struct Program {
  uint32_t stop = 0;
  uint32_t pushed = 0;
  uint32_t received = 0;
};

class Run {
 public:
  Run(uint64_t seed, uint32_t leaves, uint32_t phases, uint32_t operations_max)
      : random_(DeriveSeed(seed, leaves)),
        world_(random_.Chance(1, 2) ? BinaryTree::Balanced(leaves) : RandomTree(leaves, random_),
               SmallGeometry(), Options(random_)),
        programs_(leaves) {
    world_.set_check(leaves <= 128);
    for (uint32_t phase = 0; phase < phases; ++phase) {
      if (!RunPhase(1 + random_.Below(operations_max))) return;
    }
  }

 private:
  static ControlNetworkOptions Options(Prng& random) {
    ControlNetworkOptions options;
    options.departures_max = 1 + random.Below(64);
    return options;
  }

  bool RunPhase(uint32_t count) {
    const uint32_t leaves = world_.leaves();
    // Who takes part for how long. To end abstaining needs agreement, for the others must not go on
    // without the leaf: so that is settled before the phase begins.
    const uint32_t abstaining_in_8 = random_.Chance(1, 2) ? 0 : random_.Below(9);
    for (uint32_t i = 0; i < leaves; ++i) {
      Program& program = programs_[i];
      program = {count, 0, 0};
      if (random_.Chance(abstaining_in_8, 8)) program.stop = random_.Below(count + 1);
      if (!Abstains(i)) continue;
      if (random_.Chance(1, 2)) {
        program.stop = 0;
      } else {
        EXPECT_TRUE(vcm5_port_set_abstain(world_.program(i), VCM5_FIFO_COMBINE, false));
      }
    }
    world_.Settle();

    operations_.clear();
    contributions_.assign(count, std::vector<Contribution>(leaves));
    for (uint32_t o = 0; o < count; ++o) {
      Operation operation;
      operation.combiner = static_cast<vcm5_combiner>(random_.Below(VCM5_COMBINERS));
      operation.pattern = static_cast<vcm5_pattern>(random_.Below(VCM5_PATTERNS));
      operation.words = 1 + random_.Below(4);
      operations_.push_back(operation);
      const uint32_t flavour = random_.Below(3);
      const uint32_t segments_in_8 = random_.Chance(1, 2) ? 0 : random_.Below(9);
      std::vector<Contribution*> in_order;
      for (uint32_t i = 0; i < leaves; ++i) {
        Contribution& c = contributions_[o][i];
        c.value = RandomValue(random_, operation, flavour);
        c.segment = random_.Chance(segments_in_8, 8);
        if (o < programs_[i].stop) in_order.push_back(&c);
      }
      Expect(operation, in_order);
      operations_expected_ += in_order.empty() ? 0 : 1;
    }
    const uint64_t rounds_max = 4000ull * (count + 4);
    for (uint64_t round = 0; !AllDone(); ++round) {
      for (uint32_t step = 0; step < leaves; ++step) {
        const uint32_t i = random_.Below(leaves);
        if (random_.Chance(1, 3)) Push(i);
        if (random_.Chance(1, 3)) Receive(i);
        if (::testing::Test::HasFailure()) return false;
        world_.RandomStep(random_);
      }
      if (round == rounds_max) {
        ADD_FAILURE() << "operations do not complete";
        return false;
      }
    }
    world_.Settle();
    EXPECT_TRUE(world_.network().events().empty());
    const ControlNetworkStats stats = world_.network().stats();
    EXPECT_EQ(stats.operations[VCM5_REDUCE] + stats.operations[VCM5_SCAN_FORWARD] +
                  stats.operations[VCM5_SCAN_BACKWARD],
              operations_expected_);
    for (uint32_t i = 0; i < leaves; ++i) {
      EXPECT_EQ(vcm5_port_control_peek(world_.program(i), VCM5_FIFO_COMBINE), nullptr);
      EXPECT_FALSE(world_.port(i).failed());
      EXPECT_EQ(world_.port(i).network_fault(), ControlFault::kNone);
    }
    return !::testing::Test::HasFailure();
  }

  bool Abstains(uint32_t i) { return world_.program(i)->fifo[VCM5_FIFO_COMBINE].abstaining; }
  bool Done(uint32_t i) {
    const Program& program = programs_[i];
    return program.received == program.stop &&
           (program.stop == operations_.size() || Abstains(i));
  }
  bool AllDone() {
    for (uint32_t i = 0; i < programs_.size(); ++i) {
      if (!Done(i)) return false;
    }
    return true;
  }

  void Push(uint32_t i) {
    Program& program = programs_[i];
    vcm5_port* port = world_.program(i);
    if (program.pushed == program.stop) {
      if (program.stop < operations_.size()) {
        vcm5_port_set_abstain(port, VCM5_FIFO_COMBINE, true);
      }
      return;
    }
    const Operation& operation = operations_[program.pushed];
    const Contribution& c = contributions_[program.pushed][i];
    port->segment_start = c.segment ? VCM5_ENTRY_SEGMENT : 0;
    vcm5_port_combine_first(port, operation.combiner, operation.pattern, operation.words,
                            WordAt(operation, c.value, 0));
    for (uint32_t w = 1; w < operation.words; ++w) {
      vcm5_port_control_word(port, VCM5_FIFO_COMBINE, WordAt(operation, c.value, w));
    }
    if (vcm5_port_control_send_ok(port, VCM5_FIFO_COMBINE)) ++program.pushed;
  }

  void Receive(uint32_t i) {
    Program& program = programs_[i];
    vcm5_port* port = world_.program(i);
    const vcm5_control_entry* head = vcm5_port_control_peek(port, VCM5_FIFO_COMBINE);
    if (head == nullptr) return;
    ASSERT_LT(program.received, program.stop);
    const uint32_t o = program.received++;
    const Operation& operation = operations_[o];
    const Contribution& c = contributions_[o][i];
    ASSERT_EQ(VCM5_ENTRY_LENGTH_OF(head->control), operation.words);
    ASSERT_EQ((head->control & VCM5_ENTRY_OVERFLOW) != 0, c.overflow)
        << "leaf " << i << " operation " << o << " combiner " << operation.combiner << " pattern "
        << operation.pattern << " words " << operation.words;
    for (uint32_t w = 0; w < operation.words; ++w) {
      ASSERT_NE(vcm5_port_control_peek(port, VCM5_FIFO_COMBINE), nullptr);
      ASSERT_EQ(vcm5_port_control_receive_word(port, VCM5_FIFO_COMBINE),
                WordAt(operation, c.result, w))
          << "leaf " << i << " operation " << o << " word " << w << " combiner "
          << operation.combiner << " pattern " << operation.pattern << " words "
          << operation.words;
    }
  }

  Prng random_;
  ControlWorld world_;
  std::vector<Program> programs_;
  std::vector<Operation> operations_;
  std::vector<std::vector<Contribution>> contributions_;  // by operation, leaf
  uint64_t operations_expected_ = 0;
};

void RunSeeds(uint64_t count, uint32_t first_leaves, uint32_t last_leaves, uint32_t phases,
              uint32_t operations_max) {
  const char* only = std::getenv("VCM5_TEST_SEED");
  for (uint64_t seed = only ? std::strtoull(only, nullptr, 0) : 1;; ++seed) {
    for (uint32_t leaves = first_leaves; leaves <= last_leaves; ++leaves) {
      SCOPED_TRACE("VCM5_TEST_SEED=" + std::to_string(seed) + " leaves " + std::to_string(leaves));
      Run run(seed, leaves, phases, operations_max);
      if (::testing::Test::HasFailure()) return;
    }
    if (only || seed == count) return;
  }
}

TEST(OperationsProperty, EveryLeafCountTo70MatchesASerialFold) { RunSeeds(12, 1, 70, 3, 24); }
TEST(OperationsProperty, SmallWorldsMatchASerialFold) { RunSeeds(120, 1, 5, 6, 40); }
TEST(OperationsProperty, Leaves128MatchASerialFold) { RunSeeds(4, 128, 128, 3, 16); }
TEST(OperationsProperty, Leaves1000MatchASerialFold) { RunSeeds(2, 1000, 1000, 2, 8); }
TEST(OperationsProperty, Leaves4096MatchASerialFold) { RunSeeds(1, 4096, 4096, 2, 4); }

}  // namespace
}  // namespace vcm5
