// Combining nodes whose links take time: every link of the tree is a queue, and a test's random step
// moves some packets over one link each. For what the control network, which follows each packet at
// once, can only show at its leaves. Two leaves at least; its calls are those of ControlNetwork that
// ControlWorld makes.
#ifndef VCM5_TESTS_PROPERTY_CONTROL_LINKED_NETWORK_H_
#define VCM5_TESTS_PROPERTY_CONTROL_LINKED_NETWORK_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/base/prng.h"
#include "switches/control/combining_node.h"
#include "switches/control/control_network.h"
#include "switches/topology/binary_tree.h"

namespace vcm5 {

class LinkedNetwork {
 public:
  LinkedNetwork(BinaryTree tree, const ControlNetworkOptions& options)
      : tree_(std::move(tree)), up_(tree_.ids()), down_(tree_.ids()), random_(tree_.ids()) {
    VCM5_CHECK(tree_.leaves() >= 2);
    for (uint32_t i = 0; i < tree_.nodes(); ++i) nodes_.emplace_back(options.node);
  }

  const BinaryTree& tree() const { return tree_; }
  void HandlePacket(uint32_t leaf, const ControlPacket& packet) { up_[leaf].push_back(packet); }
  void FollowPacket(uint32_t leaf, const ControlPacket& packet) { HandlePacket(leaf, packet); }
  void Run() {
    for (uint32_t hops = random_.Below(2 * tree_.ids()); hops != 0; --hops) {
      Hop(random_.Below(tree_.ids()), random_.Chance(1, 2));
    }
  }
  // Lets every link carry a packet. False if none had one.
  bool Move() {
    bool moved = false;
    for (uint32_t id = 0; id < tree_.ids(); ++id) {
      moved |= Hop(id, true);
      moved |= Hop(id, false);
    }
    return moved;
  }
  bool HasWork() const { return false; }
  const std::vector<ControlDeparture>& departures() const { return departures_; }
  void ClearDepartures() { departures_.clear(); }
  const std::vector<ControlFault>& events() const { return events_; }
  void CheckInvariants() const {
    for (const CombiningNode& node : nodes_) node.CheckInvariants();
  }

 private:
  // The oldest packet of the link above `id`, up or down.
  bool Hop(uint32_t id, bool up) {
    std::deque<ControlPacket>& link = up ? up_[id] : down_[id];
    if (link.empty()) return false;
    const ControlPacket packet = link.front();
    link.pop_front();
    VCM5_CHECK(ControlPacketCrcGood(packet));
    up ? Up(id, packet.body) : Down(id, packet);
    return true;
  }
  void Up(uint32_t id, uint64_t body) {
    const uint32_t parent = tree_.parent(id);
    CombiningNode& node = nodes_[parent - tree_.leaves()];
    uint64_t up = 0;
    const CombiningNode::Up sends = node.HandleFromChild(tree_.side(id), body, &up);
    if (sends != CombiningNode::kNothing) SendUp(parent, up);
    if (sends == CombiningNode::kOneOrMore) {
      for (unsigned stream = 0; stream < kControlStreams; ++stream) {
        while (node.PollUp(stream, &up)) SendUp(parent, up);
      }
    }
    NoteFault(node);
  }
  // The root turns a packet round at once: there is no link.
  void SendUp(uint32_t id, uint64_t body) {
    if (id != tree_.root()) return up_[id].push_back(SealControlPacket(body));
    if (uint64_t down; TurnAtRoot(body, &down)) Down(id, SealControlPacket(down));
  }
  void Down(uint32_t id, const ControlPacket& packet) {
    if (tree_.is_leaf(id)) return departures_.push_back({id, packet});
    CombiningNode& node = nodes_[id - tree_.leaves()];
    CombiningNode::Down down;
    node.HandleFromParent(packet.body, &down);
    for (unsigned side = 0; side < 2; ++side) {
      if ((down.sides >> side & 1) == 0) continue;
      down_[tree_.child(id, side)].push_back(SealControlPacket(down.body[side]));
    }
    NoteFault(node);
  }
  void NoteFault(CombiningNode& node) {
    if (node.has_fault()) events_.push_back(node.TakeFault().kind);
  }

  BinaryTree tree_;
  std::vector<std::deque<ControlPacket>> up_;  // links above each id
  std::vector<std::deque<ControlPacket>> down_;
  std::vector<CombiningNode> nodes_;
  std::vector<ControlDeparture> departures_;
  std::vector<ControlFault> events_;
  Prng random_;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_PROPERTY_CONTROL_LINKED_NETWORK_H_
