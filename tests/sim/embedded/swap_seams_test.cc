// The end of a timeslice where other things meet it: several partitions, their hosts, broken parts of
// both networks, and faults of links while the machine is frozen. What is saved is whole, whatever
// happened before; and nothing waits for ever for a flush that does not come.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemons/driver/node_wake.h"
#include "runtime/engines/saved_machine.h"
#include "switches/topology/control_settings.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/health.h"
#include "tests/sim/embedded/swap_user.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/broken_parts.h"
#include "tests/support/control_oracle.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// Who shares a machine: nodes of each partition, and whether it has a host besides.
struct Shape {
  std::vector<uint32_t> nodes;
  std::vector<bool> hosts;
};

Shape RandomShape(Prng& prng) {
  Shape shape;
  for (uint32_t count = 1 + prng.Below(3); count != 0; --count) {
    shape.nodes.push_back(1 + prng.Below(8));
    shape.hosts.push_back(prng.Chance(1, 2));
  }
  return shape;
}

// A machine that has room for them, with parts of both networks broken.
EmbeddedOptions MachineFor(const Shape& shape, uint64_t seed, Prng& prng) {
  for (;;) {
    EmbeddedOptions options = RandomOptions(seed, prng);
    MachineSpec& spec = options.spec;
    spec.nodes = 8 + prng.Below(90);
    spec.control_processors = prng.Below(6);
    spec.data_fifo_depth = 4;
    spec.combine_depth = spec.broadcast_depth = 16;
    spec.broken.clear();
    const std::vector<BrokenPart> parts = ControlOracle(spec).parts();
    for (uint32_t count = prng.Below(5); count != 0; --count) {
      spec.broken.push_back(parts[prng.Below(static_cast<uint32_t>(parts.size()))]);
    }
    if (prng.Chance(1, 3)) {
      spec.broken.push_back(RandomPart(FatTree(spec.leaves(), spec.parents_per_level), prng));
    }
    const std::vector<uint32_t> usable = UsableNodes(spec);
    if (usable.empty()) continue;
    auto placed = PlacePartitions(shape.nodes, usable);
    if (!placed || !PlaceHosts(UsableControlProcessors(spec), shape.hosts, &*placed) ||
        !SetControlSwitches(spec, *placed).ok()) {
      continue;
    }
    options.partitions = *std::move(placed);
    return options;
  }
}

// A machine on which each user's programs run, and which calls `cut` between turns of nodes.
class Shared {
 public:
  Shared(EmbeddedOptions options, uint64_t seed, std::function<void(Embedded&)> cut)
      : prng_(seed), pause_(1 + prng_.Below(600)), cut_(std::move(cut)) {
    for (const Partition& partition : options.partitions) {
      members_.insert(members_.end(), partition.begin(), partition.end());
    }
    options.on_switch = [this](uint32_t node, bool entering) {
      if (!entering) {
        // What came to nothing may do next time: a miss is no reason to wait.
        vcm5_store_relaxed(&machine_->page(members_[node])->node_control.waiting, NodeWake::kAwake);
      }
      if (cut_ && !::testing::Test::HasFailure() && prng_.Chance(1, pause_)) cut_(*machine_);
    };
    machine_.emplace(std::move(options));
  }
  Embedded& machine() { return *machine_; }

  // Until each is done or `*stopped`.
  std::vector<absl::Status> Run(std::vector<User>& users, const bool* stopped) {
    std::vector<Embedded::NodeMain> mains;
    for (User& user : users) {
      mains.emplace_back([&user, stopped](vcm5_port& port) {
        while (!*stopped && !user.Done(port.self)) {
          if (!user.programs[port.self].Step(user.plan, port)) vcm5_port_miss(&port);
        }
      });
    }
    return machine_->RunPartitions(mains);
  }

 private:
  Prng prng_;
  uint32_t pause_;  // in turns
  std::function<void(Embedded&)> cut_;
  Partition members_;
  std::optional<Embedded> machine_;
};

constexpr bool kNever = false;

std::vector<User> UsersOf(const Shape& shape, Prng& prng) {
  std::vector<User> users;
  for (size_t i = 0; i < shape.nodes.size(); ++i) {
    users.emplace_back(prng.Next(), shape.nodes[i] + (shape.hosts[i] ? 1 : 0), RandomPlan(prng));
  }
  return users;
}

std::vector<Answers> AnswersOf(const std::vector<User>& users) {
  std::vector<Answers> answers;
  for (const User& user : users) answers.push_back(user.Answer());
  return answers;
}

std::vector<Answers> UncutAnswers(std::vector<User> users, const EmbeddedOptions& options) {
  Shared uncut(options, 1, nullptr);
  for (const absl::Status& status : uncut.Run(users, &kNever)) EXPECT_EQ(status, absl::OkStatus());
  return AnswersOf(users);
}

absl::Status Go(Embedded& machine, const SavedMachine& saved) {
  absl::Status status = machine.Freeze();
  if (status.ok()) status = machine.Restore(saved);
  if (status.ok()) status = machine.Resume();
  return status;
}

// The programs' memory comes along by its bytes.
void GoOnElsewhere(EmbeddedOptions options, const SavedMachine& saved, std::vector<User>& users) {
  Shared other(std::move(options), 1, nullptr);
  ASSERT_EQ(Go(other.machine(), saved), absl::OkStatus());
  for (const absl::Status& status : other.Run(users, &kNever)) ASSERT_EQ(status, absl::OkStatus());
}

TEST(EmbeddedSwapSeams, PartitionsWithHostsGoOnInMachinesOfOtherDamage) {
  uint64_t cuts = 0;
  uint64_t hosts = 0;
  ForEachSeed(60, [&](uint64_t seed) {
    Prng prng(seed);
    const Shape shape = RandomShape(prng);
    std::vector<User> users = UsersOf(shape, prng);
    const EmbeddedOptions options = MachineFor(shape, seed, prng);
    const std::vector<Answers> answers = UncutAnswers(users, options);
    std::optional<SavedMachine> saved;
    bool stopped = false;
    Shared cut(options, prng.Next(), [&](Embedded& machine) {
      if (stopped) return;
      ASSERT_EQ(machine.Freeze(), absl::OkStatus());
      const absl::StatusOr<SavedMachine> now = machine.Save();
      ASSERT_TRUE(now.ok()) << now.status();
      absl::StatusOr<SavedMachine> read = SavedMachine::Decode(now->Encode());
      ASSERT_TRUE(read.ok()) << read.status();
      saved = *std::move(read);
      stopped = true;
    });
    for (const absl::Status& status : cut.Run(users, &stopped)) ASSERT_EQ(status, absl::OkStatus());
    if (saved) {
      ++cuts;
      hosts += static_cast<uint64_t>(std::count(shape.hosts.begin(), shape.hosts.end(), true));
      GoOnElsewhere(MachineFor(shape, seed, prng), *saved, users);
    }
    ASSERT_EQ(AnswersOf(users), answers);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(cuts, kSanitized ? 12u : 35u);
  EXPECT_GT(hosts, kSanitized ? 8u : 25u);
}

TEST(EmbeddedSwapSeams, AHostIsNoNode) {
  EmbeddedOptions three;
  three.spec.nodes = 3;
  EmbeddedOptions two = three;
  two.spec.nodes = 2;
  two.hosts = true;
  Embedded with(two);
  Embedded without(three);
  for (Embedded* machine : {&with, &without}) ASSERT_EQ(machine->Freeze(), absl::OkStatus());
  EXPECT_EQ(with.Restore(*without.Save()).message(),
            "saved state of partition 0 has no host, and the machine's has one");
  EXPECT_EQ(without.Restore(*with.Save()).message(),
            "saved state of partition 0 has a host, and the machine's has none");
  EXPECT_EQ(with.Restore(*with.Save()), absl::OkStatus());
}

// A fault of a link of either network, once or again and again.
void AddFault(MachineSpec& spec, const std::vector<Partition>& partitions, Prng& prng) {
  const Partition& members = partitions[prng.Below(static_cast<uint32_t>(partitions.size()))];
  const uint32_t leaf = members[prng.Below(static_cast<uint32_t>(members.size()))];
  const uint64_t first = 1 + prng.Below(40);
  const uint64_t every = prng.Chance(1, 2) ? 1 + prng.Below(5) : 0;
  if (prng.Chance(2, 3)) {
    spec.control_link_faults.push_back({.leaf = leaf,
                                        .height = 1 + prng.Below(4),
                                        .down = prng.Chance(1, 2),
                                        .bit = prng.Below(ControlLinkFault::kBits),
                                        .first = first,
                                        .every = every});
    return;
  }
  LinkFault fault;
  fault.half = static_cast<int>(prng.Below(VCM5_HALVES));
  fault.from = LeafEnd(leaf);
  fault.kind = static_cast<LinkFault::Kind>(prng.Below(3));
  fault.first = first;
  fault.every = every;
  spec.link_faults.push_back(fault);
}

// Either the state that comes out of a damaged machine is whole, or there is none.
TEST(EmbeddedSwapSeams, WhatIsSavedIsWholeWhateverIsDamaged) {
  uint64_t saves = 0;
  uint64_t refused = 0;
  ForEachSeed(150, [&](uint64_t seed) {
    Prng prng(seed);
    const Shape shape = RandomShape(prng);
    std::vector<User> users = UsersOf(shape, prng);
    const EmbeddedOptions sound = MachineFor(shape, seed, prng);
    const std::vector<Answers> answers = UncutAnswers(users, sound);
    EmbeddedOptions options = sound;
    AddFault(options.spec, options.partitions, prng);
    std::optional<SavedMachine> saved;
    bool stopped = false;
    bool failed = false;
    uint32_t early = prng.Below(8);  // for something to have been struck
    Shared cut(options, prng.Next(), [&](Embedded& machine) {
      if (stopped || failed || (early != 0 && --early != 0)) return;
      const bool frozen = machine.Freeze().ok();
      absl::StatusOr<SavedMachine> now = machine.Save();
      ASSERT_TRUE(frozen || !now.ok());
      if (now.ok()) {
        saved = *std::move(now);
        stopped = true;
        return;
      }
      failed = true;
      ASSERT_EQ(machine.Resume(), absl::OkStatus());
    });
    const std::vector<absl::Status> statuses = cut.Run(users, &stopped);
    refused += failed ? 1 : 0;
    if (saved) {
      ++saves;
      GoOnElsewhere(MachineFor(shape, seed, prng), *saved, users);
    }
    const bool all_well = std::all_of(statuses.begin(), statuses.end(),
                                      [](const absl::Status& status) { return status.ok(); });
    // Who cannot be saved has been damaged, and whoever runs it is told.
    ASSERT_FALSE(failed && all_well);
    if (!saved && !all_well) return;
    ASSERT_EQ(AnswersOf(users), answers);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(saves, kSanitized ? 15u : 50u);
  EXPECT_GT(refused, kSanitized ? 0u : 10u);
}

// Damage that is over is one user's: the next has a sound machine.
TEST(EmbeddedSwapSeams, TheNextUserHasNothingOfTheDamage) {
  uint64_t nexts = 0;
  ForEachSeed(60, [&](uint64_t seed) {
    Prng prng(seed);
    const Shape shape = {{2 + prng.Below(10)}, {prng.Chance(1, 2)}};
    std::vector<User> users = UsersOf(shape, prng);
    std::vector<User> next = UsersOf(shape, prng);
    EmbeddedOptions options = MachineFor(shape, seed, prng);
    const std::vector<Answers> answers = UncutAnswers(next, options);
    Embedded untouched(options);
    ASSERT_EQ(untouched.Freeze(), absl::OkStatus());
    const absl::StatusOr<SavedMachine> nobody = untouched.Save();
    ASSERT_TRUE(nobody.ok()) << nobody.status();
    const Partition& members = options.partitions.front();
    options.spec.control_link_faults.push_back(
        {.leaf = members[prng.Below(static_cast<uint32_t>(members.size()))],
         .height = 1 + prng.Below(4),
         .down = prng.Chance(1, 2),
         .bit = prng.Below(ControlLinkFault::kBits),
         .first = 1 + prng.Below(40)});
    // Either the damaged user ends the run, or he is found out before and has to go.
    bool armed = true;
    bool gone = false;
    bool flushes = true;  // no flush was what was damaged
    Shared machine(options, prng.Next(), [&](Embedded& of) {
      if (!armed) return;
      const absl::Status frozen = of.Freeze();
      if (frozen.ok() && !of.Save().ok()) {
        gone = true;
        ASSERT_EQ(of.Restore(*nobody), absl::OkStatus());
      }
      flushes = of.Resume().ok() && frozen.ok();
      armed = flushes && !gone;
    });
    const std::vector<absl::Status> statuses = machine.Run(users, &gone);
    armed = false;
    if (!flushes) return;
    ASSERT_TRUE(!gone || statuses[0].ok()) << statuses[0];
    if (!gone && statuses[0].ok()) return;
    ++nexts;
    ASSERT_EQ(Go(machine.machine(), *nobody), absl::OkStatus());
    for (const absl::Status& status : machine.Run(next, &kNever)) ASSERT_EQ(status, absl::OkStatus());
    ASSERT_EQ(AnswersOf(next), answers);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(nexts, kSanitized ? 5u : 15u);
}

}  // namespace
}  // namespace vcm5
