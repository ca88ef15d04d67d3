#include "switches/control/control_network.h"

#include <algorithm>
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
      // sibling's packet a level on the way down, and a fault report of two packets a level on
      // either; a report that is followed in its turn leaves siblings behind again, and is damaged
      // on its way once a faulty link at most.
      work_((12 + options.link_faults.size()) * size_t{tree_.height()} + 16 +
            2 * options.link_faults.size()),
      departures_(options.departures_max),
      raised_(tree_.ids()) {
  VCM5_CHECK(std::has_single_bit(options.inputs_max));
  VCM5_CHECK(options.departures_max > 0);
  nodes_.reserve(tree_.nodes());
  for (uint32_t i = 0; i < tree_.nodes(); ++i) nodes_.emplace_back(options.node);
  events_.reserve(options.events_max);
  if (!options.link_faults.empty()) SetLinkFaults(options.link_faults);
}

void ControlNetwork::SetLinkFaults(const std::vector<ControlLinkFault>& faults) {
  link_faults_ = std::make_unique<ControlLinkFaults>(2 * tree_.ids());
  for (const ControlLinkFault& fault : faults) {
    VCM5_CHECK_MSG(fault.leaf < tree_.leaves() && fault.height > 0, "no such link");
    uint32_t id = fault.leaf;
    for (uint32_t up = 1; up < fault.height && id != tree_.root(); ++up) id = tree_.parent(id);
    // The root turns packets round itself: above it is no link. A leaf always has one.
    if (id == tree_.root() && fault.height > 1) continue;
    link_faults_->Add(2 * id + fault.down, fault);
  }
}

void ControlNetwork::HandlePacket(uint32_t leaf, const ControlPacket& packet) {
  VCM5_CHECK_MSG(leaf < tree_.leaves(), "no such leaf");
  VCM5_CHECK_MSG(input_tail_ - input_head_ <= input_mask_, "ask input_space() first");
  inputs_[input_tail_++ & input_mask_] = {leaf, packet};
}

inline void ControlNetwork::Arrive(uint32_t leaf, ControlPacket packet) {
  packet = Carry(false, leaf, packet);
  const uint64_t body = packet.body;
  ++stats_.arrived[static_cast<unsigned>(Type(body))];
  if (__builtin_expect(!control_body::WellFormed(body), 0)) {
    if (LinkGood(leaf, packet)) Raise(ControlFault::kBadPacket, leaf, body, body);
    return;
  }
  if (__builtin_expect((body & control_body::kError) != 0, 0)) {
    // What a leaf's NI noticed. The network tells all, and knows which leaf it was.
    if (LinkGood(leaf, packet)) {
      Raise(control_body::FaultOf(body), leaf, control_body::ReportedBody(body, 0),
            control_body::ReportedBody(body, 1));
    }
    return;
  }
  GoUp(leaf, packet);
}

void ControlNetwork::FollowPacket(uint32_t leaf, ControlPacket packet) {
  VCM5_CHECK_MSG(leaf < tree_.leaves(), "no such leaf");
  VCM5_CHECK(!HasWork() && departure_count_ == 0);
  Arrive(leaf, packet);
}

void ControlNetwork::Run() {
  while (HasWork()) {
    if (Room() == 0) {
      ++stats_.departure_stalls;
      return;
    }
    if (work_count_ == 0) {
      const Input& input = inputs_[input_head_++ & input_mask_];
      Arrive(input.leaf, input.packet);
      continue;
    }
    const Work work = work_[--work_count_];
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
  VCM5_CHECK(work_count_ < work_.size());
  work_[work_count_++] = {kind, id, packet};
}

// Takes a packet on its way down, if that is what comes next and Run() would go on.
inline bool ControlNetwork::PopDown(uint32_t* id, ControlPacket* packet) {
  if (work_count_ == 0 || Room() == 0) return false;
  const Work& work = work_[work_count_ - 1];
  if (work.kind != Work::Kind::kDown) return false;
  *id = work.id;
  *packet = work.packet;
  --work_count_;
  return true;
}

// Follows a packet that the link above `id` carries up, until it waits or comes out of the root.
void ControlNetwork::GoUp(uint32_t id, ControlPacket packet) {
  for (;;) {
    if (__builtin_expect(!LinkGood(id, packet), 0)) return;
    const uint32_t parent = tree_.parent(id);
    if (parent == BinaryTree::kNone) return tree_.is_leaf(id) ? TurnAlone(packet) : Turn(packet);
    CombiningNode& node = nodes_[parent - tree_.leaves()];
    uint64_t up = 0;
    const CombiningNode::Up sends = node.HandleFromChild(tree_.side(id), packet.body, &up);
    if (sends != CombiningNode::kOne) {
      if (__builtin_expect(node.has_fault(), 0)) TakeFault(parent);
      if (sends == CombiningNode::kNothing) return;
      const unsigned stream = Type(up) == ControlType::kAbstain ? control_body::Operation(up)
                                                                : control_body::StreamOf(up);
      if (node.ReadyUp(stream)) Push(Work::Kind::kPump, parent, {stream, 0, 0});
    }
    id = parent;
    packet = Carry(false, id, SealControlPacket(up));
  }
}

// Sends the next word of a stream that did not wait, and sees to the one after it later.
void ControlNetwork::Pump(uint32_t id, unsigned stream) {
  CombiningNode& node = nodes_[id - tree_.leaves()];
  uint64_t up = 0;
  const bool sends = node.PollUp(stream, &up);
  if (node.has_fault()) TakeFault(id);
  if (!sends) return;
  if (node.ReadyUp(stream)) Push(Work::Kind::kPump, id, {stream, 0, 0});
  GoUp(id, Carry(false, id, SealControlPacket(up)));
}

void ControlNetwork::Turn(ControlPacket packet) {
  uint64_t down;
  if (!TurnAtRoot(packet.body, &down)) return;
  if ((down & control_body::kLast) != 0) {
    if (Type(down) == ControlType::kMultipleSource) {
      ++stats_.operations[control_body::Operation(down)];
    } else if (Type(down) == ControlType::kSingleSource) {
      ++stats_.broadcasts[control_body::Operation(down)];
      // What goes wrong afterwards is another user's.
      if (control_body::Operation(down) == kFlush) std::fill(raised_.begin(), raised_.end(), 0);
    }
  }
  if (down != packet.body) packet = SealControlPacket(down);
  GoDown(tree_.root(), packet);
}

// Comes from the only leaf of the partition, where no node drops what it sends between a flush and
// its answer.
void ControlNetwork::TurnAlone(const ControlPacket& packet) {
  using namespace control_body;
  constexpr auto kUser = static_cast<uint32_t>(BroadcastOperation::kUser);
  const uint32_t operation = Operation(packet.body);
  bool aborted = true;  // by a flush
  if (Type(packet.body) == ControlType::kSingleSource) {
    aborted = operation == kUser || operation >= kBroadcastClasses;
  } else if (Type(packet.body) == ControlType::kIdle) {
    const auto idle = static_cast<IdleOperation>(operation);
    if (idle == IdleOperation::kFlushed) flushing_alone_ = false;
    aborted = idle == IdleOperation::kFlowControl && FlowClass(packet.body) == kUser;
  }
  if (flushing_alone_ && aborted) return;
  if (Type(packet.body) == ControlType::kSingleSource && operation == kFlush) flushing_alone_ = true;
  Turn(packet);
}

// Follows a packet that the link above `id` carries down, to the leftmost leaf that it reaches; then
// what had to wait on the right for that.
void ControlNetwork::GoDown(uint32_t id, ControlPacket packet) {
  for (;;) {
    if (tree_.is_leaf(id)) {
      Depart(id, packet);  // its network interface checks the link
      if (PopDown(&id, &packet)) continue;
      return;
    }
    packet = Carry(true, id, packet);
    if (__builtin_expect(!LinkGood(id, packet, true), 0)) return;
    CombiningNode& node = nodes_[id - tree_.leaves()];
    CombiningNode::Down down;
    node.HandleFromParent(packet.body, &down);
    if (__builtin_expect(node.has_fault(), 0)) TakeFault(id);
    if (__builtin_expect(down.sides != 3, 0)) {
      if (down.sides == 0) return;
      const unsigned side = down.sides - 1;
      if (down.body[side] != packet.body) packet = SealControlPacket(down.body[side]);
      id = tree_.child(id, side);
      continue;
    }
    // The results of reductions, which are most, go on as they came.
    const ControlPacket right =
        down.body[1] == packet.body ? packet : SealControlPacket(down.body[1]);
    if (down.body[0] != packet.body) packet = SealControlPacket(down.body[0]);
    const auto [left_id, right_id] = tree_.children(id);
    if (tree_.is_leaf(left_id) && tree_.is_leaf(right_id) && Room() >= 2) {
      Depart(left_id, packet);
      id = right_id;
      packet = right;
    } else {
      Push(Work::Kind::kDown, right_id, right);
      id = left_id;
    }
  }
}

ControlPacket ControlNetwork::CarryFaulty(uint32_t link, ControlPacket packet) {
  return link_faults_->Carry(link, packet);
}

inline bool ControlNetwork::LinkGood(uint32_t id, const ControlPacket& packet, bool down) {
  if (__builtin_expect(ControlPacketCrcGood(packet), 1)) return true;
  Raise(ControlFault::kCrc, id, packet.body, packet.body, down);
  return false;
}

inline void ControlNetwork::Depart(uint32_t leaf, const ControlPacket& packet) {
  // There is room for one whenever a step begins, and whoever makes another looks.
  departures_[departure_count_++] = {leaf, Carry(true, leaf, packet)};
  ++stats_.departed[static_cast<unsigned>(Type(packet.body))];
}

void ControlNetwork::TakeFault(uint32_t id) {
  const CombiningNode::Fault fault = nodes_[id - tree_.leaves()].TakeFault();
  Raise(fault.kind, id, fault.left, fault.right);
}

// Counts and notes a fault, and tells all leaves of the first of its kind at this place.
void ControlNetwork::Raise(ControlFault fault, uint32_t id, uint64_t left, uint64_t right,
                           bool down) {
  ++stats_.faults[static_cast<unsigned>(fault)];
  ControlEvent event{fault, id, left, right, {SubtreeBelow(id), SubtreeBelow(id)}, down};
  for (unsigned side = 0; side < 2 && !tree_.is_leaf(id); ++side) {
    if (fault == ControlFault::kMismatch) event.party[side] = SubtreeBelow(tree_.child(id, side));
    if (fault == ControlFault::kBroadcastCollision) {
      event.party[side] = SourceBelow(tree_.child(id, side), control_body::Operation(left));
    }
  }
  if (events_.size() < options_.events_max) {
    events_.push_back(event);
  } else {
    ++stats_.events_dropped;
  }
  const uint32_t bit = 1u << static_cast<unsigned>(fault);
  if ((raised_[id] & bit) != 0) return;
  raised_[id] |= bit;
  // The last one pushed goes first.
  Push(Work::Kind::kUp, id, SealControlPacket(control_body::MakeError(fault, left, right)));
  Push(Work::Kind::kUp, id,
       SealControlPacket(control_body::MakeParties(event.party[0].first, event.party[1].first)));
}

ControlParty ControlNetwork::SubtreeBelow(uint32_t id) const {
  ControlParty party{id, id};
  while (!tree_.is_leaf(party.first)) party.first = tree_.child(party.first, BinaryTree::kLeft);
  while (!tree_.is_leaf(party.last)) party.last = tree_.child(party.last, BinaryTree::kRight);
  return party;
}

// The leaf below `id` whose broadcast came up last.
ControlParty ControlNetwork::SourceBelow(uint32_t id, unsigned broadcast_class) const {
  while (!tree_.is_leaf(id)) id = tree_.child(id, node(id).lane(broadcast_class).last_side());
  return {id, id};
}

ControlNetworkStats ControlNetwork::stats() const {
  ControlNetworkStats stats = stats_;
  for (const CombiningNode& node : nodes_) {
    const CombiningNodeStats& of = node.stats();
    stats.hops += of.from_child[0] + of.from_child[1] + of.to_child[0] + of.to_child[1];
    stats.sibling_waits += of.sibling_waits;
  }
  return stats;
}

ControlNetwork::LinkCount ControlNetwork::link_count(uint32_t id) const {
  VCM5_CHECK(id < tree_.ids() && id != tree_.root());
  const CombiningNodeStats& stats = nodes_[tree_.parent(id) - tree_.leaves()].stats();
  return {stats.from_child[tree_.side(id)], stats.to_child[tree_.side(id)]};
}

void ControlNetwork::CheckInvariants() const {
  VCM5_CHECK(work_count_ <= work_.size());
  VCM5_CHECK(departure_count_ <= departures_.size());
  VCM5_CHECK(input_tail_ - input_head_ <= input_mask_ + 1);
  if (HasWork()) return;  // nodes are at rest only between batches
  for (const CombiningNode& node : nodes_) node.CheckInvariants();
}

}  // namespace vcm5
