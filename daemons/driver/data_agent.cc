#include "daemons/driver/data_agent.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/arm_loads.h"
#include "daemons/driver/data_agent_setup.h"
#include "daemons/driver/data_counts.h"
#include "daemons/driver/data_reports.h"
#include "daemons/driver/node_ranges.h"
#include "daemons/driver/node_wake.h"
#include "daemons/driver/part_links.h"
#include "daemons/driver/partition_routes.h"
#include "daemons/driver/system_messages.h"
#include "netif/ni/data_port.h"
#include "runtime/base/check.h"
#include "switches/data/region.h"
#include "switches/topology/concerned.h"

namespace vcm5 {
namespace {

constexpr size_t kErrorsMax = 16;

class DataAgent final : public DataNetworkAgent {
 public:
  explicit DataAgent(DataAgentOptions options);

  unsigned DoWork() override;
  std::vector<FabricError> TakeErrors() override { return std::exchange(errors_, {}); }
  std::vector<FabricStat> Stats() const override;
  std::vector<std::string> Waiting() const override;
  std::vector<FabricError> Unbalanced() const override;
  std::vector<WireEnd> WireEnds() const override { return CountWireEnds(region_, half_); }

  uint32_t chips() const override { return region_.chips(); }
  void SetAllFallDown(uint32_t chip, bool on) override {
    if (!on) captured_.PayCredit(region_);
    region_.SetAllFallDown(chip, on);
  }
  void HoldInjection(bool hold) override {
    holds_injection_ = hold;
    captured_.StopSending(hold, region_);
  }
  std::vector<CapturedMessage> TakeCaptured() override { return captured_.Take(region_); }
  void Resend(std::vector<CapturedMessage> messages) override {
    captured_.Resend(std::move(messages));
  }
  DataCounts Counts() const override;
  bool SaveNi(uint32_t physical, SavedNi* saved) override {
    return LeafOf(physical)->port.Save(saved);
  }
  void RestoreNi(uint32_t physical, const SavedNi& saved) override;

 private:
  // A leaf of this part and the NI behind it.
  struct Leaf {
    DataPort port;
    vcm5_ni_page* page;
    const RouteTable* routes;  // to the members of its partition
    int interrupt_line;
    bool pending = false;    // in pending_: the outgoing FIFO may hold messages
    bool touched = false;    // in touched_: positions to publish
    bool delivered = false;  // since the last publication
  };

  static constexpr uint32_t kUnattached = 0xffffffffu;

  Leaf* LeafOf(uint32_t physical) {
    const uint32_t slot = leaf_slot_[physical - region_.first_leaf()];
    return slot == kUnattached ? nullptr : &leaves_[slot];
  }
  DataPort* PortOf(uint32_t physical) {
    if (physical < region_.first_leaf() || physical >= region_.last_leaf()) return nullptr;
    Leaf* leaf = LeafOf(physical);
    return leaf == nullptr ? nullptr : &leaf->port;
  }
  void Touch(Leaf& leaf) {
    if (std::exchange(leaf.touched, true)) return;
    touched_.push_back(static_cast<uint32_t>(&leaf - leaves_.data()));
  }
  unsigned InjectFrom(Leaf& leaf, bool* more);
  unsigned InjectAll();
  unsigned InjectSystem() {
    return system_.InjectInto(
        region_, [this](uint32_t index) -> DataPort& { return leaves_[index].port; }, &errors_);
  }
  void RefreshCredit(Leaf& leaf) {
    if (const uint32_t freed = leaf.port.RefreshCredit(); freed != 0) {
      region_.HandleLeafCredit(leaf.port.self(), freed);
    }
    if (leaf.port.failed()) ReportFault(leaf);
  }
  void Depart();
  void Publish();
  void ReportFault(Leaf& leaf);
  void AddError(FabricError error) {
    if (errors_.size() < kErrorsMax) errors_.push_back(std::move(error));
  }
  void ReportChips();

  const int half_;
  const uint32_t words_max_;
  const uint32_t nodes_;  // of the machine
  const FatTree tree_;
  const std::vector<Partition> partitions_;
  const PartitionRoutes routes_;
  Region region_;
  CapturedMessages captured_;
  SystemMessages system_;           // numbers are indices into leaves_
  bool system_goes_first_ = false;  // in turns, so that neither it nor users wait for ever
  bool holds_injection_ = false;
  std::vector<LeafBells> bells_;
  std::optional<Doorbell> supervisor_doorbell_;
  std::vector<Leaf> leaves_;
  std::vector<uint32_t> leaf_slot_;   // index into leaves_ by physical address - first leaf
  std::vector<uint32_t> pending_;
  std::vector<uint32_t> touched_;
  PartLinks links_;
  std::vector<FabricError> errors_;
  uint64_t taken_ = 0;
  uint64_t delivered_ = 0;
  uint64_t dropped_ = 0;  // corrupted, or to a closed port, or to a leaf where nobody is
  uint64_t delivery_waits_ = 0;
};

DataAgent::DataAgent(DataAgentOptions options)
    : half_(options.half),
      words_max_(options.spec.words_max),
      nodes_(options.spec.nodes),
      tree_(options.spec.leaves(), options.spec.parents_per_level),
      partitions_(std::move(options.partitions)),
      routes_(tree_.leaves(), partitions_),
      region_(tree_, RegionOptionsOf(options)),
      captured_(tree_, options.spec.link_depth, AllMembers(partitions_)),
      system_(half_, words_max_, tree_.leaves(), AllMembers(partitions_)),
      bells_(std::move(options.bells)),
      supervisor_doorbell_(options.supervisor_doorbell),
      links_(tree_, options.part, options.parts, std::move(options.links), region_,
             [this](std::string what) {
               // It carries wires of many partitions.
               AddError({FabricError::kNetwork, std::move(what), kEverywhere});
             }) {
  leaf_slot_.assign(region_.last_leaf() - region_.first_leaf(), kUnattached);
  for (uint32_t leaf = region_.first_leaf(); leaf < region_.last_leaf(); ++leaf) {
    if (leaf >= options.pages.size() || options.pages[leaf] == nullptr) continue;
    leaf_slot_[leaf - region_.first_leaf()] = static_cast<uint32_t>(leaves_.size());
    const int line =
        leaf < options.interrupt_lines.size() ? options.interrupt_lines[leaf] : -1;
    leaves_.push_back({DataPort(PortOptionsOf(options, leaf)), options.pages[leaf],
                       &routes_.of(leaf), line});
    system_.Add(leaf, leaf < options.supervisor_pages.size() ? options.supervisor_pages[leaf]
                                                             : nullptr);
  }
  for (const LeafBells& bells : bells_) {
    VCM5_CHECK(bells.first_leaf >= region_.first_leaf() &&
               bells.first_leaf + bells.leaves <= region_.last_leaf());
  }
  region_.ProgramFall(AllMembers(partitions_));
  pending_.reserve(leaves_.size());
  touched_.reserve(leaves_.size());
}

unsigned DataAgent::DoWork() {
  unsigned work = 0;
  for (LeafBells& bells : bells_) {
    const uint32_t first = bells.first_bell;
    bells.doorbell.Take(first, first + bells.leaves, [&](uint32_t bell) {
      Leaf* leaf = LeafOf(bells.first_leaf + (bell - first));
      if (leaf == nullptr) return;
      RefreshCredit(*leaf);
      if (std::exchange(leaf->pending, true)) return;
      pending_.push_back(static_cast<uint32_t>(leaf - leaves_.data()));
    });
  }
  if (supervisor_doorbell_.has_value() && supervisor_doorbell_->TakeSupervisors(half_)) {
    for (uint32_t index = 0; index < leaves_.size(); ++index) system_.Look(index, &errors_);
  }
  if (__builtin_expect(!holds_injection_, 1)) work += InjectAll();

  work += links_.Receive();
  for (;;) {
    work += region_.Run();
    if (region_.departures().empty()) break;
    Depart();
  }
  work += links_.SendCredits();
  Publish();
  if (__builtin_expect(!region_.faults().empty(), 0)) ReportChips();
  links_.Flush();
  return work;
}

// What the nodes have pushed, after what is to be sent again.
unsigned DataAgent::InjectAll() {
  unsigned work = 0;
  if (__builtin_expect(captured_.any_to_resend(), 0)) {
    work += captured_.ResendInto(region_, [this](uint32_t at) { return PortOf(at); }, &errors_);
  }
  bool system_waits = __builtin_expect(system_.any_to_send(), 0);
  if (system_waits && (system_goes_first_ = !system_goes_first_)) {
    work += InjectSystem();
    system_waits = false;
  }
  size_t kept = 0;
  for (const uint32_t index : pending_) {
    Leaf& leaf = leaves_[index];
    bool more = false;
    work += InjectFrom(leaf, &more);
    leaf.pending = more;
    if (more) pending_[kept++] = index;
  }
  pending_.resize(kept);
  if (__builtin_expect(system_waits, 0)) work += InjectSystem();
  return work;
}

unsigned DataAgent::InjectFrom(Leaf& leaf, bool* more) {
  const uint32_t physical = leaf.port.self();
  const uint32_t pushed = leaf.port.Look();
  const uint32_t space = region_.InjectSpace(physical);
  const uint32_t count = std::min(pushed, space);
  uint32_t dropped = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (leaf.port.Take(*leaf.routes, region_.InjectSlot(physical))) {
      region_.Inject(physical);
    } else {
      ++dropped;
    }
  }
  if (dropped != 0) ReportFault(leaf);
  if (leaf.port.failed()) RefreshCredit(leaf);
  if (count != 0) Touch(leaf);
  taken_ += count - dropped;
  *more = pushed > count;
  return count;
}

void DataAgent::Depart() {
  const auto departures = region_.departures();
  for (size_t i = 0; i < departures.size(); ++i) {
    const Departure& departure = departures[i];
    const DataPacket& packet = region_.departure_packet(i);
    if ((departure.port & Departure::kWireBit) != 0) {
      links_.SendPacket(departure.port & ~Departure::kWireBit, packet, departure.length);
      continue;
    }
    Leaf* leaf = LeafOf(departure.port);
    if (leaf == nullptr) {
      // Nobody is attached there; only a message to a leaf outside every partition comes here.
      ++dropped_;
      region_.HandleLeafCredit(departure.port, 1);
      continue;
    }
    if (__builtin_expect(data_header::Falls(packet.header), 0)) {
      if (!captured_.Capture(leaf->port, packet, departure.length, region_)) {
        ++dropped_;
        ReportFault(*leaf);
      }
      continue;
    }
    const Arrival arrival = leaf->port.Deliver(packet, departure.length);
    if (__builtin_expect(arrival == Arrival::kDelivered, 1)) {
      ++delivered_;
      leaf->delivered = true;
    } else {
      region_.HandleLeafCredit(departure.port, 1);
      if (arrival == Arrival::kForSupervisor) {
        system_.Deliver(static_cast<uint32_t>(leaf - leaves_.data()), packet, &errors_);
      } else {
        ++dropped_;
        ReportFault(*leaf);
      }
    }
    Touch(*leaf);
  }
  region_.ClearDepartures();
}

void DataAgent::Publish() {
  if (touched_.empty()) return;
  for (const uint32_t index : touched_) {
    Leaf& leaf = leaves_[index];
    leaf.touched = false;
    leaf.port.PublishTaken();
    if (!std::exchange(leaf.delivered, false)) continue;
    const uint32_t interrupts = leaf.port.PublishDelivered();
    if (interrupts != 0 && leaf.interrupt_line >= 0) {
      // A full pipe means that the node has not yet taken the interrupts before: it will.
      const char byte = 1;
      [[maybe_unused]] const ssize_t written = write(leaf.interrupt_line, &byte, 1);
    }
    RefreshCredit(leaf);
    if (leaf.port.Undelivered() > 0) ++delivery_waits_;
  }
  NodeWake wake;
  for (const uint32_t index : touched_) wake.IfWaiting(leaves_[index].page);
  touched_.clear();
}

// A message that was damaged will not be delivered: the job must not go on as if nothing was.
void DataAgent::ReportChips() {
  for (const RegionFault& fault : region_.faults()) {
    AddError(ErrorOf(fault, tree_, half_));
  }
  region_.ClearFaults();
}

void DataAgent::ReportFault(Leaf& leaf) {
  const DataPortReport report = leaf.port.TakeReport();
  if (report.fault == DataPortFault::kNone) return;
  if (report.fault == DataPortFault::kPrimary) {
    AddError(DamageOf(tree_.leaf_peer(leaf.port.self()), tree_, half_));
    return;
  }
  AddError({leaf.port.self(), DescribeFault(report, half_, leaf.routes->size(), words_max_)});
}

DataCounts DataAgent::Counts() const {
  DataCounts counts = CountsOf(region_, half_);
  const SystemMessages::Counts system = system_.counts();
  counts.injected = taken_ + system.taken;
  counts.resent = captured_.resent();
  counts.ejected = delivered_ + system.delivered + system.dropped;
  counts.captured = captured_.captured();
  counts.lost = dropped_ + counts.lost_in_chips;
  return counts;
}

void DataAgent::RestoreNi(uint32_t physical, const SavedNi& saved) {
  Leaf& leaf = *LeafOf(physical);
  RefreshCredit(leaf);
  region_.HandleLeafCredit(physical, leaf.port.Undelivered());
  leaf.port.Restore(saved);
  region_.TakeLeafCredit(physical, leaf.port.Undelivered());
  if (!std::exchange(leaf.pending, true)) {
    pending_.push_back(static_cast<uint32_t>(&leaf - leaves_.data()));
  }
}

std::vector<FabricStat> DataAgent::Stats() const {
  const std::string half = HalfName(half_);
  std::vector<FabricStat> stats;
  stats.push_back({half + ": messages injected", taken_});
  stats.push_back({half + ": messages delivered", delivered_});
  stats.push_back({half + ": messages that nobody could take", dropped_});
  stats.push_back({half + ": deliveries that found earlier ones unread", delivery_waits_});
  system_.AppendStats(&stats);
  AppendRegionStats(region_, half_, &stats);
  AppendArmLoads(region_, half_, &stats);
  uint64_t primary = 0;
  uint64_t secondary = 0;
  uint64_t copied = 0;
  for (const Leaf& leaf : leaves_) {
    copied += vcm5_load64_relaxed(&leaf.page->node_data.copied_directly);
    primary += leaf.port.primary_errors();
    secondary += leaf.port.secondary_errors();
  }
  stats.push_back({half + ": CRC errors, primary", primary});  // added to those of the chips
  stats.push_back({half + ": CRC errors, secondary", secondary});
  // Offered and answered in messages of both halves; told once.
  if (half_ == VCM5_LEFT) stats.push_back({"bytes copied from memory to memory", copied});
  return stats;
}

std::vector<FabricError> DataAgent::Unbalanced() const {
  Kirchhoff law(tree_);
  law.SetChips(region_);
  for (const Leaf& leaf : leaves_) {
    law.SetEnd(LeafEnd(leaf.port.self()), {leaf.port.arrived(), leaf.port.injected()});
  }
  return DescribeLosses(law, half_, tree_, partitions_);
}

std::vector<std::string> DataAgent::Waiting() const {
  WaitingReport report(partitions_, nodes_, half_);
  for (const Leaf& leaf : leaves_) report.Add(leaf.port, *leaf.page);
  std::vector<std::string> lines = report.Lines();
  const uint64_t held = MessagesHeld(region_);
  if (held != 0) {
    lines.push_back(absl::StrCat(held, " messages wait in the router chips of the ",
                                 HalfName(half_), " data network"));
  }
  for (FabricError& error : Unbalanced()) lines.push_back(std::move(error.message));
  return lines;
}

}  // namespace

std::unique_ptr<DataNetworkAgent> MakeDataAgent(DataAgentOptions options) {
  return std::make_unique<DataAgent>(std::move(options));
}

}  // namespace vcm5
