// vcm5-datad: one part of the data network, both halves. With --data-daemons K there are K of them,
// and messages between parts cross links.
#include <utility>

#include "daemons/driver/data_agent.h"
#include "daemons/driver/part_links.h"
#include "daemons/process/daemon_process.h"
#include "switches/topology/fat_tree.h"

namespace vcm5 {
namespace {

BellPlan Bells(const DaemonSetup& setup) {
  const FatTree tree(setup.spec.leaves(), setup.spec.parents_per_level);
  return BellPlan::ForDataDaemon(tree, setup.parts, setup.part, setup.partitions);
}

// The links of one half to all parts that share wires with this one.
absl::Status AttachLinks(DaemonSetup& setup, int half, std::vector<std::unique_ptr<Link>>& links) {
  for (uint32_t part = 0; part < setup.parts; ++part) {
    const uint32_t wires =
        part == setup.part ? 0 : WiresBetween(setup.spec, setup.parts, setup.part, part);
    if (wires == 0) continue;
    const auto peer = setup.peers.find(part);
    if (peer == setup.peers.end()) return absl::InvalidArgumentError("a peer's doorbell is missing");
    const LinkGeometry geometry{
        .wires = wires, .depth = setup.spec.link_depth, .words_max = setup.spec.words_max};
    absl::StatusOr<std::unique_ptr<Link>> link = AttachLink(
        setup.link_kind, part < setup.part ? 1 : 0, setup.link_descriptors[{half, part}], geometry,
        [doorbell = peer->second.memory.doorbell(), bell = peer->second.bell]() mutable {
          doorbell.Ring(bell);
        });
    if (!link.ok()) return link.status();
    links[part] = std::move(*link);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<Agent>>> MakeAgents(DaemonSetup& setup) {
  const BellPlan bells = Bells(setup);
  if (!setup.Has(bells)) return absl::InvalidArgumentError("wrong number of bells");
  if (setup.supervisor_memory.data() == nullptr) {
    return absl::InvalidArgumentError("the supervisor pages are missing");
  }
  std::vector<vcm5_supervisor_page*> supervisor_pages(setup.pages.size());
  for (uint32_t leaf = 0; leaf < setup.pages.size(); ++leaf) {
    if (setup.pages[leaf] != nullptr) supervisor_pages[leaf] = setup.supervisor_page(leaf);
  }
  std::vector<std::unique_ptr<Agent>> agents;
  for (int half = 0; half < VCM5_HALVES; ++half) {
    DataAgentOptions options;
    options.spec = setup.spec;
    options.half = half;
    options.part = setup.part;
    options.parts = setup.parts;
    options.pages = setup.pages;
    options.supervisor_pages = supervisor_pages;
    options.supervisor_doorbell = setup.own_doorbell.doorbell();
    options.partitions = setup.partitions;
    for (size_t i = 0; i < setup.partitions.size(); ++i) {
      if (bells.bells(i) == 0) continue;
      options.bells.push_back({setup.partition_doorbells[i].doorbell(), bells.first_bell(i, half),
                               bells.first_leaf(i), bells.leaves(i)});
    }
    options.links.resize(setup.parts);
    if (absl::Status status = AttachLinks(setup, half, options.links); !status.ok()) return status;
    options.interrupt_lines = setup.interrupt_lines;
    agents.push_back(MakeDataAgent(std::move(options)));
  }
  return agents;
}

}  // namespace
}  // namespace vcm5

int main(int argc, char** argv) {
  return vcm5::RunDaemon({.name = "vcm5-datad",
                          .purpose = "plays a part of the data network of a virtual CM-5",
                          .reports_launcher_death = false,
                          .bells = vcm5::Bells,
                          .make_agents = vcm5::MakeAgents},
                         argc, argv);
}
