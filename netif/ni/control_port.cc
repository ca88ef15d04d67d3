#include "netif/ni/control_port.h"

#include "netif/shm/atomic_words.h"
#include "runtime/base/check.h"

namespace vcm5 {
namespace {

using control_body::kAgreeMask;
using control_body::kFirst;
using control_body::kLast;

static_assert(static_cast<uint32_t>(Combiner::kMax) == VCM5_MAX);
static_assert(static_cast<uint32_t>(Combiner::kUnsignedAdd) == VCM5_UADD);
static_assert(static_cast<uint32_t>(CombineOperation::kScanBackward) == VCM5_SCAN_BACKWARD);

uint64_t FramingFlags(const ControlEntry& entry) {
  return (entry.first() ? kFirst : 0) | (entry.last() ? kLast : 0);
}

// Each word of the synchronous OR awaits the same.
constexpr uint64_t kAwaitedSyncOr =
    (control_body::MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 0, kFirst | kLast) &
     kAgreeMask) |
    VCM5_ENTRY_LENGTH(1) | ControlFifo::kFraming;

}  // namespace

ControlPort::ControlPort(vcm5_ni_page* page, const Options& options)
    : page_(page),
      window_(options.geometry.control_depth[VCM5_FIFO_BROADCAST]),
      fifo_{ControlFifo(page, VCM5_FIFO_COMBINE, options.geometry, options.window[kStreamCombine]),
            ControlFifo(page, VCM5_FIFO_BROADCAST, options.geometry, 0),
            ControlFifo(page, VCM5_FIFO_ROUTER_DONE, options.geometry, 0),
            ControlFifo(page, VCM5_FIFO_SYNC_OR, options.geometry, options.window[kStreamSyncOr])} {
  VCM5_CHECK(options.window[kStreamCombine] > 0 && options.window[kStreamSyncOr] > 0);
}

// ---- outgoing --------------------------------------------------------------------------------

unsigned ControlPort::Poll(unsigned fifos, bool resample, std::span<ControlPacket> packets) {
  if (wants_poll_ != 0) wants_poll_ &= static_cast<uint8_t>(~fifos);
  if (awaits_room_ != 0) awaits_room_ &= static_cast<uint8_t>(~fifos);
  unsigned count = 0;
  if ((fifos & (1u << VCM5_FIFO_SYNC_OR)) != 0) {
    count = PollStream(VCM5_FIFO_SYNC_OR, kStreamSyncOr, packets);
  }
  if ((fifos & (1u << VCM5_FIFO_COMBINE)) != 0) {
    count += PollStream(VCM5_FIFO_COMBINE, kStreamCombine, packets.subspan(count));
  }
  constexpr unsigned kOthers = (1u << VCM5_FIFO_BROADCAST) | (1u << VCM5_FIFO_ROUTER_DONE);
  if (__builtin_expect((fifos & kOthers) == 0, 1)) return count;
  Outgoing out{packets, count};
  if ((fifos & (1u << VCM5_FIFO_BROADCAST)) != 0) {
    PollBroadcast(out);
    PollAsyncOr(out);
  }
  if ((fifos & (1u << VCM5_FIFO_ROUTER_DONE)) != 0) PollRouterDone(resample, out);
  return out.count;
}

inline bool ControlPort::Valid(unsigned fifo, const ControlEntry& entry) {
  const ControlPortError error = fifo_[fifo].Validate(entry);
  if (__builtin_expect(error == ControlPortError::kNone, 1)) return true;
  Fail(error);
  return false;
}

// Whether the incoming FIFO will have room for the result of one word more.
inline bool ControlPort::HasRoom(unsigned fifo) {
  ControlFifo& f = fifo_[fifo];
  if (__builtin_expect(f.HasRoom(), 1)) return true;
  if (!f.RefreshRead()) {
    Fail(ControlPortError::kIncomingHead);
    return false;
  }
  if (f.HasRoom()) return true;
  awaits_room_ |= static_cast<uint8_t>(1u << fifo);
  took_needs_ = true;
  ++f.stats().stalls_unread;
  return false;
}

inline void ControlPort::PollAsyncOr(Outgoing& out) {
  const uint32_t bits = vcm5_load_relaxed(&page_->node_control.async_or) != 0 ? 1 : 0;
  if (__builtin_expect(bits == sync_told_, 1)) return;
  if (out.full()) return WantPoll(VCM5_FIFO_BROADCAST);
  sync_told_ = bits;
  out.Put(control_body::MakeSynchronise(bits));
}

// Returns packets made.
inline unsigned ControlPort::PollStream(unsigned fifo, ControlStream stream,
                                        std::span<ControlPacket> out) {
  if (!Look(fifo)) return 0;
  ControlFifo& f = fifo_[fifo];
  unsigned count = 0;
  do {
    if (__builtin_expect(count == out.size(), 0)) {
      WantPoll(fifo);
      break;
    }
    const ControlEntry entry = f.Copy();
    if (__builtin_expect(entry.changes_abstaining(), 0)) {
      if (!MayChangeAbstaining(fifo)) break;
      f.Skip();
      const bool abstain = entry.word != 0;
      if (abstain == f.abstaining()) continue;
      f.set_abstaining(abstain);
      out[count++] = SealControlPacket(control_body::MakeAbstain(stream, abstain));
    } else {
      if (!Valid(fifo, entry)) break;
      if (__builtin_expect(f.WindowFull(), 0)) {
        ++f.stats().stalls_window;
        break;
      }
      if (!HasRoom(fifo)) break;
      TakeOperation(fifo, entry, &out[count++]);
    }
  } while (f.HasEntries());
  f.PublishTaken();
  return count;
}

// Whether an entry that begins or ends abstaining may be taken now: not while an operation of this
// leaf is in flight, for nodes of the tree want to hear of it only then. It waits until then, and
// what follows it.
bool ControlPort::MayChangeAbstaining(unsigned fifo) {
  if (fifo_[fifo].in_message()) Fail(ControlPortError::kEntry);
  return !fifo_[fifo].in_message() && fifo_[fifo].in_flight() == 0;
}

void ControlPort::ReportConsumed(Outgoing& out) {
  ControlFifo& f = fifo_[VCM5_FIFO_BROADCAST];
  if (!failed() && !f.RefreshRead()) Fail(ControlPortError::kIncomingHead);
  // What a failed program has not read counts as consumed, lest it stop the others.
  const uint32_t unread = failed() ? 0 : f.unread();
  if (!window_.ReportDue(unread)) return;
  if (out.full()) return WantPoll(VCM5_FIFO_BROADCAST);
  out.Put(control_body::MakeFlowControl(BroadcastOperation::kUser, window_.TakeReport(unread)));
}

void ControlPort::PollBroadcast(Outgoing& out) {
  if (__builtin_expect(must_tell_overrun_ && !out.full(), 0)) {
    must_tell_overrun_ = false;
    out.Put(control_body::MakeError(ControlFault::kBroadcastCollision, 0, 0));
  }
  if (__builtin_expect(window_.ReportNears(), 0)) ReportConsumed(out);
  if (!Look(VCM5_FIFO_BROADCAST)) return;
  ControlFifo& f = fifo_[VCM5_FIFO_BROADCAST];
  while (f.HasEntries()) {
    if (out.full()) {
      WantPoll(VCM5_FIFO_BROADCAST);
      break;
    }
    const ControlEntry entry = f.Copy();
    if (entry.changes_abstaining()) {
      if (f.in_message()) {
        Fail(ControlPortError::kEntry);
        break;
      }
      // An abstaining leaf still sees every word, to know the window; it drops them here.
      f.set_abstaining(entry.word != 0);
      f.Skip();
      continue;
    }
    if (!Valid(VCM5_FIFO_BROADCAST, entry)) break;
    if (entry.first() && !window_.Admits(entry.length())) {
      ++f.stats().stalls_window;
      break;
    }
    window_.CountSent();
    f.Take(entry);
    out.Put(control_body::MakeBroadcast(BroadcastOperation::kUser, entry.word,
                                        FramingFlags(entry)));
  }
  f.PublishTaken();
}

// Begins the next router-done operation if the program has asked for one and none is under way.
void ControlPort::BeginRouterDone(Outgoing& out) {
  constexpr unsigned kFifo = VCM5_FIFO_ROUTER_DONE;
  ControlFifo& f = fifo_[kFifo];
  while (f.HasEntries() && waves_.idle()) {
    if (out.full()) {
      WantPoll(kFifo);
      break;
    }
    const ControlEntry entry = f.Copy();
    if (entry.changes_abstaining()) {
      if (!MayChangeAbstaining(kFifo)) break;
      f.Skip();
      const bool abstain = entry.word != 0;
      if (abstain == f.abstaining()) continue;
      f.set_abstaining(abstain);
      out.Put(control_body::MakeAbstain(kStreamRouterDone, abstain));
      continue;
    }
    if (!Valid(kFifo, entry) || !HasRoom(kFifo)) break;
    f.set_abstaining(false);
    f.KeepRoom();
    f.Take(entry);
    waves_.Begin();
  }
  f.PublishTaken();
}

void ControlPort::PollRouterDone(bool resample, Outgoing& out) {
  if (Look(VCM5_FIFO_ROUTER_DONE)) BeginRouterDone(out);
  if (__builtin_expect(!waves_.Due(resample), 1)) return;
  if (out.full()) return WantPoll(VCM5_FIFO_ROUTER_DONE);
  // SYNC received: pairs with the release in vcm5_port_count_received(); a message that counts as
  // received has the sends of its handler counted before it.
  const bool of_sent = waves_.operation() == CombineOperation::kRouterDoneSent;
  const uint32_t* count = of_sent ? page_->node_data.out_tail : page_->node_data.received;
  const uint32_t sum =
      vcm5_load_acquire(&count[VCM5_LEFT]) + vcm5_load_acquire(&count[VCM5_RIGHT]);
  out.Put(control_body::MakeCombine(waves_.operation(), Combiner::kUnsignedAdd, sum,
                                    kFirst | kLast));
  if (!of_sent) ++router_done_rounds_;
  waves_.CountSent();
}

// ---- incoming --------------------------------------------------------------------------------

void ControlPort::Handle(const ControlPacket& packet) {
  if (__builtin_expect(!ControlPacketCrcGood(packet), 0)) {
    NoteNetworkFault(ControlFault::kCrc);
    return;
  }
  switch (control_body::Type(packet.body)) {
    case ControlType::kMultipleSource:
      switch (control_body::StreamOf(packet.body)) {
        case kStreamCombine:
          return HandleResult(VCM5_FIFO_COMBINE, packet.body);
        case kStreamSyncOr:
          return HandleResult(VCM5_FIFO_SYNC_OR, packet.body);
        case kStreamRouterDone:
          return HandleRouterDone(packet.body);
        default:
          return NoteNetworkFault(ControlFault::kBadPacket);
      }
    case ControlType::kSingleSource:
      return HandleBroadcast(packet.body);
    case ControlType::kIdle:
      return HandleIdle(packet.body);
    case ControlType::kAbstain:
      return NoteNetworkFault(ControlFault::kBadPacket);
  }
}

inline void ControlPort::Publish(unsigned fifo) {
  fifo_[fifo].Publish();
  took_delivery_ = true;
}

inline void ControlPort::HandleResult(unsigned fifo, uint64_t body) {
  using namespace control_body;
  ControlFifo& f = fifo_[fifo];
  const uint64_t awaited = fifo == VCM5_FIFO_SYNC_OR ? kAwaitedSyncOr : f.awaited();
  if (__builtin_expect(f.in_flight() == 0 || ((awaited ^ body) & kAgreeMask) != 0, 0)) {
    return NoteNetworkFault(ControlFault::kUnexpectedResult);
  }
  const auto control = static_cast<uint32_t>(awaited);
  uint32_t word = Word(body);
  bool overflow = (body & kOverflow) != 0;
  if (__builtin_expect(ControlEntryStartsSegment(control), 0)) {
    // "The scan starts over at that point." Without this the program receives what the network
    // delivers, the value of the segment before.
    word = IdentityWord(CombinerOf(body), (body & kFirst) != 0);
    overflow = false;
  }
  f.Write(word, control);
  if ((body & kLast) != 0) {
    // Overflow shows in every word of the message: the program may look at any.
    for (uint32_t i = 0; fifo == VCM5_FIFO_COMBINE && overflow && i < f.unpublished(); ++i) {
      f.SetControl(i, static_cast<uint32_t>(f.unpublished_awaited(i)) | VCM5_ENTRY_OVERFLOW);
    }
    Publish(fifo);
  }
  // What waited for the window, or to abstain.
  if (__builtin_expect(f.HasEntries(), 0)) WantPoll(fifo);
}

void ControlPort::HandleRouterDone(uint64_t body) {
  took_needs_ = true;
  const auto operation = static_cast<CombineOperation>(control_body::Operation(body));
  switch (waves_.HandleSum(operation, control_body::Word(body))) {
    case RouterDoneWaves::Outcome::kGoOn:
      if (waves_.Due(false)) WantPoll(VCM5_FIFO_ROUTER_DONE);
      return;
    case RouterDoneWaves::Outcome::kDone:
      fifo_[VCM5_FIFO_ROUTER_DONE].Write(0, VCM5_ENTRY_LENGTH(1) | ControlFifo::kFraming);
      Publish(VCM5_FIFO_ROUTER_DONE);
      if (fifo_[VCM5_FIFO_ROUTER_DONE].HasEntries()) WantPoll(VCM5_FIFO_ROUTER_DONE);
      return;
    case RouterDoneWaves::Outcome::kUnexpected:
      return NoteNetworkFault(ControlFault::kUnexpectedResult);
  }
}

void ControlPort::HandleBroadcast(uint64_t body) {
  using namespace control_body;
  if (Operation(body) != static_cast<uint32_t>(BroadcastOperation::kUser)) {
    return NoteNetworkFault(ControlFault::kBadPacket);
  }
  ControlFifo& f = fifo_[VCM5_FIFO_BROADCAST];
  window_.CountSeen();
  took_needs_ = took_needs_ || window_.ReportNears();
  if ((body & kFirst) != 0) {
    f.Drop();
    accepting_ = !f.abstaining() && !failed();
  }
  if (!accepting_) {
    // Dropped words are consumed; no program will ring to say so.
    if (window_.ReportDue(failed() ? 0 : f.unread())) WantPoll(VCM5_FIFO_BROADCAST);
    return;
  }
  if (!f.HasRoom() && !f.RefreshRead()) Fail(ControlPortError::kIncomingHead);
  if (!f.HasRoom() || f.unpublished() == VCM5_CONTROL_WORDS_MAX) return HandleOverrun();
  f.KeepRoom();
  f.Write(Word(body), 0);
  if ((body & kLast) == 0) return;
  accepting_ = false;
  // The packets do not say how long the message is; now it is known.
  const uint32_t length = f.unpublished();
  for (uint32_t i = 0; i < length; ++i) {
    f.SetControl(i, VCM5_ENTRY_LENGTH(length) | (i == 0 ? VCM5_ENTRY_FIRST : 0) |
                        (i + 1 == length ? VCM5_ENTRY_LAST : 0));
  }
  Publish(VCM5_FIFO_BROADCAST);
}

// A broadcast word without room. No window allows that, so more than one source believed that it
// was the only one; unless this program lied about what it has read.
void ControlPort::HandleOverrun() {
  accepting_ = false;
  fifo_[VCM5_FIFO_BROADCAST].Drop();
  if (failed()) return;
  must_tell_overrun_ = true;
  WantPoll(VCM5_FIFO_BROADCAST);
  NoteNetworkFault(ControlFault::kBroadcastCollision);
}

void ControlPort::HandleIdle(uint64_t body) {
  using namespace control_body;
  switch (static_cast<IdleOperation>(Operation(body))) {
    case IdleOperation::kSynchronise:
      vcm5_store_release(&page_->control.async_or_result, Sync(body) & 1);
      took_delivery_ = true;
      return;
    case IdleOperation::kFlowControl:
      if (!window_.HandleLeastConsumed(Word(body))) {
        return NoteNetworkFault(ControlFault::kFlowControl);
      }
      if (fifo_[VCM5_FIFO_BROADCAST].HasEntries()) WantPoll(VCM5_FIFO_BROADCAST);
      return;
    case IdleOperation::kError:
      return NoteNetworkFault(FaultOf(body));
  }
  NoteNetworkFault(ControlFault::kBadPacket);
}

void ControlPort::NoteNetworkFault(ControlFault fault) {
  if (network_fault_ == ControlFault::kNone) network_fault_ = fault;
  took_delivery_ = true;
}

void ControlPort::CheckInvariants() const {
  for (const ControlFifo& f : fifo_) f.CheckInvariants();
  VCM5_CHECK((fifo_[VCM5_FIFO_ROUTER_DONE].in_flight() == 0) == waves_.idle());
}

}  // namespace vcm5
