// vcm5-ctld: the control network of the partition.
#include <utility>

#include "daemons/driver/control_agent.h"
#include "daemons/process/daemon_process.h"

namespace vcm5 {
namespace {

BellPlan Bells(const DaemonSetup& setup) {
  return BellPlan::ForControlDaemon(setup.partition_size);
}

absl::StatusOr<std::vector<std::unique_ptr<Agent>>> MakeAgents(DaemonSetup& setup) {
  if (Bells(setup).bells() != setup.bells) {
    return absl::InvalidArgumentError("wrong number of bells");
  }
  if (setup.supervisor_memory.data() == nullptr) {
    return absl::InvalidArgumentError("the supervisor pages are missing");
  }
  ControlAgentOptions options;
  options.spec = setup.spec;
  for (uint32_t node = 0; node < setup.partition_size; ++node) {
    if (setup.pages[node] == nullptr) return absl::InvalidArgumentError("a node's memory is missing");
    options.pages.push_back(setup.pages[node]);
    options.members.push_back(node);
    options.supervisor_pages.push_back(setup.supervisor_page(node));
    options.interrupt_lines.push_back(setup.interrupt_lines[node]);
  }
  options.doorbell = setup.doorbell();
  std::vector<std::unique_ptr<Agent>> agents;
  agents.push_back(MakeControlAgent(std::move(options)));
  return agents;
}

}  // namespace
}  // namespace vcm5

int main(int argc, char** argv) {
  return vcm5::RunDaemon({.name = "vcm5-ctld",
                          .purpose = "plays the control network of a virtual CM-5",
                          .reports_launcher_death = true,
                          .bells = vcm5::Bells,
                          .make_agents = vcm5::MakeAgents},
                         argc, argv);
}
