#include "daemons/config/machine_config.h"

#include <fcntl.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemons/config/fault_spec.h"
#include "daemons/config/machine.pb.h"
#include "daemons/config/machine_rules.h"
#include "daemons/config/place_names.h"
#include "switches/topology/fat_tree.h"
#include "switches/topology/health.h"

namespace vcm5 {
namespace {

// A description is short; a longer file is something else.
constexpr size_t kFileBytesMax = 1 << 20;

// Turns what the protobuf parser says into our lines.
class Faults : public google::protobuf::io::ErrorCollector {
 public:
  explicit Faults(const std::string& name) : name_(name) {}
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    // The parser counts from 0, and -1 means the whole text.
    lines_.push_back(line < 0 ? absl::StrCat(name_, ": ", message)
                              : absl::StrCat(name_, ":", line + 1, ":", column + 1, ": ", message));
  }
  std::vector<std::string> Take() { return std::move(lines_); }

 private:
  const std::string& name_;
  std::vector<std::string> lines_;
};

// Where in the text a field of `root` stands. `path` is one name, or two joined by a dot.
std::string LineOf(const std::string& name, const google::protobuf::TextFormat::ParseInfoTree& root,
                   const std::string& path, int index) {
  const google::protobuf::Descriptor* message = config::Machine::descriptor();
  const google::protobuf::TextFormat::ParseInfoTree* tree = &root;
  std::string field = path;
  if (const size_t dot = path.find('.'); dot != std::string::npos) {
    const auto* outer = message->FindFieldByName(path.substr(0, dot));
    tree = tree->GetTreeForNested(outer, -1);
    if (tree == nullptr) return absl::StrCat(name, ": ");
    message = outer->message_type();
    field = path.substr(dot + 1);
  }
  const auto* descriptor = message->FindFieldByName(field);
  const int at = descriptor->is_repeated() ? std::max(index, 0) : -1;
  const auto location = tree->GetLocation(descriptor, at);
  return location.line < 0 ? absl::StrCat(name, ": ") : absl::StrCat(name, ":", location.line + 1, ": ");
}

// "1 chip", "2 chips".
std::string Count(uint64_t number, const char* what) {
  return absl::StrCat(number, " ", what, number == 1 ? "" : "s");
}

MachineSpec ToSpec(const config::Machine& machine) {
  MachineSpec spec;
  if (machine.has_nodes()) spec.nodes = machine.nodes();
  if (machine.has_control_processors()) spec.control_processors = machine.control_processors();
  if (machine.has_io_channels()) spec.io_channels = machine.io_channels();
  if (machine.has_seed()) spec.seed = machine.seed();
  const auto& interface = machine.network_interface();
  if (interface.has_words_max()) spec.words_max = interface.words_max();
  if (interface.has_data_fifo_depth()) spec.data_fifo_depth = interface.data_fifo_depth();
  const auto& data = machine.data_network();
  if (data.parents_per_level_size() != 0) {
    spec.parents_per_level.assign(data.parents_per_level().begin(), data.parents_per_level().end());
  }
  if (data.has_link_depth()) spec.link_depth = data.link_depth();
  const auto& control = machine.control_network();
  if (control.has_combine_depth()) spec.combine_depth = control.combine_depth();
  if (control.has_broadcast_depth()) spec.broadcast_depth = control.broadcast_depth();
  return spec;
}

}  // namespace

absl::StatusOr<MachineSpec> ParseMachine(const std::string& name, const std::string& text) {
  config::Machine machine;
  google::protobuf::TextFormat::ParseInfoTree places;
  Faults collector(name);
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.WriteLocationsTo(&places);
  if (!parser.ParseFromString(text, &machine)) {
    std::vector<std::string> faults = collector.Take();
    if (faults.empty()) faults.push_back(absl::StrCat(name, ": is no machine description"));
    return FaultsToStatus(std::move(faults));
  }
  MachineSpec spec = ToSpec(machine);
  const auto locate = [&](const std::string& field, int index) {
    return LineOf(name, places, field, index);
  };
  std::vector<std::string> unread;
  for (int i = 0; i < machine.broken_size(); ++i) {
    absl::StatusOr<BrokenPart> part = ParsePlace(machine.broken(i));
    if (part.ok()) {
      spec.broken.push_back(*part);
    } else {
      unread.push_back(absl::StrCat(locate("broken", i), "broken is \"",
                                    absl::CHexEscape(machine.broken(i)), "\"; ",
                                    std::string(part.status().message())));
    }
  }
  if (!unread.empty()) spec.broken.clear();  // the rules count entries as the text does
  std::vector<std::string> faults = MachineFaults(spec, locate);
  faults.insert(faults.end(), unread.begin(), unread.end());
  absl::Status status = FaultsToStatus(std::exchange(faults, {}));
  if (!status.ok()) return status;
  for (int i = 0; i < machine.fault_size(); ++i) {
    if (status = AddFault(machine.fault(i), &spec); status.ok()) continue;
    faults.push_back(
        absl::StrCat(LineOf(name, places, "fault", i), std::string(status.message())));
  }
  status = FaultsToStatus(std::move(faults));
  if (!status.ok()) return status;
  return spec;
}

absl::StatusOr<MachineSpec> ReadMachineFile(const std::string& path) {
  const auto failure = [&](const char* why) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot read machine description ", path, ": ", why));
  };
  // Non-blocking: a FIFO that nobody writes must not hang the command line.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failure(std::strerror(errno));
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return failure(S_ISDIR(status.st_mode) ? "it is a directory" : "it is no regular file");
  }
  std::string text(kFileBytesMax + 1, '\0');
  size_t size = 0;
  ssize_t got = 0;
  while (size < text.size() && (got = read(fd, text.data() + size, text.size() - size)) > 0) {
    size += static_cast<size_t>(got);
  }
  const int error = errno;
  close(fd);
  if (got < 0) return failure(std::strerror(error));
  if (size > kFileBytesMax) return failure("it is longer than 1 MiB");
  text.resize(size);
  return ParseMachine(path, text);
}

std::string PrintDefaultMachine(uint32_t nodes) {
  const MachineSpec spec;
  return absl::StrCat(
      R"(# A virtual Connection Machine CM-5, for `vcm5 run --machine FILE`.
# A field that is left out has the value given here. `vcm5 machine --check FILE` explains what is
# wrong with a description, or says what the machine is.

# Leaves of the data network share one address space: nodes first, then control processors (one a
# partition), then I/O channels.
nodes: )",
      nodes, R"(                  # 1 to 16384
control_processors: )",
      spec.control_processors, R"(      # 0 to 1024
io_channels: )",
      spec.io_channels, R"(             # 0 to 1024

# What each node sees of the networks.
network_interface {
  words_max: )",
      spec.words_max, R"(             # longest data message, in 32-bit words: 5 on the CM-5, 18 on the CM-5E
  data_fifo_depth: )",
      spec.data_fifo_depth, R"(     # messages in each data FIFO; a power of two, 2 to 65536
}

# The data network: two 4-ary fat trees of router chips, left and right.
data_network {
  # Parent links of a router chip at level 1, 2, ... (1 to 4 each); higher levels use the last entry.
  parents_per_level: [)",
      absl::StrJoin(spec.parents_per_level, ", "), R"(]
  link_depth: )",
      spec.link_depth, R"(           # packets buffered at each input port of a chip; a power of two, 1 to 1024
}

# The control network: a binary tree that scans, reduces and broadcasts.
control_network {
  combine_depth: )",
      spec.combine_depth, R"(        # words in flight of scans and reductions; a power of two, 8 to 65536
  broadcast_depth: )",
      spec.broadcast_depth, R"(     # words in flight of user broadcasts; a power of two, 8 to 65536
}

# Of every pseudorandom choice, such as the way up the fat trees. `vcm5 run --seed` overrides it.
seed: )",
      spec.seed, R"(

# Parts of the networks that do not work, to be mapped out; none by default. For example:
#   broken: "data.left: chip 2/3"                  # a router chip: level 2, number 3 of that level
#   broken: "data.right: link of chip 1/4 port 5"  # ports 0 to 3 are child links, 4 to 7 parent links
#   broken: "control: chip 3/0"                    # a switch of the control network
#   broken: "leaf 7"                               # a node, control processor or I/O channel
# What is broken on purpose, as often as you like; `vcm5 help faults` says what can be.
# fault: "data.left: leaf 5 lose once at message 100"
)");
}

std::string DescribeMachine(const MachineSpec& spec) {
  const FatTree tree(spec.leaves(), spec.parents_per_level);
  std::string text = absl::StrCat(
      Count(spec.nodes, "node"), ", ", Count(spec.control_processors, "control processor"), ", ",
      Count(spec.io_channels, "I/O channel"), "\n", "messages of up to ",
      spec.words_max, " words; ", spec.data_fifo_depth, " in each data FIFO\n",
      "data network: two fat trees (left and right), each of ", Count(tree.levels(), "level"),
      " and ", Count(tree.chips(), "router chip"), ":\n");
  for (unsigned level = 1; level <= tree.levels(); ++level) {
    const uint32_t chips = tree.nodes_at(level) * tree.chips_per_node(level);
    absl::StrAppend(&text, "  level ", level, ": ", Count(chips, "chip"), ", ");
    if (level == tree.levels()) {
      absl::StrAppend(&text, "the top\n");
    } else {
      absl::StrAppend(&text, Count(tree.parents(level), "parent link"), " each, ",
                      Count(chips * tree.parents(level), "link"), " up\n");
    }
  }
  absl::StrAppend(&text, "  links: ", spec.link_depth, " packets buffered at each input port\n",
                  "control network: a binary tree of ", Count(spec.nodes, "leaf node"), "; ",
                  spec.combine_depth, " words of combines and ", spec.broadcast_depth,
                  " of broadcasts in flight\nseed ", spec.seed, "\n");
  if (!spec.broken.empty()) {
    absl::StrAppend(&text, Count(spec.broken.size(), "broken part"), "; ", UsableNodes(spec).size(),
                    " of ", Count(spec.nodes, "node"), " usable (see vcm5 machine --explain)\n");
  }
  for (const std::string& fault : FormatFaults(spec)) {
    absl::StrAppend(&text, "fault: ", fault, "\n");
  }
  return text;
}

}  // namespace vcm5
