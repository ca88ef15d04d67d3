#include "bench/session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/peer_build.h"
#include "bench/plot.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/sampler.h"
#include "bench/statistics.h"

namespace vcm5::bench {
namespace {

// The load of the machine changes slowly: so often ours and the peers' turns change.
constexpr uint32_t kRoundsAgainstPeers = 3;

struct Contestant {
  std::string name;
  std::string title;     // for the head of a table
  const PeerKind* kind;  // null: ours
  std::unique_ptr<Sampler> sampler;
};

class Session {
 public:
  explicit Session(const Options& options)
      : options_(options), plot_(TitleOf(options, *options.cases.front().benchmark)) {}

  absl::Status Run() {
    if (absl::Status status = Prepare(); !status.ok()) return status;
    const Benchmark* benchmark = nullptr;
    for (const Case& what : options_.cases) {
      if (what.benchmark != benchmark && !options_.json) PrintHead(*what.benchmark);
      benchmark = what.benchmark;
      if (absl::Status status = Measure(what); !status.ok()) return status;
      // As far as it has come, should the rest be interrupted.
      if (absl::Status status = WritePlot(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Prepare() {
    if (absl::Status status = WritePlot(); !status.ok()) return status;
    absl::StatusOr<std::unique_ptr<Sampler>> ours = MakeOurSampler(options_);
    if (!ours.ok()) return ours.status();
    contestants_.push_back({"vcm5", "", nullptr, std::move(*ours)});
    for (const PeerKind* kind : options_.against) {
      absl::StatusOr<PeerProgram> peer = BuildPeer(*kind);
      if (!peer.ok()) return peer.status();
      std::string title = kind->title;
      if (!peer->version.empty()) absl::StrAppend(&title, ": ", peer->version);
      for (const std::string& argument : kind->launch_arguments) {
        absl::StrAppend(&title, " ", argument);
      }
      contestants_.push_back({kind->name, std::move(title), kind,
                              MakeProcessSampler(options_, std::move(peer->command_for))});
    }
    return absl::OkStatus();
  }

  absl::Status Measure(const Case& what) {
    std::vector<const Contestant*> contestants;
    for (const Contestant& each : contestants_) {
      const bool can = each.kind == nullptr || each.kind->CanMeasure(what.benchmark->name, what.nodes);
      if (can) contestants.push_back(&each);
    }
    const bool alone = contestants.size() == 1;
    const uint32_t rounds = alone ? 1 : std::min(kRoundsAgainstPeers, options_.repetitions);
    std::vector<Rounds> values(contestants.size(), Rounds(rounds));
    for (uint32_t round = 0; round < rounds; ++round) {
      const uint32_t repetitions =
          options_.repetitions / rounds + (round < options_.repetitions % rounds);
      for (size_t i = 0; i < contestants.size(); ++i) {
        if (absl::Status status = Sample(*contestants[i], what, repetitions, &values[i][round]);
            !status.ok()) {
          return status;
        }
      }
    }
    Result result{what, Summarize(Flatten(values[0])), {}};
    if (alone) Print(result);
    for (size_t i = 1; i < contestants.size(); ++i) {
      result.against = Against{contestants[i]->name, Summarize(Flatten(values[i])),
                               Compare(values[0], values[i], LessIsBetter(what.benchmark->unit))};
      Print(result);
    }
    return absl::OkStatus();
  }

  absl::Status Sample(const Contestant& contestant, const Case& what, uint32_t repetitions,
                      std::vector<double>* values) {
    const std::string text =
        absl::StrFormat("%s on %d nodes, %s", what.benchmark->name, what.nodes, contestant.name);
    progress_.Say(text);
    const absl::Status status = contestant.sampler->Run(what, repetitions, [&](double value) {
      values->push_back(value);
      progress_.Say(absl::StrCat(text, ": ", values->size(), " of ", repetitions));
    });
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat(text, ": ", std::string(status.message())));
  }

  void PrintHead(const Benchmark& benchmark) {
    std::vector<std::string> peers;
    for (size_t i = 1; i < contestants_.size(); ++i) peers.push_back(contestants_[i].title);
    progress_.Clear();
    if (std::exchange(printed_, true)) std::puts("");
    for (const std::string& line : TableHead(options_, benchmark, peers)) std::puts(line.c_str());
    std::fflush(stdout);
  }

  // A reader sees the old picture or the new one.
  absl::Status WritePlot() const {
    if (options_.plot.empty()) return absl::OkStatus();
    const std::string fresh = absl::StrCat(options_.plot, ".", getpid());
    const std::string svg = plot_.Svg();
    std::FILE* file = std::fopen(fresh.c_str(), "w");
    bool written = file != nullptr && std::fwrite(svg.data(), 1, svg.size(), file) == svg.size();
    if (file != nullptr) written = std::fclose(file) == 0 && written;
    if (written && std::rename(fresh.c_str(), options_.plot.c_str()) == 0) return absl::OkStatus();
    const std::string why = std::strerror(errno);
    std::remove(fresh.c_str());
    return absl::InvalidArgumentError(absl::StrCat("cannot write --plot ", options_.plot, ": ", why));
  }

  void Print(const Result& result) {
    plot_.Add(result);
    progress_.Clear();
    std::puts((options_.json ? JsonLine(options_, result) : TableRow(result)).c_str());
    std::fflush(stdout);
  }

  const Options& options_;
  std::vector<Contestant> contestants_;  // ours first
  Progress progress_;
  Plot plot_;
  bool printed_ = false;
};

}  // namespace

absl::Status RunSession(const Options& options) { return Session(options).Run(); }

}  // namespace vcm5::bench
