// The NI's side of a data-network port that faces the network (paper section 2): what stands between
// a node's FIFOs and the link into the left or the right network. NI2, NI3, NI8, NI10, NI13.
//
// Outgoing: takes what the program pushed, copies it once, and validates the copy: length, tag,
// destination within the partition. Relative addresses become physical ones and routing
// instructions. Incoming: checks the packet's CRC and that it is ours, and puts it into the FIFO. A
// damaged packet never gets there: it is a primary error if nobody on the way has found it, else a
// secondary one, which is only counted (DN4).
//
// The memory belongs to a program that may write anything into it at any time. Positions that make
// no sense close the port for good (`failed()`): from then on it takes nothing, and drops what the
// network brings, so that others' messages do not pile up behind it. A message that makes no sense
// is dropped and reported. Nothing the program does can make this class read or write outside its
// FIFOs.
//
// What falls (DN7) is nobody's yet: it is captured for the supervisor, never put into the FIFO, also
// where the port is closed, and it is sent again from here by its true address.
//
// A message with a system tag is the supervisor's: no program can send it, and it never gets into a
// program's FIFO, its positions or its interrupts. It is checked here, for it came by the same link;
// SystemPort has its FIFOs.
//
// Owned and called by one driver thread.
#ifndef VCM5_NETIF_NI_DATA_PORT_H_
#define VCM5_NETIF_NI_DATA_PORT_H_

#include <cstdint>
#include <cstring>

#include "netif/ni/data_port_report.h"
#include "netif/ni/saved_ni.h"
#include "netif/ni/system_port.h"
#include "netif/shm/atomic_words.h"
#include "netif/shm/ni_page.h"
#include "netif/wire/data_packet.h"

namespace vcm5 {

// What became of a packet that came.
enum class Arrival : uint8_t {
  kDelivered,      // it is in the program's FIFO
  kForSupervisor,  // it is good, and has a system tag: for SystemPort::Deliver
  kDropped,
};

class DataPort {
 public:
  struct Options {
    vcm5_ni_page* page = nullptr;
    int half = VCM5_LEFT;
    uint32_t physical_self = 0;
    uint32_t slot_bytes = 32;
    uint32_t depth = 128;
    uint32_t words_max = 5;
    uint32_t out_offset = 0;  // of the FIFOs in the mapping
    uint32_t in_offset = 0;
    uint32_t start_position = 0;  // where the program's positions and ours begin
  };

  explicit DataPort(const Options& options)
      : page_(options.page),
        out_(reinterpret_cast<uint8_t*>(options.page) + options.out_offset),
        in_(reinterpret_cast<uint8_t*>(options.page) + options.in_offset),
        half_(static_cast<uint8_t>(options.half)),
        self_(options.physical_self),
        slot_bytes_(options.slot_bytes),
        mask_(options.depth - 1),
        words_max_(options.words_max),
        out_head_(options.start_position),
        in_tail_(options.start_position),
        in_head_(options.start_position),
        not_injected_(options.start_position),
        not_delivered_(0u - options.start_position) {}

  bool failed() const { return failed_; }
  uint32_t self() const { return self_; }

  // ---- outgoing ----

  // Messages that the program has pushed and the network has not taken. A bounded number, always;
  // closes the port if the program's position is nonsense.
  uint32_t Look() {
    if (failed_) return 0;
    // SYNC data_out_tail: pairs with the release in vcm5_port_commit().
    const uint32_t tail = vcm5_load_acquire(&page_->node_data.out_tail[half_]);
    const uint32_t pushed = tail - out_head_;
    if (pushed > mask_ + 1) {
      Fail();
      return 0;
    }
    return pushed;
  }

  // Takes the next message that Look() saw and forms its packet in `packet`. False if it was
  // dropped: see TakeReport. `routes` has size(), physical(r) and Route(self, r).
  template <class Routes>
  bool Take(const Routes& routes, DataPacket* packet) {
    const uint8_t* slot = out_ + size_t{out_head_ & mask_} * slot_bytes_;
    out_head_++;
    const uint64_t asked = vcm5_load64_relaxed(reinterpret_cast<const uint64_t*>(slot));
    const uint32_t destination = static_cast<uint32_t>(asked);
    const uint32_t tag = static_cast<uint32_t>(asked >> 32) & 0xff;
    const uint32_t length = static_cast<uint32_t>(asked >> 40);
    if (length - 1 >= words_max_) return RefuseToSend(DataPortFault::kBadLength, length);
    if (tag >= kFirstSystemTag) return RefuseToSend(DataPortFault::kBadTag, tag);
    if (destination >= routes.size()) {
      return RefuseToSend(DataPortFault::kBadDestination, destination);
    }
    CopyPacket(packet, slot, length);
    const uint64_t header = data_header::Make(routes.Route(self_, destination), length, tag,
                                              routes.physical(destination));
    packet->header = header;
    packet->crc = DataPacketCrc(*packet, length, header);
    return true;
  }

  // Forms the packet of the next message that Look() of this NI's `system` saw. False if it was
  // dropped, as SystemPort::Take says.
  template <class Routes>
  bool TakeSystem(SystemPort& system, const Routes& routes, DataPacket* packet) {
    if (!system.Take(self_, routes, packet)) return false;
    --not_injected_;
    return true;
  }

  // Lets the program use the slots of what was taken.
  void PublishTaken() {
    // SYNC data_out_head: pairs with the acquire in vcm5_port_send_space().
    vcm5_store_release(&page_->data[half_].out_head, out_head_);
  }

  // ---- incoming ----

  // Puts a packet into the FIFO; the caller stays within the credit that RefreshCredit gave.
  // Dropped is what was bad (see TakeReport), and what comes for a program whose port is closed.
  // Unless it is delivered its slot remains free.
  Arrival Deliver(const DataPacket& packet, unsigned length) {
    const uint64_t header = packet.header;
    if (__builtin_expect(failed_, 0) && !data_header::IsSystem(header)) {
      return RefuseArrival(DataPortFault::kNone, 0);
    }
    if (length - 1 >= words_max_ || length != data_header::Length(header) ||
        !DataPacketCrcGood(packet)) {
      return RefuseDamaged(packet, length);
    }
    if ((header & (data_header::kFalls | data_header::kUpMask | data_header::kPathMask)) != 0) {
      return RefuseArrival(DataPortFault::kMisdelivered, data_header::Destination(header));
    }
    if (data_header::Destination(header) != self_) {
      return RefuseArrival(DataPortFault::kMisdelivered, data_header::Destination(header));
    }
    if (__builtin_expect(data_header::IsSystem(header), 0)) {
      ++not_delivered_;
      return Arrival::kForSupervisor;
    }
    CopyPacket(in_ + size_t{in_tail_ & mask_} * slot_bytes_, &packet, length);
    in_tail_++;
    tags_delivered_ |= 1u << data_header::Tag(header);
    return Arrival::kDelivered;
  }

  // ---- all-fall-down (DN7) ----

  // Takes a message that fell: a copy for the supervisor. False if it is bad, or if its destination
  // is not one of the partition's, as the caller says; see TakeReport.
  bool Capture(const DataPacket& packet, unsigned length, bool to_member, DataPacket* captured) {
    if (length - 1 >= words_max_ || length != data_header::Length(packet.header) ||
        !DataPacketCrcGood(packet)) {
      RefuseDamaged(packet, length);
      return false;
    }
    if (!data_header::FallsOnLink(packet.header) || !to_member) {
      RefuseArrival(DataPortFault::kMisdelivered, data_header::Destination(packet.header));
      return false;
    }
    CopyPacket(captured, &packet, length);
    ++not_delivered_;
    return true;
  }

  // Forms the packet that sends a captured message from here to its true destination, to which
  // `route` leads. False if it is no longer what was captured, here or at another node.
  bool Resend(const DataPacket& captured, uint32_t route, DataPacket* packet) {
    const uint64_t header = captured.header;
    const unsigned length = data_header::Length(header);
    if (length - 1 >= words_max_ || !DataPacketCrcGood(captured)) {
      return Refuse(DataPortFault::kPrimary, 0);
    }
    --not_injected_;
    CopyPacket(packet, &captured, length);
    packet->header = data_header::Make(route, length, data_header::Tag(header),
                                       data_header::Destination(header));
    packet->crc = DataPacketCrc(*packet, length, packet->header);
    return true;
  }

  // Shows the program what was delivered. Returns the tags among it that are to interrupt (NI5).
  uint32_t PublishDelivered() {
    // SYNC data_in_tail: pairs with the acquire in vcm5_port_peek().
    vcm5_store_release(&page_->data[half_].in_tail, in_tail_);
    const uint32_t tags = tags_delivered_;
    tags_delivered_ = 0;
    return tags & vcm5_load_relaxed(&page_->node_data.interrupt_mask);
  }

  // Slots that were freed since the last call. Closes the port if the program's position is
  // nonsense. A closed port has freed all its slots.
  uint32_t RefreshCredit() {
    // SYNC data_in_head: pairs with the release in vcm5_port_flush_half().
    uint32_t head = vcm5_load_acquire(&page_->node_data.in_head[half_]);
    if (!failed_ && head - in_head_ > in_tail_ - in_head_) Fail();
    if (failed_) head = in_tail_;
    const uint32_t freed = head - in_head_;
    in_head_ = head;
    return freed;
  }

  // Messages in the incoming FIFO, as far as is known.
  uint32_t Undelivered() const { return in_tail_ - in_head_; }

  // ---- a whole user (NI11) ----

  // This half of what the NI holds of its user; nothing is in flight, and the program does not run.
  // False if the program has failed. What is restored has been checked (CheckSavedNi); as it changes
  // what the incoming FIFO holds, so must the network's credit.
  bool Save(SavedNi* saved);
  void Restore(const SavedNi& saved);

  // ---- reports ----

  // The first fault since the last call.
  DataPortReport TakeReport() {
    const DataPortReport report = report_;
    report_ = {};
    return report;
  }

  // NI10: messages put into and taken out of this half, by this side's count.
  uint32_t taken() const { return out_head_; }
  uint32_t delivered() const { return in_tail_; }

  // What went over the link to the network and what came by it, for Kirchhoff's law (DN5): without
  // what was refused before, with what was sent again and the supervisor's; with what was refused or
  // captured after, and the supervisor's.
  // Modulo 2^32, from 0.
  uint32_t injected() const { return out_head_ - not_injected_; }
  uint32_t arrived() const { return in_tail_ + not_delivered_; }

  // Damaged packets that arrived here (DN4).
  uint32_t primary_errors() const { return primary_errors_; }
  uint32_t secondary_errors() const { return secondary_errors_; }

 private:
  bool RefuseToSend(DataPortFault fault, uint32_t value) {
    ++not_injected_;
    return Refuse(fault, value);
  }
  Arrival RefuseArrival(DataPortFault fault, uint32_t value) {
    ++not_delivered_;
    if (fault != DataPortFault::kNone) Refuse(fault, value);
    return Arrival::kDropped;
  }
  Arrival RefuseDamaged(const DataPacket& packet, unsigned length) {
    const bool marked = length - 1 < words_max_ && length == data_header::Length(packet.header) &&
                        DataPacketCrcMarked(packet);
    ++(marked ? secondary_errors_ : primary_errors_);
    return RefuseArrival(marked ? DataPortFault::kNone : DataPortFault::kPrimary, 0);
  }
  bool Refuse(DataPortFault fault, uint32_t value) {
    if (report_.fault == DataPortFault::kNone) report_ = {fault, value};
    return false;
  }
  void Fail() {
    failed_ = true;
    Refuse(DataPortFault::kBadPosition, 0);
  }

  vcm5_ni_page* page_;
  uint8_t* out_;
  uint8_t* in_;
  uint8_t half_;
  bool failed_ = false;
  uint32_t self_;
  uint32_t slot_bytes_;
  uint32_t mask_;
  uint32_t words_max_;
  uint32_t out_head_;
  uint32_t in_tail_;
  uint32_t in_head_;
  uint32_t tags_delivered_ = 0;
  DataPortReport report_;
  // Of rare use from here on. Where the positions began is taken into account.
  uint32_t not_injected_;
  uint32_t not_delivered_;
  uint32_t primary_errors_ = 0;
  uint32_t secondary_errors_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_DATA_PORT_H_
