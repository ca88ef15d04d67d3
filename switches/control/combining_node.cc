#include "switches/control/combining_node.h"

#include "runtime/base/check.h"

namespace vcm5 {

CombiningNode::CombiningNode(const CombiningNodeOptions& options)
    : stream_{MultiSourceStream(kStreamCombine, options.depth[kStreamCombine]),
              MultiSourceStream(kStreamRouterDone, options.depth[kStreamRouterDone]),
              MultiSourceStream(kStreamSyncOr, options.depth[kStreamSyncOr])} {}

bool CombiningNode::HandleIdle(unsigned side, uint64_t body, uint64_t* up) {
  using namespace control_body;
  switch (static_cast<IdleOperation>(Operation(body))) {
    case IdleOperation::kSynchronise: {
      sync_[side] = Sync(body);
      const uint32_t both = sync_[0] | sync_[1];
      if (both == told_sync_) return false;
      told_sync_ = both;
      *up = MakeSynchronise(both);
      return true;
    }
    case IdleOperation::kFlowControl: {
      const auto of = static_cast<BroadcastOperation>(FlowClass(body));
      BroadcastLane& lane = lane_[static_cast<unsigned>(of)];
      bool grown;
      const ControlFault fault = lane.HandleConsumed(side, Word(body), &grown);
      if (fault != ControlFault::kNone) SetFault(fault, body, body);
      if (grown) *up = MakeFlowControl(of, lane.least_consumed());
      return grown;
    }
    case IdleOperation::kError:
    case IdleOperation::kParties:
      HandleError(body);
      *up = body;
      return true;
    case IdleOperation::kFlushed:
      return HandleFlushed(side, body, up);
  }
  SetFault(ControlFault::kBadPacket, body, body);
  return false;
}

void CombiningNode::HandleError(uint64_t body) {
  constexpr auto kReport = static_cast<uint32_t>(IdleOperation::kError);
  if (control_body::Operation(body) != kReport) return;
  if (control_body::FaultOf(body) != ControlFault::kCrc) return;
  for (MultiSourceStream& stream : stream_) stream.Stop();
  for (BroadcastLane& lane : lane_) lane.Stop();
}

void CombiningNode::Flush(uint32_t count_from) {
  for (MultiSourceStream& stream : stream_) stream.Stop();
  lane_[static_cast<unsigned>(BroadcastOperation::kUser)].Stop();
  unflushed_ = 3;
  count_from_ = count_from;
}

bool CombiningNode::HandleFlushed(unsigned side, uint64_t body, uint64_t* up) {
  if ((unflushed_ & (1u << side)) == 0) {
    SetFault(ControlFault::kBadPacket, body, body);
    return false;
  }
  unflushed_ &= ~(1u << side);
  if (unflushed_ != 0) return false;
  for (MultiSourceStream& stream : stream_) stream.Restart();
  lane_[static_cast<unsigned>(BroadcastOperation::kUser)].Restart(count_from_);
  *up = body;
  return true;
}

CombiningNode::Fault CombiningNode::TakeFault() {
  const Fault fault = fault_;
  fault_ = Fault{};
  return fault;
}

void CombiningNode::CheckInvariants() const {
  for (const MultiSourceStream& stream : stream_) {
    stream.CheckInvariants();
    // Whatever can go up has been polled before the next input.
    VCM5_CHECK(!stream.ReadyUp());
  }
  VCM5_CHECK(told_sync_ == (sync_[0] | sync_[1]));
}

}  // namespace vcm5
