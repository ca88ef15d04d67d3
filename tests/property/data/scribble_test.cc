// NI13: a node that overwrites its whole mapped NI with random bytes, again and again, harms
// nobody: the others' messages to each other all arrive, unaltered, and no memory but its own is
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "netif/wire/data_packet.h"
#include "tests/support/data_machine.h"
#include "tests/support/packets.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

using ::testing::HasSubstr;

class Scribble {
 public:
  explicit Scribble(uint64_t seed, bool write_to_scribbler)
      : prng_(seed),
        spec_(MakeSpec(prng_)),
        machine_(spec_, 1 + prng_.Below(std::min(4u, (spec_.nodes + 3) / 4)), seed),
        scribbler_(prng_.Below(spec_.nodes)),
        write_to_scribbler_(write_to_scribbler) {}

  void Run() {
    for (int round = 0; round < 60; ++round) {
      if (round % 3 == 0) ScribbleOnce(prng_.Chance(2, 3));
      for (uint32_t node = 0; node < spec_.nodes; ++node) {
        if (node == scribbler_) continue;
        for (uint32_t i = prng_.Below(4); i != 0; --i) SendFrom(node);
        if (prng_.Chance(3, 4)) ReceiveAt(node);
      }
      for (uint32_t i = prng_.Below(5); i != 0; --i) {
        machine_.agent(prng_.Below(static_cast<uint32_t>(machine_.agents()))).DoWork();
      }
    }
    // A port that is open and never emptied may hold others up, as any node may that does not
    // receive; a closed one may not.
    if (write_to_scribbler_) ScribbleOnce(false);
    for (int quiet = 0; quiet < 3;) {
      bool moved = machine_.RunAll() != 0;
      for (uint32_t node = 0; node < spec_.nodes; ++node) {
        if (node != scribbler_) moved |= ReceiveAt(node);
      }
      quiet = moved ? 0 : quiet + 1;
    }
    machine_.CheckFences();
    for (const uint32_t times : arrived_) ASSERT_EQ(times, 1u);
    ASSERT_EQ(wrong_, 0u);
    for (const FabricError& error : machine_.errors()) ASSERT_EQ(error.leaf, scribbler_);
  }

  bool port_closed() {
    for (const FabricError& error : machine_.errors()) {
      if (error.message.find("port is closed") != std::string::npos) return true;
    }
    return false;
  }

 private:
  static constexpr uint32_t kToScribbler = 0x40000000;  // ids of messages that may get lost

  static MachineSpec MakeSpec(Prng& prng) {
    MachineSpec spec;
    spec.nodes = 2 + prng.Below(30);
    spec.words_max = prng.Chance(1, 2) ? kCm5WordsMax : kCm5eWordsMax;
    spec.data_fifo_depth = 4u << prng.Below(3);
    spec.link_depth = 1u << prng.Below(4);
    spec.combine_depth = spec.broadcast_depth = 16;
    return spec;
  }

  // Random bytes all over; or only in the FIFOs, with positions that make sense, which gets
  // further.
  void ScribbleOnce(bool plausible) {
    auto* page = machine_.page(scribbler_);
    auto* bytes = reinterpret_cast<uint8_t*>(page);
    uint32_t tail[VCM5_HALVES];
    std::copy_n(page->node_data.out_tail, VCM5_HALVES, tail);
    const uint32_t first = plausible ? sizeof *page : 0;
    for (uint32_t at = first; at < machine_.page_bytes(); at += 8) {
      const uint64_t value = prng_.Next();
      std::memcpy(bytes + at, &value, sizeof value);
    }
    if (plausible) {
      for (int half = 0; half < VCM5_HALVES; ++half) {
        const uint32_t more = prng_.Below(spec_.data_fifo_depth / 2);
        for (uint32_t i = 0; i < more; ++i) MakeHeaderPlausible(half, tail[half] + i);
        page->node_data.out_tail[half] = tail[half] + more;
      }
    }
    machine_.RingAllBells(scribbler_);
  }
  void MakeHeaderPlausible(int half, uint32_t position) {
    if (prng_.Chance(1, 4)) return;
    const vcm5_port& port = machine_.port(scribbler_);
    uint8_t* slot = port.half[half].out + size_t{position & port.data_mask} * port.slot_bytes;
    const uint64_t header = vcm5_send_header(prng_.Below(spec_.nodes + 1), prng_.Below(kTags),
                                             prng_.Below(spec_.words_max + 2));
    std::memcpy(slot, &header, sizeof header);
  }

  void SendFrom(uint32_t node) {
    uint32_t to = prng_.Below(spec_.nodes);
    if (to == scribbler_ && !write_to_scribbler_) return;
    const uint32_t id = to == scribbler_ ? kToScribbler : static_cast<uint32_t>(arrived_.size());
    const unsigned length = 1 + prng_.Below(spec_.words_max);
    const DataPacket words = MakePacket(0, 0, length, 0, id);
    const int half = static_cast<int>(prng_.Below(VCM5_HALVES));
    if (!vcm5_port_send(&machine_.port(node), half, to, id % kFirstSystemTag, words.words,
                        length)) {
      return;
    }
    if (to == scribbler_) return;
    arrived_.push_back(0);
    destination_.push_back(to);
    length_.push_back(length);
  }

  bool ReceiveAt(uint32_t node) {
    vcm5_port& port = machine_.port(node);
    bool any = false;
    for (int half = 0; half < VCM5_HALVES; ++half) {
      while (const uint8_t* packet = vcm5_port_peek(&port, half)) {
        Judge(node, packet);
        vcm5_port_release(&port, half);
        any = true;
      }
      vcm5_port_flush_half(&port, half);
    }
    return any;
  }
  // What is none of ours came from the scribbler, who may send what it likes.
  void Judge(uint32_t node, const uint8_t* packet) {
    const uint32_t id = vcm5_packet_words(packet)[0];
    if (id >= arrived_.size()) return;
    ++arrived_[id];
    if (destination_[id] != node || length_[id] != vcm5_packet_length(packet) ||
        vcm5_packet_tag(packet) != id % kFirstSystemTag ||
        !WordsAreOf(id, vcm5_packet_words(packet), length_[id])) {
      ++wrong_;
    }
  }

  Prng prng_;
  MachineSpec spec_;
  DataMachine machine_;
  uint32_t scribbler_;
  bool write_to_scribbler_;
  std::vector<uint32_t> arrived_;  // by id: how often
  std::vector<uint32_t> destination_;
  std::vector<unsigned> length_;
  uint32_t wrong_ = 0;
};

TEST(ScribbleTest, MessagesOfTheOthersAllArrive) {
  ForEachSeed(1000, [](uint64_t seed) { Scribble(seed, false).Run(); });
}

// Its FIFO is never emptied; once its port is closed, nothing waits for it.
TEST(ScribbleTest, MessagesToAClosedPortHoldUpNobody) {
  uint32_t closed = 0;
  ForEachSeed(1000, [&](uint64_t seed) {
    Scribble scribble(seed, true);
    scribble.Run();
    closed += scribble.port_closed() ? 1 : 0;
  });
  EXPECT_GT(closed, 0u);
}

TEST(ScribbleTest, TheReportNamesTheNodeAndWhatItDid) {
  MachineSpec spec;
  spec.nodes = 8;
  DataMachine machine(spec, 1, 1);
  machine.page(5)->node_data.out_tail[VCM5_RIGHT] = 1u << 30;
  machine.RingAllBells(5);
  machine.RunAll();
  machine.RunAll();
  ASSERT_EQ(machine.errors().size(), 1u);
  EXPECT_EQ(machine.errors()[0].leaf, 5u);
  EXPECT_THAT(machine.errors()[0].message,
              HasSubstr("overwrote the FIFO positions of its right data-network port"));
}

}  // namespace
}  // namespace vcm5
