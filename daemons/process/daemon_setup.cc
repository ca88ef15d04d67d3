#include "daemons/process/daemon_setup.h"

#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemons/config/control_plane.pb.h"
#include "daemons/config/control_spec.h"
#include "daemons/driver/node_memory.h"
#include "netif/shm/ni_page.h"
#include "runtime/base/version.h"

namespace vcm5 {
namespace {

const uint32_t kBellsMax = vcm5_control_bells(kLeavesMax) + kLeavesMax;  // of any BellPlan

absl::Status Malformed(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("the launcher's configuration is malformed: ", what));
}

// Maps a doorbell and checks that it is the one that was promised.
absl::StatusOr<DoorbellMemory> AttachDoorbell(int fd, uint32_t bells) {
  absl::StatusOr<SharedMemory> memory = SharedMemory::Attach(fd, Doorbell::BytesFor(bells));
  if (!memory.ok()) return memory.status();
  const auto* doorbell = reinterpret_cast<const vcm5_doorbell*>(memory->data());
  if (doorbell->magic != VCM5_DOORBELL_MAGIC || doorbell->version != VCM5_NI_VERSION ||
      doorbell->bells != bells) {
    return Malformed("not a doorbell of this version");
  }
  memory->CloseFd();
  return DoorbellMemory{std::move(*memory), bells};
}

class SetupReceiver {
 public:
  absl::Status Configure(const config::Configure& message) {
    absl::StatusOr<MachineSpec> spec = UnpackSpec(message.spec());
    if (!spec.ok()) return spec.status();
    setup_.spec = *spec;
    for (const config::PartitionNodes& partition : message.partitions()) {
      setup_.partitions.emplace_back(partition.members().begin(), partition.members().end());
    }
    if (setup_.partitions.empty() ||
        !CheckPartitions(setup_.partitions, spec->nodes, spec->control_processors).ok()) {
      return Malformed("partitions");
    }
    if (message.parts() < 1 || message.part() >= message.parts() || message.parts() > spec->leaves()) {
      return Malformed("part of the data network");
    }
    if (message.link_kind() > static_cast<uint32_t>(LinkKind::kUnix)) return Malformed("link kind");
    setup_.part = message.part();
    setup_.parts = message.parts();
    setup_.link_kind = static_cast<LinkKind>(message.link_kind());
    setup_.processors = message.processors();
    setup_.runners = message.runners();
    setup_.partition_doorbells.resize(setup_.partitions.size());
    setup_.pages.assign(spec->leaves(), nullptr);
    setup_.interrupt_lines.assign(spec->leaves(), -1);
    node_bytes_ = NodeMemoryBytes(*spec);
    configured_ = true;
    return absl::OkStatus();
  }

  // Takes the descriptor, also on failure.
  absl::Status Take(const config::Descriptor& what, int fd) {
    absl::Status status = Place(what, fd);
    if (!status.ok() && status.code() == absl::StatusCode::kOutOfRange) close(fd);
    return status;
  }

  absl::StatusOr<DaemonSetup> Finish() {
    if (!configured_ || setup_.own_doorbell.bells == 0) return Malformed("no doorbell");
    return std::move(setup_);
  }

  bool configured() const { return configured_; }

 private:
  absl::Status Place(const config::Descriptor& what, int fd) {
    const auto out_of_range = [] { return absl::OutOfRangeError("descriptor for no such part"); };
    switch (what.kind()) {
      case config::Descriptor::OWN_DOORBELL:
        return TakeDoorbell(what, fd, &setup_.own_doorbell);
      case config::Descriptor::PARTITION_DOORBELL:
        if (what.index() >= setup_.partition_doorbells.size()) return out_of_range();
        return TakeDoorbell(what, fd, &setup_.partition_doorbells[what.index()]);
      case config::Descriptor::NODE_MEMORY: {
        if (what.index() >= setup_.pages.size()) return out_of_range();
        absl::StatusOr<SharedMemory> memory = SharedMemory::Attach(fd, node_bytes_);
        if (!memory.ok()) return memory.status();
        memory->CloseFd();
        setup_.pages[what.index()] = reinterpret_cast<vcm5_ni_page*>(memory->data());
        setup_.memories.push_back(std::move(*memory));
        return absl::OkStatus();
      }
      case config::Descriptor::SUPERVISOR_MEMORY: {
        absl::StatusOr<SharedMemory> memory =
            SharedMemory::Attach(fd, sizeof(vcm5_supervisor_page) * setup_.spec.leaves());
        if (!memory.ok()) return memory.status();
        memory->CloseFd();
        setup_.supervisor_memory = std::move(*memory);
        return absl::OkStatus();
      }
      case config::Descriptor::INTERRUPT_LINE:
        if (what.index() >= setup_.interrupt_lines.size()) return out_of_range();
        setup_.interrupt_lines[what.index()] = fd;
        return absl::OkStatus();
      case config::Descriptor::LINK:
        if (what.index() >= setup_.parts || what.half() >= VCM5_HALVES) return out_of_range();
        setup_.link_descriptors[{static_cast<int>(what.half()), what.index()}].push_back(fd);
        return absl::OkStatus();
      case config::Descriptor::PEER_DOORBELL: {
        if (what.index() >= setup_.parts || what.bell() >= what.bells()) return out_of_range();
        DaemonSetup::Peer& peer = setup_.peers[what.index()];
        peer.bell = what.bell();
        return TakeDoorbell(what, fd, &peer.memory);
      }
      default:
        return out_of_range();
    }
  }

  static absl::Status TakeDoorbell(const config::Descriptor& what, int fd, DoorbellMemory* to) {
    if (what.bells() > kBellsMax) return absl::OutOfRangeError("descriptor for no such doorbell");
    absl::StatusOr<DoorbellMemory> doorbell = AttachDoorbell(fd, what.bells());
    if (!doorbell.ok()) return doorbell.status();
    *to = std::move(*doorbell);
    return absl::OkStatus();
  }

  DaemonSetup setup_;
  uint32_t node_bytes_ = 0;
  bool configured_ = false;
};

}  // namespace

std::vector<Doorbell> DaemonSetup::AllDoorbells() const {
  std::vector<Doorbell> all = {own_doorbell.doorbell()};
  for (const DoorbellMemory& memory : partition_doorbells) {
    if (memory.bells != 0) all.push_back(memory.doorbell());
  }
  return all;
}

bool DaemonSetup::Has(const BellPlan& plan) const {
  if (own_doorbell.bells != plan.own_bells()) return false;
  for (size_t i = 0; i < partition_doorbells.size(); ++i) {
    if (partition_doorbells[i].bells != plan.bells(i)) return false;
  }
  return true;
}

absl::StatusOr<DaemonSetup> ReceiveSetup(ControlChannel& channel) {
  config::FromDaemon hello;
  hello.mutable_hello()->set_version(VCM5_VERSION);
  if (absl::Status status = channel.Send(hello); !status.ok()) return status;

  SetupReceiver receiver;
  for (;;) {
    absl::StatusOr<std::optional<ControlChannel::Frame>> frame = channel.Receive();
    if (!frame.ok()) return frame.status();
    if (!frame->has_value()) {
      channel.WaitToReceive();
      continue;
    }
    config::ToDaemon message;
    if (!message.ParseFromString((*frame)->payload)) return Malformed("no message");
    if (message.has_configure()) {
      if (absl::Status status = receiver.Configure(message.configure()); !status.ok()) return status;
    } else if (message.has_descriptors() && receiver.configured()) {
      const config::DescriptorBatch& batch = message.descriptors();
      if (static_cast<size_t>(batch.descriptors_size()) != (*frame)->descriptors.size()) {
        return Malformed("descriptors");
      }
      for (int i = 0; i < batch.descriptors_size(); ++i) {
        absl::Status status =
            receiver.Take(batch.descriptors(i), (*frame)->descriptors[static_cast<size_t>(i)]);
        if (!status.ok()) return status;
      }
      if (batch.last()) return receiver.Finish();
    } else {
      return Malformed("unexpected message");
    }
  }
}

}  // namespace vcm5
