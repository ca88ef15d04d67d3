// The control network's side of one node's NI (NI6, NI7, NI10, NI13): between the FIFOs and
// registers that the program maps, and the leaf link of the control network.
//
// One per leaf, owned by the driver of the control network, one thread. Outgoing: Poll() takes
// entries from the outgoing FIFOs and makes packets. Incoming: Handle() takes packets and fills the
// incoming FIFOs; the words of a message are published together.
//
// Flow control is here, because nodes of the tree cannot refuse. Each word of a multiple-source
// operation returns exactly one word, so the port sends one only if its result has room, and never
// has more than a window of them in flight. Broadcasts follow BroadcastWindow.
//
// The program is not trusted (NI13; see ControlFifo). One that writes nonsense fails its port:
// nothing more is taken from it, and what comes for it is still accounted for, so that only its own
// partition notices.
#ifndef VCM5_NETIF_NI_CONTROL_PORT_H_
#define VCM5_NETIF_NI_CONTROL_PORT_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "netif/ni/broadcast_window.h"
#include "netif/ni/control_fifo.h"
#include "netif/ni/ni_geometry.h"
#include "netif/ni/router_done_waves.h"
#include "netif/shm/ni_page.h"
#include "netif/wire/control_packet.h"

namespace vcm5 {

class ControlPort {
 public:
  // `window`: words in flight in each ControlStream; not more than the nodes' depth.
  struct Options {
    NiGeometry geometry;
    std::array<uint32_t, kControlStreams> window = {64, 8, 8};
  };

  // The page, made by the engine and still untouched, must outlive the port.
  ControlPort(vcm5_ni_page* page, const Options& options);

  // Takes what the program has pushed, as far as flow control and `out` let it; returns packets
  // made. With `resample`, a router-done that did not find everything delivered counts again: to be
  // passed to all ports of a partition alike, when one of its doorbells rang and now and then
  // besides.
  unsigned Poll(bool resample, std::span<ControlPacket> out);

  // A packet from the network.
  void Handle(const ControlPacket& packet);

  // Whether something for the program to look at has been published since the last call.
  bool TookDelivery() {
    const bool took = took_delivery_;
    took_delivery_ = false;
    return took;
  }

  // When to Poll, besides when the node's doorbell rang:
  // at once, since a packet that came, or a larger `out`, makes more possible;
  bool WantsPoll() const { return wants_poll_; }
  // when the program has read from an incoming FIFO, even if it does not ring for that;
  bool AwaitsProgram() const { return awaits_room_ || window_.ReportNears(); }
  // with resample, when messages may have been received somewhere in the partition.
  bool AwaitsResample() const { return waves_.held(); }

  ControlPortError error() const { return error_; }
  bool failed() const { return error_ != ControlPortError::kNone; }
  // The first error that the control network signalled to all leaves (CN8).
  ControlFault network_fault() const { return network_fault_; }

  const ControlFifoStats& stats(unsigned fifo) const { return fifo_[fifo].stats(); }
  uint64_t router_done_rounds() const { return router_done_rounds_; }
  void CheckInvariants() const;

 private:
  struct Outgoing {
    std::span<ControlPacket> packets;
    unsigned count = 0;
    bool full() const { return count == packets.size(); }
    void Put(uint64_t body) { packets[count++] = SealControlPacket(body); }
  };

  // An operation FIFO that is a stream of multiple-source operations.
  struct Operations {
    uint32_t window = 0;
    std::vector<ControlEntry> in_flight;  // by slot: what awaits its result
  };

  bool Look(unsigned fifo) {
    return __builtin_expect(!failed(), 1) && fifo_[fifo].Look(&error_);
  }
  void Fail(ControlPortError error) {
    if (!failed()) error_ = error;
  }
  bool Valid(unsigned fifo, const ControlEntry& entry);
  bool HasRoom(unsigned fifo);

  void PollAsyncOr(Outgoing& out);
  void PollBroadcast(Outgoing& out);
  void ReportConsumed(Outgoing& out);
  void PollStream(unsigned fifo, ControlStream stream, Outgoing& out);
  void PollRouterDone(bool resample, Outgoing& out);
  void BeginRouterDone(Outgoing& out);
  bool TakeAbstain(unsigned fifo, ControlStream stream, const ControlEntry& entry, Outgoing& out);

  void HandleResult(unsigned fifo, uint64_t body);
  void HandleBroadcast(uint64_t body);
  void HandleOverrun();
  void HandleRouterDone(uint64_t body);
  void HandleIdle(uint64_t body);
  void Publish(unsigned fifo);
  void NoteNetworkFault(ControlFault fault);

  vcm5_ni_page* const page_;
  std::array<ControlFifo, VCM5_CONTROL_FIFOS> fifo_;
  std::array<Operations, VCM5_CONTROL_FIFOS> operations_;  // combine and synchronous OR
  BroadcastWindow window_;
  RouterDoneWaves waves_;
  uint64_t router_done_rounds_ = 0;
  uint32_t sync_told_ = 0;  // synchronisation bits, as the network knows them
  bool accepting_ = false;  // the broadcast message coming in is for the program
  bool wants_poll_ = false;
  bool awaits_room_ = false;
  bool took_delivery_ = false;
  bool must_tell_overrun_ = false;
  ControlPortError error_ = ControlPortError::kNone;
  ControlFault network_fault_ = ControlFault::kNone;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_CONTROL_PORT_H_
