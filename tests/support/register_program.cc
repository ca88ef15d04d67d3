#include "tests/support/register_program.h"

#include <type_traits>

namespace vcm5 {

static_assert(std::is_trivially_copyable_v<RegisterProgram>);

RegisterPlan::RegisterPlan(uint64_t seed, uint32_t nodes, const Options& options)
    : seed_(seed), nodes_(nodes), options_(options) {
  Prng prng(seed);
  for (uint32_t i = 0; i < options.combines; ++i) {
    combines_.push_back({static_cast<vcm5_combiner>(prng.Below(VCM5_COMBINERS)),
                         static_cast<vcm5_pattern>(prng.Below(VCM5_PATTERNS)),
                         1 + prng.Below(4)});
  }
  for (uint32_t i = 0; i < options.broadcasts; ++i) {
    broadcasts_.push_back({prng.Below(nodes), 1 + prng.Below(options.broadcast_words_max)});
  }
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    takes_part_[fifo].assign(nodes, operations(fifo));
    if (fifo != VCM5_FIFO_COMBINE && fifo != VCM5_FIFO_SYNC_OR) continue;
    for (uint32_t& stop : takes_part_[fifo]) {
      if (prng.Chance(1, 4)) stop = prng.Below(operations(fifo) + 1);
    }
  }
  expected_.assign(size_t{nodes} * kEpochsMax, 0);
  expected_marks_.assign(nodes, 0);
  for (uint32_t node = 0; node < nodes; ++node) {
    for (uint32_t epoch = 0; epoch < options.epochs; ++epoch) {
      for (uint32_t i = 0; i < sends(node, epoch); ++i) {
        const uint32_t to = message(node, epoch, i).destination;
        ++expected_[to * kEpochsMax + epoch];
        expected_marks_[to] += Mark(node, epoch, i);
      }
    }
  }
}

uint32_t RegisterPlan::operations(unsigned fifo) const {
  switch (fifo) {
    case VCM5_FIFO_COMBINE:
      return options_.combines;
    case VCM5_FIFO_BROADCAST:
      return options_.broadcasts;
    case VCM5_FIFO_ROUTER_DONE:
      return options_.epochs;
    default:
      return options_.syncs;
  }
}

uint32_t RegisterPlan::sends(uint32_t node, uint32_t epoch) const {
  return Prng(DeriveSeed(seed_ + 1, (uint64_t{node} << 32) | epoch)).Below(options_.messages + 1);
}

RegisterPlan::Message RegisterPlan::message(uint32_t node, uint32_t epoch, uint32_t index) const {
  Prng prng(~Mark(node, epoch, index));
  return {prng.Below(nodes_), static_cast<int>(prng.Below(VCM5_HALVES)), prng.Below(8),
          3 + prng.Below(kDataWordsMax - 2)};
}

uint32_t RegisterPlan::Word(unsigned what, uint32_t node, uint32_t index, uint32_t word) const {
  const auto value = static_cast<uint32_t>(DeriveSeed(
      seed_ + 2 + what, (uint64_t{node} << 40) | (uint64_t{index} << 8) | word));
  // Carries and comparisons that go from word to word are likelier so.
  return value % 5 == 0 ? ~0u : value % 5 == 1 ? 0 : value;
}

bool RegisterProgram::Done(const RegisterPlan& plan) const {
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    if (stream_[fifo].popped != plan.takes_part(fifo, self_)) return false;
    // One past it: it has said that it abstains.
    if (plan.takes_part(fifo, self_) != plan.operations(fifo) &&
        stream_[fifo].pushed == plan.takes_part(fifo, self_)) {
      return false;
    }
  }
  return !async_or_;
}

bool RegisterProgram::Step(const RegisterPlan& plan, vcm5_port& port) {
  const uint32_t what = prng_.Below(2 * VCM5_CONTROL_FIFOS + 6);
  if (what < VCM5_CONTROL_FIFOS) return Push(plan, port, what);
  if (what < 2 * VCM5_CONTROL_FIFOS) return Pop(plan, port, what - VCM5_CONTROL_FIFOS);
  switch (what - 2 * VCM5_CONTROL_FIFOS) {
    case 0:
      return (!late_ || prng_.Chance(1, 16)) && Receive(plan, port, VCM5_LEFT);
    case 1:
      return (!late_ || prng_.Chance(1, 16)) && Receive(plan, port, VCM5_RIGHT);
    case 2:
      if (async_or_ || (rises_left_ != 0 && prng_.Chance(1, 8))) {
        if (!async_or_) --rises_left_;
        async_or_ = !async_or_;
        vcm5_port_set_async_or(&port, async_or_);
      }
      return false;
    case 3:
      return false;
    default:
      return Send(plan, port);
  }
}

bool RegisterProgram::Push(const RegisterPlan& plan, vcm5_port& port, unsigned fifo) {
  Stream& stream = stream_[fifo];
  if (stream.pushed > plan.takes_part(fifo, self_)) return false;
  if (stream.pushed == plan.takes_part(fifo, self_)) {
    if (stream.pushed == plan.operations(fifo)) return false;
    if (vcm5_port_control_space(&port, static_cast<int>(fifo)) == 0) return false;
    vcm5_port_set_abstain(&port, static_cast<int>(fifo), true);
    ++stream.pushed;
    return true;
  }
  uint32_t words = 1;
  uint32_t control = 0;
  if (fifo == VCM5_FIFO_COMBINE) {
    const RegisterPlan::Combine& combine = plan.combine(stream.pushed);
    words = combine.words;
    control = (static_cast<uint32_t>(combine.combiner) << VCM5_ENTRY_COMBINER_SHIFT) |
              (static_cast<uint32_t>(combine.pattern) << VCM5_ENTRY_PATTERN_SHIFT) |
              (plan.Word(9, self_, stream.pushed, 0) % 4 == 0 ? VCM5_ENTRY_SEGMENT : 0);
  } else if (fifo == VCM5_FIFO_BROADCAST) {
    const RegisterPlan::Broadcast& broadcast = plan.broadcast(stream.pushed);
    if (broadcast.source != self_) {
      ++stream.pushed;
      return true;
    }
    // One source at a time: when all before this one have come.
    if (stream.popped != stream.pushed || port.fifo[fifo].pop_left != 0) return false;
    words = broadcast.words;
  } else if (fifo == VCM5_FIFO_ROUTER_DONE) {
    if (asked_done_ || send_word_ != 0 || sent_ != plan.sends(self_, stream.pushed)) return false;
  }
  uint32_t word = plan.Word(fifo, self_, stream.pushed, stream.word);
  if (fifo == VCM5_FIFO_COMBINE && stream.word + 1 == words &&
      plan.combine(stream.pushed).combiner == VCM5_ADD) {
    // Whether a signed sum overflows on the way depends on the tree, unless all have one sign.
    word &= 0x7fffffffu;
  }
  if (stream.word == 0) {
    vcm5_port_control_first(&port, static_cast<int>(fifo), control, words, word);
  } else {
    vcm5_port_control_word(&port, static_cast<int>(fifo), word);
  }
  if (++stream.word != words) return true;
  stream.word = 0;
  if (!port.fifo[fifo].send_ok) return false;
  ++stream.pushed;
  if (fifo == VCM5_FIFO_ROUTER_DONE) asked_done_ = true;
  return true;
}

bool RegisterProgram::Pop(const RegisterPlan& plan, vcm5_port& port, unsigned fifo) {
  const vcm5_control_entry* entry = vcm5_port_control_peek(&port, static_cast<int>(fifo));
  if (entry == nullptr) return false;
  Stream& stream = stream_[fifo];
  Check(stream.popped < plan.takes_part(fifo, self_), kTooMany);
  const uint32_t flags = entry->control & (VCM5_ENTRY_OVERFLOW | VCM5_ENTRY_LAST);
  const uint32_t word = vcm5_port_control_receive_word(&port, static_cast<int>(fifo));
  answer_[fifo] = DeriveSeed(answer_[fifo], (uint64_t{flags} << 32) | word);
  if (port.fifo[fifo].pop_left != 0) return true;
  Check((flags & VCM5_ENTRY_LAST) != 0, kLength);
  if (fifo == VCM5_FIFO_ROUTER_DONE) {
    Check(received_[stream.popped] == plan.expected(self_, stream.popped), kTooFewAtRouterDone);
    sent_ = 0;
    asked_done_ = false;
    if (stream.popped + 1 == plan.options().epochs) {
      Check(marks_ == plan.expected_marks(self_), kWord);
    }
  }
  ++stream.popped;
  return true;
}

bool RegisterProgram::Send(const RegisterPlan& plan, vcm5_port& port) {
  const uint32_t epoch = stream_[VCM5_FIFO_ROUTER_DONE].popped;
  if (asked_done_ || epoch == plan.options().epochs || sent_ == plan.sends(self_, epoch)) {
    return false;
  }
  const RegisterPlan::Message message = plan.message(self_, epoch, sent_);
  if (send_word_ == 0) {
    vcm5_port_send_first(&port, message.half, message.destination, message.tag, message.words);
  }
  const uint32_t words[3] = {self_, epoch, sent_};
  const uint32_t word = send_word_ < 3 ? words[send_word_]
                                       : plan.Word(8, self_, epoch << 16 | sent_, send_word_);
  vcm5_port_send_word(&port, message.half, word);
  if (++send_word_ != message.words) return true;
  send_word_ = 0;
  if (!port.half[message.half].send_ok) return false;
  ++sent_;
  return true;
}

bool RegisterProgram::Receive(const RegisterPlan& plan, vcm5_port& port, int half) {
  const uint8_t* packet = vcm5_port_peek(&port, half);
  if (packet == nullptr) return false;
  const uint32_t length = vcm5_packet_length(packet);
  const uint32_t tag = vcm5_packet_tag(packet);
  Incoming& in = incoming_[half];
  const uint32_t word = vcm5_port_receive_word(&port, half);
  if (in.word == 0) in.from = word;
  if (in.word == 1) in.epoch = word;
  if (in.word == 2) in.index = word;
  if (in.word > 2) Check(word == plan.Word(8, in.from, in.epoch << 16 | in.index, in.word), kWord);
  if (++in.word != length) return true;
  in.word = 0;
  Check(in.from < plan.nodes() && in.epoch < plan.options().epochs, kOrder);
  if (wrong_ != kNothing) return true;
  Check(in.index < plan.sends(in.from, in.epoch), kOrder);
  const RegisterPlan::Message message = plan.message(in.from, in.epoch, in.index);
  Check(message.destination == self_ && message.half == half, kOrder);
  Check(message.words == length && message.tag == tag, kLength);
  ++received_[in.epoch];
  marks_ += plan.Mark(in.from, in.epoch, in.index);
  return true;
}

}  // namespace vcm5
