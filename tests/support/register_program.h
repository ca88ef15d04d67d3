// A node program at register level whose whole state is plain data, so that it can be taken out of
// one machine at any moment and go on in another: it pushes and pops single words of messages of
// the data network and of every FIFO of the control network, in an order of its own choice. What it
// must answer does not depend on that order, nor on any schedule.
#ifndef VCM5_TESTS_SUPPORT_REGISTER_PROGRAM_H_
#define VCM5_TESTS_SUPPORT_REGISTER_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "netif/port/ni_port.h"
#include "runtime/base/prng.h"

namespace vcm5 {

// What all nodes of a run do.
class RegisterPlan {
 public:
  static constexpr uint32_t kEpochsMax = 8;
  static constexpr uint32_t kDataWordsMax = 5;

  struct Options {
    uint32_t combines = 10;          // messages of 1 to 4 words
    uint32_t syncs = 10;
    uint32_t broadcasts = 10;        // messages of 1 to `broadcast_words_max` words
    uint32_t broadcast_words_max = 8;
    uint32_t epochs = 2;             // that end with router-done
    uint32_t messages = 20;          // at most, that a node sends in each
  };
  RegisterPlan(uint64_t seed, uint32_t nodes, const Options& options);

  struct Combine {
    vcm5_combiner combiner;
    vcm5_pattern pattern;
    uint32_t words;
  };
  struct Broadcast {
    uint32_t source;
    uint32_t words;
  };
  struct Message {
    uint32_t destination;
    int half;
    uint32_t tag;
    uint32_t words;
  };
  uint32_t nodes() const { return nodes_; }
  const Options& options() const { return options_; }
  const Combine& combine(uint32_t i) const { return combines_[i]; }
  const Broadcast& broadcast(uint32_t i) const { return broadcasts_[i]; }
  // Operations of a FIFO after which a node abstains, if that is not all.
  uint32_t takes_part(unsigned fifo, uint32_t node) const { return takes_part_[fifo][node]; }
  uint32_t operations(unsigned fifo) const;
  uint32_t sends(uint32_t node, uint32_t epoch) const;
  Message message(uint32_t node, uint32_t epoch, uint32_t index) const;
  // Messages that a node receives of an epoch, and the sum of their marks.
  uint32_t expected(uint32_t node, uint32_t epoch) const {
    return expected_[node * kEpochsMax + epoch];
  }
  uint64_t expected_marks(uint32_t node) const { return expected_marks_[node]; }
  // Word `word` of the `index`th of `what` at `node`.
  uint32_t Word(unsigned what, uint32_t node, uint32_t index, uint32_t word) const;
  uint64_t Mark(uint32_t node, uint32_t epoch, uint32_t index) const {
    return DeriveSeed(seed_ + node, (uint64_t{epoch} << 32) | index);
  }

 private:
  uint64_t seed_;
  uint32_t nodes_;
  Options options_;
  std::vector<Combine> combines_;
  std::vector<Broadcast> broadcasts_;
  std::array<std::vector<uint32_t>, VCM5_CONTROL_FIFOS> takes_part_;
  std::vector<uint32_t> expected_;
  std::vector<uint64_t> expected_marks_;
};

// One node's program. Copyable by its bytes.
class RegisterProgram {
 public:
  RegisterProgram(uint64_t seed, uint32_t self)
      : prng_(seed), self_(self), late_(prng_.Chance(1, 2)) {}

  // Does something if what it thinks of is possible, without ever waiting. False: perhaps miss.
  bool Step(const RegisterPlan& plan, vcm5_port& port);
  bool Done(const RegisterPlan& plan) const;

  // What came by each control FIFO, in order.
  const std::array<uint64_t, VCM5_CONTROL_FIFOS>& answer() const { return answer_; }
  // The first thing that was not as planned: a word of its own, 0 if nothing was.
  enum Wrong : uint32_t { kNothing, kWord, kOrder, kTooFewAtRouterDone, kTooMany, kLength };
  Wrong wrong() const { return wrong_; }

 private:
  bool Push(const RegisterPlan& plan, vcm5_port& port, unsigned fifo);
  bool Pop(const RegisterPlan& plan, vcm5_port& port, unsigned fifo);
  bool Send(const RegisterPlan& plan, vcm5_port& port);
  bool Receive(const RegisterPlan& plan, vcm5_port& port, int half);
  void Check(bool good, Wrong wrong) {
    if (!good && wrong_ == kNothing) wrong_ = wrong;
  }

  struct Stream {
    uint32_t pushed = 0;  // messages
    uint32_t word = 0;    // of the one being pushed
    uint32_t popped = 0;
  };
  struct Incoming {
    uint32_t from = 0;
    uint32_t epoch = 0;
    uint32_t index = 0;
    uint32_t word = 0;
  };
  Prng prng_;
  uint32_t self_;
  bool late_;  // it seldom thinks of receiving
  std::array<Stream, VCM5_CONTROL_FIFOS> stream_;
  std::array<uint64_t, VCM5_CONTROL_FIFOS> answer_ = {};
  uint32_t sent_ = 0;  // messages of the epoch
  uint32_t send_word_ = 0;
  bool asked_done_ = false;  // router-done of the epoch
  std::array<Incoming, VCM5_HALVES> incoming_;
  std::array<uint32_t, RegisterPlan::kEpochsMax> received_ = {};
  uint64_t marks_ = 0;
  bool async_or_ = false;
  uint32_t rises_left_ = 10;  // of this node's input of the asynchronous OR
  Wrong wrong_ = kNothing;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_REGISTER_PROGRAM_H_
