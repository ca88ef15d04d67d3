// Fair arbitration (DN3): "the arbitration is fair and prevents any link from being starved".
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "runtime/base/prng.h"
#include "tests/support/seeds.h"
#include "tests/unit/switches/data/chip_rig.h"

namespace vcm5 {
namespace {

constexpr unsigned kUpQueue = kChildren;
constexpr unsigned kQueues = kChildren + 1;  // the child links, and the way up

// Watches how many packets pass through what an input waits for while it waits: from the moment
// that the chip has looked at the input's head and left it there.
class FairnessWatch {
 public:
  explicit FairnessWatch(ChipRig* rig) : rig_(rig) { waits_for_.fill(kQueues); }

  // What the head of an input waits for; kQueues if it is empty.
  unsigned Wanted(unsigned in) const {
    uint64_t header;
    if (!rig_->chip().Head(in, &header)) return kQueues;
    return data_header::Up(header) != 0 ? kUpQueue : data_header::NextChild(header);
  }

  // Routes. Packet ids are their input port.
  void Route() {
    for (const ChipRig::Out& out : rig_->Route()) {
      const unsigned queue = std::min(out.port, kUpQueue);
      for (unsigned in = 0; in < kChipPorts; ++in) {
        if (in != out.id() && waits_for_[in] == queue) worst_ = std::max(worst_, ++passed_[in]);
      }
      passed_[out.id()] = 0;
      waits_for_[out.id()] = kQueues;
    }
    for (unsigned in = 0; in < kChipPorts; ++in) waits_for_[in] = Wanted(in);
  }

  // Most packets of others that an input has seen pass while it waited.
  unsigned worst() const { return worst_; }

 private:
  ChipRig* rig_;
  std::array<unsigned, kChipPorts> waits_for_;
  std::array<unsigned, kChipPorts> passed_{};
  unsigned worst_ = 0;
};

TEST(RouterChipFairness, EightInputsForOneChildAreServedInTurn) {
  ChipRig rig;
  rig.BlockAll();
  std::vector<unsigned> served;
  for (int grant = 0; grant < 64; ++grant) {
    for (unsigned in = 0; in < kChipPorts; ++in) {
      while (rig.chip().Space(in) != 0) rig.Put(in, Descend(2), in);
    }
    rig.Route();
    rig.chip().HandleCredit(2, 1);
    const auto outs = rig.Route();
    ASSERT_EQ(outs.size(), 1u);
    served.push_back(outs[0].id());
  }
  for (size_t i = 8; i < served.size(); ++i) ASSERT_EQ(served[i], served[i - 8]);
}

TEST(RouterChipFairness, FourChildrenClimbInTurn) {
  ChipRig rig(2);
  rig.BlockAll();
  std::vector<unsigned> served;
  for (uint32_t grant = 0; grant < 64; ++grant) {
    for (unsigned in = 0; in < kChildren; ++in) {
      while (rig.chip().Space(in) != 0) rig.Put(in, Climb(), in);
    }
    rig.Route();
    rig.chip().HandleCredit(kUp0 + grant % 2, 1);
    const auto outs = rig.Route();
    ASSERT_EQ(outs.size(), 1u);
    served.push_back(outs[0].id());
  }
  for (size_t i = 4; i < served.size(); ++i) ASSERT_EQ(served[i], served[i - 4]);
}

// Traffic arrives, and credit comes, as it likes; one victim and its link may be singled out.
TEST(RouterChipFairness, AtMostSevenOthersAreServedBeforeOneThatWaits) {
  ForEachSeed(300, [](uint64_t seed) {
    Prng prng(seed);
    const unsigned parents = prng.Below(kParentsMax + 1);
    ChipRig rig(parents, 0xf, seed, 1u << prng.Below(4));
    rig.BlockAll();
    FairnessWatch watch(&rig);
    const unsigned hot = prng.Below(parents != 0 ? kQueues : kChildren);
    const uint32_t hot_percent = 25 * prng.Below(5);
    const uint32_t credits = 1 + 3 * prng.Below(2);
    for (int step = 0; step < 500; ++step) {
      for (unsigned in = 0; in < kChildren + parents; ++in) {
        if (rig.chip().Space(in) == 0 || !prng.Chance(2, 3)) continue;
        unsigned queue = prng.Chance(hot_percent, 100) ? hot : prng.Below(kQueues);
        if (queue == kUpQueue && (in >= kChildren || parents == 0)) queue = prng.Below(kChildren);
        rig.Put(in, queue == kUpQueue ? Climb() : Descend(queue), in);
      }
      watch.Route();
      // Credit for a link that is waited for, if any.
      const unsigned in = prng.Below(kChipPorts);
      unsigned queue = watch.Wanted(in);
      if (queue == kQueues) continue;
      if (queue == kUpQueue) queue = kUp0 + prng.Below(parents);
      rig.chip().HandleCredit(queue, 1 + prng.Below(credits));
    }
    EXPECT_LE(watch.worst(), 7u);
  });
}

// The adversary knows whom it wants to starve: whenever the victim could be served, others want the
// same link.
TEST(RouterChipFairness, NobodyIsStarvedByInputsThatAreAlwaysFull) {
  for (unsigned victim = 0; victim < kChipPorts; ++victim) {
    ChipRig rig;
    rig.BlockAll();
    FairnessWatch watch(&rig);
    unsigned served = 0;
    for (int grant = 0; grant < 400; ++grant) {
      for (unsigned in = 0; in < kChipPorts; ++in) {
        const uint32_t most = in == victim ? 1 : kDepth;
        while (rig.chip().Waiting(in) < most) rig.Put(in, Descend(1), in);
      }
      watch.Route();
      const uint32_t before = rig.chip().Waiting(victim);
      rig.chip().HandleCredit(1, 1);
      watch.Route();
      served += before - rig.chip().Waiting(victim);
    }
    EXPECT_GE(served, 50u) << "port " << victim;
    EXPECT_LE(watch.worst(), 7u);
  }
}

}  // namespace
}  // namespace vcm5
