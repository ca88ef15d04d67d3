// A partition's control network in one process, for tests: programs (the processor's side of NIs),
// pages, ports, links with packets in flight, and the network. Every step is a call, so a test
// chooses the schedule. With check(), invariants are checked after every step.
#ifndef VCM5_TESTS_PROPERTY_CONTROL_CONTROL_WORLD_H_
#define VCM5_TESTS_PROPERTY_CONTROL_CONTROL_WORLD_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "netif/ni/control_port.h"
#include "netif/port/ni_port.h"
#include "netif/port/supervisor_port.h"
#include "runtime/base/check.h"
#include "runtime/base/prng.h"
#include "switches/control/control_network.h"
#include "switches/topology/binary_tree.h"

namespace vcm5 {

inline NiGeometry SmallGeometry() {
  NiGeometry geometry;
  geometry.data_depth = 1;
  geometry.control_depth = {16, 16, 4, 4};
  return geometry;
}

// One node's mapped memory, with bytes behind it that nobody may touch.
class TestPage {
 public:
  TestPage(const NiGeometry& geometry, uint32_t self, uint32_t partition_size)
      : bytes_(geometry.Offsets().bytes),
        memory_(static_cast<uint8_t*>(std::aligned_alloc(4096, bytes_ + 4096))) {
    std::memset(memory_.get(), 0, bytes_);
    std::memset(memory_.get() + bytes_, kGuard, 4096);
    page()->magic = VCM5_NI_MAGIC;
    page()->version = VCM5_NI_VERSION;
    page()->self = self;
    page()->partition_size = page()->addresses = partition_size;
    page()->words_max = 5;
    page()->slot_bytes = geometry.slot_bytes;
    page()->data_depth = geometry.data_depth;
    for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
      page()->control_depth[fifo] = geometry.control_depth[fifo];
    }
    page()->bytes = bytes_;
  }
  vcm5_ni_page* page() { return reinterpret_cast<vcm5_ni_page*>(memory_.get()); }
  uint8_t* bytes() { return memory_.get(); }
  uint32_t size() const { return bytes_; }
  bool guard_intact() const {
    for (unsigned i = 0; i < 4096; ++i) {
      if (memory_.get()[bytes_ + i] != kGuard) return false;
    }
    return true;
  }

 private:
  static constexpr uint8_t kGuard = 0xa5;
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  uint32_t bytes_;
  std::unique_ptr<uint8_t, Free> memory_;
};

// One node's supervisor page, and both its sides.
class TestSupervisor {
 public:
  TestSupervisor(uint32_t self, uint32_t partition_size) : port_(Init(self, partition_size)) {
    const char* wrong = vcm5_supervisor_attach(&side_, &page_);
    VCM5_CHECK_MSG(wrong == nullptr, wrong);
  }
  vcm5_supervisor_page* page() { return &page_; }
  SupervisorPort* port() { return &port_; }
  vcm5_supervisor_port* side() { return &side_; }

 private:
  vcm5_supervisor_page* Init(uint32_t self, uint32_t partition_size) {
    vcm5_supervisor_page_init(&page_, self, partition_size);
    return &page_;
  }
  vcm5_supervisor_page page_ = {};
  SupervisorPort port_;
  vcm5_supervisor_port side_;
};

// `Network` is ControlNetwork, or LinkedNetwork.
template <class Network>
class ControlWorldOf {
 public:
  struct Leaf {
    std::unique_ptr<TestPage> memory;
    std::unique_ptr<TestSupervisor> supervisor;
    vcm5_port program;
    std::unique_ptr<ControlPort> port;
    std::deque<ControlPacket> up;    // on the link to the network
    std::deque<ControlPacket> down;  // on the link from it
  };

  ControlWorldOf(BinaryTree tree, const NiGeometry& geometry, ControlNetworkOptions options = {})
      : network_(std::move(tree), WithDepths(options, geometry)), leaves_(network_.tree().leaves()) {
    ControlPort::Options port_options;
    port_options.geometry = geometry;
    port_options.window = WithDepths(options, geometry).node.depth;
    for (uint32_t i = 0; i < leaves(); ++i) {
      Leaf& leaf = leaves_[i];
      leaf.memory = std::make_unique<TestPage>(geometry, i, leaves());
      leaf.supervisor = std::make_unique<TestSupervisor>(i, leaves());
      leaf.port =
          std::make_unique<ControlPort>(leaf.memory->page(), port_options, leaf.supervisor->port());
      const char* wrong =
          vcm5_port_attach(&leaf.program, leaf.memory->page(), leaf.memory->size());
      VCM5_CHECK_MSG(wrong == nullptr, wrong);
    }
  }

  uint32_t leaves() const { return static_cast<uint32_t>(leaves_.size()); }
  Leaf& leaf(uint32_t i) { return leaves_[i]; }
  vcm5_port* program(uint32_t i) { return &leaves_[i].program; }
  ControlPort& port(uint32_t i) { return *leaves_[i].port; }
  vcm5_supervisor_port* supervisor(uint32_t i) { return leaves_[i].supervisor->side(); }
  Network& network() { return network_; }
  void set_check(bool check) { check_ = check; }

  // ---- steps ----

  // The port looks at its program, with room for `max` packets.
  unsigned Poll(uint32_t i, bool resample = false, unsigned max = 16) {
    ControlPacket packets[16];
    unsigned count = 0;
    if (++polls_ % 2 != 0 && max >= 2) {
      // Every other time as an engine does that knows which FIFOs have something.
      for (const unsigned fifo : {VCM5_FIFO_SYNC_OR, VCM5_FIFO_COMBINE}) {
        count += port(i).PollWord(fifo, &packets[count]) ? 1 : 0;
      }
    }
    count += port(i).Poll(resample, std::span(packets).first(max).subspan(count));
    for (unsigned p = 0; p < count; ++p) leaves_[i].up.push_back(packets[p]);
    if (check_) CheckPort(i);
    return count;
  }
  // The oldest packet on the link up arrives, and the network runs.
  bool ArriveUp(uint32_t i) {
    if (leaves_[i].up.empty()) return false;
    if (++arrivals_ % 2 != 0) {
      network_.HandlePacket(i, leaves_[i].up.front());
    } else {
      network_.FollowPacket(i, leaves_[i].up.front());
    }
    leaves_[i].up.pop_front();
    RunNetwork();
    return true;
  }
  void RunNetwork() {
    do {
      network_.Run();
      if (check_) network_.CheckInvariants();
      for (const ControlDeparture& departure : network_.departures()) {
        leaves_[departure.leaf].down.push_back(departure.packet);
      }
      network_.ClearDepartures();
    } while (network_.HasWork());
    if (check_) network_.CheckInvariants();
  }
  // The oldest packet on the link down arrives.
  bool ArriveDown(uint32_t i) {
    if (leaves_[i].down.empty()) return false;
    port(i).Handle(leaves_[i].down.front());
    leaves_[i].down.pop_front();
    if (check_) CheckPort(i);
    return true;
  }

  // One step at a random leaf.
  void RandomStep(Prng& random) {
    const uint32_t i = random.Below(leaves());
    switch (random.Below(4)) {
      case 0:
        Poll(i, false, 1 + random.Below(4));
        break;
      case 1:
        if (!ArriveUp(i)) RunNetwork();
        break;
      default:
        ArriveDown(i);
        break;
    }
  }

  // Lets everything that is under way arrive, and the ports look until nothing changes.
  void Settle(bool resample = false) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (uint32_t i = 0; i < leaves(); ++i) {
        if (Poll(i, resample) != 0) moved = true;
      }
      resample = false;
      for (uint32_t i = 0; i < leaves(); ++i) {
        while (ArriveUp(i)) moved = true;
      }
      if constexpr (requires { network_.Move(); }) moved |= network_.Move();
      RunNetwork();
      for (uint32_t i = 0; i < leaves(); ++i) {
        while (ArriveDown(i)) moved = true;
        if (port(i).WantsPoll()) moved = true;
      }
    }
  }

 private:
  void CheckPort(uint32_t i) {
    port(i).CheckInvariants();
    leaves_[i].supervisor->port()->CheckInvariants();
  }
  static ControlNetworkOptions WithDepths(ControlNetworkOptions options,
                                          const NiGeometry& geometry) {
    options.node.depth[kStreamCombine] = geometry.control_depth[VCM5_FIFO_COMBINE];
    options.node.depth[kStreamRouterDone] = geometry.control_depth[VCM5_FIFO_ROUTER_DONE];
    options.node.depth[kStreamSyncOr] = geometry.control_depth[VCM5_FIFO_SYNC_OR];
    return options;
  }

  Network network_;
  std::vector<Leaf> leaves_;
  bool check_ = true;
  unsigned polls_ = 0;
  unsigned arrivals_ = 0;
};

using ControlWorld = ControlWorldOf<ControlNetwork>;

// A random shape over `leaves` leaves, from bushy to thin.
inline BinaryTree RandomTree(uint32_t leaves, Prng& random) {
  std::vector<BinaryTree::Children> nodes;
  // Joins neighbours at random until one is left.
  std::vector<uint32_t> row(leaves);
  for (uint32_t i = 0; i < leaves; ++i) row[i] = i;
  const bool thin = random.Chance(1, 4);
  while (row.size() > 1) {
    const uint32_t at = thin ? random.Below(2) * static_cast<uint32_t>(row.size() - 2)
                             : random.Below(static_cast<uint32_t>(row.size() - 1));
    nodes.push_back({row[at], row[at + 1]});
    row[at] = leaves + static_cast<uint32_t>(nodes.size()) - 1;
    row.erase(row.begin() + at + 1);
  }
  absl::StatusOr<BinaryTree> tree = BinaryTree::FromNodes(nodes);
  VCM5_CHECK(tree.ok());
  return *std::move(tree);
}

}  // namespace vcm5

#endif  // VCM5_TESTS_PROPERTY_CONTROL_CONTROL_WORLD_H_
