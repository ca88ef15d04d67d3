// The links of one part of a half of the data network to the other parts: which link carries which
// cut wire, and what comes by them into the region. A peer that breaks the credit contract, or is
// gone, is reported once and not heard again.
#ifndef VCM5_DAEMONS_DRIVER_PART_LINKS_H_
#define VCM5_DAEMONS_DRIVER_PART_LINKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemons/link/link.h"
#include "netif/wire/data_packet.h"
#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

// Wires between two parts of one half, for sizing their link; the link numbers them from 0. 0: the
// parts have no wire in common and need no link.
uint32_t WiresBetween(const MachineSpec& spec, uint32_t parts, uint32_t part, uint32_t other);

class PartLinks final : private LinkReceiver {
 public:
  using ReportError = std::function<void(std::string)>;

  // `links` by part, for `parts` of them; null for oneself and for parts with no common wire. The
  // region, that of `part`, outlives this.
  PartLinks(const FatTree& tree, uint32_t part, uint32_t parts,
            std::vector<std::unique_ptr<Link>> links, Region& region, ReportError report);

  // Takes what has arrived into the region. Returns the number of frames.
  unsigned Receive();

  // Adds to the batches: a packet that leaves the region by a cut wire; the credits that the region
  // gives back (returns how many frames).
  void SendPacket(uint32_t wire, const DataPacket& packet, unsigned length) {
    const Carrier& carrier = carriers_[wire];
    carrier.link->SendPacket(carrier.number, packet, length);
  }
  unsigned SendCredits();
  // Offers the batches to the peers.
  void Flush();

 private:
  // A link numbers its wires 0, 1, ... in the order of CutWires.
  struct Carrier {
    Link* link = nullptr;
    uint32_t number = 0;
  };
  struct Peer {
    std::unique_ptr<Link> link;
    std::vector<uint32_t> wires;  // of CutWires, by number
    bool failed = false;
    bool heard() const { return link != nullptr && !failed; }
  };

  void OnPacket(uint32_t number, const DataPacket& packet, unsigned length) override;
  void OnCredit(uint32_t number, uint32_t packets) override;
  void Fail(const char* what);

  const uint32_t part_;
  Region& region_;
  const ReportError report_;
  std::vector<Peer> peers_;        // by part
  std::vector<Carrier> carriers_;  // by wire of CutWires
  uint32_t receiving_from_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_PART_LINKS_H_
