// One kind of broadcast at one leaf (paper section 5, CN2): between a FIFO pair of the NI and the
// single-source packets of that kind. There is one end for the user's and one for each of the
// supervisor's.
//
// Out: a message goes, whole, when the window says that it finds room everywhere. In: words are
// written as they come and published together. What is not wanted here, or comes for a program that
// has failed, is dropped, and counts as consumed lest it stop the others.
//
// A user's message stays in the outgoing FIFO until its last word has been seen here, and so by all
// or on its way to all (combining_node.h). If a flush comes before, nobody has the whole of it, and
// all drop what they have; the source sends it again. That takes a source at a time for granted, as
// the paper does: of two at once, either may take the other's words for its own.
#ifndef VCM5_NETIF_NI_BROADCAST_END_H_
#define VCM5_NETIF_NI_BROADCAST_END_H_

#include <cstdint>
#include <span>

#include "netif/ni/broadcast_window.h"
#include "netif/ni/control_fifo.h"
#include "netif/wire/control_packet.h"

namespace vcm5 {

// Where a port puts the packets that it makes.
struct ControlOutgoing {
  std::span<ControlPacket> packets;
  unsigned count = 0;
  bool full() const { return count == packets.size(); }
  void Put(uint64_t body) { packets[count++] = SealControlPacket(body); }
};

class BroadcastEnd {
 public:
  BroadcastEnd(BroadcastOperation kind, uint32_t depth) : window_(depth), kind_(kind) {}

  // Takes what has been pushed into `fifo`, as far as the window lets it, and reports what has been
  // read. *error, if set before or by this, is the FIFO's end. False if `out` was too small.
  bool Poll(ControlFifo& fifo, ControlPortError* error, ControlOutgoing& out);

  // A word of the kind from the network. Returns what follows from it, of these bits:
  enum : unsigned { kNothing = 0, kWantsPoll = 1, kPublished = 2, kFreed = 4 };
  unsigned Handle(ControlFifo& fifo, uint64_t body, ControlPortError* error);

  // The partition's leaves have all consumed `count`. False if that cannot be.
  bool HandleLeastConsumed(uint32_t count) { return window_.HandleLeastConsumed(count); }

  // The network is flushed, and counts broadcast words from `count_from` on.
  void Abort(ControlFifo& fifo, uint32_t count_from);

  // A report falls due as soon as enough has been read.
  bool ReportNears() const { return window_.ReportNears(); }

 private:
  unsigned Complete(ControlFifo& fifo);
  bool ReportConsumed(ControlFifo& fifo, ControlPortError* error, ControlOutgoing& out);

  BroadcastWindow window_;
  BroadcastOperation kind_;
  uint32_t kept_ = 0;  // words taken of the user's messages that are not complete
  bool accepting_ = false;  // the message coming in is wanted
  bool awaits_own_ = false;  // the next entry waits until kept_ is 0
  bool must_tell_overrun_ = false;
};

// ---- the fast path -------------------------------------------------------------------------

inline unsigned BroadcastEnd::Handle(ControlFifo& fifo, uint64_t body, ControlPortError* error) {
  window_.CountSeen();
  unsigned follows = kNothing;
  if (__builtin_expect(kept_ != 0, 0) && (body & control_body::kLast) != 0) follows = Complete(fifo);
  if ((body & control_body::kFirst) != 0) {
    fifo.Drop();
    accepting_ = !fifo.abstaining() && !IsError(*error);
  }
  if (!accepting_) {
    // Dropped words are consumed; no program will ring to say so.
    const uint32_t unread = IsError(*error) ? 0 : fifo.unread();
    return follows | (window_.ReportDue(unread) ? kWantsPoll : kNothing);
  }
  if (!fifo.HasRoom() && !fifo.RefreshRead()) *error = ControlPortError::kIncomingHead;
  if (!fifo.HasRoom() || fifo.unpublished() == VCM5_CONTROL_WORDS_MAX) {
    // No window allows that, so more than one source believed that it was the only one; unless the
    // program lied about what it has read.
    accepting_ = false;
    fifo.Drop();
    if (IsError(*error)) return follows;
    must_tell_overrun_ = true;
    return follows | kWantsPoll;
  }
  fifo.KeepRoom();
  fifo.Write(control_body::Word(body), 0);
  if ((body & control_body::kLast) == 0) return follows;
  accepting_ = false;
  // The packets do not say how long the message is; now it is known.
  const uint32_t length = fifo.unpublished();
  for (uint32_t i = 0; i < length; ++i) {
    fifo.SetControl(i, VCM5_ENTRY_LENGTH(length) | (i == 0 ? VCM5_ENTRY_FIRST : 0) |
                           (i + 1 == length ? VCM5_ENTRY_LAST : 0));
  }
  fifo.Publish();
  return follows | kPublished;
}

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_BROADCAST_END_H_
