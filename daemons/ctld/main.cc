// vcm5-ctld: the control networks of the partitions, a tree for each.
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/control_agent.h"
#include "daemons/process/daemon_process.h"
#include "switches/topology/control_settings.h"

namespace vcm5 {
namespace {

BellPlan Bells(const DaemonSetup& setup) {
  return BellPlan::ForControlDaemon(setup.partitions);
}

absl::StatusOr<std::vector<std::unique_ptr<Agent>>> MakeAgents(DaemonSetup& setup) {
  if (!setup.Has(Bells(setup))) return absl::InvalidArgumentError("wrong number of bells");
  if (setup.supervisor_memory.data() == nullptr) {
    return absl::InvalidArgumentError("the supervisor pages are missing");
  }
  absl::StatusOr<ControlSettings> settings = SetControlSwitches(setup.spec, setup.partitions);
  if (!settings.ok()) return settings.status();
  std::vector<std::unique_ptr<Agent>> agents;
  for (size_t i = 0; i < setup.partitions.size(); ++i) {
    ControlAgentOptions options;
    options.spec = setup.spec;
    options.members = setup.partitions[i];
    options.tree = std::move(settings->trees[i]);
    for (const uint32_t node : options.members) {
      if (setup.pages[node] == nullptr) {
        return absl::InvalidArgumentError("a node's memory is missing");
      }
      options.pages.push_back(setup.pages[node]);
      options.supervisor_pages.push_back(setup.supervisor_page(node));
      options.interrupt_lines.push_back(setup.interrupt_lines[node]);
    }
    options.doorbell = setup.partition_doorbells[i].doorbell();
    if (setup.partitions.size() > 1) options.label = absl::StrCat("partition ", i, ": ");
    agents.push_back(MakeControlAgent(std::move(options)));
  }
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
