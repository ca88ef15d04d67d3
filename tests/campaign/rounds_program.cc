// Rounds of messages until the routers are done (paper section 5), after each of which nothing may
// be missing; and a sum over all nodes, so that the next begins when all have looked.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "netif/wire/data_packet.h"
#include "runtime/base/prng.h"
#include "tests/campaign/program.h"
#include "tests/support/packets.h"

namespace vcm5::campaign {
namespace {

class Rounds final : public Program {
 public:
  Rounds(uint64_t seed, const MachineSpec& spec, uint32_t nodes, bool all_to_one)
      : seed_(seed), nodes_(nodes), words_max_(spec.words_max), all_to_one_(all_to_one) {
    Prng prng(seed);
    rounds_ = 1 + prng.Below(4);
    messages_ = 1 + prng.Below(nodes > 64 ? 4 : 16);
    for (uint32_t round = 0; round < rounds_; ++round) {
      shift_.push_back(prng.Below(nodes));
      std::vector<uint32_t>& order = permutation_.emplace_back(nodes);
      for (uint32_t i = 0; i < nodes; ++i) {
        const uint32_t other = prng.Below(i + 1);
        order[i] = order[other];
        order[other] = i;
      }
    }
    expected_.resize(rounds_, std::vector<uint32_t>(nodes));
    for (uint32_t id = 0; id < rounds_ * nodes * messages_; ++id) ++expected_[RoundOf(id)][To(id)];
    came_.resize(size_t{rounds_} * nodes * messages_);
  }

  void Run(vcm5_port& port) override {
    for (uint32_t round = 0; round < rounds_; ++round) {
      uint32_t received = 0;
      for (uint32_t i = 0; i < messages_;) {
        if (Send(port, Id(round, port.self, i))) {
          ++i;
        } else {
          vcm5_port_miss(&port);
        }
        ReceiveBoth(port, round, &received);
      }
      do {
        vcm5_port_control_first(&port, VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
      } while (!vcm5_port_control_send_ok(&port, VCM5_FIFO_ROUTER_DONE));
      while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_ROUTER_DONE)) {
        ReceiveBoth(port, round, &received);
      }
      vcm5_port_control_receive_word(&port, VCM5_FIFO_ROUTER_DONE);
      if (received != expected_[round][port.self]) {
        seen_.AddEarly(absl::StrCat("node ", port.self, ": routers done in round ", round, " after ",
                                  received, " of ", expected_[round][port.self], " messages"));
      }
      vcm5_port_combine_first(&port, VCM5_UADD, VCM5_REDUCE, 1, received);
      while (!vcm5_port_control_receive_ok(&port, VCM5_FIFO_COMBINE)) {
      }
      if (vcm5_port_control_receive_word(&port, VCM5_FIFO_COMBINE) != nodes_ * messages_) {
        seen_.AddEarly(absl::StrCat("node ", port.self, ": the sum of round ", round));
      }
    }
  }

  Seen Judge() override {
    Seen seen = seen_;
    seen.missing = static_cast<uint64_t>(std::count(came_.begin(), came_.end(), uint8_t{0}));
    return seen;
  }

 private:
  uint32_t Id(uint32_t round, uint32_t from, uint32_t i) const {
    return (round * nodes_ + from) * messages_ + i;
  }
  uint32_t RoundOf(uint32_t id) const { return id / messages_ / nodes_; }
  uint32_t To(uint32_t id) const {
    const uint32_t round = RoundOf(id);
    return all_to_one_ ? shift_[round] : permutation_[round][id / messages_ % nodes_];
  }
  unsigned LengthOf(uint32_t id) const { return 1 + (id + shift_[RoundOf(id)]) % words_max_; }
  int HalfOf(uint32_t id) const { return static_cast<int>((id ^ seed_) % VCM5_HALVES); }

  bool Send(vcm5_port& port, uint32_t id) {
    const unsigned length = LengthOf(id);
    const DataPacket content = MakePacket(0, 0, length, 0, id);
    return vcm5_port_send(&port, HalfOf(id), To(id), id % kFirstSystemTag, content.words, length);
  }

  void ReceiveBoth(vcm5_port& port, uint32_t round, uint32_t* received) {
    for (const int half : {VCM5_LEFT, VCM5_RIGHT}) {
      while (vcm5_port_receive_ok(&port, half)) {
        uint32_t words[VCM5_WORDS_MAX];
        const unsigned length = vcm5_port_receive_length(&port, half);
        const unsigned tag = vcm5_port_receive_tag(&port, half);
        for (unsigned i = 0; i < length; ++i) words[i] = vcm5_port_receive_word(&port, half);
        Look(port.self, round, half, tag, words, length);
        ++*received;
      }
    }
  }

  void Look(uint32_t self, uint32_t round, int half, unsigned tag, const uint32_t* words,
            unsigned length) {
    const uint32_t id = words[0];
    if (id >= came_.size() || To(id) != self || HalfOf(id) != half || LengthOf(id) != length ||
        id % kFirstSystemTag != tag || !WordsAreOf(id, words, length)) {
      return seen_.AddBad(absl::StrCat("node ", self, " received what nobody sent, or elsewhere"));
    }
    if (came_[id] != 0) {
      ++seen_.twice;
    } else if (RoundOf(id) != round) {
      seen_.AddEarly(absl::StrCat("node ", self, ": message ", id, " after its round"));
    }
    came_[id] = 1;
  }

  const uint64_t seed_;
  const uint32_t nodes_;
  const uint32_t words_max_;
  const bool all_to_one_;
  uint32_t rounds_;
  uint32_t messages_;                               // of each node in each round
  std::vector<uint32_t> shift_;                     // by round: to whom, if all to one
  std::vector<std::vector<uint32_t>> permutation_;  // by round and sender
  std::vector<std::vector<uint32_t>> expected_;     // by round and receiver
  std::vector<uint8_t> came_;                       // by id
  Seen seen_;
};

}  // namespace

std::unique_ptr<Program> MakeRounds(uint64_t seed, const MachineSpec& spec, uint32_t nodes,
                                    bool all_to_one) {
  return std::make_unique<Rounds>(seed, spec, nodes, all_to_one);
}

}  // namespace vcm5::campaign
