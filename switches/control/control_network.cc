#include "switches/control/control_network.h"

#include <bit>
#include <utility>

#include "runtime/base/check.h"

namespace vcm5 {

using control_body::Type;

ControlNetwork::ControlNetwork(BinaryTree tree, const ControlNetworkOptions& options)
    : tree_(std::move(tree)),
      options_(options),
      inputs_(options.inputs_max),
      input_mask_(options.inputs_max - 1),
      // A packet on its way leaves behind at most a stream to go on with a level on the way up, a
      // sibling's packet a level on the way down, and a fault report a level on either; a report
      // that is followed in its turn leaves siblings behind again.
      work_max_(8 * size_t{tree_.height()} + 16),
      raised_(tree_.ids()) {
  VCM5_CHECK(std::has_single_bit(options.inputs_max));
  VCM5_CHECK(options.departures_max > 0);
  nodes_.reserve(tree_.nodes());
  for (uint32_t i = 0; i < tree_.nodes(); ++i) nodes_.emplace_back(options.node);
  work_.reserve(work_max_);
  departures_.reserve(options.departures_max);
  events_.reserve(options.events_max);
}

void ControlNetwork::HandlePacket(uint32_t leaf, const ControlPacket& packet) {
  VCM5_CHECK_MSG(leaf < tree_.leaves(), "no such leaf");
  VCM5_CHECK_MSG(input_tail_ - input_head_ <= input_mask_, "ask input_space() first");
  inputs_[input_tail_++ & input_mask_] = {leaf, packet};
}

void ControlNetwork::Run() {
  while (HasWork()) {
    if (departures_.size() == options_.departures_max) {
      ++stats_.departure_stalls;
      return;
    }
    if (work_.empty()) {
      Arrive(inputs_[input_head_++ & input_mask_]);
      continue;
    }
    const Work work = work_.back();
    work_.pop_back();
    switch (work.kind) {
      case Work::Kind::kUp:
        GoUp(work.id, work.packet);
        break;
      case Work::Kind::kDown:
        GoDown(work.id, work.packet);
        break;
      case Work::Kind::kPump:
        Pump(work.id, static_cast<unsigned>(work.packet.body));
        break;
    }
  }
}

inline void ControlNetwork::Push(Work::Kind kind, uint32_t id, const ControlPacket& packet) {
  VCM5_CHECK(work_.size() < work_max_);
  work_.push_back({kind, id, packet});
}

void ControlNetwork::Arrive(const Input& input) {
  const uint64_t body = input.packet.body;
  ++stats_.arrived[static_cast<unsigned>(Type(body))];
  if (__builtin_expect(!control_body::WellFormed(body), 0)) {
    if (LinkGood(input.leaf, input.packet)) {
      Raise(ControlFault::kBadPacket, input.leaf, body, body);
    }
    return;
  }
  GoUp(input.leaf, input.packet);
}

// Follows a packet that the link above `id` carries up, until it waits or comes out of the root.
void ControlNetwork::GoUp(uint32_t id, ControlPacket packet) {
  for (;;) {
    if (__builtin_expect(!LinkGood(id, packet), 0)) return;
    if (id == tree_.root()) return Turn(packet);
    const uint32_t parent = tree_.parent(id);
    CombiningNode& node = nodes_[parent - tree_.leaves()];
    uint64_t up;
    const bool sends = node.HandleFromChild(tree_.side(id), packet.body, &up);
    ++stats_.hops;
    if (__builtin_expect(node.has_fault(), 0)) TakeFault(parent);
    if (!sends) return;
    const ControlType type = Type(up);
    if (type == ControlType::kMultipleSource || type == ControlType::kAbstain) {
      const unsigned stream = type == ControlType::kAbstain ? control_body::Operation(up)
                                                            : control_body::StreamOf(up);
      if (__builtin_expect(node.ReadyUp(stream), 0)) {
        Push(Work::Kind::kPump, parent, {stream, 0, 0});
      }
    }
    packet = SealControlPacket(up);
    id = parent;
  }
}

// Sends the next word of a stream that did not wait, and sees to the one after it later.
void ControlNetwork::Pump(uint32_t id, unsigned stream) {
  CombiningNode& node = nodes_[id - tree_.leaves()];
  uint64_t up;
  const bool sends = node.PollUp(stream, &up);
  if (node.has_fault()) TakeFault(id);
  if (!sends) return;
  if (node.ReadyUp(stream)) Push(Work::Kind::kPump, id, {stream, 0, 0});
  GoUp(id, SealControlPacket(up));
}

void ControlNetwork::Turn(ControlPacket packet) {
  uint64_t down;
  if (!TurnAtRoot(packet.body, &down)) return;
  if ((down & control_body::kLast) != 0) {
    if (Type(down) == ControlType::kMultipleSource) {
      ++stats_.operations[control_body::Operation(down)];
    } else if (Type(down) == ControlType::kSingleSource) {
      ++stats_.broadcasts[control_body::Operation(down)];
    }
  }
  if (down != packet.body) packet = SealControlPacket(down);
  GoDown(tree_.root(), packet);
}

// Follows a packet that the link above `id` carries down, to the leftmost leaf that it reaches;
// what goes to the right is left for later.
void ControlNetwork::GoDown(uint32_t id, ControlPacket packet) {
  for (;;) {
    if (__builtin_expect(!LinkGood(id, packet), 0)) return;
    if (tree_.is_leaf(id)) return Depart(id, packet);
    CombiningNode& node = nodes_[id - tree_.leaves()];
    CombiningNode::Down down;
    node.HandleFromParent(packet.body, &down);
    if (__builtin_expect(node.has_fault(), 0)) TakeFault(id);
    if (down.sides == 0) return;
    stats_.hops += 1 + (down.sides == 3);
    const ControlPacket right =
        down.body[1] == packet.body ? packet : SealControlPacket(down.body[1]);
    if (down.sides == 2) {
      packet = right;
      id = tree_.child(id, 1);
      continue;
    }
    if (down.sides == 3) Push(Work::Kind::kDown, tree_.child(id, 1), right);
    if (down.body[0] != packet.body) packet = SealControlPacket(down.body[0]);
    id = tree_.child(id, 0);
  }
}

inline bool ControlNetwork::LinkGood(uint32_t id, const ControlPacket& packet) {
  if (__builtin_expect(ControlPacketCrcGood(packet), 1)) return true;
  Raise(ControlFault::kCrc, id, packet.body, packet.body);
  return false;
}

inline void ControlNetwork::Depart(uint32_t leaf, const ControlPacket& packet) {
  // Run() goes on only while there is room for one, and no step makes two.
  departures_.push_back({leaf, packet});
  ++stats_.departed[static_cast<unsigned>(Type(packet.body))];
}

void ControlNetwork::TakeFault(uint32_t id) {
  const CombiningNode::Fault fault = nodes_[id - tree_.leaves()].TakeFault();
  Raise(fault.kind, id, fault.left, fault.right);
}

// Counts and notes a fault, and tells all leaves of the first of its kind at this place.
void ControlNetwork::Raise(ControlFault fault, uint32_t id, uint64_t left, uint64_t right) {
  ++stats_.faults[static_cast<unsigned>(fault)];
  if (events_.size() < options_.events_max) {
    events_.push_back({fault, id, left, right});
  } else {
    ++stats_.events_dropped;
  }
  const uint32_t bit = 1u << static_cast<unsigned>(fault);
  if ((raised_[id] & bit) != 0) return;
  raised_[id] |= bit;
  Push(Work::Kind::kUp, id, SealControlPacket(control_body::MakeError(fault, left, right)));
}

ControlNetworkStats ControlNetwork::stats() const {
  ControlNetworkStats stats = stats_;
  for (const CombiningNode& node : nodes_) stats.sibling_waits += node.stats().sibling_waits;
  return stats;
}

ControlNetwork::LinkCount ControlNetwork::link_count(uint32_t id) const {
  VCM5_CHECK(id < tree_.ids() && id != tree_.root());
  const CombiningNodeStats& stats = nodes_[tree_.parent(id) - tree_.leaves()].stats();
  return {stats.from_child[tree_.side(id)], stats.to_child[tree_.side(id)]};
}

void ControlNetwork::CheckInvariants() const {
  VCM5_CHECK(work_.size() <= work_max_);
  VCM5_CHECK(departures_.size() <= options_.departures_max);
  VCM5_CHECK(input_tail_ - input_head_ <= input_mask_ + 1);
  if (HasWork()) return;  // nodes are at rest only between batches
  for (const CombiningNode& node : nodes_) node.CheckInvariants();
}

}  // namespace vcm5
