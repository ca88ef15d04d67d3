// The control network's side of one node's supervisor page (NI9): the privileged kinds of broadcast
// and the supervisor's asynchronous OR. Belongs to that node's ControlPort, which sorts packets and
// polls it where it polls the user's broadcasts.
//
// Supervisors are many only if they want to be: what a page's supervisor does not listen to is
// dropped there, and holds nobody up. The page is not more trusted than a program's.
#ifndef VCM5_NETIF_NI_SUPERVISOR_PORT_H_
#define VCM5_NETIF_NI_SUPERVISOR_PORT_H_

#include <array>
#include <cstdint>

#include "netif/ni/broadcast_end.h"
#include "netif/ni/control_fifo.h"
#include "netif/shm/atomic_words.h"
#include "netif/shm/supervisor_page.h"
#include "netif/wire/control_packet.h"

namespace vcm5 {

class SupervisorPort {
 public:
  // The page, made by the engine and still untouched, must outlive the port.
  explicit SupervisorPort(vcm5_supervisor_page* page);

  // Takes what has been pushed. False if `out` was too small.
  bool Poll(ControlOutgoing& out);

  // A word of a privileged kind; what follows from it, as BroadcastEnd::Handle says.
  unsigned Handle(uint64_t body);

  // The leaves have consumed `count` words of `kind`, which is privileged. False if that cannot be.
  // *wants_poll: something waited for that.
  bool HandleLeastConsumed(unsigned kind, uint32_t count, bool* wants_poll);

  // This node's synchronisation bits: kSyncSupervisor, kSyncHardError.
  uint32_t Synchronisation() const;
  // The partition's. True if the node is to be interrupted: the asynchronous OR rose, and that was
  // asked for.
  bool HandleSynchronisation(uint32_t bits);

  // Whether the supervisor asks for a flush, or for the network to be reinitiated; each is taken once.
  bool HasRequest() const {
    return vcm5_load_relaxed(&page_->registers.flushes) != flushes_ ||
           vcm5_load_relaxed(&page_->registers.reinitiations) != reinitiations_;
  }
  bool TakeFlushRequest();
  bool TakeReinitiateRequest();
  // The network is flushed and holds; or no longer.
  void ShowFlushed(bool flushed);

  ControlPortError error() const { return error_; }
  const ControlFifoStats& stats(unsigned kind) const { return class_[kind - 1].fifo.stats(); }
  void CheckInvariants() const;

 private:
  struct Class {
    ControlFifo fifo;
    BroadcastEnd end;
  };
  vcm5_supervisor_page* const page_;
  ControlPortError error_ = ControlPortError::kNone;
  uint32_t heard_ = 0;                                 // the partition's bits
  uint32_t rises_ = 0;                                 // of the asynchronous OR
  uint32_t flushes_ = 0;                               // asked for, so far
  uint32_t reinitiations_ = 0;
  std::array<Class, VCM5_BROADCAST_KINDS - 1> class_;  // by kind - 1
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_SUPERVISOR_PORT_H_
