// The control port at the end of a timeslice: see control_port.h.
#include <array>
#include <cstddef>

#include "netif/ni/control_port.h"
#include "netif/shm/atomic_words.h"
#include "runtime/base/check.h"

namespace vcm5 {
namespace {

constexpr std::array<unsigned, kControlStreams> kFifoOfStream = {
    VCM5_FIFO_COMBINE, VCM5_FIFO_ROUTER_DONE, VCM5_FIFO_SYNC_OR};

}  // namespace

void ControlPort::HandleFlush(uint64_t body) {
  if (control_body::Operation(body) == kFlush) return Hold(control_body::Word(body));
  if (control_body::Operation(body) != kReinitiate) {
    return NoteLinkFault(ControlFault::kBadPacket, body);
  }
  if (!flushed_) return;  // two supervisors wanted it
  flushed_ = false;
  if (supervisor_ != nullptr) supervisor_->ShowFlushed(false);
  to_do_ |= kGoOn;
  for (unsigned stream = 0; stream < kControlStreams; ++stream) {
    if (fifo_[kFifoOfStream[stream]].abstaining()) to_do_ |= kTellAbstaining << stream;
  }
  WantPoll(VCM5_FIFO_BROADCAST);
}

void ControlPort::Hold(uint32_t count_from) {
  for (const unsigned fifo : kFifoOfStream) fifo_[fifo].Abort(fifo_[fifo].incomplete());
  waves_.Abort();
  user_.Abort(fifo_[VCM5_FIFO_BROADCAST], count_from);
  if (!held_) held_sync_ = sync_told_ & kSyncUser;
  held_ = true;
  flushed_ = false;
  if (!failed()) error_ = ControlPortError::kHeld;
  to_do_ = (to_do_ & (kAskFlush | kAskReinitiate)) | kAnswer;
  WantPoll(VCM5_FIFO_BROADCAST);
}

void ControlPort::HandleFlushed() {
  flushed_ = held_;
  if (supervisor_ != nullptr) supervisor_->ShowFlushed(flushed_);
  WantPoll(VCM5_FIFO_BROADCAST);
}

void ControlPort::TakeRequests() {
  if (supervisor_->TakeFlushRequest()) to_do_ |= kAskFlush;
  const bool holds = held_ || (to_do_ & kAskFlush) != 0;
  if (supervisor_->TakeReinitiateRequest() && holds) to_do_ |= kAskReinitiate;
}

void ControlPort::PollFlush(ControlOutgoing& out) {
  auto put = [&](unsigned what, uint64_t body) {
    if ((to_do_ & what) == 0) return;
    if (out.full()) return WantPoll(VCM5_FIFO_BROADCAST);
    to_do_ &= static_cast<uint8_t>(~what);
    out.Put(body);
  };
  put(kAskFlush, control_body::MakeFlush(fifo_[VCM5_FIFO_BROADCAST].depth()));
  put(kAnswer, control_body::MakeFlushed());
  if (flushed_) put(kAskReinitiate, control_body::MakeReinitiate());
  for (unsigned stream = 0; stream < kControlStreams; ++stream) {
    put(kTellAbstaining << stream, control_body::MakeAbstain(stream, true));
  }
  if ((to_do_ & ~kAskReinitiate) == kGoOn) GoOn();
}

void ControlPort::GoOn() {
  to_do_ = 0;
  held_ = false;
  if (!failed()) error_ = ControlPortError::kNone;
  HandleSynchronisation(network_sync_);
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) WantPoll(fifo);
}

// ---- a whole user --------------------------------------------------------------------------

bool ControlPort::Save(SavedNi* saved) const {
  VCM5_CHECK_MSG(flushed_, "saved without a flush");
  if (failed()) return false;
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) fifo_[fifo].Save(&saved->fifo[fifo]);
  saved->async_or = vcm5_load_relaxed(&page_->node_control.async_or) != 0 ? 1 : 0;
  saved->async_or_told = held_sync_;
  saved->async_or_result = sync_heard_ & kSyncUser;
  saved->async_or_rises = rises_;
  saved->async_or_interrupts = vcm5_load_relaxed(&page_->node_control.interrupt_mask);
  saved->interrupts = interrupts_;
  saved->interrupt_word = vcm5_load_relaxed(&page_->control.interrupt_word);
  saved->error = vcm5_load_relaxed(&page_->control.error);
  saved->error_parties = vcm5_load_relaxed(&page_->control.error_parties);
  return true;
}

void ControlPort::Restore(const SavedNi& saved) {
  VCM5_CHECK_MSG(flushed_, "restored without a flush");
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) fifo_[fifo].Restore(saved.fifo[fifo]);
  error_ = ControlPortError::kHeld;
  out_of_step_ = false;
  link_fault_ = ControlFault::kNone;
  hard_error_ = false;
  held_sync_ = saved.async_or_told != 0 ? kSyncUser : 0;
  sync_heard_ = static_cast<uint8_t>((sync_heard_ & ~kSyncUser) |
                                     (saved.async_or_result != 0 ? kSyncUser : 0));
  rises_ = saved.async_or_rises;
  interrupts_ = saved.interrupts;
  network_fault_ = static_cast<ControlFault>(VCM5_ERROR_KIND(saved.error));
  vcm5_store_relaxed(&page_->node_control.async_or, saved.async_or);
  vcm5_store_relaxed(&page_->node_control.interrupt_mask, saved.async_or_interrupts);
  vcm5_store_relaxed(&page_->control.async_or_result, saved.async_or_result);
  vcm5_store_relaxed(&page_->control.async_or_rises, saved.async_or_rises);
  vcm5_store_relaxed(&page_->control.interrupts, saved.interrupts);
  vcm5_store_relaxed(&page_->control.interrupt_word, saved.interrupt_word);
  vcm5_store_relaxed(&page_->control.error_parties, saved.error_parties);
  vcm5_store_release(&page_->control.error, saved.error);
  WantPoll(VCM5_FIFO_BROADCAST);
  CountEvent();
}

// Entries [from, to) of a FIFO, and back.
namespace {

std::vector<vcm5_control_entry> CopyEntries(const vcm5_control_entry* fifo, uint32_t depth,
                                            uint32_t from, uint32_t to) {
  std::vector<vcm5_control_entry> entries;
  for (uint32_t at = from; at != to; ++at) {
    const vcm5_control_entry* entry = &fifo[at & (depth - 1)];
    entries.push_back({vcm5_load_relaxed(&entry->word), vcm5_load_relaxed(&entry->control)});
  }
  return entries;
}

// Returns the position behind the last.
uint32_t PutEntries(vcm5_control_entry* fifo, uint32_t depth, uint32_t at,
                    const std::vector<vcm5_control_entry>& entries) {
  for (const vcm5_control_entry& entry : entries) {
    vcm5_store_relaxed(&fifo[at & (depth - 1)].word, entry.word);
    vcm5_store_relaxed(&fifo[at & (depth - 1)].control, entry.control);
    ++at;
  }
  return at;
}

}  // namespace

void ControlFifo::Save(SavedControlFifo* saved) const {
  VCM5_CHECK(incomplete() == 0 && !in_message());
  saved->abstaining = abstaining_;
  saved->out_head = taken_;
  saved->in_head = vcm5_load_acquire(&by_program_->in_head[fifo_]);
  const uint32_t out_tail = vcm5_load_acquire(&by_program_->out_tail[fifo_]);
  // A program that wrote nonsense has lost what it had.
  const uint32_t pushed = std::min(out_tail - taken_, depth_);
  if (published_ - saved->in_head > depth_) saved->in_head = published_;
  saved->out = CopyEntries(out_, depth_, taken_, taken_ + pushed);
  saved->in = CopyEntries(in_, depth_, saved->in_head, published_);
}

void ControlFifo::Restore(const SavedControlFifo& saved) {
  VCM5_CHECK(incomplete() == 0 && !in_message());
  VCM5_CHECK(saved.out.size() <= depth_ && saved.in.size() <= depth_);
  abstaining_ = saved.abstaining;
  tail_ = taken_ = saved.out_head;
  read_ = saved.in_head;
  // The program's side is nobody's while it does not run.
  auto* out = const_cast<vcm5_control_entry*>(out_);
  auto* by_program = const_cast<vcm5_control_positions*>(by_program_);
  const uint32_t out_tail = PutEntries(out, depth_, saved.out_head, saved.out);
  sent_ = delivered_ = published_ = PutEntries(in_, depth_, saved.in_head, saved.in);
  vcm5_store_relaxed(&by_program->out_tail[fifo_], out_tail);
  vcm5_store_relaxed(&by_program->in_head[fifo_], saved.in_head);
  vcm5_store_relaxed(&to_program_->in_tail[fifo_], published_);
  FreeTaken(0);
}

}  // namespace vcm5
