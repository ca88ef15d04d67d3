#include "daemons/driver/control_agent.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/node_ranges.h"
#include "daemons/driver/node_wake.h"
#include "netif/ni/control_port.h"
#include "switches/control/control_network.h"

namespace vcm5 {
namespace {

constexpr const char* kFifoNames[VCM5_CONTROL_FIFOS] = {"combine", "broadcast", "router-done",
                                                        "synchronous OR"};

class ControlAgent final : public Agent {
 public:
  explicit ControlAgent(ControlAgentOptions options);

  unsigned DoWork() override;
  std::vector<FabricError> TakeErrors() override { return std::exchange(errors_, {}); }
  std::vector<FabricStat> Stats() const override;
  std::vector<std::string> Waiting() const override;

 private:
  static constexpr size_t kErrorsMax = 16;
  static constexpr unsigned kRoundsMax = 64;     // of network and ports in one DoWork
  static constexpr unsigned kResampleEvery = 64; // calls of DoWork without a bell

  struct Leaf {
    ControlPort port;
    vcm5_ni_page* page;
    bool queued = false;   // in to_poll_
    bool touched = false;  // in touched_
    bool held = false;     // in held_
    bool reported = false;
  };

  void Queue(uint32_t leaf) {
    if (!std::exchange(leaves_[leaf].queued, true)) to_poll_.push_back(leaf);
  }
  unsigned PollPorts(bool resample);
  unsigned RunNetwork();
  void Report(uint32_t leaf);
  void ReportEvents();
  void AddError(uint32_t leaf, std::string message) {
    if (errors_.size() < kErrorsMax) errors_.push_back({members_[leaf], std::move(message)});
  }

  const std::vector<uint32_t> members_;
  Doorbell doorbell_;
  ControlNetwork network_;
  std::vector<Leaf> leaves_;
  std::vector<uint32_t> to_poll_;
  std::vector<uint32_t> polling_;  // to_poll_ of the round being done
  std::vector<uint32_t> held_;     // leaves whose router-done waits for another count
  std::vector<uint32_t> touched_;  // leaves whose program may have been waiting for what came
  unsigned calls_without_bell_ = 0;
  std::vector<FabricError> errors_;
};

ControlNetworkOptions NetworkOptions(const MachineSpec& spec) {
  ControlNetworkOptions options;
  options.node.depth[kStreamCombine] = spec.combine_depth;
  return options;
}

ControlAgent::ControlAgent(ControlAgentOptions options)
    : members_(std::move(options.members)),
      doorbell_(options.doorbell),
      network_(BinaryTree::Balanced(static_cast<uint32_t>(options.pages.size())),
               NetworkOptions(options.spec)) {
  ControlPort::Options port;
  port.geometry = GeometryOf(options.spec);
  port.window = NetworkOptions(options.spec).node.depth;
  leaves_.reserve(options.pages.size());
  for (vcm5_ni_page* page : options.pages) {
    leaves_.push_back({ControlPort(page, port), page});
  }
  to_poll_.reserve(leaves_.size());
  polling_.reserve(leaves_.size());
  held_.reserve(leaves_.size());
  touched_.reserve(leaves_.size());
}

unsigned ControlAgent::DoWork() {
  const unsigned rung = doorbell_.Take(0, static_cast<uint32_t>(leaves_.size()),
                                       [&](uint32_t leaf) { Queue(leaf); });
  // A failed router-done counts again when a node has something new to say, and now and then.
  bool resample = rung != 0;
  if (!held_.empty() && !resample && ++calls_without_bell_ >= kResampleEvery) resample = true;
  if (resample) {
    calls_without_bell_ = 0;
    for (const uint32_t leaf : held_) {
      leaves_[leaf].held = false;
      Queue(leaf);
    }
    held_.clear();
  }
  unsigned work = rung;
  for (unsigned round = 0; round < kRoundsMax && !to_poll_.empty(); ++round) {
    work += PollPorts(resample && round == 0);
    work += RunNetwork();
  }
  if (!touched_.empty()) {
    NodeWake wake;
    for (const uint32_t leaf : touched_) {
      leaves_[leaf].touched = false;
      wake.IfWaiting(leaves_[leaf].page);
    }
    touched_.clear();
  }
  ReportEvents();
  return work;
}

unsigned ControlAgent::PollPorts(bool resample) {
  unsigned made = 0;
  polling_.swap(to_poll_);
  for (const uint32_t leaf : polling_) {
    leaves_[leaf].queued = false;
    std::array<ControlPacket, 64> packets;
    ControlPort& port = leaves_[leaf].port;
    const unsigned count = port.Poll(resample, packets);
    for (unsigned i = 0; i < count; ++i) {
      if (network_.input_space() == 0) RunNetwork();
      network_.HandlePacket(leaf, packets[i]);
    }
    made += count;
    if (port.WantsPoll()) Queue(leaf);
    if (__builtin_expect(port.failed(), 0)) Report(leaf);
    if (count != 0 && !std::exchange(leaves_[leaf].touched, true)) {
      touched_.push_back(leaf);  // its outgoing FIFO has room again
    }
  }
  polling_.clear();
  return made;
}

unsigned ControlAgent::RunNetwork() {
  unsigned handled = 0;
  while (network_.HasWork()) {
    network_.Run();
    for (const ControlDeparture& departure : network_.departures()) {
      Leaf& leaf = leaves_[departure.leaf];
      leaf.port.Handle(departure.packet);
      ++handled;
      if (leaf.port.TookDelivery() && !std::exchange(leaf.touched, true)) {
        touched_.push_back(departure.leaf);
      }
      if (leaf.port.WantsPoll()) Queue(departure.leaf);
      if (leaf.port.AwaitsResample() && !std::exchange(leaf.held, true)) {
        held_.push_back(departure.leaf);
      }
    }
    network_.ClearDepartures();
  }
  return handled;
}

void ControlAgent::Report(uint32_t leaf) {
  if (std::exchange(leaves_[leaf].reported, true)) return;
  AddError(leaf, absl::StrCat("overwrote its control-network FIFOs (",
                              ControlPortErrorName(leaves_[leaf].port.error()),
                              "); the port is closed"));
}

void ControlAgent::ReportEvents() {
  for (const ControlEvent& event : network_.events()) {
    // A fault met inside the tree concerns the subtree below; it is named by its first leaf.
    uint32_t leaf = event.id;
    while (!network_.tree().is_leaf(leaf)) leaf = network_.tree().child(leaf, BinaryTree::kLeft);
    AddError(leaf, absl::StrCat("the control network signals: ", ControlFaultName(event.fault),
                                network_.tree().is_leaf(event.id) ? "" : ", at the combining node above it"));
  }
  network_.ClearEvents();
}

std::vector<FabricStat> ControlAgent::Stats() const {
  constexpr const char* kOperations[kCombineOperations] = {
      "reductions", "forward scans", "backward scans", "router-done counts of messages received",
      "router-done counts of messages sent", "synchronous ORs"};
  const ControlNetworkStats network = network_.stats();
  std::vector<FabricStat> stats;
  for (unsigned i = 0; i < kCombineOperations; ++i) {
    stats.push_back({absl::StrCat("control: ", kOperations[i]), network.operations[i]});
  }
  stats.push_back({"control: user broadcasts", network.broadcasts[0]});
  stats.push_back({"control: hops between combining nodes", network.hops});
  stats.push_back({"control: stalls, sibling's word not there", network.sibling_waits});
  uint64_t window = 0;
  uint64_t unread = 0;
  for (const Leaf& leaf : leaves_) {
    for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
      window += leaf.port.stats(fifo).stalls_window;
      unread += leaf.port.stats(fifo).stalls_unread;
    }
  }
  stats.push_back({"control: stalls, window used up", window});
  stats.push_back({"control: stalls, results not read", unread});
  uint64_t faults = 0;
  for (const uint64_t count : network.faults) faults += count;
  stats.push_back({"control: errors signalled", faults});
  return stats;
}

std::vector<std::string> ControlAgent::Waiting() const {
  std::vector<std::string> lines;
  for (const unsigned fifo : {VCM5_FIFO_SYNC_OR, VCM5_FIFO_COMBINE, VCM5_FIFO_ROUTER_DONE}) {
    uint64_t most = 0;
    for (const Leaf& leaf : leaves_) most = std::max(most, leaf.port.stats(fifo).sent);
    std::vector<uint32_t> waiting;
    std::vector<uint32_t> missing;
    for (uint32_t i = 0; i < leaves_.size(); ++i) {
      const ControlFifoStats& stats = leaves_[i].port.stats(fifo);
      if (stats.sent > stats.delivered) waiting.push_back(i);
      if (stats.sent < most) missing.push_back(i);
    }
    if (waiting.empty()) continue;
    std::string line = absl::StrCat(NodeRanges(waiting), waiting.size() == 1 ? " waits" : " wait",
                                    " in a ", kFifoNames[fifo], " operation");
    if (!missing.empty()) {
      absl::StrAppend(&line, " for ", NodeRanges(missing), ", which ",
                      missing.size() == 1 ? "has" : "have", " not entered it");
    } else if (fifo == VCM5_FIFO_ROUTER_DONE) {
      absl::StrAppend(&line, ": not all messages sent have been received");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

std::unique_ptr<Agent> MakeControlAgent(ControlAgentOptions options) {
  return std::make_unique<ControlAgent>(std::move(options));
}

}  // namespace vcm5
