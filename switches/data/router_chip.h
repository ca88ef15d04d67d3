// The router chip of the data network (paper section 3): a crossbar from its input ports to its
// output ports, four child links and up to four parent links, a buffer at each input port, flow
// control by credits on every link. DN1 to DN6.
//
// A packet enters by HandlePacket() within the credit of its link, waits in the input buffer in
// order of arrival, and leaves by Route() through the port that its routing instructions ask for:
// any parent port that has credit, chosen pseudorandomly, while it climbs; the one child port of
// its path when it descends. Route() also gives back the credits of the slots that it emptied.
//
// What the chip promises: a packet never goes from one parent port to another; nothing is lost,
// duplicated or altered but its routing instructions; an output port with credit is given to the
// inputs that wait for it in turn (fair: at most seven others are served before one that waits). If
// some parent links are closed to packets that climb to some heights and not to others, those that
// climb have turns together, whichever of the links they may take.
//
// In all-fall-down mode (DN7) every packet is marked and dealt to a child link, wherever it was
// going; and a packet that came marked is in either mode.
//
// Errors of the world: the chip that finds a wrong CRC signals a primary error, gives the packet the
// complement of the CRC that would be right for what it now says, and sends it on where that leads;
// a chip that finds the complement counts a secondary error and sends it on, too. What says nothing
// that the chip can follow (no such port, no such length) is dropped, and its slot is freed. Misuse
// by the driver fails a check.
#ifndef VCM5_SWITCHES_DATA_ROUTER_CHIP_H_
#define VCM5_SWITCHES_DATA_ROUTER_CHIP_H_

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "netif/wire/data_packet.h"
#include "runtime/base/check.h"
#include "switches/data/fall_down.h"
#include "switches/data/up_routing.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

struct RouterChipStats {
  uint64_t in[kChipPorts];   // messages that came in by each port (DN5)
  uint64_t out[kChipPorts];  // and that left by it
  uint64_t stalled_up;       // times the head of an input waited because no parent link was free
  uint64_t stalled_down;     // because its child link was not free
  uint64_t primary_errors;   // packets found damaged first by this chip (DN4)
  uint64_t secondary_errors; // and those that had been found before
  uint64_t misrouted;        // undamaged, but with instructions that this chip cannot follow
  uint64_t dropped;          // these, and the damaged ones that it cannot send on
  uint64_t began_to_fall;    // marked here as all-fall-down messages (DN7)
};

// What a chip found wrong with a packet and nobody before it.
enum class RouterChipFault : uint8_t {
  kNone,
  kPrimary,    // damaged on the link that it came by, or in the chip before
  kMisrouted,  // instructions that this chip cannot follow; dropped
};

class RouterChip {
 public:
  struct Options {
    uint8_t children_mask = 0;  // bit c: child port c has a link
    uint8_t parents = 0;        // parent ports 0 .. parents - 1 have links
    // Parent ports (bits 4 to 7) that a packet must not leave by, by how many levels it is yet to
    // climb (DN8, ChipWays).
    std::array<uint8_t, 16> closed = {};
    uint32_t depth = 16;        // packets of each input buffer; a power of two
    uint32_t words_max = 5;     // the machine's longest message
    uint64_t seed = 1;
  };

  // `storage` is StorageUnits(options) units that outlive the chip. All output ports start with
  // `depth` credits: the input buffer at the far end of the link. SetCredit changes that for links
  // that end elsewhere.
  RouterChip(const Options& options, PacketUnit* storage);
  static uint32_t StorageUnits(const Options& options) {
    return kChipPorts * options.depth * PacketUnits(options.words_max);
  }

  void SetCredit(unsigned port, uint32_t credits);

  // All-fall-down mode, entered and left at any time, and the order in which messages then fall.
  void SetAllFallDown(bool on);
  bool all_fall_down() const { return (special_ & kAllFallDown) != 0; }
  void ProgramFall(const FallProgram& program) { fall_down_.Program(program); }

  // ---- inputs ----

  // Free slots of an input buffer; a link's sender counts the same number as its credit.
  uint32_t Space(unsigned port) const { return depth_ - Waiting(port); }
  uint32_t Waiting(unsigned port) const {
    return static_cast<uint32_t>(in_tail_[port] - in_head_[port]);
  }

  // Where the next packet from a link is to be written; then HandlePacket(port) takes it over.
  DataPacket* ReceiveSlot(unsigned port) {
    VCM5_CHECK_MSG(Waiting(port) < depth_, "packet sent without credit");
    return Slot(port, in_tail_[port]);
  }
  void HandlePacket(unsigned port) {
    in_tail_[port]++;
    occupied_ |= static_cast<uint8_t>(1u << port);
  }
  void HandleCredit(unsigned port, uint32_t packets) {
    credit_[port] += packets;
    open_ |= static_cast<uint8_t>((credit_[port] != 0 ? 1u : 0u) << port);
  }
  uint32_t Credit(unsigned port) const { return credit_[port]; }
  // Spends a credit on a packet that does not come out of Route(); false if there is none.
  bool TakeCredit(unsigned port) {
    if (credit_[port] == 0) return false;
    if (--credit_[port] == 0) open_ &= static_cast<uint8_t>(~(1u << port));
    return true;
  }

  // ---- outputs ----

  // Moves every packet that can move. `sink(out_port, packet, length)` receives each; the packet
  // has its new routing instructions and is valid during the call. `freed(in_port, slots)` is then
  // called for every input port that gave up slots: credits for the other end of its link.
  // `sink` may be told to stop by Budget: at most `budget` packets move. Returns how many did.
  template <class Sink, class Freed>
  unsigned Route(unsigned budget, Sink&& sink, Freed&& freed);

  // There are packets in the input buffers.
  bool occupied() const { return occupied_ != 0; }

  // The first fault since the last call, and the port by which the packet came.
  bool has_fault() const { return fault_ != RouterChipFault::kNone; }
  RouterChipFault TakeFault(unsigned* port) {
    *port = fault_port_;
    return std::exchange(fault_, RouterChipFault::kNone);
  }

  RouterChipStats stats() const;
  void CheckInvariants() const;

  // The header and length of the packet at the head of an input buffer, for reports; false if none.
  bool Head(unsigned port, uint64_t* header) const;

 private:
  static constexpr unsigned kUpQueue = kChildren;  // waiting_ index of packets that climb
  static constexpr uint32_t kParents = 0xf0;       // ports
  static constexpr uint8_t kAllFallDown = 1;       // bits of special_
  static constexpr uint8_t kWaysDiffer = 2;        // by how far a packet climbs

  DataPacket* Slot(unsigned port, uint64_t position) const {
    return reinterpret_cast<DataPacket*>(
        slots_ + (port * depth_ + (static_cast<uint32_t>(position) & (depth_ - 1))) * slot_units_);
  }

  // Which input may take a grant of queue `queue` now: whose turn it is, or `in` if nobody waits.
  unsigned Turn(unsigned queue, unsigned in) const {
    const unsigned waiting = waiting_[queue];
    if (waiting == 0) return in;
    // First waiting input after the last one served, in circular order.
    const unsigned after = waiting & (0xfeu << last_served_[queue]);
    return static_cast<unsigned>(std::countr_zero(after != 0 ? after : waiting));
  }

  // Counts a damaged packet and marks it. False if not even its length makes sense.
  bool HandleDamage(DataPacket* packet, unsigned port);
  // What is rare happens to the head of input `in` here: its header as it is from now on, and the
  // parent ports that it may leave by.
  struct Special {
    uint64_t header;
    uint32_t parents;
  };
  Special TakeSpecial(unsigned in, DataPacket& packet);

  void NoteFault(RouterChipFault fault, unsigned port) {
    if (has_fault()) return;
    fault_ = fault;
    fault_port_ = static_cast<uint8_t>(port);
  }

  PacketUnit* slots_;
  uint32_t depth_;
  uint32_t slot_units_;
  uint32_t words_max_;
  uint8_t occupied_ = 0;   // inputs with a packet
  uint8_t open_ = 0;       // outputs with credit
  uint8_t linked_ = 0;     // outputs that have a link and are not closed
  uint8_t first_ = 0;      // input looked at first
  uint8_t special_ = 0;    // rare modes that the chip is in
  RouterChipFault fault_ = RouterChipFault::kNone;
  uint8_t fault_port_ = 0;
  uint8_t waiting_[kChildren + 1] = {};      // inputs whose head waits for a child port, or to climb
  uint8_t last_served_[kChildren + 1] = {};  // after having waited
  UpRouting up_routing_;
  uint32_t credit_[kChipPorts] = {};
  uint64_t in_head_[kChipPorts] = {};
  uint64_t in_tail_[kChipPorts] = {};
  uint64_t out_[kChipPorts] = {};
  uint64_t stalled_up_ = 0;
  uint64_t stalled_down_ = 0;
  uint64_t primary_errors_ = 0;
  uint64_t secondary_errors_ = 0;
  uint64_t misrouted_ = 0;
  uint64_t dropped_ = 0;
  uint64_t began_to_fall_ = 0;
  FallDown fall_down_;
  std::array<uint8_t, 16> closed_;
};

template <class Sink, class Freed>
unsigned RouterChip::Route(unsigned budget, Sink&& sink, Freed&& freed) {
  unsigned moved = 0;
  uint8_t freed_mask = 0;
  uint32_t freed_slots[kChipPorts];
  uint32_t ready = occupied_;  // inputs whose head may be able to move
  unsigned first = first_;
  first_ = (first_ + 1) % kChipPorts;
  while (ready != 0 && moved < budget) {
    // One packet of each ready input, in circular order from `first`.
    uint32_t pass = ready;
    while (pass != 0 && moved < budget) {
      const uint32_t later = pass & (~0u << first);
      const unsigned in = static_cast<unsigned>(std::countr_zero(later != 0 ? later : pass));
      const uint32_t bit = 1u << in;
      pass &= ~bit;

      DataPacket* packet = Slot(in, in_head_[in]);
      uint64_t header = packet->header;
      uint32_t parents = kParents;
      if (__builtin_expect(((header >> 63) | special_) != 0, 0)) {
        const Special special = TakeSpecial(in, *packet);
        header = special.header;
        parents = special.parents;
      }
      const bool climbs = data_header::Up(header) != 0;
      const unsigned queue = climbs ? kUpQueue : data_header::NextChild(header);
      const uint32_t candidates = climbs ? open_ & parents : open_ & (1u << queue);
      if (candidates == 0) {
        const uint32_t linked = climbs ? linked_ & parents : linked_ & (1u << queue);
        if (linked != 0 && !(climbs && in >= kChildren)) {
          waiting_[queue] |= static_cast<uint8_t>(bit);
          ready &= ~bit;
          (climbs ? stalled_up_ : stalled_down_)++;
          continue;
        }
      } else if (const unsigned turn = Turn(queue, in); turn != in) {
        waiting_[queue] |= static_cast<uint8_t>(bit);
        // Whose turn it is is ready, so this pass or the next moves on; or it waits for a parent
        // port that this one need not have, and then all that climb wait for it.
        if ((ready >> turn & 1) == 0) ready &= ~bit;
        continue;
      }
      const unsigned length = data_header::Length(header);
      const bool sound = length - 1 < words_max_ && DataPacketCrcGood(*packet);
      bool passes = candidates != 0 && !(climbs && in >= kChildren);
      if (__builtin_expect(!sound, 0)) {
        passes = HandleDamage(packet, in) && passes;
      } else if (!passes) {
        misrouted_++;
        NoteFault(RouterChipFault::kMisrouted, in);
      }
      if (__builtin_expect(!passes, 0)) {
        dropped_++;
      } else {
        unsigned out;
        uint64_t next;
        if (climbs) {
          out = up_routing_.Choose(candidates);
          next = data_header::AfterUp(header);
        } else {
          out = queue;
          next = data_header::AfterDown(header);
        }
        packet->header = next;
        packet->crc = CrcAfterHeaderChange(packet->crc, header, next);
        if (--credit_[out] == 0) open_ &= static_cast<uint8_t>(~(1u << out));
        out_[out]++;
        sink(out, *packet, length);
      }
      if ((waiting_[queue] & bit) != 0) {
        waiting_[queue] &= static_cast<uint8_t>(~bit);
        last_served_[queue] = static_cast<uint8_t>(in);
      }
      ++moved;
      in_head_[in]++;
      if (in_head_[in] == in_tail_[in]) {
        ready &= ~bit;
        occupied_ &= static_cast<uint8_t>(~bit);
      }
      if ((freed_mask & bit) == 0) {
        freed_mask |= static_cast<uint8_t>(bit);
        freed_slots[in] = 0;
      }
      freed_slots[in]++;
    }
  }
  while (freed_mask != 0) {
    const unsigned in = static_cast<unsigned>(std::countr_zero(freed_mask));
    freed_mask &= static_cast<uint8_t>(freed_mask - 1);
    freed(in, freed_slots[in]);
  }
  return moved;
}

}  // namespace vcm5

#endif  // VCM5_SWITCHES_DATA_ROUTER_CHIP_H_
