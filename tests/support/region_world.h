// A whole data-network half of one or more regions, with fake wires between them and fake leaves:
// the tests' driver. It keeps a ledger of every message, and stops the process when one is lost,
// duplicated, altered or delivered to the wrong leaf; unless the shape has link faults: then messages
// may get lost or come twice, and leaves refuse what is damaged, as NIs do. None is ever altered.
//
// Wires keep the order of what they carry, each for itself; which wire moves when is up to the
// test, so any delay and any order between wires can happen.
#ifndef VCM5_TESTS_SUPPORT_REGION_WORLD_H_
#define VCM5_TESTS_SUPPORT_REGION_WORLD_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/prng.h"
#include "switches/data/kirchhoff.h"
#include "switches/data/region.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {

struct WorldShape {
  uint32_t leaves = 16;
  std::vector<uint32_t> parents_per_level = {2, 2, 4};
  uint32_t parts = 1;
  uint32_t depth = 4;
  uint32_t words_max = 5;
  uint32_t leaf_credit = 8;
  uint64_t seed = 1;
  std::vector<uint8_t> closed;  // ports by ChipId (RegionOptions)
  std::vector<LinkFault> link_faults = {};

  static WorldShape Random(Prng& prng);
  std::string Describe() const;
};

class RegionWorld {
 public:
  explicit RegionWorld(const WorldShape& shape);

  const FatTree& tree() const { return tree_; }
  uint32_t parts() const { return static_cast<uint32_t>(regions_.size()); }
  uint32_t wires() const { return static_cast<uint32_t>(lanes_.size()); }  // directed
  Region& region(uint32_t part) { return *regions_[part]; }
  const RouterChip& chip(ChipId chip) const { return *chips_[chip]; }

  // A message that was captured by a leaf.
  struct Fallen {
    uint32_t leaf;
    DataPacket packet;
  };

  // ---- what can happen ----

  // A leaf sends a message; false if the network has no room for it.
  bool Send(uint32_t source, uint32_t destination, unsigned length, unsigned tag);
  // A part gets its turn. Returns how many packets moved.
  unsigned Run(uint32_t part);
  // A wire delivers what it carries, at most `frames` packets and credits. Returns how many.
  unsigned MoveWire(uint32_t wire, unsigned frames);
  // A leaf takes at most `messages` out of its incoming FIFO.
  unsigned Receive(uint32_t leaf, unsigned messages);

  // A chip goes into all-fall-down mode, or back.
  void SetAllFallDown(ChipId chip, bool on);
  // A message that fell to a leaf goes to its true destination, from there. False if the network has
  // no room for it.
  bool Resend(const Fallen& fallen);
  std::vector<Fallen> TakeFallen() { return std::exchange(fallen_, {}); }

  // Everybody receives and everything moves until nothing does, a bounded number of rounds.
  void Settle();

  // ---- what must hold ----

  // Kirchhoff for every chip, every link and the whole network; credits neither made nor lost; the
  // chips' own invariants.
  void Check() const;

  // What all ends of all links counted. The law holds whenever no wire carries a packet.
  Kirchhoff Law() const;
  // Messages that left over a link, by the count of its near end.
  uint64_t LeftOver(const LinkEnd& from) const;
  // Damaged packets found, by chips and leaves.
  uint64_t primary_errors() const;
  uint64_t secondary_errors() const;
  uint32_t refused() const { return refused_; }        // by leaves
  uint32_t repeated() const { return repeated_; }      // deliveries of what had been delivered

  uint32_t sent() const { return static_cast<uint32_t>(ledger_.size()); }
  uint32_t delivered() const { return delivered_; }
  uint32_t waiting_at(uint32_t leaf) const { return fifo_[leaf]; }
  bool Idle() const;
  // Packets that the buffers of all chips and all leaves can hold.
  uint64_t Capacity() const;
  // Messages that arrived after a later one of the same sender to the same receiver.
  uint32_t overtaken() const { return overtaken_; }

 private:
  struct Entry {
    uint32_t source;
    uint32_t destination;
    unsigned length;
    unsigned tag;
    bool delivered;
  };
  struct Frame {
    uint32_t credits;  // 0: a packet
    unsigned length;
    DataPacket packet;
  };
  // One direction of a wire between two parts.
  struct Lane {
    uint32_t wire;
    uint32_t to_part;
    std::deque<Frame> frames;
    uint32_t packets = 0;  // among the frames
    uint32_t credits = 0;  // the sum of them
  };

  void Capture(uint32_t leaf, const DataPacket& packet, unsigned length);
  void Arrive(uint32_t leaf, const DataPacket& packet, unsigned length);
  Lane& LaneFrom(uint32_t part, uint32_t wire);
  void CheckChips() const;
  void CheckLinks() const;

  WorldShape shape_;
  FatTree tree_;
  std::vector<CutWire> cut_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<const RouterChip*> chips_;  // by ChipId
  std::vector<Lane> lanes_;               // 2 * wire: to the parent's part, 2 * wire + 1: down
  std::vector<uint32_t> fifo_;            // messages in each leaf's incoming FIFO
  std::vector<Entry> ledger_;             // by message id
  std::vector<Fallen> fallen_;            // captured and not yet taken
  uint64_t captured_ = 0;                 // ever, and
  uint64_t resent_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> newest_;  // id delivered, by pair
  std::vector<uint32_t> injected_;  // by leaf
  std::vector<uint32_t> arrived_;   // by leaf
  uint32_t delivered_ = 0;          // different ones
  uint32_t overtaken_ = 0;
  uint32_t refused_ = 0;
  uint32_t repeated_ = 0;
  uint64_t leaf_primary_ = 0;
  uint64_t leaf_secondary_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_REGION_WORLD_H_
