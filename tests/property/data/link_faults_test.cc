// Random traffic over random machines some of whose links are faulty: every damaged message is found
// and none delivered (RegionWorld sees to that), traffic goes on whatever happens, and Kirchhoff's law
// names exactly the links that lost or doubled messages, and how many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/region_world.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// What the faults of one link come to, message by message: a second, plainer way to say what
// LinkFaults does.
struct Toll {
  uint64_t lost = 0;
  uint64_t doubled = 0;
  uint64_t damaged = 0;  // arrivals
};

Toll TollOf(const std::vector<LinkFault>& faults, const LinkEnd& from, uint64_t messages) {
  Toll toll;
  for (uint64_t message = 1; message <= messages; ++message) {
    bool lost = false;
    bool doubled = false;
    bool damaged = false;
    for (const LinkFault& fault : faults) {
      if (!(fault.from == from) || message < fault.first) continue;
      const uint64_t after = message - fault.first;
      if (after != 0 && (fault.every == 0 || after % fault.every != 0)) continue;
      lost |= fault.kind == LinkFault::Kind::kLose;
      doubled |= fault.kind == LinkFault::Kind::kDuplicate;
      damaged |= fault.kind == LinkFault::Kind::kFlip;
    }
    if (lost) {
      ++toll.lost;
      continue;
    }
    if (doubled) ++toll.doubled;
    if (damaged) toll.damaged += doubled ? 2 : 1;
  }
  return toll;
}

class FaultyRun {
 public:
  FaultyRun(uint64_t seed, uint32_t faults)
      : prng_(seed), shape_(MakeShape(prng_, faults)), world_(shape_) {}

  void Traffic() {
    const uint32_t rounds = 10 + prng_.Below(40);
    const uint32_t eager = 1 + prng_.Below(8);
    for (uint32_t round = 0; round < rounds; ++round) {
      for (uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
        if (prng_.Chance(eager, 8)) {
          world_.Send(leaf, prng_.Below(shape_.leaves), 1 + prng_.Below(shape_.words_max),
                      prng_.Below(kTags));
        }
        if (prng_.Chance(1, 2)) world_.Receive(leaf, 1 + prng_.Below(shape_.leaf_credit));
      }
      for (uint32_t part = 0; part < world_.parts(); ++part) {
        if (prng_.Chance(3, 4)) world_.Run(part);
      }
      for (uint32_t wire = 0; wire < world_.wires(); ++wire) {
        if (prng_.Chance(1, 2)) world_.MoveWire(wire, 1 + prng_.Below(4));
      }
      world_.Check();
      // A single driver need not wait for quiet.
      if (shape_.link_faults.empty() && shape_.parts == 1) {
        ASSERT_THAT(world_.Law().Find(), IsEmpty());
      }
    }
    world_.Settle();
    world_.Check();
    ASSERT_TRUE(world_.Idle()) << shape_.Describe();
  }

  void Judge() {
    std::vector<LinkEnd> links;
    for (const LinkFault& fault : shape_.link_faults) {
      if (std::find(links.begin(), links.end(), fault.from) == links.end()) {
        links.push_back(fault.from);
      }
    }
    std::vector<Kirchhoff::Finding> expected;
    Toll all;
    for (const LinkEnd& link : links) {
      const Toll toll = TollOf(shape_.link_faults, link, world_.LeftOver(link));
      const auto lost = static_cast<int32_t>(toll.lost - toll.doubled);
      if (lost != 0) expected.push_back({false, link, lost});
      all.lost += toll.lost;
      all.doubled += toll.doubled;
      all.damaged += toll.damaged;
    }
    EXPECT_THAT(world_.Law().Find(), UnorderedElementsAreArray(expected)) << shape_.Describe();
    EXPECT_EQ(world_.primary_errors(), all.damaged) << shape_.Describe();
    EXPECT_GE(world_.delivered() + all.lost + all.damaged, world_.sent()) << shape_.Describe();
    EXPECT_LE(world_.repeated(), all.doubled) << shape_.Describe();
    toll_ = all;
  }

  const Toll& toll() const { return toll_; }
  const RegionWorld& world() const { return world_; }

 private:
  static WorldShape MakeShape(Prng& prng, uint32_t faults) {
    WorldShape shape = WorldShape::Random(prng);
    const FatTree tree(shape.leaves, shape.parents_per_level);
    for (uint32_t i = 0; i < faults; ++i) {
      LinkFault fault;
      fault.from = AnyLink(prng, tree);
      fault.kind = static_cast<LinkFault::Kind>(prng.Below(3));
      fault.bit = prng.Below(8 * (12 + 4 * shape.words_max));
      fault.first = 1 + prng.Below(12);
      fault.every = prng.Chance(1, 2) ? 1 + prng.Below(6) : 0;
      // Two that flip one bit would undo each other.
      const bool again = std::any_of(
          shape.link_faults.begin(), shape.link_faults.end(), [&](const LinkFault& other) {
            return other.from == fault.from && other.kind == LinkFault::Kind::kFlip;
          });
      if (again && fault.kind == LinkFault::Kind::kFlip) continue;
      shape.link_faults.push_back(fault);
    }
    return shape;
  }
  static LinkEnd AnyLink(Prng& prng, const FatTree& tree) {
    for (;;) {
      const LinkEnd end = prng.Chance(1, 4)
                              ? LeafEnd(prng.Below(tree.leaves()))
                              : ChipEnd(prng.Below(tree.chips()), prng.Below(kChipPorts));
      if (FarEnd(tree, end).kind != LinkEnd::Kind::kNothing) return end;
    }
  }

  Prng prng_;
  WorldShape shape_;
  RegionWorld world_;
  Toll toll_;
};

TEST(LinkFaultsProperty, WithoutFaultsTheLawHolds) {
  ForEachSeed(500, [](uint64_t seed) {
    FaultyRun run(seed, 0);
    run.Traffic();
    run.Judge();
    EXPECT_EQ(run.world().delivered(), run.world().sent());
  });
}

TEST(LinkFaultsProperty, EveryFaultIsFoundWhereItIs) {
  Toll all;
  uint64_t secondary = 0;
  uint64_t repeated = 0;
  uint32_t in_parts = 0;
  ForEachSeed(3000, [&](uint64_t seed) {
    FaultyRun run(seed, 1 + static_cast<uint32_t>(seed % 4));
    run.Traffic();
    run.Judge();
    all.lost += run.toll().lost;
    all.doubled += run.toll().doubled;
    all.damaged += run.toll().damaged;
    secondary += run.world().secondary_errors();
    repeated += run.world().repeated();
    in_parts += run.world().wires() != 0 ? 1 : 0;
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(all.lost, 1000u) << "the seeds strike too seldom to mean anything";
  EXPECT_GT(all.doubled, 1000u);
  EXPECT_GT(all.damaged, 1000u);
  EXPECT_GT(secondary, 1000u);
  EXPECT_GT(repeated, 1000u);
  EXPECT_GT(in_parts, 100u);
}

}  // namespace
}  // namespace vcm5
