#include "tests/campaign/scenario.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/config/fault_spec.h"
#include "netif/shm/ni_page.h"
#include "netif/wire/data_packet.h"
#include "runtime/base/prng.h"
#include "switches/topology/control_settings.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/health.h"
#include "switches/topology/partition.h"
#include "tests/support/broken_parts.h"
#include "tests/support/control_oracle.h"

namespace vcm5::campaign {
namespace {

const char* ProgramName(ProgramKind program) {
  static constexpr const char* kNames[] = {"traffic", "permutation", "all to one", "collectives",
                                           "bulk",    "collision",   "mismatch",   "endless"};
  return kNames[static_cast<unsigned>(program)];
}

// Small ones mostly: what matters does not need many nodes, and a run has to be short.
uint32_t DrawNodes(Prng& prng) {
  if (prng.Chance(1, 12)) return 65 + prng.Below(236);
  return prng.Chance(1, 3) ? 2 + prng.Below(63) : 2 + prng.Below(19);
}

MachineSpec DrawMachine(Prng& prng) {
  static const std::vector<uint32_t> kParents[] = {{2, 2, 4}, {2, 2, 4}, {1}, {4}, {3, 1}, {4, 2}};
  MachineSpec spec;
  spec.nodes = DrawNodes(prng);
  spec.control_processors = prng.Below(3);
  spec.parents_per_level = kParents[prng.Below(std::size(kParents))];
  spec.words_max = prng.Chance(1, 3) ? kCm5eWordsMax : kCm5WordsMax;
  spec.data_fifo_depth = 1u << prng.Below(8);
  spec.link_depth = 1u << prng.Below(5);
  spec.combine_depth = 8u << prng.Below(4);
  spec.broadcast_depth = 32u << prng.Below(4);
  spec.seed = prng.Next();
  if (!prng.Chance(1, 8)) return spec;
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  const std::vector<BrokenPart> of_control = ControlOracle(spec).parts();
  for (uint32_t count = 1 + prng.Below(2); count != 0; --count) {
    spec.broken.push_back(prng.Chance(1, 2)
                              ? RandomPart(tree, prng)
                              : of_control[prng.Below(static_cast<uint32_t>(of_control.size()))]);
  }
  if (UsableNodes(spec).size() < 2) spec.broken.clear();
  return spec;
}

// One of all usable nodes, or two of some of them; each of two nodes at least, and perhaps a host.
std::vector<Partition> DrawPartitions(const MachineSpec& spec, Prng& prng) {
  const std::vector<uint32_t> usable = UsableNodes(spec);
  const auto nodes = static_cast<uint32_t>(usable.size());
  std::vector<Partition> partitions = {usable};
  if (nodes >= 8 && prng.Chance(1, 5)) {
    const std::vector<uint32_t> sizes = {2 + prng.Below(nodes / 4), 2 + prng.Below(nodes / 4)};
    if (auto placed = PlacePartitions(sizes, usable)) partitions = *std::move(placed);
  }
  // What is broken may leave the control network too few channels for them.
  if (!SetControlSwitches(spec, partitions).ok()) partitions = {usable};
  const std::vector<Partition> nodes_only = partitions;
  std::vector<bool> wanted;
  for (size_t i = 0; i < partitions.size(); ++i) wanted.push_back(prng.Chance(1, 2));
  const bool placed = PlaceHosts(UsableControlProcessors(spec), wanted, &partitions);
  return placed && SetControlSwitches(spec, partitions).ok() ? partitions : nodes_only;
}

// A link on some way up from a node, or its other direction: where messages are, as long as it leads
// to a chip below which the whole partition is not yet.
LinkEnd DrawLink(const FatTree& tree, const std::vector<Partition>& partitions, Prng& prng) {
  const Partition& members = partitions[prng.Below(static_cast<uint32_t>(partitions.size()))];
  const Subtree subtree = SubtreeOf(members);
  LinkEnd from = LeafEnd(members[prng.Below(static_cast<uint32_t>(members.size()))]);
  uint32_t leaves = 4;  // below the chip that it leads to
  while (leaves < subtree.size && prng.Chance(1, 2)) {
    const ChipId chip = FarEnd(tree, from).id;
    from = ChipEnd(chip, kChildren + prng.Below(tree.parents(tree.place(chip).level)));
    leaves *= 4;
  }
  return prng.Chance(1, 2) ? from : FarEnd(tree, from);
}

struct When {
  uint64_t first;
  uint64_t every;
};
When DrawWhen(Prng& prng) {
  return {1 + prng.Below(1u << prng.Below(6)), prng.Chance(1, 4) ? 1 + prng.Below(20) : 0};
}

class FaultDrawer {
 public:
  FaultDrawer(Scenario* scenario, Prng& prng)
      : spec_(scenario->options.spec),
        partitions_(scenario->options.partitions),
        tree_(spec_.leaves(), spec_.parents_per_level),
        prng_(prng) {}

  // A fault on a link that has none.
  void AddData(LinkFault::Kind kind, uint32_t bits = 1) {
    LinkFault fault;
    do {
      fault.half = static_cast<int>(prng_.Below(VCM5_HALVES));
      fault.from = DrawLink(tree_, partitions_, prng_);
    } while (std::any_of(spec_.link_faults.begin(), spec_.link_faults.end(), [&](const auto& other) {
      return other.half == fault.half && other.from == fault.from;
    }));
    fault.kind = kind;
    const When when = DrawWhen(prng_);
    fault.first = when.first;
    fault.every = when.every;
    if (kind != LinkFault::Kind::kFlip) {
      spec_.link_faults.push_back(fault);
      return;
    }
    // Several bits are of those that every packet has, so that none is counted round to another.
    const uint32_t whole = 8 * (12 + 4 * spec_.words_max);
    for (const uint32_t bit : DrawBits(bits, bits == 1 ? whole : kBitsMin)) {
      fault.bit = bit;
      spec_.link_faults.push_back(fault);
    }
  }
  void AddAnyData() {
    const auto kind = static_cast<LinkFault::Kind>(prng_.Below(3));
    AddData(kind, kind == LinkFault::Kind::kFlip ? 1 + prng_.Below(3) : 1);
  }
  void AddControl() {
    const Partition& members = partitions_[prng_.Below(static_cast<uint32_t>(partitions_.size()))];
    ControlLinkFault fault;
    fault.leaf = members[prng_.Below(static_cast<uint32_t>(members.size()))];
    fault.down = prng_.Chance(1, 2);
    uint32_t height = 1;
    while ((uint64_t{1} << height) < members.size()) ++height;
    fault.height = 1 + prng_.Below(height);
    const When when = DrawWhen(prng_);
    fault.first = when.first;
    fault.every = when.every;
    // The CRC finds any three.
    for (const uint32_t bit : DrawBits(1 + prng_.Below(3), ControlLinkFault::kBits)) {
      fault.bit = bit;
      spec_.control_link_faults.push_back(fault);
    }
  }

 private:
  static constexpr uint32_t kBitsMin = 8 * (12 + 4);

  std::vector<uint32_t> DrawBits(uint32_t count, uint32_t of) {
    std::vector<uint32_t> bits;
    while (bits.size() < count) {
      const uint32_t bit = prng_.Below(of);
      if (std::find(bits.begin(), bits.end(), bit) == bits.end()) bits.push_back(bit);
    }
    return bits;
  }

  MachineSpec& spec_;
  const std::vector<Partition>& partitions_;
  const FatTree tree_;
  Prng& prng_;
};

void DrawFaults(Scenario* scenario, Prng& prng) {
  FaultDrawer drawer(scenario, prng);
  switch (scenario->kind) {
    case Kind::kNothing:
    case Kind::kFall:
    case Kind::kCollision:
    case Kind::kMismatch:
    case Kind::kSwap:
      return;
    case Kind::kFlip:
    case Kind::kFallFlip:
      return drawer.AddData(LinkFault::Kind::kFlip);
    case Kind::kFlips:
      return drawer.AddData(LinkFault::Kind::kFlip, 2 + prng.Below(3));
    case Kind::kLose:
    case Kind::kFallLose:
      return drawer.AddData(LinkFault::Kind::kLose);
    case Kind::kDuplicate:
    case Kind::kFallDuplicate:
      return drawer.AddData(LinkFault::Kind::kDuplicate);
    case Kind::kMixture:
      for (uint32_t count = 2 + prng.Below(3); count != 0; --count) drawer.AddAnyData();
      return;
    case Kind::kControlFlip:
    case Kind::kSwapControlFlip:
      return drawer.AddControl();
  }
}

ProgramKind DrawProgram(Kind kind, Prng& prng) {
  if (kind == Kind::kCollision) return ProgramKind::kCollision;
  if (kind == Kind::kMismatch) return ProgramKind::kMismatch;
  if (FlipsControl(kind) && prng.Chance(3, 4)) return ProgramKind::kCollectives;
  static constexpr ProgramKind kData[] = {ProgramKind::kTraffic, ProgramKind::kPermutation,
                                          ProgramKind::kAllToOne, ProgramKind::kBulk};
  // One that sends no messages proves nothing about their faults.
  if ((kind == Kind::kNothing || kind == Kind::kSwap) && prng.Chance(1, 5)) return ProgramKind::kCollectives;
  return kData[prng.Below(std::size(kData))];
}

}  // namespace

const char* KindName(Kind kind) {
  static constexpr const char* kNames[kKinds] = {
      "no fault",
      "no fault, all-fall-down",
      "flip a bit",
      "flip 2 to 4 bits",
      "lose",
      "duplicate",
      "several of these",
      "all-fall-down, flip",
      "all-fall-down, lose",
      "all-fall-down, duplicate",
      "control: flip bits",
      "control: collision",
      "control: mismatch",
      "no fault, save and restore",
      "save, control: flip bits"};
  return kNames[static_cast<unsigned>(kind)];
}

Scenario DrawScenario(uint64_t campaign, uint64_t run) {
  Prng prng(DeriveSeed(campaign, run));
  Scenario scenario;
  scenario.campaign = campaign;
  scenario.run = run;
  scenario.kind = static_cast<Kind>(prng.Below(kKinds));
  scenario.options.spec = DrawMachine(prng);
  scenario.options.partitions = DrawPartitions(scenario.options.spec, prng);
  // One source alone fills a small window, and the other waits.
  if (scenario.kind == Kind::kCollision) scenario.options.spec.broadcast_depth = 256;
  scenario.options.seed = prng.Next();
  scenario.options.random_schedule = prng.Chance(3, 4);
  scenario.options.stack_bytes = 1 << 17;
  scenario.seed = prng.Next();
  for (size_t i = 0; i < scenario.options.partitions.size(); ++i) {
    // Next to a program that breaks a rule runs one that does not.
    const Kind kind = i != 0 && BreaksARule(scenario.kind) ? Kind::kNothing : scenario.kind;
    scenario.programs.push_back(DrawProgram(kind, prng));
  }
  DrawFaults(&scenario, prng);
  return scenario;
}

std::string Describe(const Scenario& scenario) {
  const MachineSpec& spec = scenario.options.spec;
  std::string text = absl::StrCat(
      "run ", scenario.run, " of seed ", scenario.campaign, ": ", KindName(scenario.kind),
      "\n  machine: ", spec.nodes, " nodes of ", spec.leaves(), " leaves, ", spec.broken.size(),
      " broken parts, messages of ", spec.words_max, " words, FIFOs of ", spec.data_fifo_depth,
      ", links of ", spec.link_depth, ", parents");
  for (const uint32_t parents : spec.parents_per_level) absl::StrAppend(&text, " ", parents);
  absl::StrAppend(&text, scenario.options.random_schedule ? ", random" : ", fixed", " schedule\n");
  for (size_t i = 0; i < scenario.programs.size(); ++i) {
    absl::StrAppend(&text, "  partition ", i, ": ", scenario.options.partitions[i].size(),
                    HasHost(scenario.options.partitions[i], spec.nodes) ? " nodes with their host, "
                                                                        : " nodes, ",
                    ProgramName(scenario.programs[i]), "\n");
  }
  for (const std::string& fault : FormatFaults(spec)) {
    absl::StrAppend(&text, "  fault: ", fault, "\n");
  }
  return text;
}

}  // namespace vcm5::campaign
