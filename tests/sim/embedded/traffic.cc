#include "tests/sim/embedded/traffic.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "netif/wire/data_packet.h"
#include "tests/support/packets.h"

namespace vcm5 {

TrafficPlan::TrafficPlan(uint64_t seed, const MachineSpec& spec, uint32_t messages_per_node)
    : seed_(seed), words_max_(spec.words_max), sends_(spec.nodes), expected_(spec.nodes) {
  Prng prng(seed);
  const uint32_t hot = prng.Below(spec.nodes);
  const uint32_t hot_percent = prng.Chance(1, 3) ? prng.Below(100) : 0;
  for (uint32_t node = 0; node < spec.nodes; ++node) {
    const uint32_t count = prng.Below(2 * messages_per_node + 1);
    for (uint32_t i = 0; i < count; ++i) {
      PlannedMessage message;
      message.source = node;
      message.destination = prng.Chance(hot_percent, 100) ? hot : prng.Below(spec.nodes);
      message.half = static_cast<int>(prng.Below(VCM5_HALVES));
      message.length = 1 + prng.Below(spec.words_max);
      message.tag = prng.Below(kFirstSystemTag);
      message.wants_reply = message.half == VCM5_LEFT && prng.Chance(1, 2);
      sends_[node].push_back(static_cast<uint32_t>(messages_.size()));
      messages_.push_back(message);
      ++expected_[message.destination];
      if (message.wants_reply) ++expected_[node];
    }
  }
}

uint32_t TrafficPlan::total() const {
  return std::accumulate(expected_.begin(), expected_.end(), 0u);
}

std::optional<PlannedMessage> TrafficPlan::Find(uint32_t id) const {
  const uint32_t index = id & ~kReply;
  if (index >= messages_.size()) return std::nullopt;
  const PlannedMessage& message = messages_[index];
  if ((id & kReply) == 0) return message;
  if (!message.wants_reply) return std::nullopt;
  return PlannedMessage{message.destination,    message.source,          VCM5_RIGHT,
                        1 + index % words_max_, index % kFirstSystemTag, false};
}

TrafficNode::TrafficNode(const TrafficPlan& plan, vcm5_port& port, EventTrace* trace)
    : plan_(plan), port_(port), trace_(trace), prng_(DeriveSeed(plan.seed(), port.self)) {}

void TrafficNode::Run() {
  for (;;) {
    bool acted = Reply();
    for (uint32_t i = prng_.Below(3); i != 0; --i) acted |= SendNext();
    for (uint32_t i = prng_.Below(4); i != 0; --i) {
      acted |= ReceiveOne(VCM5_RIGHT);
      if (!owed_) acted |= ReceiveOne(VCM5_LEFT);
    }
    if (arrived_.size() == plan_.expected(port_.self) && next_ == plan_.sends(port_.self).size() &&
        !owed_) {
      return;
    }
    if (!acted) vcm5_port_miss(&port_);
  }
}

bool TrafficNode::SendNext() {
  if (next_ == plan_.sends(port_.self).size()) return false;
  const uint32_t id = plan_.sends(port_.self)[next_];
  const PlannedMessage message = *plan_.Find(id);
  if (!Push(id, message.destination, message.half, message.length, message.tag)) return false;
  ++next_;
  return true;
}

bool TrafficNode::Reply() {
  if (!owed_) return false;
  const uint32_t id = *owed_ | TrafficPlan::kReply;
  const PlannedMessage reply = *plan_.Find(id);
  if (!Push(id, reply.destination, reply.half, reply.length, reply.tag)) return false;
  owed_.reset();
  return true;
}

// Word by word through the registers, or the whole message at once.
bool TrafficNode::Push(uint32_t id, uint32_t destination, int half, unsigned length, unsigned tag) {
  const DataPacket content = MakePacket(0, 0, length, 0, id);
  bool accepted;
  if (prng_.Chance(1, 2)) {
    accepted = vcm5_port_send(&port_, half, destination, tag, content.words, length);
  } else {
    vcm5_port_send_first(&port_, half, destination, tag, length);
    for (unsigned word = 0; word < length; ++word) {
      vcm5_port_send_word(&port_, half, content.words[word]);
    }
    accepted = vcm5_port_send_ok(&port_, half);
  }
  if (!accepted) ++refused_;
  Note(accepted ? 's' : 'x', id);
  return accepted;
}

bool TrafficNode::ReceiveOne(int half) {
  uint32_t words[VCM5_WORDS_MAX];
  if (prng_.Chance(1, 2)) {
    const uint8_t* packet = vcm5_port_peek(&port_, half);
    if (packet == nullptr) return false;
    const unsigned length = vcm5_packet_length(packet);
    std::copy_n(vcm5_packet_words(packet), length, words);
    const unsigned tag = vcm5_packet_tag(packet);
    vcm5_port_release(&port_, half);
    vcm5_port_count_received(&port_, half);
    Judge(half, length, tag, words);
    return true;
  }
  if (!vcm5_port_receive_ok(&port_, half)) return false;
  const unsigned length = vcm5_port_receive_length(&port_, half);
  const unsigned tag = vcm5_port_receive_tag(&port_, half);
  for (unsigned word = 0; word < length; ++word) {
    if (vcm5_port_receive_length_left(&port_, half) != length - word) wrong_ = "length left";
    words[word] = vcm5_port_receive_word(&port_, half);
  }
  Judge(half, length, tag, words);
  return true;
}

void TrafficNode::Judge(int half, unsigned length, unsigned tag, const uint32_t* words) {
  const uint32_t id = words[0];
  Note('r', id);
  arrived_.push_back(id);
  const std::optional<PlannedMessage> planned = plan_.Find(id);
  if (!planned) {
    wrong_ = absl::StrCat("node ", port_.self, " received id ", id, ", which nobody sends");
  } else if (planned->destination != port_.self || planned->half != half) {
    wrong_ = absl::StrCat("message ", id, " came to node ", port_.self, " on half ", half);
  } else if (planned->length != length || planned->tag != tag || !WordsAreOf(id, words, length)) {
    wrong_ = absl::StrCat("message ", id, " was altered");
  } else if (planned->wants_reply) {
    owed_ = id;
  }
}

void TrafficNode::Note(char event, uint32_t id) {
  if (trace_ != nullptr) absl::StrAppend(trace_, std::string(1, event), port_.self, ":", id, "\n");
}

std::function<bool()> StopAHang() {
  // Asked very often by a thread that waits for another one that has no processor just now.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  return [asked = std::make_shared<std::atomic<uint32_t>>(0), until] {
    return ++*asked > 20000 && std::chrono::steady_clock::now() > until;
  };
}

MachineSpec RandomMachine(Prng& prng) {
  static const std::vector<uint32_t> kParents[] = {{2, 2, 4}, {1}, {4}, {3, 1}};
  MachineSpec spec;
  spec.nodes = 1 + prng.Below(70);
  spec.control_processors = prng.Below(3);
  spec.parents_per_level = kParents[prng.Below(std::size(kParents))];
  spec.words_max = prng.Chance(1, 3) ? kCm5eWordsMax : kCm5WordsMax;
  spec.data_fifo_depth = 1u << prng.Below(8);
  spec.link_depth = 1u << prng.Below(5);
  spec.seed = prng.Next();
  return spec;
}

EmbeddedOptions RandomOptions(uint64_t seed, Prng& prng) {
  EmbeddedOptions options;
  options.should_stop = StopAHang();
  options.spec = RandomMachine(prng);
  options.seed = seed;
  options.random_schedule = true;
  return options;
}

std::string RunPlan(const TrafficPlan& plan, Embedded& machine, uint32_t send_refuse,
                    EventTrace* trace) {
  std::vector<std::unique_ptr<TrafficNode>> nodes(plan.nodes());
  const absl::Status status = machine.Run([&](vcm5_port& port) {
    port.send_refuse = port.refused_sends_left = send_refuse;
    nodes[port.self] = std::make_unique<TrafficNode>(plan, port, trace);
    nodes[port.self]->Run();
  });
  if (!status.ok()) return std::string(status.message());
  std::vector<uint32_t> ids;
  for (const auto& node : nodes) {
    if (!node->wrong().empty()) return node->wrong();
    ids.insert(ids.end(), node->arrived().begin(), node->arrived().end());
  }
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) return "a message came twice";
  if (ids.size() != plan.total()) return "a message was lost";
  return "";
}

}  // namespace vcm5
