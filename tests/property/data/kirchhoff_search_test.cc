// The search for what is broken (region_search.h) finds exactly what a comparison of every chip and
// every link finds, and asks few regions.
#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "runtime/base/prng.h"
#include "switches/data/kirchhoff.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using Finding = Kirchhoff::Finding;

// A network whose counters the test writes, of chips that hold and drop nothing.
class Counters {
 public:
  explicit Counters(uint32_t leaves) : tree_(leaves, {2, 2, 4}), law_(tree_) {
    const Region region(tree_, RegionOptions());
    law_.SetChips(region);
    for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
      for (unsigned port = 0; port < kChipPorts; ++port) {
        if (FarEnd(tree_, ChipEnd(chip, port)).kind == LinkEnd::Kind::kNothing) continue;
        ends_.push_back(ChipEnd(chip, port));
      }
    }
    for (uint32_t leaf = 0; leaf < leaves; ++leaf) ends_.push_back(LeafEnd(leaf));
    counts_.resize(ends_.size());
    place_.assign(size_t{tree_.chips()} * kChipPorts + leaves, ends_.size());
    for (size_t end = 0; end < ends_.size(); ++end) {
      place_[Place(ends_[end])] = end;
      law_.SetEnd(ends_[end], {});
    }
  }

  const FatTree& tree() const { return tree_; }
  const Kirchhoff& law() const { return law_; }
  // Two counters an end.
  uint32_t counters() const { return static_cast<uint32_t>(2 * ends_.size()); }
  void Add(uint32_t counter, uint32_t messages) {
    Kirchhoff::EndCounts& counts = counts_[counter / 2];
    (counter % 2 == 0 ? counts.in : counts.out) += messages;
    law_.SetEnd(ends_[counter / 2], counts);
  }
  // So many messages lost on the link that leaves an end, and as many made on the link to it.
  void Lose(const LinkEnd& from, uint32_t messages) {
    Add(static_cast<uint32_t>(2 * place_[Place(from)] + 1), messages);
    Add(static_cast<uint32_t>(2 * place_[Place(from)]), messages);
  }
  LinkEnd RandomEnd(Prng& prng) const {
    return ends_[prng.Below(static_cast<uint32_t>(ends_.size()))];
  }

  // Every chip and every link.
  std::vector<Finding> CompareAll() const {
    std::vector<Finding> findings;
    for (ChipId chip = 0; chip < tree_.chips(); ++chip) {
      uint32_t lost = 0;
      for (unsigned port = 0; port < kChipPorts; ++port) {
        const size_t end = place_[Place(ChipEnd(chip, port))];
        if (end != ends_.size()) lost += counts_[end].in - counts_[end].out;
      }
      if (lost != 0) findings.push_back({true, ChipEnd(chip, 0), static_cast<int32_t>(lost)});
    }
    for (size_t end = 0; end < ends_.size(); ++end) {
      const size_t far = place_[Place(FarEnd(tree_, ends_[end]))];
      const uint32_t lost = counts_[end].out - counts_[far].in;
      if (lost != 0) findings.push_back({false, ends_[end], static_cast<int32_t>(lost)});
    }
    return findings;
  }

 private:
  size_t Place(const LinkEnd& end) const {
    return end.kind == LinkEnd::Kind::kLeaf ? size_t{tree_.chips()} * kChipPorts + end.id
                                            : size_t{end.id} * kChipPorts + end.port;
  }

  const FatTree tree_;
  Kirchhoff law_;
  std::vector<LinkEnd> ends_;
  std::vector<Kirchhoff::EndCounts> counts_;
  std::vector<size_t> place_;  // into ends_
};

constexpr uint32_t kOne = 1;
constexpr uint32_t kMinusOne = 0xffffffffu;

TEST(KirchhoffSearch, OfABalancedNetworkAsksOneRegion) {
  for (const uint32_t leaves : {1u, 4u, 21u, 300u}) {
    const Counters counters(leaves);
    uint64_t asked = 0;
    EXPECT_EQ(counters.law().Find(&asked).size(), 0u);
    EXPECT_EQ(asked, 1u);
  }
}

TEST(KirchhoffSearch, FindsEverySingleFault) {
  for (const uint32_t leaves : {1u, 7u, 21u, 100u}) {
    Counters counters(leaves);
    for (uint32_t counter = 0; counter < counters.counters(); ++counter) {
      for (const uint32_t messages : {kOne, kMinusOne, 0x80000000u}) {
        counters.Add(counter, messages);
        ASSERT_EQ(counters.law().Find(), counters.CompareAll()) << "counter " << counter;
        ASSERT_FALSE(counters.law().Find().empty());
        counters.Add(counter, 0u - messages);
      }
    }
  }
}

// Among them every loss with every surplus elsewhere that would hide it in a sum over both.
TEST(KirchhoffSearch, FindsEveryDoubleFault) {
  Counters counters(kSanitized ? 5 : 18);
  for (uint32_t one = 0; one < counters.counters(); ++one) {
    counters.Add(one, kOne);
    for (uint32_t other = 0; other <= one; ++other) {
      for (const uint32_t messages : {kOne, kMinusOne}) {
        counters.Add(other, messages);
        ASSERT_EQ(counters.law().Find(), counters.CompareAll()) << one << " and " << other;
        counters.Add(other, 0u - messages);
      }
    }
    counters.Add(one, kMinusOne);
  }
}

TEST(KirchhoffSearch, FindsAnySetOfFaults) {
  ForEachSeed(200, [](uint64_t seed) {
    Prng prng(seed);
    Counters counters(1 + prng.Below(150));
    for (uint32_t i = prng.Below(2 * counters.counters()); i != 0; i /= 1 + prng.Below(2)) {
      counters.Add(prng.Below(counters.counters()),
                   prng.Chance(1, 2) ? 1 + prng.Below(3) : 0u - prng.Below(3));
      if (prng.Chance(1, 20)) break;
    }
    EXPECT_EQ(counters.law().Find(), counters.CompareAll());
  });
}

// 16,384 leaves: 11,264 chips and 45,056 links, in 7 levels; 1,024 chips are at the top.
TEST(KirchhoffSearch, AsksFewRegionsOfALargeNetwork) {
  Counters counters(16384);
  Prng prng(5);
  constexpr uint64_t kLevels = 7;
  constexpr uint64_t kHalvings = 10;
  constexpr uint64_t kCell = 9;
  EXPECT_EQ(counters.tree().levels(), kLevels);
  EXPECT_EQ(counters.tree().chips(), 11264u);
  EXPECT_EQ(counters.counters(), 2u * 2 * 45056);
  EXPECT_EQ(counters.tree().chips_per_node(kLevels), 1u << kHalvings);
  for (uint64_t faults = 1; faults <= 5; ++faults) {
    counters.Lose(counters.RandomEnd(prng), 1 + prng.Below(9));
    uint64_t asked = 0;
    const std::vector<Finding> findings = counters.law().Find(&asked);
    EXPECT_EQ(findings, counters.CompareAll());
    EXPECT_LE(findings.size(), 2 * faults);
    EXPECT_LE(asked, 1 + findings.size() * (5 * kLevels + 2 * kHalvings + kCell));
  }
}

}  // namespace
}  // namespace vcm5
