// The link contract: what joins two data daemons that play neighbouring parts of one half of the
// data network. One link carries all the wires that were cut between two parts.
//
// A wire is one direction-pair between two router chips; both ends number the wires alike, 0 to
// wires - 1. Packets on a wire are sent within its credit (the free slots of the input port at the
// far end), so the packets and credits that can be under way are bounded by wires * depth in each
// direction, and a send is never refused. Links keep order per wire and lose nothing; when the
// other end dies or sends nonsense the link fails, once, and says why.
//
// One thread a link end. Nothing here blocks.
#ifndef VCM5_DAEMONS_LINK_LINK_H_
#define VCM5_DAEMONS_LINK_LINK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "netif/wire/data_packet.h"

namespace vcm5 {

// What a link end hands to its driver. Wires and lengths are in range; the packet is valid during
// the call only and its CRC is not yet checked.
class LinkReceiver {
 public:
  virtual ~LinkReceiver() = default;
  virtual void OnPacket(uint32_t wire, const DataPacket& packet, unsigned length) = 0;
  virtual void OnCredit(uint32_t wire, uint32_t packets) = 0;
};

class Link {
 public:
  virtual ~Link() = default;

  // Adds to the current batch. The caller stays within credit.
  virtual void SendPacket(uint32_t wire, const DataPacket& packet, unsigned length) = 0;
  virtual void SendCredit(uint32_t wire, uint32_t packets) = 0;

  // Offers the batch to the other end (and wakes it if it sleeps). What the transport cannot take
  // now is kept, in order, and offered by the next Flush.
  virtual void Flush() = 0;

  // Hands over what has arrived, a bounded amount. Returns the number of frames.
  virtual unsigned Receive(LinkReceiver& receiver) = 0;

  // Not OK once the link has failed: the other end is gone, or sent something malformed.
  virtual absl::Status status() const = 0;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_LINK_LINK_H_
