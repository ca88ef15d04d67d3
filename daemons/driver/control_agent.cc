#include "daemons/driver/control_agent.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/control_reports.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/node_ranges.h"
#include "daemons/driver/node_wake.h"
#include "netif/ni/control_port.h"
#include "runtime/base/check.h"
#include "switches/control/control_network.h"

namespace vcm5 {
namespace {

constexpr const char* kFifoNames[VCM5_CONTROL_FIFOS] = {"combine", "broadcast", "router-done",
                                                        "synchronous OR"};

class ControlAgent final : public ControlNetworkAgent {
 public:
  explicit ControlAgent(ControlAgentOptions options);

  unsigned DoWork() override;
  std::vector<FabricError> TakeErrors() override { return std::exchange(errors_, {}); }
  std::vector<FabricStat> Stats() const override;
  std::vector<std::string> Waiting() const override;
  bool Flushed() const override {
    return std::all_of(ports_.begin(), ports_.end(),
                       [](const ControlPort& port) { return port.flushed(); });
  }
  bool SaveNi(uint32_t member, SavedNi* saved) const override { return ports_[member].Save(saved); }
  void RestoreNi(uint32_t member, const SavedNi& saved) override {
    leaves_[member].reported = false;  // that was another user
    signalled_.clear();
    ports_[member].Restore(saved);
    NoteNeeds(member);
  }

 private:
  static constexpr size_t kErrorsMax = 16;
  static constexpr unsigned kRoundsMax = 64;  // of polling again in one DoWork
  static constexpr unsigned kLookEvery = 64;  // busy calls of DoWork between two looks unasked
  static constexpr unsigned kRouterDone = 1u << VCM5_FIFO_ROUTER_DONE;

  // Beside the port of a leaf.
  struct Leaf {
    vcm5_ni_page* page;
    uint8_t queued = 0;     // FIFOs for which it is in to_poll_
    bool touched = false;   // in touched_
    bool held = false;      // in held_
    bool awaiting = false;  // in awaiting_
    bool reported = false;
    int interrupt_line = -1;
  };

  void Queue(uint32_t leaf, unsigned fifos) {
    if (leaves_[leaf].queued == 0) to_poll_.push_back(leaf);
    leaves_[leaf].queued |= static_cast<uint8_t>(fifos);
  }
  void Touch(uint32_t leaf) {
    if (!std::exchange(leaves_[leaf].touched, true)) touched_.push_back(leaf);
  }
  unsigned Poll(uint32_t leaf, unsigned fifos, bool resample);
  void Send(uint32_t leaf, const ControlPacket& packet) {
    network_.FollowPacket(leaf, packet);
    if (__builtin_expect(network_.HasWork() || !network_.departures().empty(), 0)) Deliver();
  }
  unsigned LookUnasked();
  unsigned Resample();
  void Deliver();
  void NoteNeeds(uint32_t leaf);
  void Interrupt(uint32_t leaf) const;
  void Report(uint32_t leaf);
  void ReportEvents();
  void AddError(uint32_t leaf, std::string message) {
    if (errors_.size() < kErrorsMax) errors_.push_back({members_[leaf], std::move(message)});
  }

  const Partition members_;
  const uint32_t host_;  // relative address, if there is one
  Doorbell doorbell_;
  const std::string label_;
  ControlNetwork network_;
  std::vector<SupervisorPort> supervisors_;
  std::vector<ControlPort> ports_;
  std::vector<Leaf> leaves_;
  std::vector<uint32_t> to_poll_;   // leaves to look at again, since a packet came for them
  std::vector<uint32_t> polling_;   // to_poll_ of the round being done
  std::vector<uint32_t> held_;      // leaves whose router-done waits for another count
  std::vector<uint32_t> awaiting_;  // leaves whose program may read without ringing
  std::vector<uint32_t> touched_;   // leaves whose program may have been waiting for what came
  unsigned calls_without_look_ = 0;
  std::string signalled_;  // the first error that the network signalled
  std::vector<FabricError> errors_;
};

ControlNetworkOptions NetworkOptions(const MachineSpec& spec, const Partition& members) {
  ControlNetworkOptions options;
  options.node.depth[kStreamCombine] = spec.combine_depth;
  for (ControlLinkFault fault : spec.control_link_faults) {
    const auto member = std::find(members.begin(), members.end(), fault.leaf);
    if (member == members.end()) continue;
    fault.leaf = static_cast<uint32_t>(member - members.begin());
    options.link_faults.push_back(fault);
  }
  return options;
}

ControlAgent::ControlAgent(ControlAgentOptions options)
    : members_(std::move(options.members)),
      host_(NodesOf(members_, options.spec.nodes)),
      doorbell_(options.doorbell),
      label_(std::move(options.label)),
      network_(std::move(options.tree), NetworkOptions(options.spec, members_)) {
  VCM5_CHECK(network_.tree().leaves() == options.pages.size());
  ControlPort::Options port;
  port.geometry = GeometryOf(options.spec);
  port.window[kStreamCombine] = options.spec.combine_depth;
  ports_.reserve(options.pages.size());
  supervisors_.reserve(options.supervisor_pages.size());
  for (vcm5_supervisor_page* page : options.supervisor_pages) supervisors_.emplace_back(page);
  for (size_t i = 0; i < options.pages.size(); ++i) {
    ports_.emplace_back(options.pages[i], port,
                        i < supervisors_.size() ? &supervisors_[i] : nullptr);
    leaves_.push_back({options.pages[i]});
    if (i < options.interrupt_lines.size()) {
      leaves_.back().interrupt_line = options.interrupt_lines[i];
    }
  }
  for (auto* list : {&to_poll_, &polling_, &held_, &awaiting_, &touched_}) {
    list->reserve(leaves_.size());
  }
}

unsigned ControlAgent::DoWork() {
  unsigned made = 0;
  bool resample = false;  // a node with a router-done under way has something new to say
  const auto leaves = static_cast<uint32_t>(leaves_.size());
  const unsigned rung = doorbell_.Take(0, vcm5_control_bells(leaves), [&](uint32_t bell) {
    const uint32_t leaf = vcm5_control_bell_node(bell);
    const unsigned fifo = vcm5_control_bell_fifo(bell);
    if (leaf >= leaves) return;  // a scribbled bell that nobody owns
    resample |= fifo == VCM5_FIFO_ROUTER_DONE;
    if (ControlPacket packet; ports_[leaf].PollWord(fifo, &packet)) {
      Send(leaf, packet);
      Touch(leaf);
      ++made;
    } else {
      made += Poll(leaf, 1u << fifo, false);
    }
  });
  const bool look = rung == 0 || ++calls_without_look_ == kLookEvery;
  if (__builtin_expect(look, 0)) {
    calls_without_look_ = 0;
    made += LookUnasked();
  }
  if (__builtin_expect((resample || look) && !held_.empty(), 0)) made += Resample();
  for (unsigned round = 0; round < kRoundsMax && !to_poll_.empty(); ++round) {
    polling_.swap(to_poll_);
    for (const uint32_t leaf : polling_) {
      made += Poll(leaf, std::exchange(leaves_[leaf].queued, uint8_t{0}), false);
    }
    polling_.clear();
  }
  if (!touched_.empty()) {
    NodeWake wake;
    for (const uint32_t leaf : touched_) {
      leaves_[leaf].touched = false;
      wake.IfWaiting(leaves_[leaf].page);
    }
    touched_.clear();
  }
  if (__builtin_expect(!network_.events().empty(), 0)) ReportEvents();
  return rung + made;
}

// Looks at some FIFOs of a leaf and takes what they make through the network. Returns packets made.
unsigned ControlAgent::Poll(uint32_t leaf, unsigned fifos, bool resample) {
  std::array<ControlPacket, 64> packets;
  ControlPort& port = ports_[leaf];
  const unsigned count = port.Poll(fifos, resample, packets);
  if (__builtin_expect(port.failed(), 0)) Report(leaf);
  if (__builtin_expect(port.TookNeeds(), 0)) NoteNeeds(leaf);
  if (count == 0) return 0;
  Touch(leaf);  // its outgoing FIFO has room again
  for (unsigned i = 0; i < count; ++i) Send(leaf, packets[i]);
  return count;
}

// Gives the ports what the network has for them, until it has no more.
void ControlAgent::Deliver() {
  do {
    network_.Run();
    for (const ControlDeparture& departure : network_.departures()) {
      ControlPort& port = ports_[departure.leaf];
      port.Handle(departure.packet);
      if (port.TookDelivery()) Touch(departure.leaf);
      if (__builtin_expect(port.TookNeeds(), 0)) NoteNeeds(departure.leaf);
    }
    network_.ClearDepartures();
  } while (network_.HasWork());
}

// Remembers when a port wants to be polled besides when its node rings.
void ControlAgent::NoteNeeds(uint32_t leaf) {
  ControlPort& port = ports_[leaf];
  if (__builtin_expect(port.TookInterrupt(), 0)) Interrupt(leaf);
  if (__builtin_expect(port.link_fault() != ControlFault::kNone, 0)) Report(leaf);
  if (__builtin_expect(port.supervisor_error() != ControlPortError::kNone, 0)) Report(leaf);
  if (port.WantsPoll()) Queue(leaf, port.wanted_fifos());
  if (port.AwaitsResample() && !std::exchange(leaves_[leaf].held, true)) held_.push_back(leaf);
  if (port.AwaitsProgram() && !std::exchange(leaves_[leaf].awaiting, true)) {
    awaiting_.push_back(leaf);
  }
}

// Looks whether programs have read what their ports wait for.
unsigned ControlAgent::LookUnasked() {
  unsigned made = 0;
  polling_.swap(awaiting_);
  for (const uint32_t leaf : polling_) {
    leaves_[leaf].awaiting = false;
    made += Poll(leaf, ports_[leaf].awaited_fifos(), false);
    NoteNeeds(leaf);
  }
  polling_.clear();
  return made;
}

// Lets the leaves whose router-done found messages under way count again.
unsigned ControlAgent::Resample() {
  unsigned made = 0;
  polling_.swap(held_);
  for (const uint32_t leaf : polling_) {
    leaves_[leaf].held = false;
    made += Poll(leaf, kRouterDone, true);
  }
  polling_.clear();
  return made;
}

void ControlAgent::Interrupt(uint32_t leaf) const {
  if (leaves_[leaf].interrupt_line < 0) return;
  // A full pipe means that the node has not yet taken the interrupts before: it will.
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(leaves_[leaf].interrupt_line, &byte, 1);
}

void ControlAgent::Report(uint32_t leaf) {
  const ControlPort& port = ports_[leaf];
  if (std::exchange(leaves_[leaf].reported, true)) return;
  if (port.error() == ControlPortError::kPrivileged) {
    AddError(leaf, absl::StrCat("tried a privileged operation (",
                                ControlPortErrorName(port.error()), "); the port is closed"));
  } else if (port.failed()) {
    AddError(leaf, absl::StrCat("overwrote its control-network FIFOs (",
                                ControlPortErrorName(port.error()), "); the port is closed"));
  } else if (port.supervisor_error() != ControlPortError::kNone) {
    AddError(leaf, absl::StrCat("its supervisor overwrote its FIFOs (",
                                ControlPortErrorName(port.supervisor_error()), ")"));
  } else {
    AddError(leaf, absl::StrCat("its network interface has a hard error: ",
                                ControlFaultName(port.link_fault()),
                                " on the link from the control network"));
  }
}

void ControlAgent::ReportEvents() {
  for (const ControlEvent& event : network_.events()) {
    std::string line = DescribeControlEvent(event, network_.tree(), host_);
    if (signalled_.empty()) signalled_ = line;
    AddError(event.party[0].first, std::move(line));
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
  constexpr const char* kBroadcasts[kBroadcastClasses] = {"user", "supervisor", "interrupt",
                                                          "utility"};
  for (unsigned i = 0; i < kBroadcastClasses; ++i) {
    stats.push_back(
        {absl::StrCat("control: ", kBroadcasts[i], " broadcasts"), network.broadcasts[i]});
  }
  stats.push_back({"control: hops between combining nodes", network.hops});
  stats.push_back({"control: stalls, sibling's word not there", network.sibling_waits});
  uint64_t window = 0;
  uint64_t unread = 0;
  for (const ControlPort& port : ports_) {
    for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
      window += port.stats(fifo).stalls_window;
      unread += port.stats(fifo).stalls_unread;
    }
  }
  stats.push_back({"control: stalls, window used up", window});
  stats.push_back({"control: stalls, results not read", unread});
  uint64_t faults = 0;
  for (const uint64_t count : network.faults) faults += count;
  stats.push_back({"control: errors signalled", faults});
  if (const ControlLinkFaults* link_faults = network_.link_faults()) {
    stats.push_back({"control: faults, bits flipped", link_faults->flipped()});
  }
  return stats;
}

std::vector<std::string> ControlAgent::Waiting() const {
  std::vector<std::string> lines;
  std::vector<bool> in_operation(leaves_.size());
  // What is broken will not complete, whoever waits for it below.
  if (!signalled_.empty()) lines.push_back(signalled_);
  for (const unsigned fifo : {VCM5_FIFO_SYNC_OR, VCM5_FIFO_COMBINE, VCM5_FIFO_ROUTER_DONE}) {
    uint64_t most = 0;
    for (const ControlPort& port : ports_) most = std::max(most, port.stats(fifo).sent);
    std::vector<uint32_t> waiting;
    std::vector<uint32_t> missing;
    for (uint32_t i = 0; i < leaves_.size(); ++i) {
      const ControlFifoStats& stats = ports_[i].stats(fifo);
      if (stats.sent > stats.delivered) waiting.push_back(i);
      if (stats.sent < most) missing.push_back(i);
    }
    if (waiting.empty()) continue;
    std::string line = absl::StrCat(label_, NodeRanges(waiting, host_), waiting.size() == 1 ? " waits" : " wait",
                                    " in a ", kFifoNames[fifo], " operation");
    if (!missing.empty()) {
      absl::StrAppend(&line, " for ", NodeRanges(missing, host_), ", which ",
                      missing.size() == 1 ? "has" : "have", " not entered it");
    } else if (fifo == VCM5_FIFO_ROUTER_DONE) {
      absl::StrAppend(&line, ": not all messages sent have been received");
    }
    lines.push_back(std::move(line));
    for (const uint32_t i : waiting) in_operation[i] = true;
  }
  std::vector<uint32_t> idle;
  for (uint32_t i = 0; i < leaves_.size(); ++i) {
    const uint32_t waits = vcm5_load_relaxed(&leaves_[i].page->node_control.waiting);
    if (waits != NodeWake::kAwake && !in_operation[i]) idle.push_back(i);
  }
  if (!idle.empty()) {
    lines.push_back(absl::StrCat(label_, NodeRanges(idle, host_), idle.size() == 1 ? " polls" : " poll",
                                 " in vain, for messages or for room to send, and ",
                                 idle.size() == 1 ? "is" : "are",
                                 " in no control-network operation"));
  }
  return lines;
}

}  // namespace

std::unique_ptr<ControlNetworkAgent> MakeControlAgent(ControlAgentOptions options) {
  return std::make_unique<ControlAgent>(std::move(options));
}

}  // namespace vcm5
