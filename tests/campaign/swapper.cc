#include "tests/campaign/swapper.h"

#include <utility>

#include "runtime/engines/saved_machine.h"

namespace vcm5::campaign {

void Swapper::OnSwitch(Embedded& machine) {
  if (failed_ || !prng_.Chance(1, pause_)) return;
  pause_ += 1 + pause_ / 8;
  ++swaps_;
  absl::Status status = machine.Freeze();
  if (status.ok()) {
    const absl::StatusOr<SavedMachine> saved = machine.Save();
    failed_ = !saved.ok();
    if (saved.ok()) {
      const absl::StatusOr<SavedMachine> read = SavedMachine::Decode(saved->Encode());
      status = read.ok() ? machine.Restore(*read) : read.status();
      for (const SavedPartition& partition : saved->partitions) {
        for (const auto& half : partition.captured) captured_ += half.size();
      }
    }
  }
  status.Update(machine.Resume());
  if (status.ok()) return;
  failed_ = true;
  failure_ = std::string(status.message());
}

}  // namespace vcm5::campaign
