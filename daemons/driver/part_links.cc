#include "daemons/driver/part_links.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace vcm5 {

uint32_t WiresBetween(const MachineSpec& spec, uint32_t parts, uint32_t part, uint32_t other) {
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  uint32_t wires = 0;
  for (const CutWire& wire : CutWires(tree, parts)) {
    if ((wire.child_part == part && wire.parent_part == other) ||
        (wire.child_part == other && wire.parent_part == part)) {
      ++wires;
    }
  }
  return wires;
}

PartLinks::PartLinks(const FatTree& tree, uint32_t part, uint32_t parts,
                     std::vector<std::unique_ptr<Link>> links, Region& region, ReportError report)
    : part_(part), region_(region), report_(std::move(report)), peers_(parts) {
  for (size_t i = 0; i < links.size(); ++i) peers_[i].link = std::move(links[i]);
  if (parts == 1) return;
  for (const CutWire& wire : CutWires(tree, parts)) {
    const uint32_t to = wire.child_part == part_    ? wire.parent_part
                        : wire.parent_part == part_ ? wire.child_part
                                                    : part_;
    Carrier& carrier = carriers_.emplace_back();
    if (to == part_) continue;
    Peer& peer = peers_[to];
    VCM5_CHECK_MSG(peer.link != nullptr, "no link to a part that shares a wire");
    carrier = {peer.link.get(), static_cast<uint32_t>(peer.wires.size())};
    peer.wires.push_back(static_cast<uint32_t>(carriers_.size()) - 1);
  }
}

unsigned PartLinks::Receive() {
  unsigned frames = 0;
  for (receiving_from_ = 0; receiving_from_ < peers_.size(); ++receiving_from_) {
    Peer& peer = peers_[receiving_from_];
    if (!peer.heard()) continue;
    frames += peer.link->Receive(*this);
    if (const absl::Status status = peer.link->status(); !status.ok()) {
      peer.failed = true;
      report_(absl::StrCat("link from data daemon ", part_, " to ", receiving_from_, ": ",
                           std::string(status.message())));
    }
  }
  return frames;
}

unsigned PartLinks::SendCredits() {
  unsigned frames = 0;
  region_.TakeWireCredits([&](uint32_t wire, uint32_t packets) {
    carriers_[wire].link->SendCredit(carriers_[wire].number, packets);
    ++frames;
  });
  return frames;
}

void PartLinks::Flush() {
  for (Peer& peer : peers_) {
    if (peer.heard()) peer.link->Flush();
  }
}

void PartLinks::OnPacket(uint32_t number, const DataPacket& packet, unsigned length) {
  const uint32_t wire = peers_[receiving_from_].wires[number];
  if (!region_.HandleWirePacket(wire, packet, length)) Fail("sent a packet without credit");
}

void PartLinks::OnCredit(uint32_t number, uint32_t packets) {
  const uint32_t wire = peers_[receiving_from_].wires[number];
  if (!region_.HandleWireCredit(wire, packets)) Fail("gave credit for packets not sent");
}

void PartLinks::Fail(const char* what) {
  if (std::exchange(peers_[receiving_from_].failed, true)) return;
  report_(absl::StrCat("data daemon ", receiving_from_, " ", what));
}

}  // namespace vcm5
