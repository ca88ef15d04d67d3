#include "runtime/launch/wire_balance.h"

#include <utility>

#include "daemons/driver/data_reports.h"
#include "switches/data/kirchhoff.h"

namespace vcm5 {

WireBalance::WireBalance(const MachineSpec& spec, std::vector<Partition> partitions,
                         uint32_t data_daemons)
    : tree_(spec.leaves(), spec.parents_per_level),
      partitions_(std::move(partitions)),
      wires_(data_daemons > 1 ? CutWires(tree_, data_daemons) : std::vector<CutWire>{}) {
  Begin();
}

void WireBalance::Begin() {
  now_.assign(VCM5_HALVES * wires_.size(), {});
  before_ = now_;
  same_.assign(now_.size(), 0);
  rounds_ = 0;
  losses_.clear();
}

void WireBalance::Take(uint32_t daemon,
                       const google::protobuf::RepeatedPtrField<config::WireEnd>& ends) {
  for (const config::WireEnd& end : ends) {
    if (end.wire() >= wires_.size() || end.half() >= VCM5_HALVES) continue;
    const CutWire& wire = wires_[end.wire()];
    if (wire.child_part != daemon && wire.parent_part != daemon) continue;
    Ends& both = now_[end.half() * wires_.size() + end.wire()];
    both.end[wire.child_part == daemon ? 0 : 1] = Counts{end.in(), end.out()};
  }
}

// A wire of which an end is unknown cannot be judged.
bool WireBalance::Balanced(const Ends& ends) {
  const auto& [child, parent] = ends.end;
  if (!child.has_value() || !parent.has_value()) return true;
  return child->out == parent->in && parent->out == child->in;
}

bool WireBalance::EndRound() {
  if (wires_.empty()) return false;
  bool unsure = false;
  losses_.clear();
  for (int half = 0; half < VCM5_HALVES; ++half) {
    Kirchhoff law(tree_);
    for (size_t i = 0; i < wires_.size(); ++i) {
      const size_t at = static_cast<size_t>(half) * wires_.size() + i;
      const Ends& ends = now_[at];
      same_[at] = ends == before_[at] ? same_[at] + 1 : 1;
      if (Balanced(ends)) continue;
      if (same_[at] < kSameRounds) {
        unsure = true;
        continue;
      }
      const CutWire& wire = wires_[i];
      law.SetEnd(ChipEnd(wire.child_chip, wire.child_port), {ends.end[0]->in, ends.end[0]->out});
      law.SetEnd(ChipEnd(wire.parent_chip, wire.parent_port), {ends.end[1]->in, ends.end[1]->out});
    }
    for (FabricError& loss : DescribeLosses(law, half, tree_, partitions_)) {
      losses_.push_back(std::move(loss));
    }
  }
  before_ = std::exchange(now_, Round(now_.size()));
  return unsure && ++rounds_ < kRoundsMax;
}

}  // namespace vcm5
