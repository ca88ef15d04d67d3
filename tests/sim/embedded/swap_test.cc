// Programs that are cut at any moment: the machine is frozen, what the users have in it is saved,
// and goes on in the same machine, in a fresh one of other make, or in turns with another user. The
// answers are those of a run without cuts, and every message arrives exactly once (NI11, CN10, SY2,
// SY3).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemons/driver/all_fall_down.h"
#include "daemons/driver/node_wake.h"
#include "runtime/engines/saved_machine.h"
#include "switches/topology/health.h"
#include "tests/sim/embedded/swap_user.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// Whose networks fill up, as nodes receive late.
EmbeddedOptions TightMachine(uint64_t seed, Prng& prng) {
  EmbeddedOptions options = RandomOptions(seed, prng);
  if (prng.Chance(9, 10)) options.spec.nodes = 1 + prng.Below(16);
  options.spec.data_fifo_depth = 1u << prng.Below(3);
  return options;
}

// A machine that calls `cut` between two turns of nodes, after random pauses.
class CutMachine {
 public:
  CutMachine(EmbeddedOptions options, uint64_t seed, std::function<void(Embedded&)> cut)
      : prng_(seed), pause_(1 + prng_.Below(600)), cut_(std::move(cut)) {
    members_ =
        options.partitions.empty() ? UsableNodes(options.spec) : options.partitions.front();
    options.on_switch = [this](uint32_t node, bool entering) { OnSwitch(node, entering); };
    machine_.emplace(std::move(options));
  }
  Embedded& machine() { return *machine_; }

  // The programs of whoever is the user, each until its node has `ended`.
  absl::Status Run(User*& user, const std::function<bool(uint32_t)>& ended) {
    armed_ = true;
    const absl::Status status = machine_->Run([&](vcm5_port& port) {
      while (!ended(port.self)) {
        if (user->programs[port.self].Step(user->plan, port)) continue;
        vcm5_port_miss(&port);
      }
    });
    armed_ = false;
    if (!status.ok()) {
      for (const std::string& line : machine_->Waiting()) ADD_FAILURE() << line;
    }
    return status;
  }

 private:
  void OnSwitch(uint32_t node, bool entering) {
    // What came to nothing may do next time: a miss is no reason to wait.
    if (!entering) {
      vcm5_store_relaxed(&machine_->page(members_[node])->node_control.waiting, NodeWake::kAwake);
    }
    if (!armed_ || ::testing::Test::HasFailure() || !prng_.Chance(1, pause_)) return;
    cut_(*machine_);
  }

  Prng prng_;
  Partition members_;
  uint32_t pause_;  // in turns
  bool armed_ = false;
  std::function<void(Embedded&)> cut_;
  std::optional<Embedded> machine_;
};

Answers UncutAnswers(User user, const EmbeddedOptions& options) {
  CutMachine uncut(options, 1, [](Embedded&) {});
  User* current = &user;
  EXPECT_EQ(uncut.Run(current, [&](uint32_t node) { return user.Done(node); }), absl::OkStatus());
  return user.Answer();
}

uint64_t Captured(const SavedMachine& saved) {
  uint64_t captured = 0;
  for (const SavedPartition& partition : saved.partitions) {
    for (const auto& half : partition.captured) captured += half.size();
  }
  return captured;
}

absl::Status Go(Embedded& machine, const SavedMachine& saved) {
  absl::Status status = machine.Freeze();
  if (status.ok()) status = machine.Restore(saved);
  if (status.ok()) status = machine.Resume();
  return status;
}

TEST(EmbeddedSwap, TheSameMachineGoesOnAfterAnyCut) {
  uint64_t cuts = 0;
  ForEachSeed(60, [&](uint64_t seed) {
    Prng prng(seed);
    const EmbeddedOptions options = TightMachine(seed, prng);
    User user(prng.Next(), options.spec.nodes, RandomPlan(prng));
    const Answers answers = UncutAnswers(user, options);
    uint32_t left = 20;
    CutMachine cut(options, prng.Next(), [&](Embedded& machine) {
      if (left == 0) return;
      --left;
      ++cuts;
      ASSERT_EQ(machine.Freeze(), absl::OkStatus());
      if (prng.Chance(1, 2)) {
        const absl::StatusOr<SavedMachine> saved = machine.Save();
        ASSERT_TRUE(saved.ok()) << saved.status();
        ASSERT_EQ(machine.Restore(*saved), absl::OkStatus());
      }
      ASSERT_EQ(machine.Resume(), absl::OkStatus());
    });
    User* current = &user;
    ASSERT_EQ(cut.Run(current, [&](uint32_t node) { return user.Done(node); }), absl::OkStatus());
    ASSERT_EQ(user.Answer(), answers);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(cuts, kSanitized ? 50u : 200u);
}

// Another machine whose FIFOs have as much room, and of it a partition of as many nodes, anywhere.
MachineSpec OtherMachine(const MachineSpec& spec, uint32_t nodes, Prng& prng,
                         std::vector<Partition>* partitions) {
  MachineSpec other = RandomMachine(prng);
  other.nodes = nodes + (prng.Chance(1, 2) ? 0 : prng.Below(40));
  Partition& partition = partitions->emplace_back();
  for (uint32_t leaf = 0; partition.size() < nodes; ++leaf) {
    const auto missing = static_cast<uint32_t>(nodes - partition.size());
    if (prng.Chance(missing, other.nodes - leaf)) partition.push_back(leaf);
  }
  other.data_fifo_depth = std::max(spec.data_fifo_depth, other.data_fifo_depth);
  other.combine_depth = std::max(spec.combine_depth, 16u << prng.Below(4));
  other.broadcast_depth = std::max(spec.broadcast_depth, 16u << prng.Below(5));
  return other;
}

TEST(EmbeddedSwap, AFreshMachineGoesOnAfterAnyCut) {
  uint64_t cuts = 0;
  uint64_t captured = 0;
  ForEachSeed(80, [&](uint64_t seed) {
    Prng prng(seed);
    EmbeddedOptions options = TightMachine(seed, prng);
    options.spec.combine_depth = options.spec.broadcast_depth = 16;
    User user(prng.Next(), options.spec.nodes, RandomPlan(prng));
    const Answers answers = UncutAnswers(user, options);
    std::optional<SavedMachine> saved;
    for (uint32_t left = 4; !user.Done(); --left) {
      bool stopped = false;
      std::optional<SavedMachine> next;
      CutMachine cut(options, prng.Next(), [&](Embedded& machine) {
        if (left == 0 || stopped) return;
        ASSERT_EQ(machine.Freeze(), absl::OkStatus());
        const absl::StatusOr<SavedMachine> now = machine.Save();
        ASSERT_TRUE(now.ok()) << now.status();
        absl::StatusOr<SavedMachine> read = SavedMachine::Decode(now->Encode());
        ASSERT_TRUE(read.ok()) << read.status();
        ASSERT_EQ(read->Encode(), now->Encode());
        next = *std::move(read);
        stopped = true;
      });
      if (saved) {
        captured += Captured(*saved);
        ASSERT_EQ(Go(cut.machine(), *saved), absl::OkStatus());
      }
      User* current = &user;
      auto ended = [&](uint32_t node) { return stopped || user.Done(node); };
      ASSERT_EQ(cut.Run(current, ended), absl::OkStatus());
      if (saved && !stopped) {
        for (const int half : {VCM5_LEFT, VCM5_RIGHT}) {
          const DataCounts counts = cut.machine().MakeAllFallDown().Counts(half);
          ASSERT_EQ(counts.resent, saved->partitions[0].captured[half].size());
          ASSERT_EQ(counts.lost, 0u);
        }
      }
      cuts += stopped ? 1 : 0;
      saved = std::move(next);
      // The programs' memory comes along by its bytes.
      user.programs = Programs(user.programs);
      options.partitions.clear();
      options.spec = OtherMachine(options.spec, user.plan.nodes(), prng, &options.partitions);
      options.seed = prng.Next();
    }
    ASSERT_EQ(user.Answer(), answers);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(cuts, kSanitized ? 25u : 80u);
  EXPECT_GT(captured, 0u);
}

TEST(EmbeddedSwap, TwoUsersTakeTurnsOnOneMachine) {
  uint64_t swaps = 0;
  ForEachSeed(40, [&](uint64_t seed) {
    Prng prng(seed);
    const EmbeddedOptions options = TightMachine(seed, prng);
    User first(prng.Next(), options.spec.nodes, RandomPlan(prng));
    User second(prng.Next(), options.spec.nodes, RandomPlan(prng));
    const Answers answers[2] = {UncutAnswers(first, options), UncutAnswers(second, options)};
    Embedded untouched(options);
    ASSERT_EQ(untouched.Freeze(), absl::OkStatus());
    absl::StatusOr<SavedMachine> other = untouched.Save();
    ASSERT_TRUE(other.ok()) << other.status();
    User* current = &first;
    User* waiting = &second;
    uint64_t slice = 1;  // in calls; ever longer, lest too short ones let nothing be completed
    uint64_t calls = 0;
    CutMachine cut(options, prng.Next(), [&](Embedded& machine) {
      if (++calls < slice) return;
      calls = 0;
      slice += 1 + slice / 16;
      ++swaps;
      ASSERT_EQ(machine.Freeze(), absl::OkStatus());
      absl::StatusOr<SavedMachine> saved = machine.Save();
      ASSERT_TRUE(saved.ok()) << saved.status();
      ASSERT_EQ(machine.Restore(*other), absl::OkStatus());
      ASSERT_EQ(machine.Resume(), absl::OkStatus());
      other = std::move(saved);
      std::swap(current, waiting);
    });
    auto ended = [&](uint32_t node) { return first.Done(node) && second.Done(node); };
    ASSERT_EQ(cut.Run(current, ended), absl::OkStatus());
    ASSERT_EQ(first.Answer(), answers[0]);
    ASSERT_EQ(second.Answer(), answers[1]);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(swaps, kSanitized ? 50u : 200u);
}

}  // namespace
}  // namespace vcm5
