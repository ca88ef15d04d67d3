#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/plan.h"
#include "bench/sampler.h"
#include "runtime/launch/program_lookup.h"

namespace vcm5::bench {
namespace {

class ProcessSampler final : public Sampler {
 public:
  ProcessSampler(const Options& options, CommandFor command_for)
      : options_(options), command_for_(std::move(command_for)) {}

  absl::Status Run(const Case& what, uint32_t repetitions,
                   const std::function<void(double)>& on_value) override {
    const bench_plan plan = MakePlan(options_, what, repetitions);
    Command command = command_for_(what.nodes);
    for (std::string& argument : PlanArguments(plan)) {
      command.arguments.push_back(std::move(argument));
    }
    return MeasuresJobs(*what.benchmark) ? TimeJobs(what, plan, command, on_value)
                                         : TakeSamples(what, plan, command, on_value);
  }

 private:
  absl::Status TimeJobs(const Case& what, const bench_plan& plan, const Command& command,
                        const std::function<void(double)>& on_value) const {
    for (uint32_t i = 0; i < plan.warmup + plan.repetitions; ++i) {
      const double start = bench_now();
      const absl::Status status =
          RunCommand(command, options_.timeout_seconds, [](const std::string&) {});
      const double seconds = bench_now() - start;
      if (!status.ok()) return status;
      if (i >= plan.warmup) on_value(ValueOf(what, seconds, 1));
    }
    return absl::OkStatus();
  }

  absl::Status TakeSamples(const Case& what, const bench_plan& plan, const Command& command,
                           const std::function<void(double)>& on_value) const {
    uint32_t samples = 0;
    const absl::Status status =
        RunCommand(command, options_.timeout_seconds, [&](const std::string& line) {
          double seconds = 0;
          uint64_t iterations = 0;
          if (std::sscanf(line.c_str(), "sample %lf %" SCNu64, &seconds, &iterations) == 2) {
            ++samples;
            on_value(ValueOf(what, seconds, iterations));
          } else {
            std::fprintf(stderr, "%s\n", line.c_str());
          }
        });
    if (!status.ok()) return status;
    if (samples != plan.repetitions) {
      return absl::InternalError(absl::StrCat("`", command.Text(), "` reported ", samples,
                                              " repetitions; expected ", plan.repetitions));
    }
    return absl::OkStatus();
  }

  const Options& options_;
  const CommandFor command_for_;
};

// `launch` is a job from outside under every engine; other benchmarks have an embedded machine
// here.
class EmbeddedOrJobs final : public Sampler {
 public:
  EmbeddedOrJobs(const Options& options, std::unique_ptr<Sampler> jobs)
      : embedded_(MakeEmbeddedSampler(options)), jobs_(std::move(jobs)) {}
  absl::Status Run(const Case& what, uint32_t repetitions,
                   const std::function<void(double)>& on_value) override {
    return (MeasuresJobs(*what.benchmark) ? jobs_ : embedded_)->Run(what, repetitions, on_value);
  }

 private:
  const std::unique_ptr<Sampler> embedded_;
  const std::unique_ptr<Sampler> jobs_;
};

}  // namespace

std::unique_ptr<Sampler> MakeProcessSampler(const Options& options, CommandFor command_for) {
  return std::make_unique<ProcessSampler>(options, std::move(command_for));
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeOurSampler(const Options& options) {
  const absl::StatusOr<std::string> program = FindDaemon("vcm5-bench-node");
  if (!program.ok()) return program.status();
  // Jobs are run by this very program.
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) {
    return absl::InternalError(absl::StrCat("cannot read /proc/self/exe: ", error.message()));
  }
  auto jobs = MakeProcessSampler(options, [self, program = *program, &options](uint32_t nodes) {
    return Command{self,
                   {"run", "-n", absl::StrCat(nodes), "--engine", EngineName(options.engine),
                    "--seed", absl::StrCat(options.seed), program},
                   {}};
  });
  if (options.engine == Engine::kDaemons) return jobs;
  return std::unique_ptr<Sampler>(std::make_unique<EmbeddedOrJobs>(options, std::move(jobs)));
}

}  // namespace vcm5::bench
