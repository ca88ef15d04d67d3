#include "tests/campaign/run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "daemons/driver/node_memory.h"
#include "netif/shm/ni_page.h"
#include "netif/wire/data_packet.h"
#include "switches/topology/partition.h"
#include "tests/campaign/control_places.h"
#include "tests/campaign/cutter.h"
#include "tests/campaign/swapper.h"

namespace vcm5::campaign {
namespace {

// The positions of all FIFOs move as long as anything comes of what goes on.
uint64_t PositionsOf(const vcm5_ni_page& page) {
  uint64_t sum = 0;
  for (int half = 0; half < VCM5_HALVES; ++half) {
    sum += page.data[half].out_head + page.data[half].in_tail;
    sum += page.node_data.in_head[half] + page.node_data.out_tail[half];
  }
  for (unsigned fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    sum += page.control.out_head[fifo] + page.control.in_tail[fifo];
    sum += page.node_control.in_head[fifo] + page.node_control.out_tail[fifo];
  }
  return sum;
}

class Carrier {
 public:
  Carrier(const Scenario& scenario, bool corrupt)
      : scenario_(scenario),
        members_(AllMembers(scenario.options.partitions)),
        corrupt_(corrupt),
        cutter_(DeriveSeed(scenario.seed, 0), members_),
        swapper_(DeriveSeed(scenario.seed, 0)) {
    EmbeddedOptions options = scenario.options;
    options.should_stop = [this] { return ShouldStop(); };
    if (Falls(scenario.kind) || Swaps(scenario.kind) || corrupt) {
      options.on_switch = [this](uint32_t, bool entering) { OnSwitch(entering); };
    }
    machine_.emplace(std::move(options));
    for (size_t i = 0; i < scenario.programs.size(); ++i) {
      const auto nodes = static_cast<uint32_t>(scenario.options.partitions[i].size());
      programs_.push_back(MakeProgram(scenario.programs[i], DeriveSeed(scenario.seed, i + 1),
                                      scenario.options.spec, nodes));
    }
  }

  Observed Run() {
    std::vector<Embedded::NodeMain> mains;
    for (const auto& program : programs_) {
      mains.emplace_back([&program](vcm5_port& port) { program->Run(port); });
    }
    const std::vector<absl::Status> statuses = machine_->RunPartitions(mains);
    Report(statuses);
    CountStats();
    for (const auto& program : programs_) {
      Seen seen = program->Judge();
      if (seen.bad != 0) observed_.seen.AddBad(std::move(seen.first_bad));
      if (seen.early != 0) observed_.seen.AddEarly(std::move(seen.first_early));
      observed_.seen.missing += seen.missing;
      observed_.seen.twice += seen.twice;
    }
    CheckUnread();
    observed_.culprits = programs_[0]->culprits();
    observed_.cuts = cutter_.cuts() + swapper_.swaps();
    observed_.captured = cutter_.captured() + swapper_.captured();
    observed_.books_agree = cutter_.books_agree();
    observed_.told = AllTold(statuses);
    return std::move(observed_);
  }

 private:
  // Asked every 256 rounds of turns, or when nobody has anything to do.
  static constexpr uint64_t kIdleMax = 12;       // that nothing has moved
  static constexpr uint64_t kIdleCutsMax = 8;  // all-fall-downs, meanwhile
  static constexpr uint64_t kTurnsMax = 8000;    // no run here comes near to that

  bool ShouldStop() {
    ++observed_.turns;
    uint64_t positions = 0;
    for (const uint32_t node : members_) positions += PositionsOf(*machine_->page(node));
    const bool moved = std::exchange(positions_, positions) != positions;
    idle_ = moved || cutter_.cutting() ? 0 : idle_ + 1;
    if (moved) cuts_before_ = cutter_.cuts();
    const bool idle = idle_ > kIdleMax || cutter_.cuts() - cuts_before_ > kIdleCutsMax;
    observed_.endless = observed_.turns > kTurnsMax;
    observed_.stopped = observed_.endless || idle || !cutter_.failure().empty();
    return observed_.stopped;
  }

  void OnSwitch(bool entering) {
    if (Falls(scenario_.kind)) cutter_.OnSwitch(*machine_);
    if (Swaps(scenario_.kind)) swapper_.OnSwitch(*machine_);
    if (corrupt_ && entering) CorruptOne();
  }

  // A bit of the last word of the first message that lies in a FIFO.
  void CorruptOne() {
    const NiGeometry geometry = GeometryOf(scenario_.options.spec);
    for (const uint32_t node : members_) {
      const vcm5_ni_page* page = machine_->page(node);
      for (int half = 0; half < VCM5_HALVES && corrupt_; ++half) {
        const uint32_t head = page->node_data.in_head[half];
        if (page->data[half].in_tail == head) continue;
        uint8_t* slot = Slot(geometry, node, half, head);
        slot[12 + 4 * vcm5_packet_length(slot) - 1] ^= 0x10;
        corrupt_ = false;
      }
    }
  }
  uint8_t* Slot(const NiGeometry& geometry, uint32_t node, int half, uint32_t position) {
    return reinterpret_cast<uint8_t*>(machine_->page(node)) + geometry.Offsets().data_in[half] +
           size_t{position & (geometry.data_depth - 1)} * geometry.slot_bytes;
  }

  // What no program has read yet has been delivered, too.
  void CheckUnread() {
    const NiGeometry geometry = GeometryOf(scenario_.options.spec);
    for (const uint32_t node : members_) {
      const vcm5_ni_page* page = machine_->page(node);
      for (int half = 0; half < VCM5_HALVES; ++half) {
        for (uint32_t at = page->node_data.in_head[half]; at != page->data[half].in_tail; ++at) {
          DataPacket packet{};
          std::memcpy(&packet, Slot(geometry, node, half, at),
                      std::min<size_t>(geometry.slot_bytes, sizeof packet));
          if (!DataPacketCrcGood(packet)) observed_.seen.AddBad("a message that nobody has read");
        }
      }
    }
  }

  void Report(const std::vector<absl::Status>& statuses) {
    observed_.all_ended = true;
    for (const absl::Status& status : statuses) {
      if (status.ok()) continue;
      observed_.all_ended = false;
      if (absl::IsDeadlineExceeded(status)) continue;
      for (const auto line : absl::StrSplit(status.message(), '\n')) AddReport(std::string(line));
    }
    if (!cutter_.failure().empty()) AddReport(cutter_.failure());
    if (!swapper_.failure().empty()) AddReport(swapper_.failure());
    // As `vcm5 run --timeout` says.
    if (observed_.stopped) {
      for (std::string& line : machine_->Waiting()) AddReport(std::move(line));
    }
  }

  // What was lost on a link is in every partition's report.
  void AddReport(std::string line) {
    std::vector<std::string>& reports = observed_.reports;
    if (std::find(reports.begin(), reports.end(), line) == reports.end()) {
      reports.push_back(std::move(line));
    }
  }

  void CountStats() {
    Struck& struck = observed_.struck;
    uint64_t signalled = 0;
    for (const FabricStat& stat : machine_->Stats()) {
      const bool control = absl::StartsWith(stat.name, "control: ");
      const auto is = [&](const char* what) { return absl::EndsWith(stat.name, what); };
      if (is(": faults, bits flipped")) (control ? struck.control : struck.flipped) += stat.value;
      if (is(": faults, messages lost")) struck.lost += stat.value;
      if (is(": faults, messages duplicated")) struck.duplicated += stat.value;
      if (is(": messages delivered")) observed_.messages += stat.value;
      if (is(": errors signalled")) signalled += stat.value;
    }
    // Two that broadcast may happen to do so one after the other.
    if (scenario_.kind == Kind::kCollision) struck.rules = signalled == 0 ? 0 : 1;
    if (scenario_.kind == Kind::kMismatch) struck.rules = 1;
  }

  // CN8: "distributes them throughout the system".
  bool AllTold(const std::vector<absl::Status>& statuses) {
    for (size_t i = 0; i < statuses.size(); ++i) {
      const std::string said(statuses[i].message());
      const bool of_control = absl::StrContains(said, "the control network signals") ||
                              absl::StrContains(said, "from the control network");
      if (!of_control) continue;
      const std::vector<bool> cut_off = CutOff(scenario_.options.spec, scenario_.options.partitions, i);
      for (size_t self = 0; self < cut_off.size(); ++self) {
        const vcm5_ni_page* page = machine_->page(scenario_.options.partitions[i][self]);
        if (!cut_off[self] && page->control.error == 0 && page->control.hard_error == 0) return false;
      }
    }
    return true;
  }

  const Scenario& scenario_;
  const Partition members_;
  bool corrupt_;  // one, when there is one
  Cutter cutter_;
  Swapper swapper_;
  std::optional<Embedded> machine_;
  std::vector<std::unique_ptr<Program>> programs_;
  Observed observed_;
  uint64_t positions_ = 0;
  uint64_t idle_ = 0;
  uint64_t cuts_before_ = 0;  // it moved last
};

}  // namespace

Observed Carry(const Scenario& scenario, bool corrupt) { return Carrier(scenario, corrupt).Run(); }

}  // namespace vcm5::campaign
