// One stream of multiple-source operations in one combining node (paper section 5): scans and
// reductions, router-done waves, or synchronous ORs. CN3, CN4, NI7.
//
// Objects: a queue of words from each child; the FIFO of words put aside until the parent's value
// comes; the residues (carry, which side is ahead) of the message going up and of the one coming
// down; which children take part.
//
// Up: a word waits until its sibling's has come, or the sibling abstains. The two are combined, the
// parent gets the combination, and what the other child will need is put aside: the left word in a
// forward scan, the right one in a backward scan. Which children take part in a message is decided
// at its first word.
//
// Down: the parent's value goes to the children that took part; in a scan the child further on gets
// value op put-aside, or just the put-aside word if a segment starts below its sibling.
//
// Abstaining: a child abstains, or takes part again, at once; its NI sends the change only when
// none of its operations is in flight. So a change never stands in a queue, and by induction a
// node that tells its parent that it abstains has nothing in flight either.
//
// A fault (different operations meet, a word too many) breaks the stream: it says which once, and
// drops all that comes until it is flushed. So does damage anywhere in the network (Stop): a word that
// was dropped would leave the others out of step, and their results wrong.
#ifndef VCM5_SWITCHES_CONTROL_MULTI_SOURCE_STREAM_H_
#define VCM5_SWITCHES_CONTROL_MULTI_SOURCE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "netif/wire/control_packet.h"
#include "switches/control/combiner.h"

namespace vcm5 {

class alignas(64) MultiSourceStream {
 public:
  // `depth`: words that a leaf may have in flight; a power of two. `stream` is which one this is.
  MultiSourceStream(ControlStream stream, uint32_t depth);

  // ---- up ----

  // A multiple-source packet of this stream from child `side`.
  ControlFault HandleFromChild(unsigned side, uint64_t body) {
    const unsigned bit = 1u << side;
    if (__builtin_expect(broken_, 0)) return ControlFault::kNone;
    if (__builtin_expect((ready_ & bit) != 0, 0)) {
      return Push(side, body) ? ControlFault::kNone
                              : Break(ControlFault::kQueueOverflow, body, body);
    }
    first_[side] = body;
    ready_ |= bit;
    if (__builtin_expect((active_ & bit) == 0, 0)) Activate(bit);
    return ControlFault::kNone;
  }

  // An abstain packet (or its opposite) from child `side`.
  ControlFault HandleAbstain(unsigned side, bool abstain);

  // There is a packet for the parent.
  bool ReadyUp() const {
    return (needed_ != 0 && (ready_ & needed_) == needed_) || tell_ != Tell::kNothing;
  }

  // The next packet for the parent; ReadyUp() holds. On a fault there is none.
  ControlFault PollUp(uint64_t* up);

  // HandleFromChild and PollUp in one, for a word that is the only one its sibling's side waits for:
  // !ReadyUp() afterwards. False if it is not, and nothing has happened.
  bool MeetSibling(unsigned side, uint64_t body, uint64_t* up, ControlFault* fault) {
    // Both children take part, so there is nothing to tell the parent about abstaining.
    if (needed_ != 3 || ready_ != (2u >> side)) return false;
    const uint64_t sibling = Pop(1 - side);
    *fault = Join(side == 0 ? body : sibling, side == 0 ? sibling : body, up);
    return true;
  }

  // ---- down ----

  struct Down {
    uint64_t body[2];  // by side
    unsigned sides;    // bit mask of the children that get theirs
  };

  // A multiple-source packet of this stream from the parent.
  ControlFault HandleFromParent(uint64_t body, Down* down);

  // Aborts the operations in progress, at damage or at the end of a timeslice (combining_node.h);
  // whatever comes is dropped until Restart(), which leaves the stream as it was made.
  void Stop();
  void Restart();

  // ---- to look at it ----

  // The two bodies that met, after a fault.
  uint64_t fault_body(unsigned side) const { return fault_body_[side]; }
  bool broken() const { return broken_; }
  bool abstains() const { return told_abstain_; }
  uint32_t waiting(unsigned side) const { return ((ready_ >> side) & 1) + behind_[side].count(); }
  uint32_t put_aside() const { return (first_[kAside] != 0 ? 1 : 0) + behind_[kAside].count(); }
  void CheckInvariants() const;

 private:
  struct Positions {
    uint32_t head = 0;
    uint32_t tail = 0;
    uint32_t count() const { return tail - head; }
  };
  enum class Tell : uint8_t { kNothing, kAbstain, kTakePart };

  // An entry put aside is a body with the mask of children that took part in the bits that a body
  // leaves zero.
  static constexpr unsigned kAsideSidesShift = 62;

  // Of each queue (by side) and of what is put aside, the first word is at hand; those behind it,
  // which nodes in step do not have, lie in words_.
  static constexpr unsigned kAside = 2;
  uint64_t& Slot(uint32_t at, unsigned which) const {
    return words_[size_t{at & mask_} * 3 + which];
  }
  // Adds a word behind the first. False if there is no room.
  bool Push(unsigned which, uint64_t body) {
    if (behind_[which].count() == mask_) return false;
    Slot(behind_[which].tail++, which) = body;
    return true;
  }
  uint64_t Pop(unsigned side) {
    const uint64_t body = first_[side];
    Positions& behind = behind_[side];
    if (__builtin_expect(behind.head == behind.tail, 1)) {
      ready_ &= static_cast<uint8_t>(~(1u << side));
    } else {
      first_[side] = Slot(behind.head++, side);
    }
    return body;
  }
  uint64_t PopAside() {
    const uint64_t aside = first_[kAside];
    Positions& behind = behind_[kAside];
    first_[kAside] = behind.head == behind.tail ? 0 : Slot(behind.head++, kAside);
    return aside;
  }
  static uint64_t CombineUp(uint64_t left, uint64_t right, Residue& residue);
  ControlFault Join(uint64_t left, uint64_t right, uint64_t* up);
  ControlFault PutAside(uint64_t body, uint64_t sides);
  void Activate(unsigned bit);
  ControlFault Break(ControlFault fault, uint64_t left, uint64_t right);

  // What every word needs, in one cache line.
  uint64_t first_[3] = {0, 0, 0};  // put aside: 0 is none
  Positions behind_[3];
  uint8_t active_ = 3;   // children that do not abstain
  uint8_t needed_ = 3;   // children that the next word up needs: as active_, or those of the message
  uint8_t ready_ = 0;    // children whose queue is not empty
  bool in_message_ = false;
  bool told_abstain_ = false;  // the parent knows that all children abstain
  Tell tell_ = Tell::kNothing;
  bool broken_ = false;
  ControlStream stream_;
  Residue up_residue_;
  Residue down_residue_;
  // The others'.
  uint32_t mask_;
  std::unique_ptr<uint64_t[]> words_;  // by position: left, right, put aside
  uint64_t fault_body_[2] = {0, 0};
};

// ---- the fast path -------------------------------------------------------------------------

inline bool IsScan(uint64_t body) {
  static_assert(static_cast<uint32_t>(CombineOperation::kScanForward) == 1);
  static_assert(static_cast<uint32_t>(CombineOperation::kScanBackward) == 2);
  return control_body::Operation(body) - 1 < 2;
}

// A message of one word.
inline bool IsWhole(uint64_t body) {
  constexpr uint64_t kWhole = control_body::kFirst | control_body::kLast;
  return (body & kWhole) == kWhole;
}

inline bool IsScanBackward(uint64_t body) {
  return control_body::Operation(body) == static_cast<uint32_t>(CombineOperation::kScanBackward);
}

// `combined` as the word of a packet that agrees with `body`, whose flags are `flags` besides.
inline uint64_t WithCombined(uint64_t body, uint64_t flags, const Combined& combined) {
  using namespace control_body;
  const uint64_t overflow = combined.overflow && (body & kLast) != 0 ? kOverflow : 0;
  return (body & kAgreeMask) | flags | overflow | combined.word;
}

inline uint64_t MultiSourceStream::CombineUp(uint64_t left, uint64_t right, Residue& residue) {
  using namespace control_body;
  const Combined combined = Combine(CombinerOf(left), (left & kFirst) != 0, Word(left),
                                    Word(right), residue);
  uint64_t flags = kOverflow;
  if (IsScan(left)) {
    // What leaves this subtree is the value since its last segment start, seen the scan's way.
    const uint64_t further = IsScanBackward(left) ? left : right;
    if ((further & kSegment) != 0) return further;
    flags |= kSegment;
  }
  return WithCombined(left, (left | right) & flags, combined);
}

inline ControlFault MultiSourceStream::Join(uint64_t left, uint64_t right, uint64_t* up) {
  using namespace control_body;
  if (__builtin_expect(((left ^ right) & kAgreeMask) != 0, 0)) {
    return Break(ControlFault::kMismatch, left, right);
  }
  if (CombinerOf(left) == Combiner::kOr && !IsScan(left)) {
    // In one go the words, the overflows, and what they agree in.
    *up = (left | right) & ~kSegment;
  } else if (__builtin_expect(IsWhole(left), 1)) {
    Residue none;
    *up = CombineUp(left, right, none);
  } else {
    *up = CombineUp(left, right, up_residue_);
  }
  return PutAside(IsScanBackward(left) ? right : left, 3);
}

inline ControlFault MultiSourceStream::PutAside(uint64_t body, uint64_t sides) {
  using namespace control_body;
  if (__builtin_expect(((body & kFirst) != 0) == in_message_, 0)) {
    return Break(ControlFault::kFraming, body, body);
  }
  if (__builtin_expect(!IsWhole(body), 0)) {
    in_message_ = (body & kLast) == 0;
    if (!in_message_) needed_ = active_;
  }
  const uint64_t aside = body | (sides << kAsideSidesShift);
  if (__builtin_expect(first_[kAside] != 0, 0)) {
    return Push(kAside, aside) ? ControlFault::kNone
                               : Break(ControlFault::kQueueOverflow, body, body);
  }
  first_[kAside] = aside;
  return ControlFault::kNone;
}

inline ControlFault MultiSourceStream::PollUp(uint64_t* up) {
  if (__builtin_expect(tell_ != Tell::kNothing, 0)) {
    *up = control_body::MakeAbstain(stream_, tell_ == Tell::kAbstain);
    tell_ = Tell::kNothing;
    return ControlFault::kNone;
  }
  if (__builtin_expect(needed_ == 3, 1)) {
    const uint64_t left = Pop(0);
    return Join(left, Pop(1), up);
  }
  const unsigned sides = needed_;
  *up = Pop(sides == 1 ? 0 : 1);
  return PutAside(*up, sides);
}

inline ControlFault MultiSourceStream::HandleFromParent(uint64_t body, Down* down) {
  using namespace control_body;
  if (__builtin_expect(broken_, 0)) {
    down->sides = 0;
    return ControlFault::kNone;
  }
  if (__builtin_expect(first_[kAside] == 0, 0)) {
    return Break(ControlFault::kUnexpectedResult, body, body);
  }
  const uint64_t aside = PopAside();
  if (__builtin_expect(((aside ^ body) & kAgreeMask) != 0, 0)) {
    return Break(ControlFault::kUnexpectedResult, aside, body);
  }
  down->sides = static_cast<unsigned>(aside >> kAsideSidesShift);
  down->body[0] = body;
  down->body[1] = body;
  if (down->sides == 3 && IsScan(body)) {
    const Combined combined =
        Combine(CombinerOf(body), (body & kFirst) != 0, Word(body),
                Word(aside), down_residue_);
    const uint64_t further =
        (aside & kSegment) != 0
            ? (body & ~(kOverflow | kWordMask)) | (aside & kOverflow) | Word(aside)
            : (body & ~kWordMask) | (aside & kOverflow) |
                  (combined.overflow && (body & kLast) != 0 ? kOverflow : 0) | combined.word;
    down->body[0] = IsScanBackward(body) ? further : body;
    down->body[1] = IsScanBackward(body) ? body : further;
  }
  return ControlFault::kNone;
}

}  // namespace vcm5

#endif  // VCM5_SWITCHES_CONTROL_MULTI_SOURCE_STREAM_H_
