#include "netif/ni/control_port.h"

#include <utility>

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

// Each word of the synchronous OR awaits the same.
constexpr uint64_t kAwaitedSyncOr =
    (control_body::MakeCombine(CombineOperation::kSyncOr, Combiner::kOr, 0, kFirst | kLast) &
     kAgreeMask) |
    VCM5_ENTRY_LENGTH(1) | ControlFifo::kFraming;

}  // namespace

ControlPort::ControlPort(vcm5_ni_page* page, const Options& options, SupervisorPort* supervisor)
    : page_(page),
      user_(BroadcastOperation::kUser, options.geometry.control_depth[VCM5_FIFO_BROADCAST]),
      fifo_{ControlFifo(page, VCM5_FIFO_COMBINE, options.geometry, options.window[kStreamCombine]),
            ControlFifo(page, VCM5_FIFO_BROADCAST, options.geometry, 0),
            ControlFifo(page, VCM5_FIFO_ROUTER_DONE, options.geometry, 0),
            ControlFifo(page, VCM5_FIFO_SYNC_OR, options.geometry, options.window[kStreamSyncOr])},
      supervisor_(supervisor) {
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
  ControlOutgoing out{packets, count};
  if ((fifos & (1u << VCM5_FIFO_BROADCAST)) != 0) {
    PollBroadcasts(out);
    PollSynchronisation(out);
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

inline void ControlPort::PollSynchronisation(ControlOutgoing& out) {
  uint32_t bits = vcm5_load_relaxed(&page_->node_control.async_or) != 0 ? kSyncUser : 0;
  if (__builtin_expect(held_, 0)) bits = held_sync_;
  if (supervisor_ != nullptr) bits |= supervisor_->Synchronisation();
  if (__builtin_expect(hard_error_, 0)) bits |= kSyncHardError;
  if (__builtin_expect(bits == sync_told_, 1)) return;
  if (out.full()) return WantPoll(VCM5_FIFO_BROADCAST);
  sync_told_ = static_cast<uint8_t>(bits);
  out.Put(control_body::MakeSynchronise(bits));
}

void ControlPort::PollBroadcasts(ControlOutgoing& out) {
  bool had_room = true;
  if (supervisor_ != nullptr) {
    had_room = supervisor_->Poll(out);
    took_needs_ |= supervisor_->error() != ControlPortError::kNone;
    if (__builtin_expect(supervisor_->HasRequest(), 0)) TakeRequests();
  }
  if (__builtin_expect(to_do_ != 0, 0)) PollFlush(out);
  if (__builtin_expect(!held_, 1)) {
    had_room &= user_.Poll(fifo_[VCM5_FIFO_BROADCAST], &error_, out);
  }
  if (__builtin_expect(!had_room, 0)) WantPoll(VCM5_FIFO_BROADCAST);
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
      f.FreeTaken(f.incomplete());
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
  return count;
}

// Whether an entry that begins or ends abstaining may be taken now: not while an operation of this
// leaf is in flight, for nodes of the tree want to hear of it only then. It waits until then, and
// what follows it.
bool ControlPort::MayChangeAbstaining(unsigned fifo) {
  if (fifo_[fifo].in_message()) Fail(ControlPortError::kEntry);
  return !fifo_[fifo].in_message() && fifo_[fifo].in_flight() == 0;
}

// Begins the next router-done operation if the program has asked for one and none is under way.
void ControlPort::BeginRouterDone(ControlOutgoing& out) {
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
      f.FreeTaken(0);
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
}

void ControlPort::PollRouterDone(bool resample, ControlOutgoing& out) {
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
  if (__builtin_expect(!ControlPacketCrcGood(packet) || out_of_step_, 0)) {
    return HandleUntrusted(packet);
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
          return NoteLinkFault(ControlFault::kBadPacket, packet.body);
      }
    case ControlType::kSingleSource:
      return HandleBroadcast(packet.body);
    case ControlType::kIdle:
      return HandleIdle(packet.body);
    case ControlType::kAbstain:
      return NoteLinkFault(ControlFault::kBadPacket, packet.body);
  }
}

// The results of a message are there, whole, and so its words need be kept no longer.
inline void ControlPort::Publish(unsigned fifo) {
  fifo_[fifo].Publish();
  fifo_[fifo].FreeTaken(fifo_[fifo].incomplete());
  took_delivery_ = true;
}

inline void ControlPort::HandleResult(unsigned fifo, uint64_t body) {
  using namespace control_body;
  ControlFifo& f = fifo_[fifo];
  const uint64_t awaited = fifo == VCM5_FIFO_SYNC_OR ? kAwaitedSyncOr : f.awaited();
  if (__builtin_expect(f.in_flight() == 0 || ((awaited ^ body) & kAgreeMask) != 0, 0)) {
    return NoteLinkFault(ControlFault::kUnexpectedResult, body);
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
      return NoteLinkFault(ControlFault::kUnexpectedResult, body);
  }
}

void ControlPort::HandleBroadcast(uint64_t body) {
  if (__builtin_expect(control_body::Operation(body) != VCM5_BROADCAST_USER, 0)) {
    return HandlePrivileged(body);
  }
  const unsigned follows = user_.Handle(fifo_[VCM5_FIFO_BROADCAST], body, &error_);
  took_needs_ = took_needs_ || user_.ReportNears();
  if (follows == BroadcastEnd::kNothing) return;
  if ((follows & (BroadcastEnd::kPublished | BroadcastEnd::kFreed)) != 0) took_delivery_ = true;
  if ((follows & BroadcastEnd::kWantsPoll) != 0) WantPoll(VCM5_FIFO_BROADCAST);
}

void ControlPort::HandlePrivileged(uint64_t body) {
  if (control_body::Operation(body) >= kBroadcastClasses) return HandleFlush(body);
  if (supervisor_ == nullptr) return NoteLinkFault(ControlFault::kBadPacket, body);
  const unsigned follows = supervisor_->Handle(body);
  if ((follows & BroadcastEnd::kWantsPoll) != 0) WantPoll(VCM5_FIFO_BROADCAST);
  constexpr auto kInterrupt = static_cast<uint32_t>(BroadcastOperation::kInterrupt);
  if (control_body::Operation(body) != kInterrupt || (body & kFirst) == 0) return;
  InterruptNode(control_body::Word(body));
}

// "An interrupt broadcast causes every processor to receive an interrupt."
void ControlPort::InterruptNode(uint32_t word) {
  vcm5_store_relaxed(&page_->control.interrupt_word, word);
  // SYNC interrupts: pairs with the acquire in take_attention() of the port.
  vcm5_store_release(&page_->control.interrupts, ++interrupts_);
  took_interrupt_ = took_needs_ = true;
  CountEvent();
}

void ControlPort::HandleIdle(uint64_t body) {
  using namespace control_body;
  switch (static_cast<IdleOperation>(Operation(body))) {
    case IdleOperation::kSynchronise:
      return HandleSynchronisation(Sync(body));
    case IdleOperation::kFlowControl:
      return HandleFlowControl(body);
    case IdleOperation::kParties:
      error_parties_ = Word(body);
      return;
    case IdleOperation::kError:
      return NoteError(body);
    case IdleOperation::kFlushed:
      return HandleFlushed();
  }
  NoteLinkFault(ControlFault::kBadPacket, body);
}

void ControlPort::HandleSynchronisation(uint32_t bits) {
  network_sync_ = static_cast<uint8_t>(bits);
  if (__builtin_expect(held_, 0)) bits = (bits & ~kSyncUser) | (sync_heard_ & kSyncUser);
  const uint32_t rises = bits & ~uint32_t{sync_heard_};
  sync_heard_ = static_cast<uint8_t>(bits);
  vcm5_store_release(&page_->control.async_or_result, (bits & kSyncUser) != 0 ? 1 : 0);
  vcm5_store_release(&page_->control.hard_error, (bits & kSyncHardError) != 0 ? 1 : 0);
  if ((rises & kSyncUser) != 0) {
    vcm5_store_release(&page_->control.async_or_rises, ++rises_);
    const uint32_t mask = vcm5_load_relaxed(&page_->node_control.interrupt_mask);
    if ((mask & VCM5_INTERRUPT_ASYNC_OR) != 0) took_interrupt_ = took_needs_ = true;
  }
  if (supervisor_ != nullptr && supervisor_->HandleSynchronisation(bits)) {
    InterruptNode(VCM5_ATTENTION_ASYNC_OR);
  }
  if (__builtin_expect((rises & kSyncHardError) != 0, 0)) InterruptNode(VCM5_ATTENTION_HARD_ERROR);
  CountEvent();
}

void ControlPort::HandleFlowControl(uint64_t body) {
  const unsigned kind = control_body::FlowClass(body);
  const uint32_t count = control_body::Word(body);
  bool good = false;
  bool wants_poll = false;
  if (kind == VCM5_BROADCAST_USER) {
    good = user_.HandleLeastConsumed(count);
    wants_poll = fifo_[VCM5_FIFO_BROADCAST].HasEntries();
  } else if (supervisor_ != nullptr) {
    good = supervisor_->HandleLeastConsumed(kind, count, &wants_poll);
  }
  if (!good) return NoteLinkFault(ControlFault::kFlowControl, body);
  if (wants_poll) WantPoll(VCM5_FIFO_BROADCAST);
}

void ControlPort::CheckInvariants() const {
  for (const ControlFifo& f : fifo_) f.CheckInvariants();
  VCM5_CHECK((fifo_[VCM5_FIFO_ROUTER_DONE].in_flight() == 0) == waves_.idle());
}

}  // namespace vcm5
