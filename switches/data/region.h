// A region of the data network: the router chips of one half that one driver plays, wired to each
// other in memory, with the links that leave the region as its ports. The whole tree is one region
// when a single driver plays it.
//
// Ports are of two kinds: leaves (the links to NIs) and wires (links to chips of other regions,
// numbered as CutWires numbers them). Flow control is by credits on both: the driver sends into the
// region within InjectSpace and what TakeWireCredits gave back, and the region sends out within
// what HandleLeafCredit and HandleWireCredit reported.
//
// The driver hands over a batch of inputs, calls Run(), and takes all Departures() before the next.
// Departures lie in a bounded buffer: Run() returns when it is full, to be called again.
#ifndef VCM5_SWITCHES_DATA_REGION_H_
#define VCM5_SWITCHES_DATA_REGION_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "netif/wire/data_packet.h"
#include "runtime/base/check.h"
#include "switches/data/link_faults.h"
#include "switches/data/router_chip.h"
#include "switches/topology/chip_ways.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

struct RegionOptions {
  uint32_t part = 0;
  uint32_t parts = 1;
  uint32_t depth = 16;       // packets of each chip's input buffers; a power of two
  uint32_t words_max = 5;
  uint32_t leaf_credit = 16; // messages that an NI takes before it gives credit back
  uint64_t seed = 1;
  // By ChipId: what chips must not use, so that nothing comes near what is broken
  // (switches/topology/health.h); and what comes by links that are mapped out, or what a chip says all
  // of whose links are mapped out, is ignored (paper, section 3). Empty: all links are good.
  std::vector<ChipWays> ways;
  std::vector<LinkFault> link_faults = {};  // of this half; those of other parts are left to them
};

struct Departure {
  uint32_t port;  // leaf (physical address) or kWireBit | wire
  uint32_t length;
  static constexpr uint32_t kWireBit = 0x80000000u;
};

// A packet that a chip found bad, and no chip before it.
struct RegionFault {
  RouterChipFault fault;
  ChipId chip;
  unsigned port;  // by which it came
};

// A wire that crosses between two parts: both ends by chip and port.
struct CutWire {
  ChipId child_chip;
  uint8_t child_port;   // a parent port of the child chip
  ChipId parent_chip;
  uint8_t parent_port;  // a child port of the parent chip
  uint32_t child_part;
  uint32_t parent_part;
};

// All wires that cross between parts, in one order that every part computes alike.
std::vector<CutWire> CutWires(const FatTree& tree, uint32_t parts);

class Region {
 public:
  Region(const FatTree& tree, const RegionOptions& options);
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // ---- inputs ----

  // How many packets may be injected from a leaf before this is asked again: free slots of the
  // input buffer that its outgoing link leads to. Of a faulty region one at a time, for one that is
  // doubled takes two of them.
  uint32_t InjectSpace(uint32_t leaf) const {
    const Port& port = leaf_port_[leaf - first_leaf_];
    const uint32_t space = chips_[port.chip].Space(port.port);
    return __builtin_expect(link_faults_ != nullptr, 0) ? std::min(space, 1u) : space;
  }
  // Where to write the next packet from a leaf (InjectSpace > 0), and the call that it is there.
  DataPacket* InjectSlot(uint32_t leaf) {
    const Port& port = leaf_port_[leaf - first_leaf_];
    return chips_[port.chip].ReceiveSlot(port.port);
  }
  void Inject(uint32_t leaf) {
    if (__builtin_expect(link_faults_ != nullptr, 0)) return InjectFaulty(leaf);
    const Port& port = leaf_port_[leaf - first_leaf_];
    chips_[port.chip].HandlePacket(port.port);
    Activate(port.chip);
  }
  // An NI has room for `messages` more.
  void HandleLeafCredit(uint32_t leaf, uint32_t messages) {
    const Port& port = leaf_port_[leaf - first_leaf_];
    chips_[port.chip].HandleCredit(port.port, messages);
    Activate(port.chip);
  }
  // The NI was given what a user had: `messages` of its free slots are taken.
  void TakeLeafCredit(uint32_t leaf, uint32_t messages) {
    const Port& port = leaf_port_[leaf - first_leaf_];
    RouterChip& chip = chips_[port.chip];
    VCM5_CHECK(messages <= chip.Credit(port.port));
    chip.SetCredit(port.port, chip.Credit(port.port) - messages);
  }
  // A packet or credits from the far end of a cut wire. False if the packet came without credit, or
  // more credits than packets that we sent: the peer cannot be trusted. By a wire that is mapped out
  // anything may come; a packet's credit is given back.
  bool HandleWirePacket(uint32_t wire, const DataPacket& packet, unsigned length);
  bool HandleWireCredit(uint32_t wire, uint32_t packets);

  // ---- all-fall-down (DN7) ----

  // Programs all chips so that messages fall evenly on `leaves`, those whose NIs capture them.
  // Until then they fall on all leaves.
  void ProgramFall(const std::vector<uint32_t>& leaves);
  // Puts a chip into all-fall-down mode, or back. In it an NI takes what falls although its FIFO may
  // be full: a chip next to leaves has `depth` more credits for each, to be given back at once
  // (HandleLeafCredit), so that no departure may be left when the mode ends.
  void SetAllFallDown(uint32_t chip, bool on);

  // ---- outputs ----

  // Runs chips until nothing can move, or the departure buffer is full, or a bounded number of
  // sweeps is done. Returns how many packets moved; more work may remain if it is not 0.
  unsigned Run();

  std::span<const Departure> departures() const { return departures_; }
  const DataPacket& departure_packet(size_t index) const {
    return *reinterpret_cast<const DataPacket*>(&departure_units_[index * slot_units_]);
  }
  void ClearDepartures() { departures_.clear(); }

  // Calls give(wire, packets) for each cut wire whose input buffer gave up slots since the last
  // call: credits for the far end.
  template <class Give>
  void TakeWireCredits(Give&& give) {
    for (const uint32_t wire : wires_with_credit_) {
      give(wire, std::exchange(wire_credit_due_[wire], 0));
    }
    wires_with_credit_.clear();
  }

  // Faults since they were last cleared; the first few of many (chips count all of them).
  std::span<const RegionFault> faults() const { return faults_; }
  void ClearFaults() { faults_.clear(); }

  bool Idle() const;  // no packet in any chip and none departing

  uint32_t first_leaf() const { return first_leaf_; }
  uint32_t last_leaf() const { return last_leaf_; }  // one past

  // ---- to look at it ----
  const FatTree& tree() const { return tree_; }
  uint32_t chips() const { return static_cast<uint32_t>(chips_.size()); }
  const RouterChip& chip(uint32_t local) const { return chips_[local]; }
  ChipId chip_id(uint32_t local) const { return chip_ids_[local]; }
  uint32_t wires() const { return static_cast<uint32_t>(wire_port_.size()); }  // of all parts
  // Packets that came by a cut wire, and that left by it; false if it has no end here, or one that is
  // mapped out, where nobody counts what is ignored.
  bool WireCounts(uint32_t wire, uint64_t* in, uint64_t* out) const;
  // Packets, credits and faults of what is mapped out.
  uint64_t ignored() const { return ignored_; }
  const LinkFaults* link_faults() const { return link_faults_.get(); }  // null: none
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kNowhere = 0xffffffffu;
  static constexpr unsigned kDeparturesMax = 512;
  static constexpr unsigned kSweepsMax = 8;
  static constexpr unsigned kFaultsMax = 16;

  struct Port {
    uint32_t chip;  // local index
    uint8_t port;
    bool mapped_out = false;  // a wire
  };
  // Where a chip's port leads: a local chip, a leaf or a cut wire.
  struct Neighbour {
    enum class Kind : uint8_t { kNothing, kChip, kOutside };
    uint32_t id = kNowhere;  // local chip, or Departure::port
    uint8_t port = 0;
    Kind kind = Kind::kNothing;
  };

  void Activate(uint32_t chip) { active_[chip / 64] |= uint64_t{1} << (chip % 64); }
  // A packet arrives where a chip's port leads.
  [[gnu::always_inline]] void Forward(const Neighbour& to, const DataPacket& packet,
                                      unsigned length) {
    if (to.kind == Neighbour::Kind::kChip) {
      RouterChip& next = chips_[to.id];
      CopyPacket(next.ReceiveSlot(to.port), &packet, length);
      next.HandlePacket(to.port);
      Activate(to.id);
    } else {
      CopyPacket(&departure_units_[departures_.size() * slot_units_], &packet, length);
      departures_.push_back({to.id, length});
    }
  }
  // Slots of an input buffer are free again: credits for the other end of its link.
  [[gnu::always_inline]] void GiveBack(const Neighbour& from, uint32_t slots) {
    if (from.kind == Neighbour::Kind::kChip) {
      chips_[from.id].HandleCredit(from.port, slots);
      Activate(from.id);
    } else if ((from.id & Departure::kWireBit) != 0) {
      GiveBackWire(from.id & ~Departure::kWireBit, slots);
    }
    // A leaf's NI sees the space itself (InjectSpace).
  }
  unsigned RunChip(uint32_t chip);
  void GiveBackWire(uint32_t wire, uint32_t slots) {
    if (wire_credit_due_[wire] == 0) wires_with_credit_.push_back(wire);
    wire_credit_due_[wire] += slots;
  }
  void TakeFault(uint32_t chip);

  // With faulty links (region_faults.cc). Links are numbered by chip and output port; then leaves.
  uint32_t LeafLink(uint32_t leaf) const {
    return static_cast<uint32_t>(chips_.size()) * kChipPorts + (leaf - first_leaf_);
  }
  void SetLinkFaults(const std::vector<LinkFault>& faults);
  unsigned RunFaultyChip(uint32_t chip);
  void InjectFaulty(uint32_t leaf);
  bool SendCopy(uint32_t chip, unsigned out);
  void InjectCopy(uint32_t leaf);

  const FatTree tree_;
  uint32_t depth_;
  uint32_t slot_units_;
  uint32_t words_max_;
  uint32_t first_leaf_ = 0;
  uint32_t last_leaf_ = 0;
  std::vector<PacketUnit> storage_;
  std::vector<RouterChip> chips_;             // by level from the leaves up
  std::vector<ChipId> chip_ids_;
  std::vector<uint8_t> no_fall_;              // child links that nothing may fall by
  std::vector<Neighbour> neighbours_;         // kChipPorts a chip
  std::vector<Port> leaf_port_;               // by leaf - first_leaf_
  std::vector<Port> wire_port_;               // by wire; chip kNowhere where not ours
  std::vector<uint64_t> active_;              // chips that may be able to move a packet
  std::vector<Departure> departures_;
  std::vector<PacketUnit> departure_units_;
  std::vector<uint32_t> wire_credit_due_;
  std::vector<uint32_t> wires_with_credit_;
  std::vector<RegionFault> faults_;
  std::vector<uint8_t> mapped_out_;           // by local chip: it has no other links
  uint64_t ignored_ = 0;
  std::unique_ptr<LinkFaults> link_faults_;   // null: all links are sound
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_DATA_REGION_H_
