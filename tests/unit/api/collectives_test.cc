// Barriers, ORs, reduce, scan and broadcast on an embedded machine, against serial folds.
#include "vcm5/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/prng.h"
#include "vcm5/embedded.hpp"

namespace vcm5 {
namespace {

EmbeddedOptions Shuffled(uint32_t nodes, uint64_t seed) {
  EmbeddedOptions options;
  options.spec.nodes = nodes;
  options.seed = seed;
  options.random_schedule = true;
  return options;
}

// ---- the operators, serially --------------------------------------------------------------------

template <typename T>
T Wrap(AddOperator, T a, T b) {
  if constexpr (std::integral<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}
template <typename T>
T Wrap(MaxOperator, T a, T b) {
  return std::max(a, b);
}
template <typename T>
T Wrap(MinOperator, T a, T b) {
  return std::min(a, b);
}
template <typename T>
T Wrap(OrOperator, T a, T b) {
  return a | b;
}
template <typename T>
T Wrap(XorOperator, T a, T b) {
  return a ^ b;
}
template <typename T>
T Wrap(AndOperator, T a, T b) {
  return a & b;
}

template <typename Op, typename T>
T Identity() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::same_as<Op, MaxOperator>) {
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  } else if constexpr (std::same_as<Op, MinOperator>) {
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  } else if constexpr (std::same_as<Op, AndOperator>) {
    return static_cast<T>(-1);
  } else {
    return T{0};
  }
}

// A value that is different for every node and element; sums of the float ones are exact.
template <typename T>
T ValueAt(uint32_t node, size_t element) {
  Prng prng(1000003 * uint64_t{node} + element + 1);
  if constexpr (std::integral<T>) {
    return static_cast<T>(prng.Next());
  } else {
    return static_cast<T>(static_cast<int32_t>(prng.Below(4096)) - 2048) / 4;
  }
}

bool StartsSegment(uint32_t node) { return Prng(node + 17).Chance(1, 3); }

template <typename Op, typename T>
void CheckOperator(Node& node, size_t elements) {
  const Op op{};
  const uint32_t nodes = node.size();
  std::vector<T> values(elements);
  for (size_t e = 0; e < elements; ++e) values[e] = ValueAt<T>(node.self(), e);
  std::vector<T> reduced(elements);
  std::vector<T> forward(elements);
  std::vector<T> backward(elements);
  std::vector<T> segmented(elements);
  std::vector<T> segmented_backward(elements);
  const bool start = StartsSegment(node.self());
  node.Reduce(op, values, std::span(reduced));
  node.ScanForward(op, values, std::span(forward));
  node.ScanBackward(op, values, std::span(backward));
  node.ScanForward(op, values, std::span(segmented), start);
  node.ScanBackward(op, values, std::span(segmented_backward), start);
  for (size_t e = 0; e < elements; ++e) {
    T all = Identity<Op, T>();
    T before = all;
    T after = all;
    T segment_before = all;
    for (uint32_t n = 0; n < nodes; ++n) {
      const T value = ValueAt<T>(n, e);
      all = Wrap(op, all, value);
      if (n < node.self()) {
        before = Wrap(op, before, value);
        if (StartsSegment(n)) segment_before = Identity<Op, T>();
        segment_before = Wrap(op, segment_before, value);
      }
      if (n > node.self()) after = Wrap(op, after, value);
    }
    T segment_after = Identity<Op, T>();
    for (uint32_t n = nodes; n-- > node.self() + 1;) {
      if (StartsSegment(n)) segment_after = Identity<Op, T>();
      segment_after = Wrap(op, segment_after, ValueAt<T>(n, e));
    }
    if (start) segment_before = segment_after = Identity<Op, T>();
    ASSERT_EQ(reduced[e], all) << "reduce, node " << node.self() << ", element " << e;
    ASSERT_EQ(forward[e], before) << "forward, node " << node.self() << ", element " << e;
    ASSERT_EQ(backward[e], after) << "backward, node " << node.self() << ", element " << e;
    ASSERT_EQ(segmented[e], segment_before) << "segmented, node " << node.self();
    ASSERT_EQ(segmented_backward[e], segment_after) << "segmented back, node " << node.self();
  }
}

template <typename T>
class ReduceAndScanTest : public testing::Test {};
using Elements = testing::Types<int32_t, uint32_t, int64_t, uint64_t, float, double>;
TYPED_TEST_SUITE(ReduceAndScanTest, Elements);

TYPED_TEST(ReduceAndScanTest, AgreeWithSerialFold) {
  for (const uint32_t nodes : {1u, 2u, 3u, 7u, 16u, 33u}) {
    EmbeddedMachine machine(Shuffled(nodes, nodes));
    const absl::Status status = machine.Run([](Node& node) {
      for (const size_t elements : {1u, 3u, 100u}) {
        CheckOperator<AddOperator, TypeParam>(node, elements);
        CheckOperator<MaxOperator, TypeParam>(node, elements);
        CheckOperator<MinOperator, TypeParam>(node, elements);
        if constexpr (std::integral<TypeParam>) {
          CheckOperator<OrOperator, TypeParam>(node, elements);
          CheckOperator<XorOperator, TypeParam>(node, elements);
          CheckOperator<AndOperator, TypeParam>(node, elements);
        }
      }
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(ReduceTest, ThreeLinesAreATest) {
  EmbeddedMachine machine(64);
  const absl::Status status = machine.Run([](Node& node) { EXPECT_EQ(node.Reduce(kAdd, 1), 64); });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(ReduceTest, ReportsOverflow) {
  EmbeddedMachine machine(4);
  const absl::Status status = machine.Run([](Node& node) {
    node.Reduce(kAdd, std::numeric_limits<int32_t>::max() / 4);
    EXPECT_FALSE(node.overflowed());
    node.Reduce(kAdd, std::numeric_limits<int32_t>::max() / 3);
    EXPECT_TRUE(node.overflowed());
    node.Reduce(kAdd, uint32_t{1} << 29);
    EXPECT_FALSE(node.overflowed());
    node.Reduce(kAdd, uint32_t{1} << 30);
    EXPECT_TRUE(node.overflowed());
    node.Reduce(kAdd, std::numeric_limits<int64_t>::min() / 2);
    EXPECT_TRUE(node.overflowed());
    node.Reduce(kMax, std::numeric_limits<int32_t>::max());
    EXPECT_FALSE(node.overflowed());
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(ReduceTest, MoreElementsThanTheFifoHolds) {
  EmbeddedMachine machine(5);
  const absl::Status status = machine.Run([](Node& node) {
    std::vector<uint32_t> values(5000);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i) + node.self();
    node.Reduce(kAdd, values, std::span(values));
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 5 * i + 10);
    node.Reduce(kOr, values, std::span(values));
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 5 * i + 10);
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(ReduceTest, NothingToReduce) {
  EmbeddedMachine machine(3);
  const absl::Status status = machine.Run([](Node& node) {
    std::vector<double> none;
    node.Reduce(kAdd, none, std::span(none));
    std::vector<int32_t> no_integers;
    node.ScanForward(kXor, no_integers, std::span(no_integers));
    EXPECT_EQ(node.Reduce(kMax, 7), 7);
  });
  ASSERT_TRUE(status.ok()) << status;
}

// ---- barriers and ORs ---------------------------------------------------------------------------

TEST(BarrierTest, NobodyLeavesBeforeAllHaveEntered) {
  for (const uint32_t nodes : {1u, 2u, 9u, 40u}) {
    EmbeddedMachine machine(Shuffled(nodes, 3));
    uint32_t entered = 0;
    const absl::Status status = machine.Run([&](Node& node) {
      for (uint32_t round = 1; round <= 20; ++round) {
        ++entered;
        node.Barrier();
        EXPECT_EQ(entered, round * node.size());
        node.Barrier();
      }
    });
    ASSERT_TRUE(status.ok()) << status;
  }
}

TEST(BarrierTest, SplitPhaseLetsWorkGoOn) {
  EmbeddedMachine machine(Shuffled(8, 5));
  bool late_entered = false;
  const absl::Status status = machine.Run([&](Node& node) {
    if (node.self() == 3) {
      for (int i = 0; i < 50; ++i) node.Poll();
      late_entered = true;
    }
    node.BarrierEnter(node.self() == 3);
    EXPECT_EQ(node.Reduce(kMax, node.self()), 7u);  // other operations in between
    while (!node.BarrierTest()) {
    }
    EXPECT_TRUE(late_entered);
    EXPECT_TRUE(node.BarrierExit());
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(SyncOrTest, IsTheOrOfAllBits) {
  EmbeddedMachine machine(6);
  const absl::Status status = machine.Run([](Node& node) {
    EXPECT_FALSE(node.SyncOr(false));
    EXPECT_TRUE(node.SyncOr(node.self() == 5));
    EXPECT_TRUE(node.SyncOr(true));
    EXPECT_FALSE(node.SyncOr(false));
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(AsyncOrTest, ShowsAnyNodesBit) {
  EmbeddedMachine machine(6);
  const absl::Status status = machine.Run([](Node& node) {
    EXPECT_FALSE(node.AsyncOr());
    node.Barrier();
    if (node.self() == 2) node.SetAsyncOr(true);
    while (!node.AsyncOr()) {
    }
    node.Barrier();
    node.SetAsyncOr(false);
    while (node.AsyncOr()) {
    }
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(AbstainTest, OthersReduceWithoutTheAbstaining) {
  EmbeddedMachine machine(7);
  const absl::Status status = machine.Run([](Node& node) {
    const bool abstains = node.self() % 3 == 1;  // 1 and 4
    if (abstains) node.SetAbstain(ControlClass::kCombine, true);
    node.Barrier();
    if (!abstains) {
      EXPECT_EQ(node.Reduce(kAdd, 1), 5);
      EXPECT_EQ(node.ScanForward(kAdd, 1), static_cast<int>(node.self() - (node.self() + 1) / 3));
    }
    node.Barrier();
    if (abstains) node.SetAbstain(ControlClass::kCombine, false);
    node.Barrier();
    EXPECT_EQ(node.Reduce(kAdd, 1), 7);
  });
  ASSERT_TRUE(status.ok()) << status;
}

// ---- broadcast ----------------------------------------------------------------------------------

TEST(BroadcastTest, EveryLengthFromEveryNode) {
  constexpr uint32_t kNodes = 5;
  EmbeddedMachine machine(Shuffled(kNodes, 11));
  const absl::Status status = machine.Run([](Node& node) {
    for (uint32_t length = 0; length <= 1000; ++length) {
      const uint32_t source = length % kNodes;
      std::vector<uint8_t> bytes(length);
      for (uint32_t i = 0; i < length; ++i) {
        bytes[i] = static_cast<uint8_t>(node.self() == source ? 31 * length + i : 0xee);
      }
      node.Broadcast(source, std::span(bytes));
      for (uint32_t i = 0; i < length; ++i) {
        ASSERT_EQ(bytes[i], static_cast<uint8_t>(31 * length + i));
      }
    }
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(BroadcastTest, ContainersTakeTheSourcesLength) {
  EmbeddedMachine machine(4);
  const absl::Status status = machine.Run([](Node& node) {
    std::string text(node.self() * 10, 'x');
    if (node.self() == 2) text = "forty-two";
    node.Broadcast(2, text);
    EXPECT_EQ(text, "forty-two");
    std::vector<double> values(node.self());
    node.Broadcast(3, values);
    EXPECT_EQ(values.size(), 3u);
    int64_t number = node.self() == 1 ? -5 : 0;
    node.Broadcast(1, number);
    EXPECT_EQ(number, -5);
  });
  ASSERT_TRUE(status.ok()) << status;
}

TEST(CollectivesTest, SurviveRefusedSends) {
  EmbeddedMachine machine(Shuffled(6, 1));
  const absl::Status status = machine.Run([](Node& node) {
    node.port().send_refuse = node.port().refused_sends_left = 2 + node.self();
    std::vector<int64_t> values(200, node.self());
    node.ScanForward(kAdd, values, std::span(values));
    const int64_t before = int64_t{node.self()} * (node.self() - 1) / 2;
    for (const int64_t value : values) ASSERT_EQ(value, before);
    std::string text = node.self() == 0 ? std::string(3000, 'a') : "";
    node.Broadcast(0, text);
    EXPECT_EQ(text, std::string(3000, 'a'));
    node.Barrier();
    node.Quiesce();
  });
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace vcm5
