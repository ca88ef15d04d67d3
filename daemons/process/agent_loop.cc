#include "daemons/process/agent_loop.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

// Busy turns between two looks at the control plane. The launcher rings when it is urgent.
constexpr uint32_t kTurnsPerLook = 1024;

// Turns that the last messages of a job get to arrive, at most.
constexpr int kFinishTurnsMax = 10000;

void Pack(FabricError error, config::Fault* fault) {
  fault->set_leaf(error.leaf);
  fault->set_message(std::move(error.message));
  fault->set_first_below(error.below.first);
  fault->set_below(error.below.size);
}

}  // namespace

unsigned AgentLoop::DoWork() {
  // Before the agents look at their links, so that no ring is lost.
  unsigned work = doorbells_.front().Take(0, bells_.own_bells(), [this](uint32_t bell) {
    if (bell == bells_.launcher()) called_ = true;
  });
  for (const auto& agent : agents_) work += agent->DoWork();
  return work;
}

absl::Status AgentLoop::Run() {
  uint32_t turns = 0;
  for (;;) {
    if (DoWork() != 0) {
      idle_.Reset();
      if (++turns % kTurnsPerLook != 0 && !called_) continue;
    } else if (idle_.Wait()) {
      continue;
    } else {
      if (absl::Status status = LookAround(); !status.ok()) return status;
      Doorbell::Sleep(doorbells_, idle_.NextSleepNs());
    }
    called_ = false;
    if (absl::Status status = LookAround(); !status.ok()) return status;
  }
}

void AgentLoop::TakeFaults(google::protobuf::RepeatedPtrField<config::Fault>* faults) {
  for (const auto& agent : agents_) {
    for (FabricError& error : agent->TakeErrors()) Pack(std::move(error), faults->Add());
  }
}

absl::Status AgentLoop::LookAround() {
  google::protobuf::RepeatedPtrField<config::Fault> faults;
  TakeFaults(&faults);
  for (config::Fault& fault : faults) {
    config::FromDaemon message;
    message.mutable_fault()->Swap(&fault);
    if (absl::Status status = channel_.Send(message); !status.ok()) return status;
  }
  if (absl::Status status = channel_.Flush(); !status.ok()) return status;
  for (;;) {
    absl::StatusOr<std::optional<ControlChannel::Frame>> frame = channel_.Receive();
    if (!frame.ok()) return frame.status();
    if (!frame->has_value()) return absl::OkStatus();
    config::ToDaemon request;
    if (!request.ParseFromString((*frame)->payload)) {
      return absl::InvalidArgumentError("the launcher sent no message of this protocol");
    }
    if (absl::Status status = Answer(request); !status.ok()) return status;
  }
}

void AgentLoop::Count(google::protobuf::RepeatedPtrField<config::WireEnd>* wires) const {
  for (const auto& agent : agents_) {
    for (const WireEnd& end : agent->WireEnds()) {
      config::WireEnd* wire = wires->Add();
      wire->set_half(static_cast<uint32_t>(end.half));
      wire->set_wire(end.wire);
      wire->set_in(end.in);
      wire->set_out(end.out);
    }
  }
}

absl::Status AgentLoop::Answer(const config::ToDaemon& request) {
  config::FromDaemon answer;
  // A turn before each answer takes from the links what was there when the launcher asked.
  DoWork();
  if (request.has_waiting()) {
    Count(answer.mutable_waiting()->mutable_wires());
    for (const auto& agent : agents_) {
      for (std::string& line : agent->Waiting()) answer.mutable_waiting()->add_lines(std::move(line));
    }
  } else if (request.has_finish()) {
    for (int turn = 0; turn < kFinishTurnsMax && DoWork() != 0; ++turn) {
    }
    TakeFaults(answer.mutable_finished()->mutable_faults());
    for (const auto& agent : agents_) {
      for (FabricStat& stat : agent->Stats()) {
        config::Stat* line = answer.mutable_finished()->add_stats();
        line->set_name(std::move(stat.name));
        line->set_value(stat.value);
        line->set_is_link(stat.is_link);
        line->set_arm_links(stat.arm_links);
      }
      for (FabricError& error : agent->Unbalanced()) {
        Pack(std::move(error), answer.mutable_finished()->add_unbalanced());
      }
    }
    Count(answer.mutable_finished()->mutable_wires());
  } else if (request.has_counts()) {
    Count(answer.mutable_counts()->mutable_wires());
  } else {
    return absl::InvalidArgumentError("the launcher sent a message that a running daemon cannot take");
  }
  return channel_.Send(answer);
}

}  // namespace vcm5
