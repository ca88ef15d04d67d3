// How a region runs when some of its links are faulty (link_faults.h). Apart from region.cc, whose
// way of a packet knows nothing of this.
#include "runtime/base/check.h"
#include "switches/data/region.h"

namespace vcm5 {

void Region::SetLinkFaults(const std::vector<LinkFault>& faults) {
  std::vector<uint32_t> links;
  std::vector<LinkFault> ours;
  for (const LinkFault& fault : faults) {
    const LinkEnd& from = fault.from;
    if (from.kind == LinkEnd::Kind::kLeaf) {
      if (from.id < first_leaf_ || from.id >= last_leaf_) continue;
      links.push_back(LeafLink(from.id));
    } else {
      const auto chip = std::lower_bound(chip_ids_.begin(), chip_ids_.end(), from.id);
      if (chip == chip_ids_.end() || *chip != from.id) continue;
      links.push_back(static_cast<uint32_t>(chip - chip_ids_.begin()) * kChipPorts + from.port);
    }
    ours.push_back(fault);
  }
  if (links.empty()) return;
  link_faults_ = std::make_unique<LinkFaults>(LeafLink(last_leaf_), links, ours);
}

// A copy that waits arrives, if the link has a credit and the driver's buffer room for it.
bool Region::SendCopy(uint32_t index, unsigned out) {
  const uint32_t link = index * kChipPorts + out;
  const LinkFaults::Copy* copy = link_faults_->Waiting(link);
  const Neighbour& to = neighbours_[link];
  if (to.kind != Neighbour::Kind::kChip && departures_.size() == kDeparturesMax) return false;
  if (!chips_[index].TakeCredit(out)) return false;
  Forward(to, copy->packet, copy->length);
  link_faults_->Release(link);
  return true;
}

unsigned Region::RunFaultyChip(uint32_t index) {
  RouterChip& chip = chips_[index];
  const Neighbour* neighbours = &neighbours_[index * kChipPorts];
  // Each packet may become two.
  if (kDeparturesMax - departures_.size() < kChipPorts + 2) {
    Activate(index);
    return 0;
  }
  unsigned moved = 0;
  for (unsigned out = 0; link_faults_->waiting() != 0 && out < kChipPorts; ++out) {
    const uint32_t link = index * kChipPorts + out;
    if (!link_faults_->Afflicts(link) || link_faults_->Waiting(link) == nullptr) continue;
    moved += SendCopy(index, out) ? 1 : 0;
  }
  const unsigned budget = static_cast<unsigned>(kDeparturesMax - departures_.size()) / 2;
  moved += chip.Route(
      budget,
      [&](unsigned out, const DataPacket& packet, unsigned length) {
        const uint32_t link = index * kChipPorts + out;
        if (!link_faults_->Afflicts(link)) {
          Forward(neighbours[out], packet, length);
          return;
        }
        DataPacket sent{};
        CopyPacket(&sent, &packet, length);
        const LinkFaults::Verdict verdict = link_faults_->Pass(link, &sent, length);
        if (verdict == LinkFaults::Verdict::kLost) {
          chip.HandleCredit(out, 1);
          return;
        }
        Forward(neighbours[out], sent, length);
        if (verdict != LinkFaults::Verdict::kArrivesTwice) return;
        link_faults_->Keep(link, sent, length);
        SendCopy(index, out);
      },
      [&](unsigned in, uint32_t slots) {
        const Neighbour& from = neighbours[in];
        if (from.kind == Neighbour::Kind::kOutside && (from.id & Departure::kWireBit) == 0) {
          InjectCopy(from.id);
        }
        GiveBack(from, slots);
      });
  if (moved != 0 && chip.occupied()) Activate(index);
  if (chip.has_fault()) TakeFault(index);
  return moved;
}

void Region::InjectFaulty(uint32_t leaf) {
  const Port& port = leaf_port_[leaf - first_leaf_];
  const uint32_t link = LeafLink(leaf);
  RouterChip& chip = chips_[port.chip];
  LinkFaults::Verdict verdict = LinkFaults::Verdict::kArrives;
  DataPacket* packet = chip.ReceiveSlot(port.port);
  const unsigned length = std::clamp(data_header::Length(packet->header), 1u, words_max_);
  if (link_faults_->Afflicts(link)) verdict = link_faults_->Pass(link, packet, length);
  if (verdict == LinkFaults::Verdict::kLost) return;  // the slot was never taken
  if (verdict == LinkFaults::Verdict::kArrivesTwice) link_faults_->Keep(link, *packet, length);
  chip.HandlePacket(port.port);
  Activate(port.chip);
  if (verdict == LinkFaults::Verdict::kArrivesTwice) InjectCopy(leaf);
}

// The copy of a leaf's packet arrives, if there is one and the buffer has room.
void Region::InjectCopy(uint32_t leaf) {
  const Port& port = leaf_port_[leaf - first_leaf_];
  const uint32_t link = LeafLink(leaf);
  if (!link_faults_->Afflicts(link) || chips_[port.chip].Space(port.port) == 0) return;
  const LinkFaults::Copy* copy = link_faults_->Waiting(link);
  if (copy == nullptr) return;
  CopyPacket(chips_[port.chip].ReceiveSlot(port.port), &copy->packet, copy->length);
  chips_[port.chip].HandlePacket(port.port);
  Activate(port.chip);
  link_faults_->Release(link);
}

}  // namespace vcm5
