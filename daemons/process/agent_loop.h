// A daemon's only thread: asks its agents to work, in turn, for ever, and now and then looks at the
// control plane. Returns when the launcher is gone or says something that makes no sense.
#ifndef VCM5_DAEMONS_PROCESS_AGENT_LOOP_H_
#define VCM5_DAEMONS_PROCESS_AGENT_LOOP_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "daemons/config/bell_plan.h"
#include "daemons/config/control_channel.h"
#include "daemons/config/control_plane.pb.h"
#include "daemons/driver/agent.h"
#include "daemons/driver/doorbell.h"
#include "daemons/process/idle_strategy.h"

namespace vcm5 {

class AgentLoop {
 public:
  // `doorbells`: the daemon's own, then those of partitions, which agents have, too.
  AgentLoop(std::vector<std::unique_ptr<Agent>> agents, std::vector<Doorbell> doorbells,
            const BellPlan& bells, ControlChannel& channel, IdleStrategy idle)
      : agents_(std::move(agents)),
        doorbells_(std::move(doorbells)),
        bells_(bells),
        channel_(channel),
        idle_(idle) {}

  absl::Status Run();

 private:
  unsigned DoWork();
  absl::Status LookAround();
  absl::Status Answer(const config::ToDaemon& request);
  void TakeFaults(google::protobuf::RepeatedPtrField<config::Fault>* faults);
  void Count(google::protobuf::RepeatedPtrField<config::WireEnd>* wires) const;

  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<Doorbell> doorbells_;
  const BellPlan bells_;
  ControlChannel& channel_;
  IdleStrategy idle_;
  bool called_ = false;  // the launcher has rung
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_PROCESS_AGENT_LOOP_H_
