// Programs whose control network is flushed at any moment, with packets on links everywhere, and
// reinitiated: each gets each result exactly once, as if nothing had happened (CN10, NI11). What the
// NIs hold goes on in the same machine, or in a fresh one with a tree of another shape.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "netif/port/saved_port.h"
#include "tests/property/control/control_world.h"
#include "tests/property/control/linked_network.h"
#include "tests/support/register_program.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using Answers = std::vector<std::array<uint64_t, VCM5_CONTROL_FIFOS>>;

// Programs on a machine that is cut when the caller wants.
template <class World>
class CutRunOf {
 public:
  CutRunOf(const RegisterPlan& plan, uint64_t seed) : plan_(plan), random_(seed) {
    world_ = MakeWorld(BinaryTree::Balanced(plan.nodes()));
    for (uint32_t i = 0; i < plan.nodes(); ++i) programs_.emplace_back(random_.Next(), i);
  }

  bool Done() const {
    for (const RegisterProgram& program : programs_) {
      if (!program.Done(plan_)) return false;
    }
    return true;
  }

  // One program, port or link does something.
  void Step() {
    const uint32_t i = random_.Below(plan_.nodes());
    if (random_.Chance(1, 2)) {
      programs_[i].Step(plan_, *world_->program(i));
    } else {
      world_->RandomStep(random_);
      if (random_.Chance(1, 8)) world_->Poll(i, true);
    }
  }

  // Of a cut: `flush` asks a random node's supervisor for one.
  void AskFlush() {
    flusher_ = random_.Below(plan_.nodes());
    vcm5_supervisor_flush(world_->supervisor(flusher_));
  }
  bool Flushed() const { return vcm5_supervisor_flushed(world_->supervisor(flusher_)); }
  void AwaitFlushed() {
    for (uint64_t step = 0; !Flushed(); ++step) {
      ASSERT_LT(step, 3'000'000u) << "the network is not flushed";
      Step();
    }
  }
  void Reinitiate() {
    vcm5_supervisor_reinitiate(world_->supervisor(random_.Below(plan_.nodes())));
  }
  // Before the next that asks for a flush, who may be another.
  void AwaitReinitiated() {
    for (uint32_t i = 0; i < plan_.nodes(); ++i) {
      for (uint64_t step = 0; world_->port(i).held(); ++step) {
        ASSERT_LT(step, 3'000'000u) << "the network is not reinitiated";
        Step();
      }
    }
  }
  // What the NIs hold, once nothing is on links any more, is put into a world of its own.
  void MoveOn() {
    world_->Settle();
    for (uint32_t i = 0; i < plan_.nodes(); ++i) ASSERT_TRUE(world_->port(i).flushed());
    std::unique_ptr<World> fresh = MakeWorld(RandomTree(plan_.nodes(), random_));
    vcm5_supervisor_flush(fresh->supervisor(flusher_));
    fresh->Settle();
    for (uint32_t i = 0; i < plan_.nodes(); ++i) {
      SavedNi saved;
      ASSERT_TRUE(world_->port(i).Save(&saved));
      const SavedPort port = SavePort(*world_->program(i));
      SavedWordsWriter words;
      AppendSavedNi(saved, words);
      AppendSavedPort(port, words);
      SavedWordsReader reader(words.words());
      const SavedNi read = ReadSavedNi(reader);
      const SavedPort read_port = ReadSavedPort(reader);
      ASSERT_TRUE(reader.holds() && reader.at_end());
      ASSERT_EQ(CheckSavedNi(read, SmallGeometry(), 5), "");
      ASSERT_EQ(CheckSavedPort(read_port, read, SmallGeometry(), 5), "");
      fresh->port(i).Restore(read);
      RestorePort(read_port, read, fresh->program(i));
    }
    fresh->Settle();
    world_ = std::move(fresh);
  }

  Answers Finish() {
    for (uint64_t step = 0; !Done(); ++step) {
      if (step == 3'000'000) {
        ADD_FAILURE() << "the programs do not end";
        break;
      }
      Step();
    }
    world_->Settle(true);
    EXPECT_TRUE(world_->network().events().empty());
    Answers answers;
    for (uint32_t i = 0; i < plan_.nodes(); ++i) {
      EXPECT_EQ(programs_[i].wrong(), RegisterProgram::kNothing) << "node " << i;
      EXPECT_FALSE(world_->port(i).failed());
      EXPECT_EQ(world_->port(i).network_fault(), ControlFault::kNone);
      EXPECT_EQ(vcm5_port_async_or(world_->program(i)), 0u);
      for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
        EXPECT_EQ(vcm5_port_control_peek(world_->program(i), fifo), nullptr) << fifo;
        EXPECT_EQ(vcm5_port_control_space(world_->program(i), fifo),
                  SmallGeometry().control_depth[fifo]);
      }
      answers.push_back(programs_[i].answer());
    }
    return answers;
  }

 private:
  std::unique_ptr<World> MakeWorld(BinaryTree tree) {
    auto world = std::make_unique<World>(std::move(tree), SmallGeometry());
    world->set_check(plan_.nodes() <= 16);
    return world;
  }

  const RegisterPlan& plan_;
  Prng random_;
  std::unique_ptr<World> world_;
  std::vector<RegisterProgram> programs_;
  uint32_t flusher_ = 0;
};

using CutRun = CutRunOf<ControlWorld>;

RegisterPlan::Options NoData() {
  RegisterPlan::Options options;
  options.messages = 0;
  return options;
}

// Every moment of a schedule is a cut, for each of some small machines.
void CutEverywhere(uint32_t nodes, uint64_t seed, bool moves_on) {
  RegisterPlan::Options options = NoData();
  options.combines = options.syncs = options.broadcasts = 2;
  options.epochs = 1;
  const RegisterPlan plan(seed, nodes, options);
  const Answers answers = CutRun(plan, seed).Finish();
  bool ended = false;
  for (uint32_t cut = 0; !ended; ++cut) {
    CutRun run(plan, seed);
    for (uint32_t step = 0; step < cut && !run.Done(); ++step) run.Step();
    ended = run.Done();
    run.AskFlush();
    run.AwaitFlushed();
    if (moves_on) run.MoveOn();
    run.Reinitiate();
    ASSERT_EQ(run.Finish(), answers) << "cut at " << cut;
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FlushProperty, SmallMachinesAreCutAtEveryMoment) {
  ForEachSeed(2, [](uint64_t seed) {
    for (uint32_t nodes = 1; nodes <= 5 && !::testing::Test::HasFailure(); ++nodes) {
      CutEverywhere(nodes, seed, false);
    }
  });
}

TEST(FlushProperty, SmallMachinesAreCutAtEveryMomentAndGoOnElsewhere) {
  ForEachSeed(2, [](uint64_t seed) {
    for (uint32_t nodes = 1; nodes <= 4 && !::testing::Test::HasFailure(); ++nodes) {
      CutEverywhere(nodes, seed, true);
    }
  });
}

template <class World>
uint64_t CutAgainAndAgain(uint64_t seed, uint32_t least_nodes) {
  uint64_t cuts = 0;
  Prng random(seed);
  const uint32_t nodes = least_nodes + random.Below(random.Chance(1, 10) ? 70 : 12);
  RegisterPlan::Options options = NoData();
  options.combines = random.Below(20);
  options.syncs = random.Below(20);
  options.broadcasts = random.Below(10);
  options.epochs = random.Below(4);
  const RegisterPlan plan(seed, nodes, options);
  const Answers answers = CutRunOf<World>(plan, random.Next()).Finish();
  CutRunOf<World> run(plan, random.Next());
  const uint32_t pause = 1 + random.Below(60 * nodes);
  // Cuts that follow too fast let nothing be completed.
  for (; cuts < 16 && !run.Done() && !::testing::Test::HasFailure(); ++cuts) {
    for (uint32_t step = random.Below(2 * pause); step != 0 && !run.Done(); --step) run.Step();
    run.AskFlush();
    run.AwaitFlushed();
    // Programs may find it out, and ask for more.
    for (uint32_t step = random.Below(pause); step != 0; --step) run.Step();
    if (random.Chance(1, 2)) run.MoveOn();
    run.Reinitiate();
    run.AwaitReinitiated();
  }
  EXPECT_EQ(run.Finish(), answers);
  return cuts;
}

TEST(FlushProperty, AnyMachineIsCutAgainAndAgain) {
  uint64_t cuts = 0;
  ForEachSeed(300, [&](uint64_t seed) { cuts += CutAgainAndAgain<ControlWorld>(seed, 1); });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(cuts, kSanitized ? 250u : 1000u);
}

// Packets are under way between nodes when the flush comes, and behind it.
TEST(FlushProperty, SoIsOneWhoseLinksTakeTime) {
  uint64_t cuts = 0;
  ForEachSeed(200, [&](uint64_t seed) {
    cuts += CutAgainAndAgain<ControlWorldOf<LinkedNetwork>>(seed, 2);
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(cuts, kSanitized ? 150u : 600u);
}

}  // namespace
}  // namespace vcm5
