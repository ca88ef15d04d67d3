// A combining node (paper section 5, "Organization of the control network"): one vertex of the
// control network's binary tree, with a left and a right child and a parent. CN1 to CN6.
//
// It sorts packets by type. Single-source packets pass at once. Multiple-source and abstain packets
// belong to one of three independent streams (MultiSourceStream). Idle packets carry synchronisation
// bits, which the node ORs; flow control, of which it passes the minimum; and errors, which it
// passes on; one about a damaged packet stops all streams and broadcasts here, for who knows which
// word is missing. What comes out of the root's parent link is turned round there by TurnAtRoot.
//
// At the end of a user's timeslice a flush (kFlush, CN10) goes up from some supervisor's leaf, past
// whatever waits, turns at the root, and goes down to all. A node that it comes down to drops the
// multiple-source operations and user broadcasts in progress, and what still comes of them. A leaf
// answers kFlushed when it sends no more of them; a node passes that on when both children have
// said so, and is then as it was made: links are in order, so nothing can come any more. Out of the
// root it turns and tells all leaves that the network is empty. Synchronisation bits and privileged
// broadcasts are not the user's, and stay. A flush or kReinitiate that meets another flush is
// dropped.
//
//   Every word that came out of the root before the flush did reaches its leaves before the flush,
//   for links are in order and nodes keep nothing that goes down. Of every other word none reaches
//   any leaf: before the flush it was not out of the root, which turns a packet round at once, and
//   afterwards the node where it waits drops it, or the first that it comes to. So all leaves have had
//   the same words, and what an NI has not had, none has.
//
// A pure machine (DESIGN.md section 3): inputs are the Handle functions, outputs their results and
// PollUp. At most one packet for the parent results at once; when a stream can go on, ReadyUp says
// so. Packets are given as bodies: links check and make CRCs.
#ifndef VCM5_SWITCHES_CONTROL_COMBINING_NODE_H_
#define VCM5_SWITCHES_CONTROL_COMBINING_NODE_H_

#include <array>
#include <cstdint>

#include "netif/wire/control_packet.h"
#include "switches/control/broadcast_lane.h"
#include "switches/control/multi_source_stream.h"

namespace vcm5 {

struct CombiningNodeOptions {
  // Words that a leaf may have in flight in each stream; powers of two.
  std::array<uint32_t, kControlStreams> depth = {64, 8, 8};
};

struct CombiningNodeStats {
  uint64_t from_child[2] = {0, 0};  // packets
  uint64_t to_child[2] = {0, 0};
  uint64_t sibling_waits = 0;  // words that had to wait for their sibling
};

class CombiningNode {
 public:
  explicit CombiningNode(const CombiningNodeOptions& options);

  // What is for the parent: nothing, *up, or *up and perhaps more of its stream.
  enum Up : unsigned { kNothing = 0, kOne, kOneOrMore };

  // A packet from child `side`.
  Up HandleFromChild(unsigned side, uint64_t body, uint64_t* up);

  // A further packet of `stream` for the parent. False if there is none.
  bool PollUp(unsigned stream, uint64_t* up) {
    MultiSourceStream& s = stream_[stream];
    if (!s.ReadyUp()) return false;
    const ControlFault fault = s.PollUp(up);
    if (__builtin_expect(fault == ControlFault::kNone, 1)) return true;
    SetFault(fault, s.fault_body(0), s.fault_body(1));
    return false;
  }
  bool ReadyUp(unsigned stream) const { return stream_[stream].ReadyUp(); }

  // A packet from the parent: sets what goes to which children.
  using Down = MultiSourceStream::Down;
  void HandleFromParent(uint64_t body, Down* down);

  // The last Handle or PollUp met a fault: what, and the packets that met.
  struct Fault {
    ControlFault kind = ControlFault::kNone;
    uint64_t left = 0;
    uint64_t right = 0;
  };
  bool has_fault() const { return fault_.kind != ControlFault::kNone; }
  Fault TakeFault();

  // A flush has come down, and not both children have answered.
  bool flushing() const { return unflushed_ != 0; }

  const CombiningNodeStats& stats() const { return stats_; }
  const MultiSourceStream& stream(unsigned stream) const { return stream_[stream]; }
  const BroadcastLane& lane(unsigned broadcast_class) const { return lane_[broadcast_class]; }
  void CheckInvariants() const;

 private:
  bool HandleIdle(unsigned side, uint64_t body, uint64_t* up);
  void HandleError(uint64_t body);
  bool HandleFlushed(unsigned side, uint64_t body, uint64_t* up);
  void Flush(uint32_t count_from);
  void SetFault(ControlFault kind, uint64_t left, uint64_t right) { fault_ = {kind, left, right}; }

  CombiningNodeStats stats_;
  Fault fault_;
  std::array<MultiSourceStream, kControlStreams> stream_;
  std::array<BroadcastLane, kBroadcastClasses> lane_;
  uint32_t sync_[2] = {0, 0};  // synchronisation bits, by child
  uint32_t told_sync_ = 0;     // their OR, as the parent knows it
  uint32_t unflushed_ = 0;     // bit mask of the children that have to answer a flush
  uint32_t count_from_ = 0;    // the flush's word
};

// What the root sends down when `up` comes out of its parent link. False: nothing, as for an
// abstain packet. A scan's first leaf receives the identity, so the root begins with that.
inline bool TurnAtRoot(uint64_t up, uint64_t* down) {
  using namespace control_body;
  *down = up;
  switch (Type(up)) {
    case ControlType::kAbstain:
      return false;
    case ControlType::kMultipleSource: {
      const auto operation = static_cast<CombineOperation>(Operation(up));
      if (operation == CombineOperation::kScanForward ||
          operation == CombineOperation::kScanBackward) {
        *down = (up & kAgreeMask) |
                IdentityWord(CombinerOf(up), (up & kFirst) != 0);
      }
      return true;
    }
    case ControlType::kSingleSource:
    case ControlType::kIdle:
      return true;
  }
  return true;
}

// ---- the fast path -------------------------------------------------------------------------

inline CombiningNode::Up CombiningNode::HandleFromChild(unsigned side, uint64_t body, uint64_t* up) {
  ++stats_.from_child[side];
  switch (control_body::Type(body)) {
    case ControlType::kMultipleSource: {
      const unsigned stream = control_body::StreamOf(body);
      MultiSourceStream& s = stream_[stream];
      ControlFault fault = ControlFault::kNone;
      const bool met = s.MeetSibling(side, body, up, &fault);
      if (!met) fault = s.HandleFromChild(side, body);
      if (__builtin_expect(fault != ControlFault::kNone, 0)) {
        SetFault(fault, s.fault_body(0), s.fault_body(1));
        return kNothing;
      }
      if (met) return kOne;
      if (s.ReadyUp() && PollUp(stream, up)) return kOneOrMore;
      ++stats_.sibling_waits;
      return kNothing;
    }
    case ControlType::kSingleSource: {
      if (__builtin_expect(control_body::Operation(body) >= kBroadcastClasses, 0)) {
        *up = body;
        return flushing() ? kNothing : kOne;
      }
      BroadcastLane& lane = lane_[control_body::Operation(body)];
      const ControlFault fault = lane.HandleFromChild(side, body);
      if (__builtin_expect(fault != ControlFault::kNone, 0)) SetFault(fault, body, body);
      *up = body;
      return lane.broken() ? kNothing : kOne;
    }
    case ControlType::kAbstain: {
      const unsigned stream = control_body::Operation(body);
      MultiSourceStream& s = stream_[stream];
      const ControlFault fault = s.HandleAbstain(side, control_body::Word(body) != 0);
      if (fault != ControlFault::kNone) SetFault(fault, s.fault_body(0), s.fault_body(1));
      return PollUp(stream, up) ? kOneOrMore : kNothing;
    }
    case ControlType::kIdle:
      return HandleIdle(side, body, up) ? kOne : kNothing;
  }
  return kNothing;
}

inline void CombiningNode::HandleFromParent(uint64_t body, Down* down) {
  switch (control_body::Type(body)) {
    case ControlType::kMultipleSource: {
      MultiSourceStream& s = stream_[control_body::StreamOf(body)];
      down->sides = 0;
      const ControlFault fault = s.HandleFromParent(body, down);
      if (__builtin_expect(fault != ControlFault::kNone, 0)) {
        SetFault(fault, s.fault_body(0), s.fault_body(1));
      }
      break;
    }
    case ControlType::kSingleSource:
      if (__builtin_expect(control_body::Operation(body) < kBroadcastClasses, 1)) {
        lane_[control_body::Operation(body)].HandleFromParent();
      } else if (control_body::Operation(body) == kFlush) {
        Flush(control_body::Word(body));
      }
      *down = {{body, body}, 3};
      break;
    case ControlType::kIdle:
      if (__builtin_expect((body & control_body::kError) != 0, 0)) HandleError(body);
      *down = {{body, body}, 3};
      break;
    case ControlType::kAbstain:
      *down = {{0, 0}, 0};  // never sent down
      break;
  }
  stats_.to_child[0] += down->sides & 1;
  stats_.to_child[1] += down->sides >> 1;
}

}  // namespace vcm5

#endif  // VCM5_SWITCHES_CONTROL_COMBINING_NODE_H_
