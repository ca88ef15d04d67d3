#include "runtime/engines/saved_machine.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemons/driver/node_memory.h"
#include "netif/wire/crc32c.h"

namespace vcm5 {
namespace {

constexpr uint32_t kMagic = 0x35564153;  // "SAV5"
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderWords = 3;
constexpr uint32_t kPacketWords = 3 + kCm5eWordsMax;
constexpr uint32_t kMessageWords = 2 + kPacketWords;

uint32_t Checksum(std::span<const uint32_t> words) {
  uint32_t crc = ~uint32_t{0};
  for (const uint32_t word : words) crc = Crc32cStep32(crc, word);
  return crc;
}

std::string CheckMessage(const SavedMessage& message, size_t nodes, uint32_t words_max) {
  const uint32_t length = data_header::Length(message.packet.header);
  if (message.at >= nodes || message.to >= nodes) return "is not between nodes of the partition";
  if (data_header::IsSystem(message.packet.header)) return "has a tag of the system";
  if (length - 1 >= words_max) {
    return absl::StrCat("has ", length, " words, and the longest has ", words_max);
  }
  return "";
}

absl::Status CheckPartition(const SavedPartition& saved, const MachineSpec& spec,
                            const std::string& name) {
  const NiGeometry geometry = GeometryOf(spec);
  for (size_t node = 0; node < saved.nodes.size(); ++node) {
    const SavedPartition::Node& of = saved.nodes[node];
    std::string wrong = CheckSavedNi(of.ni, geometry, spec.words_max);
    if (wrong.empty()) wrong = CheckSavedPort(of.port, of.ni, geometry, spec.words_max);
    if (wrong.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, ", node ", node, ": ", wrong));
  }
  for (const std::vector<SavedMessage>& captured : saved.captured) {
    for (const SavedMessage& message : captured) {
      const std::string wrong = CheckMessage(message, saved.nodes.size(), spec.words_max);
      if (wrong.empty()) continue;
      return absl::InvalidArgumentError(absl::StrCat(name, ": a captured message ", wrong));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<uint32_t> SavedMachine::Encode() const {
  SavedWordsWriter to;
  for (const uint32_t word : {kMagic, kVersion, uint32_t{0}}) to.Put(word);
  to.Put(static_cast<uint32_t>(partitions.size()));
  for (const SavedPartition& partition : partitions) {
    to.Put(static_cast<uint32_t>(partition.nodes.size()));
    for (const SavedPartition::Node& node : partition.nodes) {
      AppendSavedNi(node.ni, to);
      AppendSavedPort(node.port, to);
    }
    for (const std::vector<SavedMessage>& captured : partition.captured) {
      to.Put(static_cast<uint32_t>(captured.size()));
      for (const SavedMessage& message : captured) {
        to.Put(message.at);
        to.Put(message.to);
        uint32_t words[kPacketWords];
        std::memcpy(words, &message.packet, sizeof words);
        to.Put(words);
      }
    }
  }
  std::vector<uint32_t>& words = to.words();
  words[2] = static_cast<uint32_t>(words.size() + 1);
  words.push_back(Checksum(words));
  return std::move(words);
}

absl::StatusOr<SavedMachine> SavedMachine::Decode(std::span<const uint32_t> words) {
  if (words.size() <= kHeaderWords || words[0] != kMagic) {
    return absl::InvalidArgumentError("not the saved state of a machine");
  }
  if (words[1] != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("saved state of version ", words[1],
                                                   ", and this program reads version ", kVersion));
  }
  if (words[2] != words.size()) {
    return absl::InvalidArgumentError(absl::StrCat("saved state of ", words[2],
                                                   " words, of which ", words.size(), " are here"));
  }
  if (Checksum(words.first(words.size() - 1)) != words.back()) {
    return absl::InvalidArgumentError("saved state that is damaged: its checksum is wrong");
  }
  SavedWordsReader from(words.subspan(kHeaderWords, words.size() - kHeaderWords - 1));
  SavedMachine machine;
  machine.partitions.resize(from.TakeCount(1));
  for (SavedPartition& partition : machine.partitions) {
    const uint32_t nodes = from.TakeCount(kPacketWords);
    partition.nodes.reserve(nodes);
    for (uint32_t node = 0; node < nodes && from.holds(); ++node) {
      SavedPartition::Node& of = partition.nodes.emplace_back();
      of.ni = ReadSavedNi(from);
      of.port = ReadSavedPort(from);
    }
    for (std::vector<SavedMessage>& captured : partition.captured) {
      captured.resize(from.TakeCount(kMessageWords));
      for (SavedMessage& message : captured) {
        message.at = from.Take();
        message.to = from.Take();
        uint32_t packet[kPacketWords] = {};
        from.Take(packet);
        std::memcpy(&message.packet, packet, sizeof packet);
      }
    }
  }
  if (!from.holds() || !from.at_end()) {
    return absl::InvalidArgumentError("saved state that ends too early or too late");
  }
  return machine;
}

absl::Status SavedMachine::Check(const MachineSpec& spec, const std::vector<Partition>& on) const {
  if (partitions.size() != on.size()) {
    return absl::InvalidArgumentError(absl::StrCat("saved state of ", partitions.size(),
                                                   " partitions for a machine of ", on.size()));
  }
  for (size_t i = 0; i < on.size(); ++i) {
    const std::string name = absl::StrCat("saved state of partition ", i);
    if (partitions[i].nodes.size() != on[i].size()) {
      return absl::InvalidArgumentError(absl::StrCat(name, " has ", partitions[i].nodes.size(),
                                                     " nodes, and the machine's has ",
                                                     on[i].size()));
    }
    absl::Status status = CheckPartition(partitions[i], spec, name);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace vcm5
