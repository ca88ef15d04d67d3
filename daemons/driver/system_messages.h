// Messages of the system at the NIs of one part of a half (NI8, NI9): what supervisors send, to the NI of
// any node of the machine, and what comes for them. Rare, so whoever has none pays nothing: NIs are looked
// at when a supervisor has rung.
#ifndef VCM5_DAEMONS_DRIVER_SYSTEM_MESSAGES_H_
#define VCM5_DAEMONS_DRIVER_SYSTEM_MESSAGES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "daemons/driver/agent.h"
#include "netif/ni/data_port.h"
#include "netif/ni/system_port.h"
#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

class SystemMessages {
 public:
  // `members`: physical addresses of all NIs of the machine, below `leaves`.
  SystemMessages(int half, uint32_t words_max, uint32_t leaves,
                 const std::vector<uint32_t>& members);

  // An NI of this part, by its supervisor's page or null; they are numbered from 0 in this order.
  void Add(uint32_t leaf, vcm5_supervisor_page* page);

  // The supervisor of an NI may have rung.
  void Look(uint32_t number, std::vector<FabricError>* errors);
  bool any_to_send() const { return !pending_.empty(); }

  // Injects what the network has room for. `port_of(number)` is the NI's port. Returns how many
  // messages it took.
  template <class PortOf>
  unsigned InjectInto(Region& region, PortOf&& port_of, std::vector<FabricError>* errors) {
    unsigned taken = 0;
    size_t kept = 0;
    for (const uint32_t number : pending_) {
      Ni& ni = nis_[number];
      DataPort& port = port_of(number);
      const uint32_t pushed = ni.port.Look();
      const uint32_t count = std::min(pushed, region.InjectSpace(ni.leaf));
      for (uint32_t i = 0; i < count; ++i) {
        if (port.TakeSystem(ni.port, routes_, region.InjectSlot(ni.leaf))) region.Inject(ni.leaf);
      }
      if (count != 0) ni.port.PublishTaken();
      taken += count;
      Report(ni, errors);
      ni.pending = pushed > count;
      if (ni.pending) pending_[kept++] = number;
    }
    pending_.resize(kept);
    return taken;
  }

  // A message that an NI's DataPort found to be the supervisor's.
  void Deliver(uint32_t number, const DataPacket& packet, std::vector<FabricError>* errors) {
    nis_[number].port.Deliver(packet);
    Report(nis_[number], errors);
  }

  // Messages into the network, out of it to supervisors, and dropped because nobody reads them.
  struct Counts {
    uint64_t taken = 0;
    uint64_t delivered = 0;
    uint64_t dropped = 0;
  };
  Counts counts() const;
  void AppendStats(std::vector<FabricStat>* stats) const;  // if there were any

 private:
  struct Ni {
    SystemPort port;
    uint32_t leaf;
    bool pending = false;  // in pending_
  };
  struct Routes {
    std::vector<bool> has_ni;  // by physical address
    bool Has(uint32_t physical) const { return physical < has_ni.size() && has_ni[physical]; }
    static uint32_t Route(uint32_t source, uint32_t physical) {
      return FatTree::Route(source, physical);
    }
  };
  void Report(Ni& ni, std::vector<FabricError>* errors) const;

  int half_;
  uint32_t words_max_;
  Routes routes_;
  std::vector<Ni> nis_;
  std::vector<uint32_t> pending_;  // whose outgoing FIFOs may hold messages
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_SYSTEM_MESSAGES_H_
