// A running program whose data networks are emptied and filled again at random moments (DN7): chips
// go into all-fall-down mode in a random order while nodes go on; what falls lies in the
// supervisor's store for a while; the program's answer is the same.
#include "daemons/driver/all_fall_down.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/embedded/traffic.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// To be called between the turns of nodes.
class Interrupter {
 public:
  explicit Interrupter(uint64_t seed)
      : prng_(seed), pause_(1 + prng_.Below(400)), hurry_(1 + prng_.Below(20)) {}

  void Interrupt(Embedded* machine) { machine_ = machine; }

  void OnSwitch() {
    if (machine_ == nullptr || ::testing::Test::HasFailure()) return;
    if (!fall_) {
      if (prng_.Chance(1, pause_)) Begin();
    } else if (!saved_) {
      if (prng_.Chance(1, hurry_)) EnterSome();
    } else if (prng_.Chance(1, pause_)) {
      End();
    }
  }

  uint64_t captured() const { return captured_; }
  uint32_t cuts() const { return cuts_; }

 private:
  void Begin() {
    fall_.emplace(machine_->MakeAllFallDown());
    order_.resize(fall_->chips());
    std::iota(order_.begin(), order_.end(), 0u);
    for (size_t i = order_.size(); i > 1; --i) {
      std::swap(order_[i - 1], order_[prng_.Below(static_cast<uint32_t>(i))]);
    }
    // Sometimes the last of them enter when all is held.
    order_.resize(order_.size() - prng_.Below(static_cast<uint32_t>(order_.size())));
  }
  void EnterSome() {
    for (uint32_t i = 1 + prng_.Below(10); i != 0 && !order_.empty(); --i) {
      fall_->Enter(order_.back());
      order_.pop_back();
    }
    if (!order_.empty()) return;
    const absl::Status status = fall_->Drain();
    ASSERT_TRUE(status.ok()) << status;
    saved_ = fall_->TakeCaptured();
    for (const int half : {VCM5_LEFT, VCM5_RIGHT}) {
      uint64_t taken = 0, put = 0;
      const DataCounts counts = fall_->Counts(half);
      for (uint32_t leaf = 0; leaf < leaves_; ++leaf) {
        taken += machine_->page(leaf)->data[half].out_head;
        put += machine_->page(leaf)->data[half].in_tail;
      }
      // Of what was captured, that is what was not sent again before.
      ASSERT_EQ(counts.captured - counts.resent, taken - put);
      ASSERT_EQ(counts.lost, 0u);
    }
    for (const auto& part : *saved_) captured_ += part.size();
    ++cuts_;
  }
  void End() {
    fall_->Leave(std::move(*saved_));
    saved_.reset();
    fall_.reset();
  }

 public:
  uint32_t leaves_ = 0;

 private:
  Prng prng_;
  uint32_t pause_;  // between steps, in turns
  uint32_t hurry_;
  Embedded* machine_ = nullptr;
  std::optional<AllFallDown> fall_;
  std::vector<uint32_t> order_;
  std::optional<AllFallDown::Captured> saved_;
  uint64_t captured_ = 0;
  uint32_t cuts_ = 0;
};

struct InterruptedMachine {
  InterruptedMachine(EmbeddedOptions options, uint64_t seed) : interrupter(seed) {
    interrupter.leaves_ = options.spec.leaves();
    options.on_switch = [this](uint32_t, bool) { interrupter.OnSwitch(); };
    machine.emplace(std::move(options));
    interrupter.Interrupt(&*machine);
  }
  Interrupter interrupter;
  std::optional<Embedded> machine;
};

TEST(EmbeddedAllFallDown, TrafficArrivesExactlyOnceThoughInterrupted) {
  uint64_t captured = 0;
  uint64_t cuts = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options = RandomOptions(seed, prng);
    const TrafficPlan plan(prng.Next(), options.spec, 1 + prng.Below(30));
    InterruptedMachine world(options, prng.Next());
    ASSERT_EQ(RunPlan(plan, *world.machine), "");
    captured += world.interrupter.captured();
    cuts += world.interrupter.cuts();
  });
  RecordProperty("captured", std::to_string(captured));
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(cuts, 300u) << "too few interruptions to mean anything";
  EXPECT_GT(captured, 1000u);
}

TEST(EmbeddedAllFallDown, IsTheSameEveryTime) {
  ForEachSeed(20, [](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options;
    options.spec = RandomMachine(prng);
    options.seed = seed;
    const TrafficPlan plan(prng.Next(), options.spec, 20);
    EventTrace traces[2];
    for (EventTrace& trace : traces) {
      InterruptedMachine world(options, seed);
      ASSERT_EQ(RunPlan(plan, *world.machine, 0, &trace), "");
    }
    ASSERT_EQ(traces[0], traces[1]);
  });
}

// Rounds of sending until the routers are done, then a sum over all nodes of what came: router-done
// may not be deceived by messages that lie in the supervisor's store.
uint32_t SumOfRounds(vcm5_port& port, uint64_t seed, uint32_t rounds, uint32_t messages) {
  Prng prng(DeriveSeed(seed, port.self));
  uint32_t answer = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    uint32_t received = 0;
    auto receive = [&](int half) {
      if (!vcm5_port_receive_ok(&port, half)) return;
      received += vcm5_port_receive_word(&port, half);
    };
    for (uint32_t left = prng.Below(messages + 1); left != 0;) {
      const int half = static_cast<int>(left % VCM5_HALVES);
      const uint32_t word = round * 1000003 + left;
      const uint32_t to = (port.self * 7 + left * 3 + round) % port.addresses;
      if (vcm5_port_send(&port, half, to, 0, &word, 1)) {
        --left;
      } else {
        vcm5_port_miss(&port);
      }
      for (const int from : {VCM5_LEFT, VCM5_RIGHT}) receive(from);
    }
    vcm5_port_control_first(&port, VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
    while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_ROUTER_DONE)) {
      for (const int from : {VCM5_LEFT, VCM5_RIGHT}) receive(from);
    }
    vcm5_port_control_receive_word(&port, VCM5_FIFO_ROUTER_DONE);
    vcm5_port_combine_first(&port, VCM5_UADD, VCM5_REDUCE, 1, received * (port.self + 1));
    while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_COMBINE)) {
    }
    answer = answer * 31 + vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE);
  }
  return answer;
}

TEST(EmbeddedAllFallDown, AProgramOfRoundsEndsWithTheSameAnswer) {
  uint64_t captured = 0;
  ForEachSeed(100, [&](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options;
    options.should_stop = StopAHang();
    options.spec = RandomMachine(prng);
    options.random_schedule = true;
    // On every other machine with a host among them, above the partition's subtree.
    options.hosts = seed % 2 == 1 && options.spec.control_processors != 0;
    const uint32_t rounds = 1 + prng.Below(6);
    const uint32_t messages = prng.Below(40);
    auto run = [&](Embedded& machine) {
      std::vector<uint32_t> answers(options.spec.nodes + 1);
      const absl::Status status = machine.Run(
          [&](vcm5_port& port) { answers[port.self] = SumOfRounds(port, seed, rounds, messages); });
      EXPECT_TRUE(status.ok()) << status;
      return answers;
    };
    Embedded undisturbed(options);
    const std::vector<uint32_t> answers = run(undisturbed);
    InterruptedMachine world(options, seed);
    ASSERT_EQ(run(*world.machine), answers);
    captured += world.interrupter.captured();
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(captured, 100u);
}

}  // namespace
}  // namespace vcm5
