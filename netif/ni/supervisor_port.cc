#include "netif/ni/supervisor_port.h"

#include <utility>

#include "netif/shm/atomic_words.h"

namespace vcm5 {

static_assert(static_cast<unsigned>(BroadcastOperation::kSupervisor) == VCM5_BROADCAST_SUPERVISOR);
static_assert(static_cast<unsigned>(BroadcastOperation::kInterrupt) == VCM5_BROADCAST_INTERRUPT);
static_assert(static_cast<unsigned>(BroadcastOperation::kUtility) == VCM5_BROADCAST_UTILITY);

SupervisorPort::SupervisorPort(vcm5_supervisor_page* page)
    : page_(page),
      class_{Class{ControlFifo(page, VCM5_BROADCAST_SUPERVISOR),
                   BroadcastEnd(BroadcastOperation::kSupervisor, VCM5_SUPERVISOR_DEPTH)},
             Class{ControlFifo(page, VCM5_BROADCAST_INTERRUPT),
                   BroadcastEnd(BroadcastOperation::kInterrupt, VCM5_SUPERVISOR_DEPTH)},
             Class{ControlFifo(page, VCM5_BROADCAST_UTILITY),
                   BroadcastEnd(BroadcastOperation::kUtility, VCM5_SUPERVISOR_DEPTH)}} {}

bool SupervisorPort::Poll(ControlOutgoing& out) {
  bool had_room = true;
  // Interrupts first: they are to grab the attention.
  for (const unsigned kind :
       {VCM5_BROADCAST_INTERRUPT, VCM5_BROADCAST_SUPERVISOR, VCM5_BROADCAST_UTILITY}) {
    Class& c = class_[kind - 1];
    had_room &= c.end.Poll(c.fifo, &error_, out);
  }
  return had_room;
}

unsigned SupervisorPort::Handle(uint64_t body) {
  const unsigned kind = control_body::Operation(body);
  Class& c = class_[kind - 1];
  if ((body & control_body::kFirst) != 0) {
    const uint32_t listening = vcm5_load_acquire(&page_->registers.listening);
    c.fifo.set_abstaining(((listening >> kind) & 1) == 0);
  }
  return c.end.Handle(c.fifo, body, &error_);
}

bool SupervisorPort::HandleLeastConsumed(unsigned kind, uint32_t count, bool* wants_poll) {
  Class& c = class_[kind - 1];
  *wants_poll = c.fifo.HasEntries();
  return c.end.HandleLeastConsumed(count);
}

uint32_t SupervisorPort::Synchronisation() const {
  return (vcm5_load_relaxed(&page_->supervisor.async_or) != 0 ? kSyncSupervisor : 0) |
         (vcm5_load_relaxed(&page_->registers.hard_error) != 0 ? kSyncHardError : 0);
}

bool SupervisorPort::HandleSynchronisation(uint32_t bits) {
  const uint32_t changed = bits ^ heard_;
  if ((changed & (kSyncSupervisor | kSyncHardError)) == 0) return false;
  heard_ = bits;
  const bool rose = (changed & bits & kSyncSupervisor) != 0;
  if (rose) vcm5_store_release(&page_->control.async_or_rises, ++rises_);
  vcm5_store_release(&page_->control.async_or_result, (bits & kSyncSupervisor) != 0 ? 1 : 0);
  vcm5_store_release(&page_->control.hard_error, (bits & kSyncHardError) != 0 ? 1 : 0);
  const uint32_t mask = vcm5_load_relaxed(&page_->supervisor.interrupt_mask);
  return rose && (mask & VCM5_INTERRUPT_ASYNC_OR) != 0;
}

bool SupervisorPort::TakeFlushRequest() {
  const uint32_t asked = vcm5_load_acquire(&page_->registers.flushes);
  return std::exchange(flushes_, asked) != asked;
}

bool SupervisorPort::TakeReinitiateRequest() {
  const uint32_t asked = vcm5_load_acquire(&page_->registers.reinitiations);
  return std::exchange(reinitiations_, asked) != asked;
}

void SupervisorPort::ShowFlushed(bool flushed) {
  // SYNC flushed: pairs with the acquire in vcm5_supervisor_flushed().
  vcm5_store_release(&page_->control.flushed, flushed ? 1 : 0);
}

void SupervisorPort::CheckInvariants() const {
  for (const Class& c : class_) c.fifo.CheckInvariants();
}

}  // namespace vcm5
