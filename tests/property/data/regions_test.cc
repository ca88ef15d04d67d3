// Random traffic on random machines, played by one to five drivers: nothing is lost, duplicated,
// altered or delivered to the wrong leaf (RegionWorld stops at once if it is), first while anything
// may be slow or stuck, then while everything flows and the network must empty.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/region_world.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

// How eagerly everybody acts in one run, each as a chance in 8.
struct Moods {
  explicit Moods(Prng& prng)
      : send(prng.Below(9)),
        run(1 + prng.Below(8)),
        wire(1 + prng.Below(8)),
        receive(prng.Below(9)),
        hot_spot(prng.Chance(1, 4) ? prng.Below(9) : 0) {}
  uint32_t send;
  uint32_t run;
  uint32_t wire;
  uint32_t receive;
  uint32_t hot_spot;  // messages that go to leaf `hot`
};

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed)
      : prng_(seed), shape_(WorldShape::Random(prng_)), world_(shape_), moods_(prng_) {
    hot_ = prng_.Below(shape_.leaves);
    stuck_ = prng_.Chance(1, 2) ? prng_.Below(shape_.leaves) : shape_.leaves;
    turns_.resize(world_.parts());
    std::iota(turns_.begin(), turns_.end(), 0u);
  }

  void SafetyPhase() {
    const uint32_t steps = 20 + prng_.Below(200);
    for (uint32_t step = 0; step < steps; ++step) {
      for (uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
        while (prng_.Chance(moods_.send, 10) && SendFrom(leaf)) {
        }
        if (leaf != stuck_ && prng_.Chance(moods_.receive, 8)) {
          world_.Receive(leaf, 1 + prng_.Below(shape_.leaf_credit));
        }
      }
      for (size_t i = turns_.size(); i > 1; --i) {
        std::swap(turns_[i - 1], turns_[prng_.Below(static_cast<uint32_t>(i))]);
      }
      for (const uint32_t part : turns_) {
        if (prng_.Chance(moods_.run, 8)) world_.Run(part);
      }
      for (uint32_t wire = 0; wire < world_.wires(); ++wire) {
        if (prng_.Chance(moods_.wire, 8)) world_.MoveWire(wire, 1 + prng_.Below(4));
      }
      world_.Check();
    }
  }

  void LivenessPhase() {
    world_.Settle();
    world_.Check();
    EXPECT_TRUE(world_.Idle()) << shape_.Describe();
    EXPECT_EQ(world_.delivered(), world_.sent()) << shape_.Describe();
  }

  const RegionWorld& world() const { return world_; }

 private:
  bool SendFrom(uint32_t leaf) {
    const uint32_t to = prng_.Chance(moods_.hot_spot, 8) ? hot_ : prng_.Below(shape_.leaves);
    return world_.Send(leaf, to, 1 + prng_.Below(shape_.words_max), prng_.Below(kTags));
  }

  Prng prng_;
  WorldShape shape_;
  RegionWorld world_;
  Moods moods_;
  uint32_t hot_;
  uint32_t stuck_;  // receives nothing during the safety phase
  std::vector<uint32_t> turns_;
};

TEST(Regions, RandomTrafficArrivesExactlyOnceAndTheNetworkEmpties) {
  uint64_t delivered = 0;
  uint64_t overtaken = 0;
  uint32_t in_parts = 0;
  ForEachSeed(3000, [&](uint64_t seed) {
    RandomRun run(seed);
    run.SafetyPhase();
    run.LivenessPhase();
    delivered += run.world().delivered();
    overtaken += run.world().overtaken();
    in_parts += run.world().wires() != 0 ? 1 : 0;
  });
  RecordProperty("delivered", std::to_string(delivered));
  RecordProperty("overtaken", std::to_string(overtaken));
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(delivered, 50000u) << "the seeds make too little traffic to mean anything";
  EXPECT_GT(in_parts, 100u);
  // Nobody may rely on order between a pair of nodes: it is not kept.
  EXPECT_GT(overtaken, 1000u);
}

}  // namespace
}  // namespace vcm5
