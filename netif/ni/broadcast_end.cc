#include "netif/ni/broadcast_end.h"

namespace vcm5 {
namespace {

using control_body::kFirst;
using control_body::kLast;

uint64_t FramingFlags(const ControlEntry& entry) {
  return (entry.first() ? kFirst : 0) | (entry.last() ? kLast : 0);
}

}  // namespace

void BroadcastEnd::Abort(ControlFifo& fifo, uint32_t count_from) {
  fifo.Abort(kept_);
  kept_ = 0;
  accepting_ = awaits_own_ = must_tell_overrun_ = false;
  window_.Restart(count_from);
}

// The last word of a message has come while own ones were in flight: the message was the first of
// those. What follows from it, as Handle says.
unsigned BroadcastEnd::Complete(ControlFifo& fifo) {
  kept_ = window_.InFlight();
  fifo.FreeTaken(kept_);
  const bool awaited = awaits_own_ && kept_ == 0;
  if (awaited) awaits_own_ = false;
  return kFreed | (awaited ? kWantsPoll : kNothing);
}

bool BroadcastEnd::ReportConsumed(ControlFifo& fifo, ControlPortError* error,
                                  ControlOutgoing& out) {
  if (*error == ControlPortError::kNone && !fifo.RefreshRead()) {
    *error = ControlPortError::kIncomingHead;
  }
  const uint32_t unread = *error != ControlPortError::kNone ? 0 : fifo.unread();
  if (!window_.ReportDue(unread)) return true;
  if (out.full()) return false;
  out.Put(control_body::MakeFlowControl(kind_, window_.TakeReport(unread)));
  return true;
}

bool BroadcastEnd::Poll(ControlFifo& fifo, ControlPortError* error, ControlOutgoing& out) {
  if (__builtin_expect(must_tell_overrun_ && !out.full(), 0)) {
    must_tell_overrun_ = false;
    const uint64_t body = control_body::MakeBroadcast(kind_, 0, 0);
    out.Put(control_body::MakeError(ControlFault::kBroadcastCollision, body, body));
  }
  bool had_room = true;
  if (__builtin_expect(window_.ReportNears(), 0)) had_room = ReportConsumed(fifo, error, out);
  if (*error != ControlPortError::kNone || !fifo.Look(error)) return had_room;
  while (fifo.HasEntries()) {
    if (out.full()) {
      had_room = false;
      break;
    }
    const ControlEntry entry = fifo.Copy();
    if (entry.changes_abstaining()) {
      if (fifo.in_message()) {
        *error = ControlPortError::kEntry;
        break;
      }
      if (kept_ != 0) {
        awaits_own_ = true;
        break;
      }
      // An abstaining leaf still sees every word, to know the window; it drops them here.
      fifo.set_abstaining(entry.word != 0);
      fifo.Skip();
      continue;
    }
    *error = fifo.Validate(entry);
    if (__builtin_expect(*error != ControlPortError::kNone, 0)) break;
    if (entry.first() && !window_.Admits(entry.length())) {
      ++fifo.stats().stalls_window;
      break;
    }
    window_.CountSent();
    fifo.Take(entry);
    if (kind_ == BroadcastOperation::kUser) ++kept_;
    out.Put(control_body::MakeBroadcast(kind_, entry.word, FramingFlags(entry)));
  }
  fifo.FreeTaken(kept_);
  return had_room;
}

}  // namespace vcm5
