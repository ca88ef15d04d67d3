#include "daemons/driver/data_agent.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/data_counts.h"
#include "daemons/driver/data_reports.h"
#include "daemons/driver/node_memory.h"
#include "daemons/driver/node_ranges.h"
#include "daemons/driver/node_wake.h"
#include "daemons/driver/part_links.h"
#include "netif/ni/data_port.h"
#include "runtime/base/check.h"
#include "runtime/base/prng.h"
#include "switches/data/region.h"
#include "switches/topology/concerned.h"
#include "switches/topology/health.h"
#include "switches/topology/route_table.h"

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
  std::vector<const RouteTable*> MakeRoutes();
  unsigned InjectFrom(Leaf& leaf, bool* more);
  unsigned InjectAll();
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
  std::vector<RouteTable> routes_;  // by partition; the last is that of leaves in none
  Region region_;
  CapturedMessages captured_;
  bool holds_injection_ = false;
  std::vector<LeafBells> bells_;
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

RegionOptions MakeRegionOptions(const DataAgentOptions& options) {
  RegionOptions region;
  region.part = options.part;
  region.parts = options.parts;
  region.depth = options.spec.link_depth;
  region.words_max = options.spec.words_max;
  region.leaf_credit = options.spec.data_fifo_depth;
  region.seed = DeriveSeed(options.spec.seed, static_cast<uint64_t>(options.half));
  region.ways = WaysOfChips(options.spec, options.half);
  for (const LinkFault& fault : options.spec.link_faults) {
    if (fault.half == options.half) region.link_faults.push_back(fault);
  }
  return region;
}

DataAgent::DataAgent(DataAgentOptions options)
    : half_(options.half),
      words_max_(options.spec.words_max),
      nodes_(options.spec.nodes),
      tree_(options.spec.leaves(), options.spec.parents_per_level),
      partitions_(std::move(options.partitions)),
      region_(tree_, MakeRegionOptions(options)),
      captured_(tree_, options.spec.link_depth, AllMembers(partitions_)),
      bells_(std::move(options.bells)),
      links_(tree_, options.part, options.parts, std::move(options.links), region_,
             [this](std::string what) {
               // It carries wires of many partitions.
               AddError({FabricError::kNetwork, std::move(what), LeavesOf(tree_)});
             }) {
  const NiGeometry geometry = GeometryOf(options.spec);
  const vcm5_ni_offsets offsets = geometry.Offsets();
  const std::vector<const RouteTable*> routes_of = MakeRoutes();
  leaf_slot_.assign(region_.last_leaf() - region_.first_leaf(), kUnattached);
  for (uint32_t leaf = region_.first_leaf(); leaf < region_.last_leaf(); ++leaf) {
    if (leaf >= options.pages.size() || options.pages[leaf] == nullptr) continue;
    DataPort::Options port;
    port.page = options.pages[leaf];
    port.half = half_;
    port.physical_self = leaf;
    port.slot_bytes = geometry.slot_bytes;
    port.depth = geometry.data_depth;
    port.words_max = options.spec.words_max;
    port.out_offset = offsets.data_out[half_];
    port.in_offset = offsets.data_in[half_];
    leaf_slot_[leaf - region_.first_leaf()] = static_cast<uint32_t>(leaves_.size());
    const int line =
        leaf < options.interrupt_lines.size() ? options.interrupt_lines[leaf] : -1;
    leaves_.push_back({DataPort(port), options.pages[leaf], routes_of[leaf], line});
  }
  for (const LeafBells& bells : bells_) {
    VCM5_CHECK(bells.first_leaf >= region_.first_leaf() &&
               bells.first_leaf + bells.leaves <= region_.last_leaf());
  }
  region_.ProgramFall(AllMembers(partitions_));
  pending_.reserve(leaves_.size());
  touched_.reserve(leaves_.size());
}

// Fills routes_; returns which of them each leaf has.
std::vector<const RouteTable*> DataAgent::MakeRoutes() {
  const uint32_t leaves = tree_.leaves();
  routes_.reserve(partitions_.size() + 1);
  for (const Partition& partition : partitions_) routes_.emplace_back(leaves, partition);
  routes_.emplace_back(leaves, Partition{});
  std::vector<const RouteTable*> of(leaves, &routes_.back());
  for (size_t i = 0; i < partitions_.size(); ++i) {
    for (const uint32_t leaf : partitions_[i]) of[leaf] = &routes_[i];
  }
  return of;
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
  size_t kept = 0;
  for (const uint32_t index : pending_) {
    Leaf& leaf = leaves_[index];
    bool more = false;
    work += InjectFrom(leaf, &more);
    leaf.pending = more;
    if (more) pending_[kept++] = index;
  }
  pending_.resize(kept);
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
    if (leaf->port.Deliver(packet, departure.length)) {
      ++delivered_;
      leaf->delivered = true;
    } else {
      ++dropped_;
      region_.HandleLeafCredit(departure.port, 1);
      ReportFault(*leaf);
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
  counts.injected = taken_;
  counts.resent = captured_.resent();
  counts.ejected = delivered_;
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
  AppendRegionStats(region_, half_, &stats);
  uint64_t primary = 0;
  uint64_t secondary = 0;
  for (const Leaf& leaf : leaves_) {
    primary += leaf.port.primary_errors();
    secondary += leaf.port.secondary_errors();
  }
  stats.push_back({half + ": CRC errors, primary", primary});  // added to those of the chips
  stats.push_back({half + ": CRC errors, secondary", secondary});
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
