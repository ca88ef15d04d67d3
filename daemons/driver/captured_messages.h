// All-fall-down messages at the NIs of one part of a half (DN7): those captured, until the
// supervisor takes them, and those to be sent again, until the network has taken them.
//
// What falls is at most what chips and links hold when sending stops. As long as nodes may send on,
// into chips that perhaps make all of it fall, the store takes so much and then keeps the credit
// back: the rest waits in the chips until the supervisor has made room or sending stops. So it holds
// twice as much at most, and what the credit of the leaves was worth.
#ifndef VCM5_DAEMONS_DRIVER_CAPTURED_MESSAGES_H_
#define VCM5_DAEMONS_DRIVER_CAPTURED_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "daemons/driver/agent.h"
#include "netif/ni/data_port.h"
#include "netif/wire/data_packet.h"
#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

struct CapturedMessage {
  uint32_t leaf;      // whose NI captured it, and is to send it again
  DataPacket packet;  // as it fell; the destination in its header is the true one
};

class CapturedMessages {
 public:
  // `members`: physical addresses that a message may be for.
  CapturedMessages(const FatTree& tree, uint32_t link_depth, const std::vector<uint32_t>& members)
      : most_(size_t{tree.chips()} * kChipPorts * link_depth), is_member_(tree.leaves()) {
    for (const uint32_t member : members) is_member_[member] = true;
  }

  // The region brought a message that falls to the leaf of `port`. False if it is none that the
  // partition can have sent: it was dropped, and the port has the report.
  bool Capture(DataPort& port, const DataPacket& packet, unsigned length, Region& region) {
    CapturedMessage message{port.self(), {}};
    const bool to_member = IsMember(data_header::Destination(packet.header));
    if (!port.Capture(packet, length, to_member, &message.packet)) {
      region.HandleLeafCredit(port.self(), 1);
      return false;
    }
    messages_.push_back(message);
    ++captured_;
    if (sending_stopped_ || messages_.size() <= most_) {
      region.HandleLeafCredit(port.self(), 1);
    } else {
      owed_.push_back(port.self());
    }
    return true;
  }

  // Those captured, and those that were to be sent again and have not been.
  std::vector<CapturedMessage> Take(Region& region) {
    PayCredit(region);
    std::vector<CapturedMessage> taken = std::exchange(messages_, {});
    taken.insert(taken.end(), resend_.begin(), resend_.end());
    resend_.clear();
    return taken;
  }
  // Whether nothing enters the network any more but what is in it falls.
  void StopSending(bool stopped, Region& region) {
    sending_stopped_ = stopped;
    if (stopped) PayCredit(region);
  }
  // Gives back all credit, as must be done before a chip leaves all-fall-down mode.
  void PayCredit(Region& region) {
    for (const uint32_t leaf : owed_) region.HandleLeafCredit(leaf, 1);
    owed_.clear();
  }

  // Messages that were captured here or elsewhere are to go on to their destinations.
  void Resend(std::vector<CapturedMessage> messages) {
    resend_.insert(resend_.end(), messages.begin(), messages.end());
  }
  bool any_to_resend() const { return !resend_.empty(); }

  // Sends again what the network has room for. `port_of(leaf)` is the leaf's port or null. What was
  // never a message of this machine is dropped, with an error. Returns how many it took.
  template <class PortOf>
  unsigned ResendInto(Region& region, PortOf&& port_of, std::vector<FabricError>* errors) {
    unsigned taken = 0;
    size_t kept = 0;
    for (const CapturedMessage& message : resend_) {
      DataPort* port = port_of(message.leaf);
      if (port != nullptr && region.InjectSpace(message.leaf) == 0) {
        resend_[kept++] = message;
        continue;
      }
      ++taken;
      const uint32_t destination = data_header::Destination(message.packet.header);
      if (port == nullptr || !IsMember(destination) ||
          !port->Resend(message.packet, FatTree::Route(message.leaf, destination),
                        region.InjectSlot(message.leaf))) {
        if (port != nullptr) port->TakeReport();
        errors->push_back({message.leaf, "was to send again what is no message of this machine"});
        continue;
      }
      region.Inject(message.leaf);
      ++resent_;
    }
    resend_.resize(kept);
    return taken;
  }

  uint64_t captured() const { return captured_; }  // messages ever, and
  uint64_t resent() const { return resent_; }

 private:
  bool IsMember(uint32_t physical) const {
    return physical < is_member_.size() && is_member_[physical];
  }

  size_t most_;  // messages that the half's chips can hold
  bool sending_stopped_ = false;
  std::vector<bool> is_member_;
  std::vector<CapturedMessage> messages_;
  std::vector<uint32_t> owed_;  // leaves whose credit is kept back, once a message
  std::vector<CapturedMessage> resend_;
  uint64_t captured_ = 0;
  uint64_t resent_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_CAPTURED_MESSAGES_H_
