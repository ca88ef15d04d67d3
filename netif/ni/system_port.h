// The data network's side of one node's supervisor page, one half: messages of the system, which have
// system tags and physical addresses (paper sections 2 and 3; NI8, NI9). They share the NI's link with
// the user's messages, so DataPort checks what comes and counts what passes; this class has their FIFOs.
//
// What finds the incoming FIFO full is dropped and counted: netif/port/supervisor_port.h says why. The
// page is not more trusted than a program's: positions that make no sense close the port for good, and
// a message that makes no sense is dropped and reported.
//
// Owned and called by one driver thread.
#ifndef VCM5_NETIF_NI_SYSTEM_PORT_H_
#define VCM5_NETIF_NI_SYSTEM_PORT_H_

#include <cstdint>
#include <utility>

#include "netif/ni/data_port_report.h"
#include "netif/shm/supervisor_page.h"
#include "netif/wire/data_packet.h"

namespace vcm5 {

class SystemPort {
 public:
  // The page, made by the engine and still untouched, must outlive the port; null: nobody
  // supervises the node, and what comes for it is dropped.
  SystemPort(vcm5_supervisor_page* page, int half, uint32_t words_max)
      : page_(page), half_(half), words_max_(words_max) {}

  // Messages that the supervisor has pushed and the network has not taken, at most VCM5_SYSTEM_DEPTH.
  uint32_t Look();

  // Takes the next message that Look() saw; forms its packet for the NI at `self`, whose
  // DataPort::TakeSystem this is for. False if it was dropped: see TakeReport. `routes` has
  // Has(physical), whether an NI is there, and Route(self, physical).
  template <class Routes>
  bool Take(uint32_t self, const Routes& routes, DataPacket* packet) {
    uint32_t destination = 0;
    unsigned tag = 0;
    unsigned length = 0;
    if (!CopyNext(packet, &destination, &tag, &length)) return false;
    if (!routes.Has(destination)) return Refuse(DataPortFault::kBadDestination, destination);
    packet->header = data_header::Make(routes.Route(self, destination), length, tag, destination);
    packet->crc = DataPacketCrc(*packet, length, packet->header);
    ++taken_;
    return true;
  }

  // Lets the supervisor use the slots of what was taken.
  void PublishTaken();

  // Takes a message that DataPort::Deliver found to be good and the supervisor's, and shows it to
  // the supervisor. False if it was dropped.
  bool Deliver(const DataPacket& packet);

  // The first fault since the last call.
  DataPortReport TakeReport() { return std::exchange(report_, {}); }

  // Messages that went into the network, that came to the supervisor, and that were dropped here.
  uint64_t taken() const { return taken_; }
  uint64_t delivered() const { return delivered_; }
  uint64_t dropped() const { return dropped_; }

 private:
  bool CopyNext(DataPacket* packet, uint32_t* destination, unsigned* tag, unsigned* length);
  bool Refuse(DataPortFault fault, uint32_t value) {
    if (report_.fault == DataPortFault::kNone) report_ = {fault, value};
    return false;
  }
  void Fail() {
    failed_ = true;
    Refuse(DataPortFault::kBadPosition, 0);
  }

  vcm5_supervisor_page* page_;
  int half_;
  uint32_t words_max_;
  bool failed_ = false;
  uint32_t out_head_ = 0;
  uint32_t in_tail_ = 0;
  uint32_t in_head_ = 0;
  DataPortReport report_;
  uint64_t taken_ = 0;
  uint64_t delivered_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_SYSTEM_PORT_H_
