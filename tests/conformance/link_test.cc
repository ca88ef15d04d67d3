// The contract of daemons/link/link.h, over every kind of link.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemons/link/make_link.h"
#include "daemons/link/shm_link.h"
#include "runtime/base/prng.h"

namespace vcm5 {
namespace {

constexpr LinkGeometry kGeometry{.wires = 7, .depth = 4, .words_max = 18};

DataPacket MakePacket(uint32_t value, unsigned length) {
  DataPacket packet{};
  packet.header = data_header::Make(0, length, value % kTags, value & 0xfffff);
  for (unsigned word = 0; word < length; ++word) packet.words[word] = value * 31 + word;
  packet.crc = DataPacketCrc(packet, length, packet.header);
  return packet;
}

struct Arrival {
  bool is_packet;
  uint32_t wire;
  uint32_t value;  // word 0 of a packet, or the credit
  unsigned length;
  bool operator==(const Arrival&) const = default;
};

class Recorder : public LinkReceiver {
 public:
  void OnPacket(uint32_t wire, const DataPacket& packet, unsigned length) override {
    EXPECT_TRUE(DataPacketCrcGood(packet));
    EXPECT_EQ(data_header::Length(packet.header), length);
    arrivals.push_back({true, wire, packet.words[0], length});
  }
  void OnCredit(uint32_t wire, uint32_t packets) override {
    arrivals.push_back({false, wire, packets, 0});
  }
  std::vector<Arrival> arrivals;
};

template <LinkKind kKind>
struct KindTag {
  static constexpr LinkKind kind = kKind;
};

template <class Tag>
class LinkTest : public ::testing::Test {
 protected:
  void SetUp() override { Make(kGeometry); }

  void Make(const LinkGeometry& geometry) {
    geometry_ = geometry;
    absl::StatusOr<LinkEnds> ends = CreateLink(Tag::kind, geometry);
    ASSERT_TRUE(ends.ok()) << ends.status();
    for (int side = 0; side < 2; ++side) {
      // What a hostile peer can reach: the same descriptors as the link's.
      for (const int fd : ends->side[side]) spy_[side].push_back(dup(fd));
      auto link = AttachLink(Tag::kind, side, ends->side[side], geometry,
                             [this, side] { ++rings_[side]; });
      ASSERT_TRUE(link.ok()) << link.status();
      link_[side] = std::move(*link);
    }
  }

  void TearDown() override { CloseSpies(); }

  void CloseSpies() {
    for (auto& side : spy_) {
      for (const int fd : side) close(fd);
      side.clear();
    }
  }

  // Receives until nothing comes, the link fails, or `calls` are spent.
  void Drain(int side, Recorder& recorder, unsigned calls = 100000) {
    while (calls-- > 0 && link_[side]->status().ok()) {
      if (link_[side]->Receive(recorder) == 0 && !recorder.arrivals.empty()) break;
    }
  }

  LinkGeometry geometry_;
  std::unique_ptr<Link> link_[2];
  unsigned rings_[2] = {0, 0};
  std::vector<int> spy_[2];
};

using Kinds = ::testing::Types<KindTag<LinkKind::kShm>, KindTag<LinkKind::kUnix>>;

struct KindName {
  template <class Tag>
  static std::string GetName(int) {
    return Tag::kind == LinkKind::kShm ? "Shm" : "Unix";
  }
};
TYPED_TEST_SUITE(LinkTest, Kinds, KindName);

TYPED_TEST(LinkTest, NothingArrivesBeforeFlush) {
  Recorder recorder;
  this->link_[0]->SendPacket(0, MakePacket(1, 5), 5);
  EXPECT_EQ(this->link_[1]->Receive(recorder), 0u);
  EXPECT_EQ(this->rings_[0], 0u);
  this->link_[0]->Flush();
  EXPECT_EQ(this->link_[1]->Receive(recorder), 1u);
  EXPECT_EQ(recorder.arrivals.size(), 1u);
}

TYPED_TEST(LinkTest, FlushRingsOnceABatchAndNotWithoutOne) {
  for (uint32_t wire = 0; wire < 7; ++wire) this->link_[0]->SendCredit(wire, 1);
  this->link_[0]->Flush();
  EXPECT_EQ(this->rings_[0], 1u);
  this->link_[0]->Flush();
  EXPECT_EQ(this->rings_[0], 1u);
  EXPECT_EQ(this->rings_[1], 0u);
}

TYPED_TEST(LinkTest, KeepsOrderAndContentsInBothDirections) {
  for (int side = 0; side < 2; ++side) {
    std::vector<Arrival> expected;
    for (unsigned length = 1; length <= 18; ++length) {
      const uint32_t wire = length % 7;
      const DataPacket packet = MakePacket(length + 100, length);
      this->link_[side]->SendPacket(wire, packet, length);
      expected.push_back({true, wire, packet.words[0], length});
      this->link_[side]->SendCredit(6 - wire, 1 + length % 4);
      expected.push_back({false, 6 - wire, 1 + length % 4, 0});
    }
    this->link_[side]->Flush();
    Recorder recorder;
    this->Drain(1 - side, recorder);
    EXPECT_EQ(recorder.arrivals, expected);
  }
}

TYPED_TEST(LinkTest, TakesEverythingThatCreditsAllowWithoutAReceiver) {
  // All credits of all wires, in packets and in single credits, round and round the buffers.
  for (int round = 0; round < 50; ++round) {
    std::vector<Arrival> expected;
    for (uint32_t i = 0; i < kGeometry.wires * kGeometry.depth; ++i) {
      const DataPacket packet = MakePacket(i, 18);
      this->link_[0]->SendPacket(i % 7, packet, 18);
      expected.push_back({true, i % 7, packet.words[0], 18});
      this->link_[0]->SendCredit(i % 7, 1);
      expected.push_back({false, i % 7, 1, 0});
    }
    this->link_[0]->Flush();
    ASSERT_TRUE(this->link_[0]->status().ok()) << this->link_[0]->status();
    Recorder recorder;
    this->Drain(1, recorder);
    ASSERT_EQ(recorder.arrivals, expected);
  }
}

TYPED_TEST(LinkTest, KeepsWhatTheTransportCannotTakeNow) {
  // More than a socket buffer holds.
  const LinkGeometry large{.wires = 512, .depth = 64, .words_max = 18};
  this->CloseSpies();
  this->Make(large);
  const uint32_t packets = large.wires * large.depth;
  for (uint32_t i = 0; i < packets; ++i) {
    this->link_[0]->SendPacket(i % large.wires, MakePacket(i, 18), 18);
  }
  Recorder recorder;
  while (recorder.arrivals.size() < packets) {
    this->link_[0]->Flush();
    ASSERT_NE(this->link_[1]->Receive(recorder), 0u);
  }
  for (uint32_t i = 0; i < packets; ++i) {
    ASSERT_EQ(recorder.arrivals[i], (Arrival{true, i % large.wires, i * 31, 18}));
  }
  EXPECT_TRUE(this->link_[0]->status().ok());
}

TYPED_TEST(LinkTest, FailsInsteadOfGrowingWhenCreditIsOverdrawn) {
  for (int i = 0; i < 1 << 20 && this->link_[0]->status().ok(); ++i) {
    this->link_[0]->SendPacket(0, MakePacket(1, 18), 18);
  }
  EXPECT_NE(this->link_[0]->status().ToString().find("more credit than it has"), std::string::npos);
}

TYPED_TEST(LinkTest, ReceiveIsBounded) {
  const LinkGeometry large{.wires = 512, .depth = 64, .words_max = 5};
  this->CloseSpies();
  this->Make(large);
  for (uint32_t i = 0; i < large.wires * large.depth; ++i) {
    this->link_[0]->SendCredit(i % large.wires, 1);
  }
  this->link_[0]->Flush();
  Recorder recorder;
  EXPECT_LE(this->link_[1]->Receive(recorder), 4096u);
}

TYPED_TEST(LinkTest, DeliversWhatWasSentBeforeThePeerDiedThenFails) {
  this->link_[0]->SendPacket(3, MakePacket(9, 2), 2);
  this->link_[0]->Flush();
  this->link_[0].reset();
  this->CloseSpies();
  Recorder recorder;
  for (int call = 0; call < 100000 && this->link_[1]->status().ok(); ++call) {
    this->link_[1]->Receive(recorder);
  }
  ASSERT_EQ(recorder.arrivals.size(), 1u);
  EXPECT_EQ(recorder.arrivals[0].wire, 3u);
  EXPECT_NE(this->link_[1]->status().ToString().find("the other end is gone"), std::string::npos);
  // A failed link swallows, and says the same for ever.
  this->link_[1]->SendCredit(0, 1);
  this->link_[1]->Flush();
  EXPECT_EQ(this->link_[1]->Receive(recorder), 0u);
  EXPECT_FALSE(this->link_[1]->status().ok());
}

// Writes one frame head as a hostile peer (side 0) would.
void Forge(LinkKind kind, const LinkGeometry& geometry, const std::vector<int>& spy, uint64_t head) {
  if (kind == LinkKind::kUnix) {
    ASSERT_EQ(send(spy[0], &head, sizeof head, MSG_NOSIGNAL), 8);
    return;
  }
  const ShmLinkLayout layout(geometry);
  absl::StatusOr<SharedMemory> memory = SharedMemory::Attach(dup(spy[0]), 2 * layout.bytes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  std::memcpy(memory->data() + layout.heads_at, &head, sizeof head);
  reinterpret_cast<ShmLinkPositions*>(memory->data())->tail = 1;
}

TYPED_TEST(LinkTest, RefusesMalformedFrames) {
  const uint64_t bad[] = {
      LinkFrame::MakePacket(7, 5),           // no such wire
      LinkFrame::MakePacket(0xffffffff, 5),  //
      LinkFrame::MakePacket(0, 19),          // longer than any packet
      LinkFrame::MakePacket(0, 255),         //
      LinkFrame::MakeCredit(0, 5),           // more than a wire has
      LinkFrame::MakeCredit(0, 0),           //
      LinkFrame::MakePacket(0, 5) | LinkFrame::MakeCredit(0, 1),
      LinkFrame::MakePacket(0, 5) | (uint64_t{1} << 63),
  };
  for (const uint64_t head : bad) {
    this->CloseSpies();
    this->Make(kGeometry);
    Forge(TypeParam::kind, kGeometry, this->spy_[0], head);
    Recorder recorder;
    EXPECT_EQ(this->link_[1]->Receive(recorder), 0u);
    EXPECT_TRUE(recorder.arrivals.empty());
    EXPECT_NE(this->link_[1]->status().ToString().find("malformed"), std::string::npos) << head;
  }
}

// Packets within credit on random wires, flushed and received at random moments, both ways at
// once. The oracle is one queue a wire and direction.
TYPED_TEST(LinkTest, RandomTrafficAgainstAnOracle) {
  const char* given = std::getenv("VCM5_TEST_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  const uint64_t seeds = given != nullptr ? 1 : 200;
  std::printf("seeds %llu to %llu; set VCM5_TEST_SEED for one\n",
              static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + seeds - 1));
  for (uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    LinkGeometry geometry;
    geometry.wires = 1 + prng.Below(20);
    geometry.depth = 1 + prng.Below(16);
    geometry.words_max = prng.Chance(1, 2) ? 5 : 18;
    this->CloseSpies();
    this->Make(geometry);
    struct Side {
      std::vector<uint32_t> credit;              // packets that may be sent, by wire
      std::vector<uint32_t> owed;                // credits to give back, by wire
      std::vector<std::deque<uint32_t>> expect;  // words 0 under way to this side, by wire
    };
    Side sides[2];
    for (Side& side : sides) {
      side.credit.assign(geometry.wires, geometry.depth);
      side.owed.assign(geometry.wires, 0);
      side.expect.resize(geometry.wires);
    }
    uint32_t next = 0;
    for (int step = 0; step < 2000; ++step) {
      const int me = static_cast<int>(prng.Below(2));
      const uint32_t wire = prng.Below(geometry.wires);
      switch (prng.Below(4)) {
        case 0:
          if (sides[me].credit[wire] == 0) break;
          --sides[me].credit[wire];
          {
            const unsigned length = 1 + prng.Below(geometry.words_max);
            const DataPacket packet = MakePacket(++next, length);
            this->link_[me]->SendPacket(wire, packet, length);
            sides[1 - me].expect[wire].push_back(packet.words[0]);
          }
          break;
        case 1:
          if (sides[me].owed[wire] == 0) break;
          this->link_[me]->SendCredit(wire, sides[me].owed[wire]);
          sides[me].owed[wire] = 0;
          break;
        case 2:
          this->link_[me]->Flush();
          break;
        case 3: {
          Recorder recorder;
          this->link_[me]->Receive(recorder);
          for (const Arrival& arrival : recorder.arrivals) {
            if (!arrival.is_packet) {
              sides[me].credit[arrival.wire] += arrival.value;
              ASSERT_LE(sides[me].credit[arrival.wire], geometry.depth);
              continue;
            }
            ASSERT_FALSE(sides[me].expect[arrival.wire].empty());
            ASSERT_EQ(sides[me].expect[arrival.wire].front(), arrival.value);
            sides[me].expect[arrival.wire].pop_front();
            ++sides[me].owed[arrival.wire];
          }
          break;
        }
      }
      ASSERT_TRUE(this->link_[me]->status().ok()) << this->link_[me]->status();
    }
    // Nothing is lost: what is under way arrives.
    for (int me = 0; me < 2; ++me) {
      this->link_[1 - me]->Flush();
      Recorder recorder;
      while (this->link_[me]->Receive(recorder) != 0) {
      }
      size_t packets = 0;
      for (const Arrival& arrival : recorder.arrivals) packets += arrival.is_packet;
      size_t expected = 0;
      for (const auto& queue : sides[me].expect) expected += queue.size();
      EXPECT_EQ(packets, expected);
    }
  }
}

}  // namespace
}  // namespace vcm5
