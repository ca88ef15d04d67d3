// Users and supervisors send at the same time, on random machines in one to four parts: all that
// users send arrives at users, all that supervisors send at supervisors, once and unaltered. Among
// them is a supervisor that never reads, and one whose pages somebody overwrites.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "netif/wire/data_packet.h"
#include "tests/support/data_machine.h"
#include "tests/support/packets.h"
#include "tests/support/seeds.h"

namespace vcm5 {
namespace {

class Mixed {
 public:
  explicit Mixed(uint64_t seed)
      : prng_(seed),
        spec_(MakeSpec(prng_)),
        machine_(spec_, 1 + prng_.Below(std::min(4u, (spec_.nodes + 3) / 4)), seed),
        deaf_(prng_.Below(spec_.nodes)),
        scribbler_((deaf_ + 1 + prng_.Below(spec_.nodes - 1)) % spec_.nodes),
        under_way_(VCM5_HALVES * spec_.nodes) {}

  void Run() {
    for (int round = 0; round < 60; ++round) {
      if (round % 5 == 0) Scribble();
      for (uint32_t node = 0; node < spec_.nodes; ++node) {
        for (uint32_t i = prng_.Below(4); i != 0; --i) SendFrom(node);
        if (prng_.Chance(3, 4)) ReceiveAt(node);
      }
      for (uint32_t i = prng_.Below(5); i != 0; --i) {
        machine_.agent(prng_.Below(static_cast<uint32_t>(machine_.agents()))).DoWork();
      }
    }
    for (int quiet = 0; quiet < 3;) {
      bool moved = machine_.RunAll() != 0;
      for (uint32_t node = 0; node < spec_.nodes; ++node) moved |= ReceiveAt(node);
      quiet = moved ? 0 : quiet + 1;
    }
    machine_.CheckFences();
    for (size_t id = 0; id < sent_.size(); ++id) {
      ASSERT_EQ(sent_[id].arrived, 1u) << (sent_[id].system ? "a supervisor's " : "a user's ") << id;
    }
    ASSERT_EQ(wrong_, 0u);
    for (const FabricError& error : machine_.errors()) {
      ASSERT_EQ(error.leaf, scribbler_) << error.message;
    }
    for (size_t i = 0; i < machine_.agents(); ++i) {
      ASSERT_TRUE(machine_.agent(i).Unbalanced().empty());
    }
    ASSERT_EQ(machine_.Stat("messages injected"), machine_.Stat("messages delivered"));
    ASSERT_EQ(machine_.Stat("messages of the system injected"),
              machine_.Stat("messages of the system delivered") + dropped());
  }

  uint64_t dropped() const {
    return machine_.Stat("messages of the system that no supervisor had room for");
  }
  uint64_t errors() { return machine_.errors().size(); }

 private:
  static constexpr uint32_t kToDeaf = 0x40000000;  // ids of messages that may get lost

  struct Sent {
    bool system;
    uint32_t to;
    int half;
    unsigned tag;
    unsigned length;
    uint32_t arrived = 0;
  };

  static MachineSpec MakeSpec(Prng& prng) {
    MachineSpec spec;
    spec.nodes = 2 + prng.Below(30);
    spec.words_max = prng.Chance(1, 2) ? kCm5WordsMax : kCm5eWordsMax;
    spec.data_fifo_depth = 4u << prng.Below(3);
    spec.link_depth = 1u << prng.Below(4);
    spec.combine_depth = spec.broadcast_depth = 16;
    return spec;
  }

  // The supervisor's page of the scribbler: random bytes all over; or messages that make sense, but
  // for some, to who does not read them.
  void Scribble() {
    vcm5_supervisor_page* page = machine_.supervisor_page(scribbler_);
    const int half = static_cast<int>(prng_.Below(VCM5_HALVES));
    if (prng_.Chance(1, 8)) {
      auto* bytes = reinterpret_cast<uint8_t*>(page);
      for (size_t at = 0; at < sizeof *page; ++at) bytes[at] = static_cast<uint8_t>(prng_.Next());
    } else {
      const uint32_t head = page->data[half].out_head;
      const uint32_t more = prng_.Below(VCM5_SYSTEM_DEPTH + 1);
      for (uint32_t i = 0; i < more; ++i) {
        vcm5_system_message& message = page->data_out[half][(head + i) % VCM5_SYSTEM_DEPTH];
        message.address = prng_.Chance(3, 4) ? deaf_ : spec_.nodes + prng_.Below(1000);
        message.control =
            VCM5_SYSTEM_CONTROL(prng_.Chance(3, 4) ? 14 + prng_.Below(2) : prng_.Below(256),
                                prng_.Below(spec_.words_max + 3));
        message.words[0] = kToDeaf;
      }
      page->supervisor_data.out_tail[half] = head + more;
    }
    for (int of = 0; of < VCM5_HALVES; ++of) {
      machine_.port(scribbler_).data_doorbell[of]->supervisor_bell[of] = 1;
    }
  }

  void SendFrom(uint32_t node) {
    const bool system = prng_.Chance(1, 2);
    const int half = static_cast<int>(prng_.Below(VCM5_HALVES));
    const uint32_t to = prng_.Below(spec_.nodes);
    if (system && (node == scribbler_ || to == scribbler_)) return;
    uint32_t& under_way = under_way_[VCM5_HALVES * to + half];
    const bool counts = !system || to != deaf_;
    if (system && counts && under_way == VCM5_SYSTEM_DEPTH) return;
    const uint32_t id = counts ? static_cast<uint32_t>(sent_.size()) : kToDeaf;
    const unsigned length = 1 + prng_.Below(spec_.words_max);
    const unsigned tag = system ? 14 + prng_.Below(2) : prng_.Below(kFirstSystemTag);
    const DataPacket words = MakePacket(0, 0, length, 0, id);
    const bool accepted =
        system ? machine_.supervisor(node).SendMessage(half, to, tag, {words.words, length})
               : vcm5_port_send(&machine_.port(node), half, to, tag, words.words, length);
    if (!accepted || !counts) return;
    if (system) ++under_way;
    sent_.push_back({system, to, half, tag, length});
  }

  bool ReceiveAt(uint32_t node) {
    bool any = false;
    for (int half = 0; half < VCM5_HALVES; ++half) {
      vcm5_port& port = machine_.port(node);
      while (const uint8_t* packet = vcm5_port_peek(&port, half)) {
        Judge({false, node, half, vcm5_packet_tag(packet), vcm5_packet_length(packet)},
              vcm5_packet_words(packet));
        vcm5_port_release(&port, half);
        any = true;
      }
      vcm5_port_flush_half(&port, half);
      if (node == deaf_ || node == scribbler_) continue;
      vcm5_system_message message;
      while (machine_.supervisor(node).ReceiveMessage(half, &message)) {
        if (message.address != node) ++wrong_;
        Judge({true, node, half, VCM5_SYSTEM_TAG_OF(message.control),
               VCM5_SYSTEM_LENGTH_OF(message.control)},
              message.words);
        --under_way_[VCM5_HALVES * node + half];
        any = true;
      }
    }
    return any;
  }
  void Judge(const Sent& came, const uint32_t* words) {
    const uint32_t id = words[0];
    if (id >= sent_.size()) {
      ++wrong_;
      return;
    }
    Sent& sent = sent_[id];
    ++sent.arrived;
    if (sent.system != came.system || sent.to != came.to || sent.half != came.half ||
        sent.tag != came.tag || sent.length != came.length || !WordsAreOf(id, words, sent.length)) {
      ++wrong_;
    }
  }

  Prng prng_;
  MachineSpec spec_;
  DataMachine machine_;
  uint32_t deaf_;
  uint32_t scribbler_;
  std::vector<uint32_t> under_way_;  // to a supervisor that reads, by half
  std::vector<Sent> sent_;           // by id
  uint32_t wrong_ = 0;
};

TEST(SystemMessages, AndUsersMessagesAllArriveWhereTheyBelong) {
  uint64_t dropped = 0;
  uint64_t errors = 0;
  ForEachSeed(500, [&](uint64_t seed) {
    Mixed mixed(seed);
    mixed.Run();
    dropped += mixed.dropped();
    errors += mixed.errors();
  });
  if (std::getenv("VCM5_TEST_SEED") != nullptr) return;
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(errors, 0u);
}

}  // namespace
}  // namespace vcm5
