#include "runtime/embedded/run_program.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "daemons/driver/node_ranges.h"
#include "runtime/embedded/node_stdio.h"
#include "runtime/embedded/program_image.h"
#include "runtime/embedded/run_signals.h"
#include "runtime/engines/embedded.h"
#include "runtime/launch/children.h"
#include "runtime/launch/stats_report.h"

namespace vcm5 {
namespace {

class Run;

// The one run of this process: the functions that programs call by name have nothing else to find it by.
Run* the_run = nullptr;
void Say(const std::string& line) { std::fprintf(stderr, "vcm5: %s\n", line.c_str()); }

// The programs of a partition.
struct Images {
  ProgramImage nodes;
  std::optional<ProgramImage> host;
};

class Run {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Run(const RunOptions& options);

  // `images`: by partition.
  int Go(const std::vector<Images>& images);

  // Ends the node whose fiber this is.
  [[noreturn]] void EndNode(int status, bool run_destructors);

 private:
  struct Member {
    uint32_t partition;
    std::string name;  // "node 1:3"
    ProgramImage::Copy copy;
    std::vector<std::string> texts;
    std::vector<char*> arguments;
    bool ended = false;
  };
  // What has become of a program.
  struct Party {
    int status = 0;  // the first nonzero one of a node
    std::string line;
    Clock::time_point failed_at;
    bool stopped = false;
  };

  std::vector<std::string> Labels() const;
  absl::Status LoadAll(const std::vector<Images>& images);
  void PassAttention();
  void EndFailed();
  void Report(const std::vector<absl::Status>& ran);
  void ReportTimeout();

  const RunOptions& options_;
  std::vector<Member> members_;  // of all partitions, in order
  std::vector<Party> parties_;
  NodeStdio stdio_;
  std::unique_ptr<Embedded> machine_;
  uint32_t running_ = 0;  // whose turn it is
  int status_ = 0;
};

// After the first node that ended with a status of its own, the others of its program may finish, but
// not hang.
constexpr std::chrono::milliseconds kGraceTime{500};

Run::Run(const RunOptions& options)
    : options_(options),
      parties_(options.programs.size()),
      // The input is the first program's: its host's, else its node 0's.
      stdio_(Labels(), options.programs.front().host.has_value()
                           ? static_cast<uint32_t>(options.programs.front().partition.size()) - 1
                           : 0) {
  const std::vector<Partition> partitions = options_.partitions();
  for (uint32_t i = 0; i < partitions.size(); ++i) {
    for (const uint32_t physical : partitions[i]) {
      Member& member = members_.emplace_back();
      member.partition = i;
      member.name = NodeName(partitions, options_.machine.nodes, physical);
    }
  }
}

std::vector<std::string> Run::Labels() const {
  std::vector<std::string> labels;
  for (size_t i = 0; i < options_.programs.size(); ++i) {
    for (uint32_t self = 0; self < options_.programs[i].partition.size(); ++self) {
      labels.push_back(options_.label ? absl::StrCat("[", options_.LabelOf(i, self), "] ") : "");
    }
  }
  return labels;
}

void Run::EndNode(int status, bool run_destructors) {
  const uint32_t self = running_;
  Member& member = members_[self];
  Party& party = parties_[member.partition];
  member.ended = true;
  const int wait_status = W_EXITCODE(status & 0xff, 0);
  if (wait_status != 0 && party.status == 0) {
    party.status = ShellStatus(wait_status);
    party.failed_at = Clock::now();
    party.line = absl::StrCat(member.name, " ", DescribeEnd(wait_status),
                              parties_.size() == 1 ? "; the job has ended" : "; its program has ended");
    if (status_ == 0) status_ = party.status;
  }
  if (run_destructors) {
    dlclose(member.copy.handle);
    stdio_.Finish(self);
  }
  machine_->Finish(*Embedded::Current());
}

// Maps of memory that this process has.
uint64_t CountMaps() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<uint64_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

// Whether as many programs can be loaded; each takes `maps` of them, and two for its stack.
absl::Status CheckMaps(uint64_t programs, uint64_t maps) {
  uint64_t allowed = 0;
  if (!(std::ifstream("/proc/sys/vm/max_map_count") >> allowed)) return absl::OkStatus();
  const uint64_t needed = CountMaps() + programs * (maps + 2);
  if (needed <= allowed) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      programs, " nodes in one process need ", needed, " maps of memory, but only ", allowed,
      " are allowed (sysctl vm.max_map_count); expected at most ", allowed / (maps + 2) - 1, " nodes"));
}

absl::Status Run::LoadAll(const std::vector<Images>& images) {
  const uint64_t maps_before = CountMaps();
  for (uint32_t number = 0; number < members_.size(); ++number) {
    if (number == 1) {
      const absl::Status status = CheckMaps(members_.size(), CountMaps() - maps_before);
      if (!status.ok()) return status;
    }
    Member& member = members_[number];
    const ProgramRun& run = options_.programs[member.partition];
    const bool ends_partition =
        number + 1 == members_.size() || members_[number + 1].partition != member.partition;
    const bool is_host = run.host.has_value() && ends_partition;
    const Images& of = images[member.partition];
    absl::StatusOr<ProgramImage::Copy> copy = is_host ? of.host->Load() : of.nodes.Load();
    if (!copy.ok()) return copy.status();
    member.copy = *copy;
    const ProgramFile& file = is_host ? *run.host : run;
    member.texts.push_back(file.path);
    member.texts.insert(member.texts.end(), file.arguments.begin(), file.arguments.end());
    for (std::string& text : member.texts) member.arguments.push_back(text.data());
    member.arguments.push_back(nullptr);
  }
  return absl::OkStatus();
}

// SIGUSR1 goes to all nodes at once; if earlier ones are still on their way, these will do.
void Run::PassAttention() {
  if (RunSignals::attention_signal == 0) return;
  for (const ProgramRun& program : options_.programs) {
    machine_->supervisor(program.partition.front()).Interrupt(static_cast<uint32_t>(RunSignals::attention_signal));
  }
  RunSignals::attention_signal = 0;
}

// Ends the programs of which a node has failed and the others do not end.
void Run::EndFailed() {
  for (uint32_t i = 0; i < parties_.size(); ++i) {
    Party& party = parties_[i];
    if (party.status == 0 || party.stopped || Clock::now() - party.failed_at < kGraceTime) continue;
    party.stopped = true;
    if (machine_->StopPartition(i)) Say(party.line);
  }
}

int Run::Go(const std::vector<Images>& images) {
  EmbeddedOptions machine;
  machine.spec = options_.machine;
  machine.partitions = options_.partitions();
  machine.seed = options_.machine.seed;
  machine.stack_bytes = size_t{2} << 20;
  machine.on_switch = [this](uint32_t number, bool entering) {
    if (entering) {
      running_ = number;
      RunSignals::running_name = members_[number].name.c_str();
      RunSignals::turns = RunSignals::turns + 1;
      stdio_.Enter(number);
    } else {
      stdio_.Leave();
      RunSignals::running_name = nullptr;
    }
  };
  machine.should_stop = [this] {
    PassAttention();
    EndFailed();
    return RunSignals::timed_out != 0 || RunSignals::stop_signal != 0;
  };
  if (const absl::Status loaded = LoadAll(images); !loaded.ok()) {
    Say(std::string(loaded.message()));
    return kExitUsage;
  }
  machine_ = std::make_unique<Embedded>(std::move(machine));
  RunSignals::Install(options_.timeout_seconds);
  const Embedded::NodeMain main = [this](vcm5_port&) {
    Member& member = members_[running_];
    const int status = member.copy.main(static_cast<int>(member.arguments.size()) - 1,
                                        member.arguments.data(), environ);
    EndNode(status, true);
  };
  const std::vector<absl::Status> ran =
      machine_->RunPartitions(std::vector<Embedded::NodeMain>(parties_.size(), main));
  for (uint32_t number = 0; number < members_.size(); ++number) stdio_.Finish(number);
  Report(ran);
  if (options_.stats) {
    for (const std::string& line : FormatStats(machine_->Stats())) Say(line);
  }
  if (status_ == 0 && stdio_.write_error() != 0) {
    Say(absl::StrCat("cannot write standard output: ", std::strerror(stdio_.write_error())));
    return kExitFailure;
  }
  return status_;
}

// Says why programs failed that have not said so.
void Run::Report(const std::vector<absl::Status>& ran) {
  std::set<std::string> said;
  for (size_t i = 0; i < ran.size(); ++i) {
    if (ran[i].ok() || absl::IsDeadlineExceeded(ran[i]) || parties_[i].status != 0) continue;
    for (const auto& line : absl::StrSplit(ran[i].message(), '\n')) {
      if (said.emplace(line).second) Say(std::string(line));
    }
    if (status_ == 0) status_ = kExitFailure;
  }
  const bool cut_short = std::any_of(ran.begin(), ran.end(), absl::IsDeadlineExceeded);
  if (RunSignals::stop_signal != 0) {
    const int number = static_cast<int>(RunSignals::stop_signal);
    if (cut_short) {
      Say(absl::StrCat("got signal ", number, " (", SignalName(number), "); the job has ended"));
    }
    if (status_ == 0) status_ = 128 + number;
  } else if (RunSignals::timed_out != 0 && cut_short) {
    ReportTimeout();
    if (status_ == 0) status_ = kExitTimeout;
  }
}

void Run::ReportTimeout() {
  const auto live = std::count_if(members_.begin(), members_.end(),
                                  [this](const Member& member) {
                                    return !member.ended && !parties_[member.partition].stopped;
                                  });
  const bool hosts = std::any_of(options_.programs.begin(), options_.programs.end(),
                                 [](const ProgramRun& program) { return program.host.has_value(); });
  Say(absl::StrCat("no end after ", absl::StrFormat("%g", options_.timeout_seconds),
                   " s (--timeout): ", live, " of ", members_.size(),
                   hosts ? " nodes and hosts" : " nodes", " still ran; the job has ended"));
  for (const std::string& line : machine_->Waiting()) Say(absl::StrCat("  ", line));
}

absl::StatusOr<std::vector<Images>> ReadAll(const RunOptions& options) {
  std::vector<Images> images;
  for (const ProgramRun& run : options.programs) {
    absl::StatusOr<ProgramImage> nodes = ProgramImage::Read(run.path);
    if (!nodes.ok()) return nodes.status();
    Images& of = images.emplace_back(Images{std::move(*nodes), std::nullopt});
    if (!run.host.has_value()) continue;
    absl::StatusOr<ProgramImage> host = ProgramImage::Read(run.host->path);
    if (!host.ok()) return host.status();
    of.host = std::move(*host);
  }
  return images;
}

}  // namespace

int RunUnderEmbedded(const RunOptions& options) {
  const absl::StatusOr<std::vector<Images>> images = ReadAll(options);
  if (!images.ok()) {
    Say(std::string(images.status().message()));
    return kExitUsage;
  }
  Run run(options);
  the_run = &run;
  const int status = run.Go(*images);
  the_run = nullptr;
  return status;
}

}  // namespace vcm5

// ---- what a loaded program finds here by name --------------------------------------------------

extern "C" {

// The port of the node whose turn it is; null outside an embedded run (runtime/node asks).
__attribute__((visibility("default"))) vcm5_port* vcm5_engine_attach(void) {
  return vcm5::Embedded::Current();
}

__attribute__((visibility("default"), noreturn)) void exit(int status) {
  if (vcm5::the_run != nullptr && vcm5::Embedded::Current() != nullptr) {
    vcm5::the_run->EndNode(status, true);
  }
  using Exit = void (*)(int);
  static const Exit real = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "exit"));
  real(status);
  __builtin_unreachable();
}

__attribute__((visibility("default"), noreturn)) void _exit(int status) {
  if (vcm5::the_run != nullptr && vcm5::Embedded::Current() != nullptr) {
    vcm5::the_run->EndNode(status, false);
  }
  _Exit(status);
}
}
