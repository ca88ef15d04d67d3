// Requests on one side of the data network, replies on either: the paper's stronger claim about the
// fetch-deadlock problem (section 3; DN6), with room for one request in each node.
#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/base/prng.h"
#include "runtime/engines/embedded.h"
#include "tests/sim/embedded/traffic.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

constexpr uint32_t kRequest = 1;
constexpr uint32_t kReply = 2;

// One node: asks, and answers what it is asked on whichever side takes the answer first. It never
// waits for a side, and holds one request at most: as long as that is unanswered it takes nothing
// from the left.
class Fetcher {
 public:
  Fetcher(vcm5_port& port, uint64_t seed, uint32_t fetches)
      : port_(port), prng_(DeriveSeed(seed, port.self)), to_ask_(fetches) {}

  // One turn. True if something was done.
  bool Act() {
    bool acted = Answer();
    if (to_ask_ != 0) acted |= Ask();
    acted |= Receive(VCM5_RIGHT);
    if (!owes_) acted |= Receive(VCM5_LEFT);
    return acted;
  }
  uint32_t answered() const { return answered_; }
  uint32_t wrong() const { return wrong_; }
  uint32_t replies(int half) const { return replies_[half]; }

 private:
  static uint32_t ValueOf(uint32_t owner, uint32_t index) { return owner * 7919 + index; }

  bool Ask() {
    const uint32_t owner = prng_.Below(port_.partition_size);
    const uint32_t words[] = {port_.self, prng_.Below(1000)};
    if (!vcm5_port_send(&port_, VCM5_LEFT, owner, kRequest, words, 2)) return false;
    --to_ask_;
    return true;
  }
  bool Answer() {
    if (!owes_) return false;
    const uint32_t words[] = {port_.self, index_, ValueOf(port_.self, index_)};
    const int first = static_cast<int>(prng_.Below(2));
    for (const int half : {first, 1 - first}) {
      if (!vcm5_port_send(&port_, half, asker_, kReply, words, 3)) continue;
      ++replies_[half];
      owes_ = false;
      return true;
    }
    return false;
  }
  bool Receive(int half) {
    const uint8_t* packet = vcm5_port_peek(&port_, half);
    if (packet == nullptr) return false;
    const uint32_t* words = vcm5_packet_words(packet);
    if (vcm5_packet_tag(packet) == kRequest) {
      owes_ = true;
      asker_ = words[0];
      index_ = words[1];
    } else {
      wrong_ += words[2] == ValueOf(words[0], words[1]) ? 0 : 1;
      ++answered_;
    }
    vcm5_port_release(&port_, half);
    return true;
  }

  vcm5_port& port_;
  Prng prng_;
  uint32_t to_ask_;
  bool owes_ = false;
  uint32_t asker_ = 0;  // to whom
  uint32_t index_ = 0;  // and what
  uint32_t answered_ = 0;
  uint32_t wrong_ = 0;
  uint32_t replies_[VCM5_HALVES] = {};
};

TEST(FetchSides, RepliesOnEitherSideDoNotDeadlockWithTheSmallestBuffers) {
  constexpr uint32_t kFetches = 60;
  uint32_t replies[VCM5_HALVES] = {};
  ForEachSeed(10, [&](uint64_t seed) {
    EmbeddedOptions options;
    options.should_stop = StopAHang();
    options.spec.nodes = 20;
    options.spec.data_fifo_depth = 1;
    options.spec.link_depth = 1;
    options.seed = seed;
    options.random_schedule = true;
    Embedded machine(options);
    uint32_t nodes_done = 0;
    const absl::Status status = machine.Run([&](vcm5_port& port) {
      Fetcher fetcher(port, seed, kFetches);
      bool done = false;
      while (nodes_done < options.spec.nodes) {
        if (!fetcher.Act()) vcm5_port_miss(&port);
        if (done || fetcher.answered() < kFetches) continue;
        done = true;
        ++nodes_done;
      }
      EXPECT_EQ(fetcher.answered(), kFetches);
      EXPECT_EQ(fetcher.wrong(), 0u);
      for (const int half : {VCM5_LEFT, VCM5_RIGHT}) replies[half] += fetcher.replies(half);
    });
    ASSERT_TRUE(status.ok()) << status;
  });
  EXPECT_GT(replies[VCM5_LEFT], 0u);
  EXPECT_GT(replies[VCM5_RIGHT], 0u);
}

}  // namespace
}  // namespace vcm5
