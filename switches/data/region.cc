#include "switches/data/region.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "runtime/base/check.h"
#include "runtime/base/prng.h"

namespace vcm5 {

std::vector<CutWire> CutWires(const FatTree& tree, uint32_t parts) {
  std::vector<CutWire> wires;
  for (ChipId chip = 0; chip < tree.chips(); ++chip) {
    const uint32_t part = tree.PartOfChip(chip, parts);
    for (unsigned port = kChildren; port < kChipPorts; ++port) {
      const FatTreePeer peer = tree.peer(chip, port);
      if (peer.kind != FatTreePeer::Kind::kChip) continue;
      const uint32_t peer_part = tree.PartOfChip(peer.id, parts);
      if (peer_part == part) continue;
      wires.push_back({chip, static_cast<uint8_t>(port), peer.id, peer.port, part, peer_part});
    }
  }
  return wires;
}

Region::Region(const FatTree& tree, const RegionOptions& options)
    : tree_(tree),
      depth_(options.depth),
      slot_units_(PacketUnits(options.words_max)),
      words_max_(options.words_max) {
  std::vector<uint32_t> local(tree.chips(), kNowhere);
  for (ChipId chip = 0; chip < tree.chips(); ++chip) {
    if (tree.PartOfChip(chip, options.parts) != options.part) continue;
    local[chip] = static_cast<uint32_t>(chip_ids_.size());
    chip_ids_.push_back(chip);
  }
  first_leaf_ = tree.leaves();
  for (uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    if (tree.PartOfLeaf(leaf, options.parts) != options.part) continue;
    first_leaf_ = std::min(first_leaf_, leaf);
    last_leaf_ = leaf + 1;
  }
  VCM5_CHECK_MSG(!chip_ids_.empty() && first_leaf_ < last_leaf_, "a part without leaves");

  RouterChip::Options chip_options;
  VCM5_CHECK(options.ways.empty() || options.ways.size() == tree.chips());
  chip_options.depth = options.depth;
  chip_options.words_max = options.words_max;
  const size_t units = RouterChip::StorageUnits(chip_options);
  storage_.resize(units * chip_ids_.size());
  chips_.reserve(chip_ids_.size());
  neighbours_.resize(chip_ids_.size() * kChipPorts);
  leaf_port_.resize(last_leaf_ - first_leaf_);
  for (uint32_t i = 0; i < chip_ids_.size(); ++i) {
    chip_options.children_mask = 0;
    uint8_t chip_links = 0;
    for (unsigned port = 0; port < kChipPorts; ++port) {
      const FatTreePeer peer = tree.peer(chip_ids_[i], port);
      if (peer.kind == FatTreePeer::Kind::kNothing) continue;
      chip_links |= static_cast<uint8_t>(1u << port);
      if (port < kChildren) chip_options.children_mask |= static_cast<uint8_t>(1u << port);
      Neighbour& neighbour = neighbours_[i * kChipPorts + port];
      neighbour.port = peer.port;
      if (peer.kind == FatTreePeer::Kind::kLeaf) {
        neighbour.kind = Neighbour::Kind::kOutside;
        neighbour.id = peer.id;
        leaf_port_[peer.id - first_leaf_] = {.chip = i, .port = static_cast<uint8_t>(port)};
      } else if (local[peer.id] != kNowhere) {
        neighbour.kind = Neighbour::Kind::kChip;
        neighbour.id = local[peer.id];
      }
    }
    chip_options.parents = static_cast<uint8_t>(tree.parents(tree.place(chip_ids_[i]).level));
    const ChipWays ways = options.ways.empty() ? ChipWays() : options.ways[chip_ids_[i]];
    chip_options.closed = ways.closed;
    no_fall_.push_back(ways.no_fall);
    mapped_out_.push_back(ways.idle != 0 && ways.idle == chip_links);
    chip_options.seed = DeriveSeed(options.seed, chip_ids_[i]);
    chips_.emplace_back(chip_options, &storage_[i * units]);
  }
  for (const Port& port : leaf_port_) chips_[port.chip].SetCredit(port.port, options.leaf_credit);

  const std::vector<CutWire> wires =
      options.parts == 1 ? std::vector<CutWire>{} : CutWires(tree, options.parts);
  wire_port_.assign(wires.size(), {.chip = kNowhere, .port = 0});
  wire_credit_due_.assign(wires.size(), 0);
  wires_with_credit_.reserve(wires.size());
  for (uint32_t wire = 0; wire < wires.size(); ++wire) {
    const CutWire& cut = wires[wire];
    Port& port = wire_port_[wire];
    const bool child = local[cut.child_chip] != kNowhere;
    if (!child && local[cut.parent_chip] == kNowhere) continue;
    port.chip = local[child ? cut.child_chip : cut.parent_chip];
    port.port = child ? cut.child_port : cut.parent_port;
    port.mapped_out =
        !options.ways.empty() && (options.ways[cut.child_chip].idle >> cut.child_port & 1) != 0;
    Neighbour& neighbour = neighbours_[port.chip * kChipPorts + port.port];
    neighbour.kind = Neighbour::Kind::kOutside;
    neighbour.id = Departure::kWireBit | wire;
  }
  std::vector<uint32_t> leaves(tree.leaves());
  std::iota(leaves.begin(), leaves.end(), 0u);
  ProgramFall(leaves);
  active_.assign((chips_.size() + 63) / 64, 0);
  departures_.reserve(kDeparturesMax);
  faults_.reserve(kFaultsMax);
  departure_units_.resize(size_t{kDeparturesMax} * slot_units_);
  SetLinkFaults(options.link_faults);
}

bool Region::HandleWirePacket(uint32_t wire, const DataPacket& packet, unsigned length) {
  const Port& port = wire_port_[wire];
  if (__builtin_expect(port.mapped_out, 0)) {
    ++ignored_;
    GiveBackWire(wire, 1);
    return true;
  }
  if (port.chip == kNowhere || chips_[port.chip].Space(port.port) == 0) return false;
  CopyPacket(chips_[port.chip].ReceiveSlot(port.port), &packet, length);
  chips_[port.chip].HandlePacket(port.port);
  Activate(port.chip);
  return true;
}

bool Region::HandleWireCredit(uint32_t wire, uint32_t packets) {
  const Port& port = wire_port_[wire];
  if (port.chip == kNowhere) return false;
  if (packets > depth_ - chips_[port.chip].Credit(port.port)) {
    if (port.mapped_out) ++ignored_;
    return port.mapped_out;
  }
  chips_[port.chip].HandleCredit(port.port, packets);
  Activate(port.chip);
  return true;
}

void Region::ProgramFall(const std::vector<uint32_t>& leaves) {
  std::vector<uint32_t> before(tree_.leaves() + 1);  // how many of them are below an address
  for (const uint32_t leaf : leaves) before[leaf + 1]++;
  for (uint32_t leaf = 0; leaf < tree_.leaves(); ++leaf) before[leaf + 1] += before[leaf];
  for (uint32_t i = 0; i < chips(); ++i) {
    const ChipPlace place = tree_.place(chip_ids_[i]);
    const unsigned shift = 2 * (place.level - 1);
    auto below = [&](uint32_t child) {
      return before[std::min(uint64_t{child} << shift, uint64_t{tree_.leaves()})];
    };
    FallProgram program;
    for (uint32_t child = 0; child < kChildren; ++child) {
      if ((no_fall_[i] >> child & 1) != 0) continue;
      const uint32_t subtree = place.node * kChildren + child;
      program.share[child] = below(subtree + 1) - below(subtree);
    }
    // The chips of one node begin with different links, for few messages each are many together.
    program.first = static_cast<uint8_t>(place.index % kChildren);
    chips_[i].ProgramFall(program);
  }
}

void Region::SetAllFallDown(uint32_t index, bool on) {
  RouterChip& chip = chips_[index];
  if (chip.all_fall_down() == on) return;
  chip.SetAllFallDown(on);
  for (unsigned port = 0; port < kChildren; ++port) {
    const Neighbour& to = neighbours_[index * kChipPorts + port];
    if (to.kind != Neighbour::Kind::kOutside || (to.id & Departure::kWireBit) != 0) continue;
    VCM5_CHECK_MSG(on || chip.Credit(port) >= depth_, "credit for what fell was not given back");
    chip.SetCredit(port, on ? chip.Credit(port) + depth_ : chip.Credit(port) - depth_);
  }
  Activate(index);
}

unsigned Region::RunChip(uint32_t index) {
  if (__builtin_expect(link_faults_ != nullptr, 0)) return RunFaultyChip(index);
  RouterChip& chip = chips_[index];
  const Neighbour* neighbours = &neighbours_[index * kChipPorts];
  const unsigned budget = kDeparturesMax - static_cast<unsigned>(departures_.size());
  const unsigned moved = chip.Route(
      budget,
      [&](unsigned out, const DataPacket& packet, unsigned length) {
        Forward(neighbours[out], packet, length);
      },
      [&](unsigned in, uint32_t slots) { GiveBack(neighbours[in], slots); });
  if (moved != 0 && chip.occupied()) Activate(index);
  if (__builtin_expect(chip.has_fault(), 0)) TakeFault(index);
  return moved;
}

void Region::TakeFault(uint32_t index) {
  unsigned port;
  const RouterChipFault fault = chips_[index].TakeFault(&port);
  if (mapped_out_[index] != 0) {
    ++ignored_;
    return;
  }
  if (faults_.size() < kFaultsMax) faults_.push_back({fault, chip_ids_[index], port});
}

unsigned Region::Run() {
  // Chips lie level by level, so a sweep upwards carries a packet from its leaf to the top and a
  // sweep downwards carries it home.
  unsigned total = 0;
  for (unsigned sweep = 0; sweep < kSweepsMax; ++sweep) {
    unsigned moved = 0;
    const size_t words = active_.size();
    for (size_t i = 0; i < words; ++i) {
      const bool up = sweep % 2 == 0;
      const size_t word = up ? i : words - 1 - i;
      uint64_t done = 0;
      while ((active_[word] & ~done) != 0) {
        const uint64_t left = active_[word] & ~done;
        const unsigned bit = static_cast<unsigned>(up ? std::countr_zero(left)
                                                      : 63 - std::countl_zero(left));
        // Each chip once a sweep; what wakes up behind the sweep waits for the next.
        done |= up ? (bit == 63 ? ~uint64_t{0} : (uint64_t{2} << bit) - 1) : ~uint64_t{0} << bit;
        active_[word] &= ~(uint64_t{1} << bit);
        const uint32_t chip = static_cast<uint32_t>(word * 64 + bit);
        // A chip without packets has nothing to do, unless copies of some wait at it.
        if (!chips_[chip].occupied() && link_faults_ == nullptr) continue;
        moved += RunChip(chip);
        if (departures_.size() == kDeparturesMax) {
          Activate(chip);
          return total + moved;
        }
      }
    }
    total += moved;
    if (moved == 0) break;
  }
  return total;
}

bool Region::Idle() const {
  if (!departures_.empty()) return false;
  if (link_faults_ != nullptr && link_faults_->waiting() != 0) return false;
  for (const RouterChip& chip : chips_) {
    if (chip.occupied()) return false;
  }
  return true;
}

bool Region::WireCounts(uint32_t wire, uint64_t* in, uint64_t* out) const {
  const Port& port = wire_port_[wire];
  if (port.chip == kNowhere || port.mapped_out) return false;
  const RouterChipStats stats = chips_[port.chip].stats();
  *in = stats.in[port.port];
  *out = stats.out[port.port];
  return true;
}

void Region::CheckInvariants() const {
  for (const RouterChip& chip : chips_) chip.CheckInvariants();
}

}  // namespace vcm5
