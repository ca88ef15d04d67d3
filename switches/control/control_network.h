// The control network of one partition (paper section 5): combining nodes wired to each other in
// memory as a binary tree over the leaves, which are the links to network interfaces. CN1.
//
// A pure machine (DESIGN.md section 3). A driver hands over a batch of packets from leaves
// (HandlePacket, within input_space()), then calls Run() and takes all departures() until HasWork()
// is false, then looks at events(), then goes on. Departures lie in a bounded buffer; Run() pauses
// when it is full. Packets to one leaf depart in the order in which the network sent them.
//
// Each packet is followed through the tree until it waits or has arrived everywhere, before the
// next (depth first): so a link's order is that of its packets, the memory for packets under way is
// a few entries a level of the tree, and what a packet touches is in the cache.
#ifndef VCM5_SWITCHES_CONTROL_CONTROL_NETWORK_H_
#define VCM5_SWITCHES_CONTROL_CONTROL_NETWORK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "netif/wire/control_packet.h"
#include "switches/control/combining_node.h"
#include "switches/control/control_link_faults.h"
#include "switches/topology/binary_tree.h"

namespace vcm5 {

struct ControlNetworkOptions {
  CombiningNodeOptions node;
  uint32_t inputs_max = 1024;      // packets that HandlePacket takes between two Run(); a power of two
  uint32_t departures_max = 1024;  // packets that Run() leaves before it pauses
  uint32_t events_max = 64;        // faults kept until they are taken; more are only counted
  std::vector<ControlLinkFault> link_faults = {};  // by leaf of this tree
};

struct ControlDeparture {
  uint32_t leaf;
  ControlPacket packet;
};

// Leaves that had a part in a fault, a whole subtree: from its first to its last.
struct ControlParty {
  uint32_t first;
  uint32_t last;
};

// A fault: what, on the link above or in the node `id` (of the tree), the packets that met, and who
// sent them. Both parties are the same where it took only one.
struct ControlEvent {
  ControlFault fault;
  uint32_t id;
  uint64_t left;
  uint64_t right;
  ControlParty party[2];
  bool down = false;  // kCrc: of a packet on its way down
};

struct ControlNetworkStats {
  uint64_t arrived[kControlTypes] = {};   // packets from leaves, by type
  uint64_t departed[kControlTypes] = {};  // packets to leaves, by type
  uint64_t hops = 0;                      // packets on links inside the tree
  uint64_t operations[kCombineOperations] = {};  // multiple-source messages turned at the root
  uint64_t broadcasts[kSingleSourceOperations] = {};  // single-source messages turned at the root
  uint64_t faults[kControlFaults] = {};
  uint64_t events_dropped = 0;
  uint64_t departure_stalls = 0;  // pauses for want of room for departures
  uint64_t sibling_waits = 0;     // words that waited for a sibling's
};

class ControlNetwork {
 public:
  explicit ControlNetwork(BinaryTree tree, const ControlNetworkOptions& options = {});
  ControlNetwork(const ControlNetwork&) = delete;
  ControlNetwork& operator=(const ControlNetwork&) = delete;

  // ---- inputs ----

  uint32_t input_space() const { return input_mask_ + 1 - (input_tail_ - input_head_); }
  // A packet from a leaf; input_space() > 0.
  void HandlePacket(uint32_t leaf, const ControlPacket& packet);

  // ---- outputs ----

  // Moves packets until none can move or the departures are full.
  void Run();
  bool HasWork() const { return work_count_ != 0 || input_head_ != input_tail_; }

  // Instead of HandlePacket(), when !HasWork() and there are no departures: follows the packet at
  // once, until it waits. Unless it did, HasWork() or there is a departure.
  void FollowPacket(uint32_t leaf, ControlPacket packet);

  std::span<const ControlDeparture> departures() const {
    return std::span(departures_).first(departure_count_);
  }
  void ClearDepartures() { departure_count_ = 0; }

  std::span<const ControlEvent> events() const { return events_; }
  void ClearEvents() { events_.clear(); }

  // ---- to look at it ----

  const BinaryTree& tree() const { return tree_; }
  const ControlLinkFaults* link_faults() const { return link_faults_.get(); }  // null: none
  const CombiningNode& node(uint32_t id) const { return nodes_[id - tree_.leaves()]; }
  ControlNetworkStats stats() const;
  // Packets on the link above `id`, which is not the root.
  struct LinkCount {
    uint64_t up;
    uint64_t down;
  };
  LinkCount link_count(uint32_t id) const;
  void CheckInvariants() const;

 private:
  struct Input {
    uint32_t leaf;
    ControlPacket packet;
  };
  // A packet under way, or a stream of a node that may have more to send up.
  struct Work {
    enum class Kind : uint32_t { kUp, kDown, kPump } kind;
    uint32_t id;  // lower end of the link; for kPump, the node
    ControlPacket packet;  // for kPump, body is the stream
  };

  void Push(Work::Kind kind, uint32_t id, const ControlPacket& packet);
  size_t Room() const { return departures_.size() - departure_count_; }  // for departures
  bool PopDown(uint32_t* id, ControlPacket* packet);
  void Arrive(uint32_t leaf, ControlPacket packet);
  void GoUp(uint32_t id, ControlPacket packet);
  void Pump(uint32_t id, unsigned stream);
  void Turn(ControlPacket packet);
  void TurnAlone(const ControlPacket& packet);
  void GoDown(uint32_t id, ControlPacket packet);
  void SetLinkFaults(const std::vector<ControlLinkFault>& faults);
  // The packet as the far end of the link above `id` gets it.
  ControlPacket Carry(bool down, uint32_t id, ControlPacket packet) {
    return __builtin_expect(link_faults_ == nullptr, 1) ? packet : CarryFaulty(2 * id + down, packet);
  }
  [[gnu::cold]] ControlPacket CarryFaulty(uint32_t link, ControlPacket packet);
  bool LinkGood(uint32_t id, const ControlPacket& packet, bool down = false);
  void Depart(uint32_t leaf, const ControlPacket& packet);
  void Raise(ControlFault fault, uint32_t id, uint64_t left, uint64_t right, bool down = false);
  ControlParty SubtreeBelow(uint32_t id) const;
  ControlParty SourceBelow(uint32_t id, unsigned broadcast_class) const;
  void TakeFault(uint32_t id);

  const BinaryTree tree_;
  const ControlNetworkOptions options_;
  std::unique_ptr<ControlLinkFaults> link_faults_;  // null: all links are sound
  std::vector<CombiningNode> nodes_;
  std::vector<Input> inputs_;
  uint32_t input_mask_;
  uint32_t input_head_ = 0;
  uint32_t input_tail_ = 0;
  std::vector<Work> work_;  // a stack; the last of the first work_count_ is next
  size_t work_count_ = 0;
  bool flushing_alone_ = false;  // of a partition of one leaf: it has not answered a flush
  std::vector<ControlDeparture> departures_;  // the first departure_count_
  size_t departure_count_ = 0;
  std::vector<ControlEvent> events_;
  std::vector<uint32_t> raised_;  // by id: bit mask of the faults that it has told all leaves
  ControlNetworkStats stats_;
};

}  // namespace vcm5

#endif  // VCM5_SWITCHES_CONTROL_CONTROL_NETWORK_H_
