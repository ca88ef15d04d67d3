// The control network's side of one node's NI (NI6, NI7, NI10, NI13): between the FIFOs and
// registers that the program maps, and the leaf link of the control network.
//
// One per leaf, owned by the driver of the control network, one thread. Outgoing: Poll() takes
// entries from the outgoing FIFOs and makes packets. Incoming: Handle() takes packets and fills the
// incoming FIFOs; the words of a message are published together.
//
// Flow control is here, because nodes of the tree cannot refuse. Each word of a multiple-source
// operation returns exactly one word, so the port sends one only if its result has room, and never
// has more than a window of them in flight. Broadcasts follow BroadcastWindow; the privileged kinds
// have a page and a port of their own (SupervisorPort).
//
// The program is not trusted (NI13; see ControlFifo). One that writes nonsense fails its port:
// nothing more is taken from it, and what comes for it is still accounted for, so that only its own
// partition notices.
//
// At the end of a timeslice (CN10, NI11) the network is flushed, and the port holds: it takes back what
// was in progress, takes nothing from the program, and tells the network when it has sent the last of
// it. The user's asynchronous OR stays as it was told. Then everything can be saved, and what a user
// had saved can be restored, here or elsewhere; the next user goes on when the network is
// reinitiated. So what is not complete is begun again from the same words, and what is complete is
// complete at all leaves (combining_node.h has the proof): each result comes exactly once.
#ifndef VCM5_NETIF_NI_CONTROL_PORT_H_
#define VCM5_NETIF_NI_CONTROL_PORT_H_

#include <array>
#include <cstdint>
#include <span>

#include "netif/ni/broadcast_end.h"
#include "netif/ni/control_fifo.h"
#include "netif/ni/ni_geometry.h"
#include "netif/ni/router_done_waves.h"
#include "netif/ni/supervisor_port.h"
#include "netif/shm/ni_page.h"
#include "netif/wire/control_packet.h"

namespace vcm5 {

// This leaf's segment-start bit, which matters to scans only.
inline bool ControlEntryStartsSegment(uint32_t control) {
  return (control & VCM5_ENTRY_SEGMENT) != 0 && VCM5_ENTRY_PATTERN_OF(control) != VCM5_REDUCE;
}

// The packet of an entry of the synchronous OR's FIFO.
inline uint64_t SyncOrBody(const ControlEntry& entry) {
  using namespace control_body;
  return MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, entry.word & 1, kFirst | kLast);
}

// The packet of an entry of the combine FIFO.
inline uint64_t CombineBody(const ControlEntry& entry) {
  using namespace control_body;
  // The flags of an entry stand as they shall in the body.
  constexpr uint64_t kFraming = ControlFifo::kFraming;
  constexpr unsigned kFlagsUp = 41 - 8;
  static_assert(kFirst == uint64_t{VCM5_ENTRY_FIRST} << kFlagsUp);
  static_assert(kLast == uint64_t{VCM5_ENTRY_LAST} << kFlagsUp);
  static_assert(kSegment == uint64_t{VCM5_ENTRY_SEGMENT} << kFlagsUp);
  const uint64_t flags =
      kFraming | (ControlEntryStartsSegment(entry.control) ? VCM5_ENTRY_SEGMENT : 0);
  return MakeCombine(static_cast<CombineOperation>(VCM5_ENTRY_PATTERN_OF(entry.control)),
                     static_cast<Combiner>(VCM5_ENTRY_COMBINER_OF(entry.control)), entry.word,
                     (entry.control & flags) << kFlagsUp);
}

class ControlPort {
 public:
  // `window`: words in flight in each ControlStream; not more than the nodes' depth.
  struct Options {
    NiGeometry geometry;
    std::array<uint32_t, kControlStreams> window = {64, 8, 8};
  };

  // The page, made by the engine and still untouched, must outlive the port, and so must
  // `supervisor`; null: this leaf has no part in privileged operations.
  ControlPort(vcm5_ni_page* page, const Options& options, SupervisorPort* supervisor = nullptr);

  // Takes what the program has pushed, as far as flow control and `out` let it; returns packets
  // made. With `resample`, a router-done that did not find everything delivered counts again: to be
  // passed to all ports of a partition alike, when one of its doorbells rang and now and then
  // besides.
  unsigned Poll(bool resample, std::span<ControlPacket> out) {
    return Poll(kAllFifos, resample, out);
  }
  // The same, looking at some FIFOs only: bit f stands for FIFO f, and that of broadcasts for the
  // asynchronous ORs and all that is the supervisor's besides.
  static constexpr unsigned kAllFifos = (1u << VCM5_CONTROL_FIFOS) - 1;
  unsigned Poll(unsigned fifos, bool resample, std::span<ControlPacket> out);

  // What Poll would make of FIFO `fifo`, if that is the packet of an operation of one word; else
  // false, and nothing has happened.
  bool PollWord(unsigned fifo, ControlPacket* out);

  // A packet from the network. After a damaged one, results and broadcasts are dropped until another
  // user is restored: they might be taken for those that were lost.
  void Handle(const ControlPacket& packet);

  // Whether something for the program to look at has been published since the last call.
  bool TookDelivery() {
    const bool took = took_delivery_;
    took_delivery_ = false;
    return took;
  }

  // Whether one of the following may have become true since the last call.
  bool TookNeeds() {
    const bool took = took_needs_;
    took_needs_ = false;
    return took;
  }

  // When to Poll, besides when the node's doorbell rang:
  // at once, since a packet that came, or a larger `out`, makes more possible;
  bool WantsPoll() const { return wants_poll_ != 0; }
  // when the program has read from an incoming FIFO, even if it does not ring for that;
  bool AwaitsProgram() const { return awaits_room_ != 0 || user_.ReportNears(); }
  // with resample, when messages may have been received somewhere in the partition.
  bool AwaitsResample() const { return waves_.held(); }
  // Not a poll, but a need, too: the program is to be interrupted, since the last call: by an
  // interrupt broadcast, or by the asynchronous OR if it asked for that.
  bool TookInterrupt() {
    const bool took = took_interrupt_;
    took_interrupt_ = false;
    return took;
  }
  // The FIFOs concerned, as Poll takes them.
  unsigned wanted_fifos() const { return wants_poll_; }
  unsigned awaited_fifos() const {
    return awaits_room_ | (user_.ReportNears() ? 1u << VCM5_FIFO_BROADCAST : 0);
  }

  // ---- the end of a timeslice ----

  // A flush has come, and the network has not been reinitiated; and besides, all of it is flushed.
  bool held() const { return held_; }
  bool flushed() const { return flushed_; }
  // The user's side of this NI, all but the data network's; flushed() holds, and the program does not
  // run. False if the program has failed. What is restored has been checked (CheckSavedNi).
  bool Save(SavedNi* saved) const;
  void Restore(const SavedNi& saved);

  // kHeld is no error.
  ControlPortError error() const { return failed() ? error_ : ControlPortError::kNone; }
  bool failed() const { return IsError(error_); }
  // The first error that the control network signalled to all leaves, or that was noticed here
  // (CN8).
  ControlFault network_fault() const { return network_fault_; }
  // The supervisor's error, if it has one.
  ControlPortError supervisor_error() const {
    return supervisor_ == nullptr ? ControlPortError::kNone : supervisor_->error();
  }
  // What this NI noticed itself about what the network brought: a hard error of this link.
  ControlFault link_fault() const { return link_fault_; }

  const ControlFifoStats& stats(unsigned fifo) const { return fifo_[fifo].stats(); }
  uint64_t router_done_rounds() const { return router_done_rounds_; }
  void CheckInvariants() const;

 private:
  bool Look(unsigned fifo) {
    return __builtin_expect(error_ == ControlPortError::kNone, 1) && fifo_[fifo].Look(&error_);
  }
  void Fail(ControlPortError error) {
    if (!failed()) error_ = error;
  }
  void TakeOperation(unsigned fifo, const ControlEntry& entry, ControlPacket* out);
  void WantPoll(unsigned fifo) {
    wants_poll_ |= static_cast<uint8_t>(1u << fifo);
    took_needs_ = true;
  }
  bool Valid(unsigned fifo, const ControlEntry& entry);
  bool HasRoom(unsigned fifo);

  void PollSynchronisation(ControlOutgoing& out);
  void PollBroadcasts(ControlOutgoing& out);
  unsigned PollStream(unsigned fifo, ControlStream stream, std::span<ControlPacket> out);
  void PollRouterDone(bool resample, ControlOutgoing& out);
  void BeginRouterDone(ControlOutgoing& out);
  bool MayChangeAbstaining(unsigned fifo);

  void HandleUntrusted(const ControlPacket& packet);
  void HandleResult(unsigned fifo, uint64_t body);
  void HandleBroadcast(uint64_t body);
  void HandlePrivileged(uint64_t body);
  void HandleFlush(uint64_t body);
  void HandleFlushed();
  void Hold(uint32_t count_from);
  void TakeRequests();
  void PollFlush(ControlOutgoing& out);
  void GoOn();
  void InterruptNode(uint32_t word);
  void HandleRouterDone(uint64_t body);
  void HandleIdle(uint64_t body);
  void HandleFlowControl(uint64_t body);
  void HandleSynchronisation(uint32_t bits);
  void Publish(unsigned fifo);
  void NoteLinkFault(ControlFault fault, uint64_t body);
  void NoteError(uint64_t report);
  void CountEvent();

  // One cache line, then two for each FIFO.
  vcm5_ni_page* const page_;
  ControlPortError error_ = ControlPortError::kNone;
  uint8_t wants_poll_ = 0;   // by FIFO
  uint8_t awaits_room_ = 0;  // by FIFO
  bool took_delivery_ = false;
  bool took_needs_ = false;
  bool took_interrupt_ = false;
  bool hard_error_ = false;
  bool out_of_step_ = false;  // a damaged packet came: words may be missing
  uint8_t sync_told_ = 0;   // synchronisation bits, as the network knows them
  uint8_t sync_heard_ = 0;  // and as it told them last
  RouterDoneWaves waves_;
  BroadcastEnd user_;
  std::array<ControlFifo, VCM5_CONTROL_FIFOS> fifo_;
  // What is rare.
  SupervisorPort* const supervisor_;
  ControlFault network_fault_ = ControlFault::kNone;
  ControlFault link_fault_ = ControlFault::kNone;
  uint32_t error_parties_ = 0;  // of the error report that comes next
  uint32_t events_ = 0;
  // What is left to do about flushes, in this order.
  enum ToDo : uint8_t {
    kAskFlush = 1,       // the supervisor wants one
    kAnswer = 2,         // tell that all is flushed here
    kAskReinitiate = 4,  // the supervisor wants that, when all is flushed
    kGoOn = 8,           // the network is reinitiated
    kTellAbstaining = 16 // in stream s, before going on: kTellAbstaining << s
  };
  uint8_t to_do_ = 0;
  bool held_ = false;
  bool flushed_ = false;
  uint8_t held_sync_ = 0;     // kSyncUser or 0: this leaf's while it is held
  uint8_t network_sync_ = 0;  // synchronisation bits; the program hears of its own when not held
  uint32_t rises_ = 0;       // of the asynchronous OR
  uint32_t interrupts_ = 0;  // broadcasts
  uint64_t router_done_rounds_ = 0;
};

// ---- the fast path -------------------------------------------------------------------------

// Takes an entry that is valid, within the window and has room for its result.
inline void ControlPort::TakeOperation(unsigned fifo, const ControlEntry& entry,
                                       ControlPacket* out) {
  ControlFifo& f = fifo_[fifo];
  uint64_t body;
  if (fifo == VCM5_FIFO_SYNC_OR) {
    body = SyncOrBody(entry);
  } else {
    body = CombineBody(entry);
    f.Await((body & control_body::kAgreeMask) | entry.control);
  }
  f.set_abstaining(false);
  f.KeepRoom();
  f.Take(entry);
  *out = SealControlPacket(body);
}

inline bool ControlPort::PollWord(unsigned fifo, ControlPacket* out) {
  ControlFifo& f = fifo_[fifo];
  if ((fifo != VCM5_FIFO_SYNC_OR && fifo != VCM5_FIFO_COMBINE) || !Look(fifo)) return false;
  const ControlEntry entry = f.Copy();
  if (f.entries() != 1 || f.WindowFull() || !f.HasRoom() || !f.IsOperationOfOneWord(entry)) {
    return false;
  }
  TakeOperation(fifo, entry, out);
  return true;
}

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_CONTROL_PORT_H_
