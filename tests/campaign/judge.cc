#include "tests/campaign/judge.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemons/driver/data_reports.h"
#include "daemons/driver/node_ranges.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/link_names.h"
#include "tests/campaign/control_places.h"

namespace vcm5::campaign {
namespace {

using absl::EndsWith;
using absl::StartsWith;
using absl::StrContains;

// Reads the lines with which a run ended.
class Reader {
 public:
  Reader(const Scenario& scenario, const Observed& observed)
      : spec_(scenario.options.spec),
        observed_(observed),
        tree_(spec_.leaves(), spec_.parents_per_level),
        control_(PlacesOf(spec_, scenario.options.partitions)),
        host_(NodesOf(scenario.options.partitions.front(), spec_.nodes)) {
    for (const std::string& line : observed.reports) Read(line);
  }

  bool of_damage = false;     // of a data message
  bool of_balance = false;    // messages lost or duplicated
  bool of_control = false;    // a damaged control packet
  bool of_rule = false;
  bool placed = false;        // one at least names a place that is right
  uint64_t lost = 0;          // as reported
  uint64_t duplicated = 0;    // as reported
  std::string misplaced;      // a line that names another place
  std::string alarm;          // a line about something that did not happen
  uint64_t alarms = 0;

 private:
  void Read(const std::string& line) {
    const Struck& struck = observed_.struck;
    if (StrContains(line, "a message was damaged on the ")) {
      Count(line, struck.flipped != 0, &of_damage, IsDamage(line));
    } else if (StrContains(line, " lost on the link ")) {
      lost += CountIn(line);
      Count(line, struck.lost != 0, &of_balance, IsBalance(line, LinkFault::Kind::kLose));
    } else if (StrContains(line, " duplicated on the link ")) {
      duplicated += CountIn(line);
      Count(line, struck.duplicated != 0, &of_balance,
            IsBalance(line, LinkFault::Kind::kDuplicate));
    } else if (StrContains(line, " messages too many or too few: ")) {
      // All-fall-down knows that, not where.
      if (struck.lost + struck.duplicated == 0) return Alarm(line);
      of_balance = true;
    } else if (EndsWith(line, " is not flushed") || EndsWith(line, " is not reinitiated")) {
      if (struck.control == 0) Alarm(line);
    } else if (StrContains(line, "damaged packet")) {
      Count(line, struck.control != 0, &of_control, IsControl(line));
    } else if (StrContains(line, "broadcast collision") ||
               StrContains(line, "different operations met")) {
      Count(line, struck.rules != 0, &of_rule, NamesCulprits(line));
    } else if (StrContains(line, " dropped a message with an impossible route")) {
      // What a damaged header comes to.
      if (struck.flipped == 0) Alarm(line);
    } else if (!IsWaiting(line)) {
      Alarm(line);
    }
  }

  void Count(const std::string& line, bool happened, bool* found, bool right) {
    if (!happened) return Alarm(line);
    *found = true;
    if (right) {
      placed = true;
    } else if (misplaced.empty()) {
      misplaced = line;
    }
  }
  void Alarm(const std::string& line) {
    if (alarms++ == 0) alarm = line;
  }

  bool IsDamage(const std::string& line) const {
    return std::any_of(spec_.link_faults.begin(), spec_.link_faults.end(), [&](const LinkFault& fault) {
      return fault.kind == LinkFault::Kind::kFlip &&
             line == DamageOf(fault.from, tree_, fault.half).message;
    });
  }
  bool IsBalance(const std::string& line, LinkFault::Kind kind) const {
    return std::any_of(spec_.link_faults.begin(), spec_.link_faults.end(), [&](const LinkFault& fault) {
      return fault.kind == kind && StartsWith(line, HalfName(fault.half)) &&
             EndsWith(line, absl::StrCat(" on the ", LinkName(tree_, fault.from)));
    });
  }
  // "left data network: 3 messages lost on the link ...".
  static uint64_t CountIn(const std::string& line) {
    return std::strtoull(line.c_str() + line.find(": ") + 2, nullptr, 10);
  }
  bool IsControl(const std::string& line) const {
    const bool by_leaf = EndsWith(line, "damaged packet on the link from the control network");
    const std::vector<std::string>& places = by_leaf ? control_.leaves : control_.ends;
    return std::any_of(places.begin(), places.end(), [&](const std::string& place) {
      return by_leaf ? StartsWith(line, place) : EndsWith(line, place);
    });
  }
  bool NamesCulprits(const std::string& line) const {
    std::vector<std::string> of;
    for (const uint32_t culprit : observed_.culprits) of.push_back(NodeRanges({culprit}, host_));
    if (of.size() == 2) {
      const bool met = StrContains(line, absl::StrCat(" of ", of[0], ", and ")) &&
                       EndsWith(line, absl::StrCat(" of ", of[1]));
      // Or an NI had no room, which one source alone cannot bring about.
      return met || (StrContains(line, "broadcast collision") &&
                     (StrContains(line, ", at node ") || EndsWith(line, ", at host")));
    }
    return of.size() == 1 && (StrContains(line, absl::StrCat(" of ", of[0], ", and ")) ||
                              EndsWith(line, absl::StrCat(" of ", of[0])));
  }
  // Who waits for whom: true, and no accusation.
  static bool IsWaiting(const std::string& line) {
    static constexpr const char* kWaiting[] = {
        " to receive on the ", " data network has not taken", " messages wait in the router chips",
        " wait in a ", " waits in a ", " poll in vain", " polls in vain"};
    return std::any_of(std::begin(kWaiting), std::end(kWaiting),
                       [&](const char* what) { return StrContains(line, what); });
  }

  const MachineSpec& spec_;
  const Observed& observed_;
  const FatTree tree_;
  const ControlPlaces control_;
  const uint32_t host_;  // of partition 0, relative
};

}  // namespace

Verdict Judge(const Scenario& scenario, const Observed& observed) {
  const Struck& struck = observed.struck;
  const Reader reader(scenario, observed);
  Verdict verdict;
  verdict.detected = reader.of_damage || reader.of_balance || reader.of_control || reader.of_rule;
  verdict.localised = verdict.detected && reader.placed && reader.misplaced.empty();
  verdict.bad = observed.seen.bad;
  if (struck.duplicated == 0) verdict.bad += observed.seen.early;
  verdict.alarms = reader.alarms;
  verdict.hang = observed.endless || (observed.stopped && struck.all() == 0 && reader.alarms == 0);
  // Whoever ends a run at once does not wait for what is still to be counted.
  if (!reader.of_damage && !reader.of_control && !reader.of_rule) {
    verdict.lost = struck.lost - std::min(struck.lost, reader.lost);
    // A copy that still waits for room has not come yet.
    if (reader.duplicated == 0) verdict.doubled = struck.duplicated;
  }
  if (observed.all_ended && struck.lost == 0) verdict.lost += observed.seen.missing;
  if (struck.duplicated == 0) verdict.doubled += observed.seen.twice;

  const auto wrong = [&](bool is, const std::string& what) {
    if (is && verdict.why.empty()) verdict.why = what;
  };
  wrong(observed.seen.bad != 0, absl::StrCat("delivered: ", observed.seen.first_bad));
  wrong(observed.seen.early != 0 && struck.duplicated == 0,
        absl::StrCat("router-done too early: ", observed.seen.first_early));
  wrong(verdict.alarms != 0, absl::StrCat("false alarm: ", reader.alarm));
  wrong(verdict.hang, "hangs");
  wrong(struck.all() != 0 && !verdict.detected, "not detected");
  wrong(!reader.misplaced.empty(), absl::StrCat("wrong place: ", reader.misplaced));
  wrong(verdict.detected && !verdict.localised, "no place is named");
  wrong(verdict.lost != 0, absl::StrCat(verdict.lost, " messages lost unnoticed"));
  wrong(verdict.doubled != 0, absl::StrCat(verdict.doubled, " messages duplicated unnoticed"));
  wrong(reader.lost > struck.lost || reader.duplicated > struck.duplicated,
        "more messages reported lost or duplicated than were");
  wrong(struck.all() == 0 && !observed.all_ended, "did not end, though nothing was struck");
  wrong(!observed.books_agree, "all-fall-down: captured is not injected - ejected");
  wrong(!observed.told, "a node was not told of an error in the control network");
  return verdict;
}

}  // namespace vcm5::campaign
