#include "tests/support/region_world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/check.h"
#include "tests/support/packets.h"

namespace vcm5 {

WorldShape WorldShape::Random(Prng& prng) {
  static const std::vector<uint32_t> kParents[] = {{2, 2, 4}, {1}, {2}, {4}, {4, 2, 1}, {3, 2}};
  WorldShape shape;
  shape.leaves = prng.Chance(1, 10) ? 1 + prng.Below(200) : 1 + prng.Below(40);
  shape.parents_per_level = kParents[prng.Below(std::size(kParents))];
  shape.parts = 1 + prng.Below(std::min(5u, (shape.leaves + 3) / 4));
  shape.depth = 1u << prng.Below(4);
  shape.words_max = prng.Chance(1, 2) ? kCm5WordsMax : kCm5eWordsMax;
  shape.leaf_credit = 1u << prng.Below(5);
  shape.seed = prng.Next();
  return shape;
}

std::string WorldShape::Describe() const {
  return absl::StrCat(leaves, " leaves, parents ", absl::StrJoin(parents_per_level, ","), ", ",
                      parts, " parts, depth ", depth, ", ", words_max, " words, leaf credit ",
                      leaf_credit);
}

RegionWorld::RegionWorld(const WorldShape& shape)
    : shape_(shape),
      tree_(shape.leaves, shape.parents_per_level),
      cut_(CutWires(tree_, shape.parts)),
      chips_(tree_.chips()),
      fifo_(shape.leaves),
      injected_(shape.leaves),
      arrived_(shape.leaves) {
  for (uint32_t part = 0; part < shape.parts; ++part) {
    RegionOptions options;
    options.part = part;
    options.parts = shape.parts;
    options.depth = shape.depth;
    options.words_max = shape.words_max;
    options.leaf_credit = shape.leaf_credit;
    options.seed = shape.seed;
    options.ways = shape.ways;
    options.link_faults = shape.link_faults;
    regions_.push_back(std::make_unique<Region>(tree_, options));
    const Region& region = *regions_.back();
    for (uint32_t i = 0; i < region.chips(); ++i) chips_[region.chip_id(i)] = &region.chip(i);
  }
  for (uint32_t wire = 0; wire < cut_.size(); ++wire) {
    lanes_.push_back({wire, cut_[wire].parent_part, {}});
    lanes_.push_back({wire, cut_[wire].child_part, {}});
  }
}

RegionWorld::Lane& RegionWorld::LaneFrom(uint32_t part, uint32_t wire) {
  return lanes_[2 * wire + (cut_[wire].child_part == part ? 0 : 1)];
}

bool RegionWorld::Send(uint32_t source, uint32_t destination, unsigned length, unsigned tag) {
  Region& region = *regions_[tree_.PartOfLeaf(source, shape_.parts)];
  if (region.InjectSpace(source) == 0) return false;
  const DataPacket packet = MakePacket(FatTree::Route(source, destination), destination, length,
                                       tag, static_cast<uint32_t>(ledger_.size()));
  CopyPacket(region.InjectSlot(source), &packet, length);
  region.Inject(source);
  ++injected_[source];
  ledger_.push_back({source, destination, length, tag, false});
  return true;
}

unsigned RegionWorld::Run(uint32_t part) {
  Region& region = *regions_[part];
  const unsigned moved = region.Run();
  for (size_t i = 0; i < region.departures().size(); ++i) {
    const Departure& departure = region.departures()[i];
    const DataPacket& packet = region.departure_packet(i);
    if ((departure.port & Departure::kWireBit) == 0) {
      Arrive(departure.port, packet, departure.length);
      continue;
    }
    Lane& lane = LaneFrom(part, departure.port & ~Departure::kWireBit);
    Frame& frame = lane.frames.emplace_back(Frame{0, departure.length, {}});
    CopyPacket(&frame.packet, &packet, departure.length);
    VCM5_CHECK_MSG(++lane.packets <= shape_.depth, "more on a wire than the far end can buffer");
  }
  region.ClearDepartures();
  region.TakeWireCredits([&](uint32_t wire, uint32_t packets) {
    Lane& lane = LaneFrom(part, wire);
    lane.frames.push_back({packets, 0, {}});
    lane.credits += packets;
  });
  return moved;
}

unsigned RegionWorld::MoveWire(uint32_t wire, unsigned frames) {
  Lane& lane = lanes_[wire];
  Region& region = *regions_[lane.to_part];
  unsigned moved = 0;
  for (; moved < frames && !lane.frames.empty(); ++moved) {
    const Frame& frame = lane.frames.front();
    if (frame.credits != 0) {
      VCM5_CHECK(region.HandleWireCredit(lane.wire, frame.credits));
      lane.credits -= frame.credits;
    } else {
      VCM5_CHECK(region.HandleWirePacket(lane.wire, frame.packet, frame.length));
      --lane.packets;
    }
    lane.frames.pop_front();
  }
  return moved;
}

unsigned RegionWorld::Receive(uint32_t leaf, unsigned messages) {
  const uint32_t taken = std::min(fifo_[leaf], messages);
  if (taken == 0) return 0;
  fifo_[leaf] -= taken;
  regions_[tree_.PartOfLeaf(leaf, shape_.parts)]->HandleLeafCredit(leaf, taken);
  return taken;
}

void RegionWorld::SetAllFallDown(ChipId chip, bool on) {
  Region& region = *regions_[tree_.PartOfChip(chip, shape_.parts)];
  uint32_t local = 0;
  while (region.chip_id(local) != chip) ++local;
  region.SetAllFallDown(local, on);
}

bool RegionWorld::Resend(const Fallen& fallen) {
  Region& region = *regions_[tree_.PartOfLeaf(fallen.leaf, shape_.parts)];
  if (region.InjectSpace(fallen.leaf) == 0) return false;
  const uint32_t id = fallen.packet.words[0];
  const Entry& entry = ledger_[id];
  const DataPacket packet = MakePacket(FatTree::Route(fallen.leaf, entry.destination),
                                       entry.destination, entry.length, entry.tag, id);
  CopyPacket(region.InjectSlot(fallen.leaf), &packet, entry.length);
  region.Inject(fallen.leaf);
  ++injected_[fallen.leaf];
  ++resent_;
  return true;
}

void RegionWorld::Capture(uint32_t leaf, const DataPacket& packet, unsigned length) {
  VCM5_CHECK_MSG(data_header::Length(packet.header) == length && DataPacketCrcGood(packet),
                 "altered");
  const uint32_t id = packet.words[0];
  VCM5_CHECK_MSG(id < ledger_.size(), "a message that nobody sent");
  const Entry& entry = ledger_[id];
  VCM5_CHECK_MSG(!entry.delivered, "delivered and captured");
  VCM5_CHECK_MSG(packet.header == (data_header::Make(1u << kPathShift, entry.length, entry.tag,
                                                     entry.destination) |
                                   data_header::kFalls),
                 "altered");
  VCM5_CHECK_MSG(WordsAreOf(id, packet.words, entry.length), "altered");
  CopyPacket(&fallen_.emplace_back(Fallen{leaf, {}}).packet, &packet, length);
  ++captured_;
  ++arrived_[leaf];
  regions_[tree_.PartOfLeaf(leaf, shape_.parts)]->HandleLeafCredit(leaf, 1);
}

void RegionWorld::Arrive(uint32_t leaf, const DataPacket& packet, unsigned length) {
  // A flipped bit may be the mark of those that fall.
  const bool falls = data_header::Falls(packet.header);
  if (falls && (shape_.link_faults.empty() || DataPacketCrcGood(packet))) {
    return Capture(leaf, packet, length);
  }
  VCM5_CHECK_MSG(++fifo_[leaf] <= shape_.leaf_credit, "delivered without credit");
  ++arrived_[leaf];
  const bool whole = data_header::Length(packet.header) == length;
  if (!shape_.link_faults.empty() && !(whole && DataPacketCrcGood(packet))) {
    ++(whole && DataPacketCrcMarked(packet) ? leaf_secondary_ : leaf_primary_);
    ++refused_;
    --fifo_[leaf];
    regions_[tree_.PartOfLeaf(leaf, shape_.parts)]->HandleLeafCredit(leaf, 1);
    return;
  }
  VCM5_CHECK_MSG(whole && DataPacketCrcGood(packet), "altered");
  const uint32_t id = packet.words[0];
  VCM5_CHECK_MSG(id < ledger_.size(), "a message that nobody sent");
  Entry& entry = ledger_[id];
  VCM5_CHECK_MSG(!entry.delivered || !shape_.link_faults.empty(), "delivered twice");
  VCM5_CHECK_MSG(entry.destination == leaf, "delivered to the wrong leaf");
  VCM5_CHECK_MSG(packet.header == data_header::Make(0, entry.length, entry.tag, leaf), "altered");
  VCM5_CHECK_MSG(WordsAreOf(id, packet.words, entry.length), "altered");
  if (entry.delivered) {
    ++repeated_;
    return;
  }
  entry.delivered = true;
  ++delivered_;
  const auto [newest, first] = newest_.try_emplace({entry.source, leaf}, id);
  if (!first && newest->second > id) ++overtaken_;
  newest->second = std::max(newest->second, id);
}

void RegionWorld::Settle() {
  const uint64_t messages_max = uint64_t{sent()} << shape_.link_faults.size();
  const uint64_t rounds_max = 100 + messages_max * 2 * tree_.levels();
  unsigned moved = 1;
  for (uint64_t round = 0; moved != 0; ++round) {
    VCM5_CHECK_MSG(round < rounds_max, "does not settle");
    moved = 0;
    for (uint32_t part = 0; part < parts(); ++part) moved += Run(part);
    for (uint32_t wire = 0; wire < wires(); ++wire) moved += MoveWire(wire, ~0u);
    for (uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) moved += Receive(leaf, ~0u);
  }
}

bool RegionWorld::Idle() const {
  for (const auto& region : regions_) {
    if (!region->Idle()) return false;
  }
  for (const Lane& lane : lanes_) {
    if (lane.packets != 0) return false;
  }
  return true;
}

uint64_t RegionWorld::Capacity() const {
  return uint64_t{tree_.chips()} * kChipPorts * shape_.depth +
         uint64_t{shape_.leaves} * shape_.leaf_credit;
}

void RegionWorld::Check() const {
  CheckChips();
  CheckLinks();
}

void RegionWorld::CheckChips() const {
  uint64_t held = 0;
  uint64_t dropped = 0;
  for (const RouterChip* chip : chips_) {
    chip->CheckInvariants();
    const RouterChipStats stats = chip->stats();
    uint64_t in = 0, out = 0, waiting = 0;
    for (unsigned port = 0; port < kChipPorts; ++port) {
      in += stats.in[port];
      out += stats.out[port];
      waiting += chip->Waiting(port);
    }
    VCM5_CHECK_MSG(in == out + waiting + stats.dropped, "Kirchhoff: a chip");
    VCM5_CHECK(stats.primary_errors == 0 || !shape_.link_faults.empty());
    VCM5_CHECK(stats.misrouted == 0);
    held += waiting;
    dropped += stats.dropped;
  }
  for (const Lane& lane : lanes_) held += lane.packets;
  uint64_t lost = 0;
  uint64_t made = 0;
  for (const auto& region : regions_) {
    const LinkFaults* faults = region->link_faults();
    if (faults == nullptr) continue;
    lost += faults->counts().lost;
    made += faults->counts().duplicated - faults->waiting();
  }
  VCM5_CHECK_MSG(sent() + resent_ + made ==
                     delivered_ + captured_ + repeated_ + refused_ + dropped + lost + held,
                 "Kirchhoff: the network");
}

Kirchhoff RegionWorld::Law() const {
  Kirchhoff law(tree_);
  for (const auto& region : regions_) law.SetChips(*region);
  for (uint32_t leaf = 0; leaf < shape_.leaves; ++leaf) {
    law.SetEnd(LeafEnd(leaf), {arrived_[leaf], injected_[leaf]});
  }
  return law;
}

uint64_t RegionWorld::LeftOver(const LinkEnd& from) const {
  return from.kind == LinkEnd::Kind::kLeaf ? injected_[from.id]
                                           : chips_[from.id]->stats().out[from.port];
}

uint64_t RegionWorld::primary_errors() const {
  uint64_t errors = leaf_primary_;
  for (const RouterChip* chip : chips_) errors += chip->stats().primary_errors;
  return errors;
}

uint64_t RegionWorld::secondary_errors() const {
  uint64_t errors = leaf_secondary_;
  for (const RouterChip* chip : chips_) errors += chip->stats().secondary_errors;
  return errors;
}

// What one end of a link sent, the other end has, but for what a wire carries; and each place in
// the buffer at the far end is a credit here, a packet there, or one of the two under way.
void RegionWorld::CheckLinks() const {
  std::map<std::pair<ChipId, unsigned>, std::pair<const Lane*, const Lane*>> out_and_back;
  for (size_t i = 0; i < lanes_.size(); i += 2) {
    const CutWire& cut = cut_[lanes_[i].wire];
    out_and_back[{cut.child_chip, cut.child_port}] = {&lanes_[i], &lanes_[i + 1]};
    out_and_back[{cut.parent_chip, cut.parent_port}] = {&lanes_[i + 1], &lanes_[i]};
  }
  for (ChipId id = 0; id < tree_.chips(); ++id) {
    const RouterChip& chip = *chips_[id];
    for (unsigned port = 0; port < kChipPorts; ++port) {
      const FatTreePeer peer = tree_.peer(id, port);
      if (peer.kind == FatTreePeer::Kind::kNothing) continue;
      if (peer.kind == FatTreePeer::Kind::kLeaf) {
        VCM5_CHECK(chip.Credit(port) + fifo_[peer.id] ==
                   shape_.leaf_credit + (chip.all_fall_down() ? shape_.depth : 0));
        continue;
      }
      const auto wire = out_and_back.find({id, port});
      const uint32_t packets = wire == out_and_back.end() ? 0 : wire->second.first->packets;
      const uint32_t credits = wire == out_and_back.end() ? 0 : wire->second.second->credits;
      const RouterChip& far = *chips_[peer.id];
      const LinkEnd from = ChipEnd(id, port);
      const bool faulty = std::any_of(shape_.link_faults.begin(), shape_.link_faults.end(),
                                      [&](const LinkFault& fault) { return fault.from == from; });
      VCM5_CHECK_MSG(faulty || chip.stats().out[port] == far.stats().in[peer.port] + packets,
                     "Kirchhoff: a link");
      VCM5_CHECK_MSG(chip.Credit(port) + packets + far.Waiting(peer.port) + credits == shape_.depth,
                     "credits of a link");
    }
  }
}

}  // namespace vcm5
