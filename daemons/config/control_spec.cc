#include "daemons/config/control_spec.h"

#include "daemons/config/fault_spec.h"
#include "daemons/config/machine_rules.h"

namespace vcm5 {

void PackSpec(const MachineSpec& spec, config::Spec* message) {
  message->set_nodes(spec.nodes);
  message->set_control_processors(spec.control_processors);
  message->set_io_channels(spec.io_channels);
  for (const uint32_t parents : spec.parents_per_level) message->add_parents_per_level(parents);
  message->set_words_max(spec.words_max);
  message->set_data_fifo_depth(spec.data_fifo_depth);
  message->set_link_depth(spec.link_depth);
  message->set_combine_depth(spec.combine_depth);
  message->set_broadcast_depth(spec.broadcast_depth);
  message->set_seed(spec.seed);
  for (const BrokenPart& part : spec.broken) {
    config::Broken* broken = message->add_broken();
    broken->set_kind(static_cast<uint32_t>(part.kind));
    broken->set_halves(part.halves);
    broken->set_level(part.level);
    broken->set_number(part.number);
    broken->set_port(part.port);
    broken->set_leaf(part.leaf);
  }
  for (std::string& fault : FormatFaults(spec)) message->add_fault(std::move(fault));
}

absl::StatusOr<MachineSpec> UnpackSpec(const config::Spec& message) {
  MachineSpec spec;
  spec.nodes = message.nodes();
  spec.control_processors = message.control_processors();
  spec.io_channels = message.io_channels();
  spec.parents_per_level.assign(message.parents_per_level().begin(),
                                message.parents_per_level().end());
  spec.words_max = message.words_max();
  spec.data_fifo_depth = message.data_fifo_depth();
  spec.link_depth = message.link_depth();
  spec.combine_depth = message.combine_depth();
  spec.broadcast_depth = message.broadcast_depth();
  spec.seed = message.seed();
  for (const config::Broken& broken : message.broken()) {
    if (broken.kind() > static_cast<uint32_t>(BrokenPart::Kind::kLeaf) ||
        broken.halves() > kControlNetwork) {
      return absl::InvalidArgumentError("no such kind of broken part");
    }
    spec.broken.push_back({.kind = static_cast<BrokenPart::Kind>(broken.kind()),
                           .halves = static_cast<uint8_t>(broken.halves()),
                           .level = broken.level(),
                           .number = broken.number(),
                           .port = broken.port(),
                           .leaf = broken.leaf()});
  }
  if (absl::Status status = CheckMachineSpec(spec); !status.ok()) return status;
  for (const std::string& fault : message.fault()) {
    if (absl::Status status = AddFault(fault, &spec); !status.ok()) return status;
  }
  return spec;
}

}  // namespace vcm5
