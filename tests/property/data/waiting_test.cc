// No input starves under any pattern (DN3): a bound on how long a message waits while all others send
// as much as they can to the same leaf, or to what else is in its way.
//
// The hot leaf takes one message at a time; all others take whatever comes. Let W(i) be the most
// messages that the hot leaf takes between two moves of packets out of one input buffer, as long as
// that is not empty, of a chip from which a packet passes at most i chips more, itself included.
//
//   Arbitration is fair: of the n inputs that can lead to an output, n - 1 others are served before
//   the head of one that waits. Each of these n moves needs a credit of the output, and no more than
//   one message of the hot leaf is needed for one if i = 1; else a credit is a packet that moves out
//   of the buffer at the other end, which does that every W(i - 1), or is empty and has credit.
//
// So W(i) <= n(i) W(i - 1) and W(0) = 1. To a child of a chip lead its 4 child links and its parent
// links; upwards 4 child links. A packet that comes to a buffer of depth d is not behind more than
// d - 1 others, so a message is delivered after at most d (W(1) + ... + W(2h - 1)) messages to the
// hot leaf, in a tree of h levels, whatever lengths they have.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/base/prng.h"
#include "switches/data/region.h"
#include "tests/support/packets.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

constexpr uint32_t kHot = 1;    // first word of a message
constexpr uint32_t kOther = 2;
constexpr uint32_t kVictim = 3;

uint64_t Bound(const FatTree& tree, uint32_t depth) {
  uint64_t worst = 1;
  uint64_t sum = 0;
  for (unsigned level = 1; level <= tree.levels(); ++level) {  // on the way down, from the end
    worst *= kChildren + tree.parents(level);
    sum += worst;
  }
  for (unsigned level = 1; level < tree.levels(); ++level) {
    worst *= kChildren;
    sum += worst;
  }
  return depth * sum;
}

struct Pattern {
  uint32_t leaves;
  std::vector<uint32_t> parents;
  uint32_t depth;
  uint32_t hot;
  uint32_t victim;
  uint32_t others_percent;  // of messages that go somewhere else
  bool near;                // ... and there to the neighbours of the hot leaf
};

class HotSpot {
 public:
  HotSpot(const Pattern& pattern, uint64_t seed)
      : pattern_(pattern),
        prng_(seed),
        tree_(pattern.leaves, pattern.parents),
        region_(tree_, Options(pattern, seed)) {}

  // The most messages that the hot leaf took while the victim's waited, of so many of these.
  uint64_t Worst(uint32_t messages) {
    uint64_t worst = 0;
    for (uint32_t sent = 0; sent < messages; ++sent) {
      FloodAll();
      while (region_.InjectSpace(pattern_.victim) == 0) Turn();
      Send(pattern_.victim, pattern_.hot, kVictim);
      arrived_ = false;
      uint64_t waited = 0;
      for (Run(); !arrived_ && waited <= bound(); ++waited) Turn();
      worst = std::max(worst, waited);
    }
    region_.CheckInvariants();
    return worst;
  }
  uint64_t bound() const { return Bound(tree_, pattern_.depth); }

 private:
  static RegionOptions Options(const Pattern& pattern, uint64_t seed) {
    RegionOptions options;
    options.depth = pattern.depth;
    options.words_max = kCm5eWordsMax;
    options.leaf_credit = 1;
    options.seed = seed;
    return options;
  }

  void Send(uint32_t from, uint32_t to, uint32_t kind) {
    const unsigned length = 1 + prng_.Below(kCm5eWordsMax);
    const DataPacket packet = MakePacket(FatTree::Route(from, to), to, length, 0, kind);
    CopyPacket(region_.InjectSlot(from), &packet, length);
    region_.Inject(from);
  }

  // Everybody but the victim sends as much as there is room for.
  void FloodAll() {
    for (uint32_t leaf = 0; leaf < pattern_.leaves; ++leaf) {
      if (leaf == pattern_.victim) continue;
      while (region_.InjectSpace(leaf) != 0) {
        if (!prng_.Chance(pattern_.others_percent, 100)) {
          Send(leaf, pattern_.hot, kHot);
          continue;
        }
        uint32_t to = prng_.Below(pattern_.leaves);
        if (pattern_.near) to = std::min(pattern_.hot / 4 * 4 + prng_.Below(4), pattern_.leaves - 1);
        Send(leaf, to, to == pattern_.hot ? kHot : kOther);
      }
    }
  }

  // The hot leaf takes one message.
  void Turn() {
    if (owed_ != 0) {
      --owed_;
      region_.HandleLeafCredit(pattern_.hot, 1);
    }
    Run();
    FloodAll();
    Run();
  }

  void Run() {
    while (region_.Run() != 0 || !region_.departures().empty()) {
      std::vector<uint32_t> take;
      for (size_t i = 0; i < region_.departures().size(); ++i) {
        const uint32_t leaf = region_.departures()[i].port;
        if (region_.departure_packet(i).words[0] == kVictim) arrived_ = true;
        take.push_back(leaf);
      }
      region_.ClearDepartures();
      for (const uint32_t leaf : take) {
        if (leaf == pattern_.hot) {
          ++owed_;
        } else {
          region_.HandleLeafCredit(leaf, 1);
        }
      }
    }
  }

  const Pattern pattern_;
  Prng prng_;
  const FatTree tree_;
  Region region_;
  uint32_t owed_ = 0;  // credits of the hot leaf
  bool arrived_ = false;
};

TEST(Waiting, OfAMessageToAHotLeafIsBoundedWhateverOthersSend) {
  uint64_t waited = 0;
  ForEachSeed(60, [&](uint64_t seed) {
    static const std::vector<uint32_t> kParents[] = {{2, 2, 4}, {1}, {4}, {2, 4}};
    Prng prng(seed);
    Pattern pattern;
    pattern.leaves = 5 + prng.Below(60);
    pattern.parents = kParents[prng.Below(4)];
    pattern.depth = 1u << prng.Below(3);
    pattern.hot = prng.Below(pattern.leaves);
    pattern.victim = (pattern.hot + 1 + prng.Below(pattern.leaves - 1)) % pattern.leaves;
    pattern.others_percent = 30 * prng.Below(4);
    pattern.near = prng.Chance(1, 2);
    HotSpot world(pattern, seed);
    const uint64_t worst = world.Worst(20);
    EXPECT_LE(worst, world.bound()) << pattern.leaves << " leaves, " << pattern.others_percent
                                    << "% elsewhere";
    waited = std::max(waited, worst);
  });
  EXPECT_GT(waited, 8u) << "nobody was in anybody's way";
}

// All 16 leaves of a small machine, each as the victim.
TEST(Waiting, NoLeafIsLeftBehind) {
  for (uint32_t victim = 1; victim < 16; ++victim) {
    HotSpot world({16, {2, 2, 4}, 2, 0, victim, 0, false}, victim);
    EXPECT_EQ(world.bound(), 2u * (6 + 24 + 96));
    EXPECT_LE(world.Worst(50), world.bound()) << "leaf " << victim;
  }
}

}  // namespace
}  // namespace vcm5
