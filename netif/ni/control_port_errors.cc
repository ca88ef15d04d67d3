// What goes wrong at or beyond a control port (CN8): see control_port.h.
#include <utility>

#include "netif/ni/control_port.h"
#include "netif/shm/atomic_words.h"

namespace vcm5 {

void ControlPort::HandleUntrusted(const ControlPacket& packet) {
  if (!ControlPacketCrcGood(packet)) {
    out_of_step_ = true;
    return NoteLinkFault(ControlFault::kCrc, packet.body);
  }
  using namespace control_body;
  const bool alone = Type(packet.body) == ControlType::kSingleSource;
  if (Type(packet.body) == ControlType::kIdle) HandleIdle(packet.body);
  if (alone && Operation(packet.body) >= kBroadcastClasses) HandleFlush(packet.body);
}

// An error that the network signals to all.
void ControlPort::NoteError(uint64_t report) {
  if (network_fault_ == ControlFault::kNone) {
    network_fault_ = control_body::FaultOf(report);
    vcm5_store_relaxed(&page_->control.error_parties, error_parties_);
    // SYNC error: pairs with the acquire in vcm5_port_error().
    vcm5_store_release(&page_->control.error, control_body::Word(report));
  }
  CountEvent();
}

// What came is nothing that a sound network can send: a hard error, which all nodes of the partition
// shall know (CN8). Told at the next Poll of broadcasts.
void ControlPort::NoteLinkFault(ControlFault fault, uint64_t body) {
  if (link_fault_ == ControlFault::kNone) link_fault_ = fault;
  if (network_fault_ == ControlFault::kNone) {
    network_fault_ = fault;
    vcm5_store_relaxed(&page_->control.error_parties, ~uint32_t{0});
    vcm5_store_release(&page_->control.error,
                       control_body::Word(control_body::MakeError(fault, body, body)));
  }
  if (!std::exchange(hard_error_, true)) WantPoll(VCM5_FIFO_BROADCAST);
  CountEvent();
}

void ControlPort::CountEvent() {
  // SYNC events: pairs with the acquire in NetworkPositions::Look().
  vcm5_store_release(&page_->control.events, ++events_);
  took_delivery_ = true;
}

}  // namespace vcm5
