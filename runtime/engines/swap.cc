// The end of a timeslice in an embedded machine, and the beginning of the next.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/all_fall_down.h"
#include "runtime/base/check.h"
#include "runtime/engines/embedded_machine.h"
#include "runtime/engines/saved_machine.h"

namespace vcm5 {
namespace {

// Agents of the control network deliver all that can be delivered in a few turns.
constexpr unsigned kTurnsMax = 1000;

}  // namespace

// The agents of the control network have turns until they find nothing to do.
absl::Status Embedded::Machine::SettleControl() {
  for (unsigned turn = 0; turn < kTurnsMax; ++turn) {
    unsigned work = 0;
    for (ControlNetworkAgent* agent : control_agents_) work += agent->DoWork();
    if (work == 0) return absl::OkStatus();
  }
  return absl::InternalError("the control network does not come to rest");
}

absl::Status Embedded::Machine::Freeze() {
  VCM5_CHECK_MSG(options_.threads == 1, "a machine of several threads is not frozen");
  VCM5_CHECK_MSG(!frozen_, "a machine frozen twice");
  frozen_ = true;
  AllFallDown fall(data_agents_);
  frozen_well_ = fall.Drain();
  captured_ = fall.TakeCaptured();
  for (const Partition& partition : options_.partitions) supervisor(partition.front()).Flush();
  frozen_well_.Update(SettleControl());
  for (size_t i = 0; i < options_.partitions.size(); ++i) {
    if (control_agents_[i]->Flushed()) continue;
    frozen_well_.Update(
        absl::InternalError(absl::StrCat("the control network of partition ", i, " is not flushed")));
  }
  // What the networks have found meanwhile is a reason not to save what was damaged.
  for (const auto& agent : agents_) Collect(workers_[0], *agent);
  return frozen_well_;
}

absl::StatusOr<SavedMachine> Embedded::Machine::Save() {
  VCM5_CHECK_MSG(frozen_, "saved without being frozen");
  if (!frozen_well_.ok()) return frozen_well_;
  SavedMachine saved;
  for (size_t i = 0; i < options_.partitions.size(); ++i) {
    const Partition& partition = options_.partitions[i];
    if (!damage_[i].ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat("partition ", i, " has failed: ", damage_[i].message()));
    }
    SavedPartition& to = saved.partitions.emplace_back();
    to.has_host = HasHost(partition, options_.spec.nodes);
    to.nodes.resize(partition.size());
    for (uint32_t self = 0; self < partition.size(); ++self) {
      SavedPartition::Node& node = to.nodes[self];
      bool sound = control_agents_[i]->SaveNi(self, &node.ni);
      for (DataNetworkAgent* half : data_agents_) sound &= half->SaveNi(partition[self], &node.ni);
      if (!sound) {
        return absl::FailedPreconditionError(
            absl::StrCat("node ", self, " of partition ", i, " has closed its port"));
      }
      node.port = SavePort(nodes_[partition[self]].port);
    }
    for (int half = 0; half < VCM5_HALVES; ++half) {
      for (const CapturedMessage& message : captured_[half]) {
        const auto at = std::find(partition.begin(), partition.end(), message.leaf);
        const auto to_node = std::find(partition.begin(), partition.end(),
                                       data_header::Destination(message.packet.header));
        if (to_node == partition.end()) continue;  // another partition's
        if (data_header::IsSystem(message.packet.header)) continue;  // no user's
        // It may have fallen to a node outside of the partition: any of its own can send it.
        to.captured[half].push_back({at == partition.end()
                                         ? 0
                                         : static_cast<uint32_t>(at - partition.begin()),
                                     static_cast<uint32_t>(to_node - partition.begin()),
                                     message.packet});
      }
    }
  }
  return saved;
}

absl::Status Embedded::Machine::Restore(const SavedMachine& saved) {
  VCM5_CHECK_MSG(frozen_, "restored without being frozen");
  if (!frozen_well_.ok()) return frozen_well_;
  if (absl::Status status = saved.Check(options_.spec, options_.partitions); !status.ok()) {
    return status;
  }
  for (std::vector<CapturedMessage>& half : captured_) {
    std::erase_if(half, [](const CapturedMessage& message) {
      return !data_header::IsSystem(message.packet.header);
    });
  }
  for (size_t i = 0; i < options_.partitions.size(); ++i) {
    const Partition& partition = options_.partitions[i];
    const SavedPartition& from = saved.partitions[i];
    damage_[i] = absl::OkStatus();
    std::erase_if(workers_[0].sentences,
                  [i](const Sentence& sentence) { return sentence.partition == i; });
    for (uint32_t self = 0; self < partition.size(); ++self) {
      const SavedPartition::Node& node = from.nodes[self];
      for (DataNetworkAgent* half : data_agents_) half->RestoreNi(partition[self], node.ni);
      control_agents_[i]->RestoreNi(self, node.ni);
      RestorePort(node.port, node.ni, &nodes_[partition[self]].port);
    }
    for (int half = 0; half < VCM5_HALVES; ++half) {
      for (const SavedMessage& message : from.captured[half]) {
        CapturedMessage& to = captured_[half].emplace_back();
        to.leaf = partition[message.at];
        to.packet = message.packet;
        const uint64_t header = message.packet.header;
        const unsigned length = data_header::Length(header);
        to.packet.header =
            data_header::Make(0, length, data_header::Tag(header), partition[message.to]);
        to.packet.crc = DataPacketCrc(to.packet, length, to.packet.header);
      }
    }
  }
  return SettleControl();
}

absl::Status Embedded::Machine::Resume() {
  VCM5_CHECK_MSG(frozen_, "resumed without being frozen");
  frozen_ = false;
  AllFallDown(data_agents_).Leave(std::move(captured_));
  std::vector<size_t> going_on;
  for (size_t i = 0; i < options_.partitions.size(); ++i) {
    // Where words were lost, what is left of them would pass for others.
    if (damage_[i].ok() && control_agents_[i]->Flushed()) going_on.push_back(i);
  }
  for (const size_t i : going_on) supervisor(options_.partitions[i].front()).Reinitiate();
  // One turn is enough. There is no end to wait for: waves of router-done follow one another.
  for (ControlNetworkAgent* agent : control_agents_) agent->DoWork();
  for (const size_t i : going_on) {
    if (!supervisor(options_.partitions[i].front()).Flushed()) continue;
    return absl::InternalError(
        absl::StrCat("the control network of partition ", i, " is not reinitiated"));
  }
  return absl::OkStatus();
}

absl::Status Embedded::Freeze() { return machine_->Freeze(); }
absl::StatusOr<SavedMachine> Embedded::Save() { return machine_->Save(); }
absl::Status Embedded::Restore(const SavedMachine& saved) { return machine_->Restore(saved); }
absl::Status Embedded::Resume() { return machine_->Resume(); }

}  // namespace vcm5
