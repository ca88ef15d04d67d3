// `vcm5 test --campaign N`: the fault campaign.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "tests/campaign/judge.h"
#include "tests/campaign/run.h"
#include "tests/campaign/scenario.h"
#include "tests/campaign/table.h"
#include "tests/campaign/workers.h"

namespace vcm5::campaign {
namespace {

volatile sig_atomic_t interrupted = 0;

constexpr const char kAbout[] =
    R"(Runs N random programs on random machines in which random things go wrong, and
says what the networks noticed. Each run is made from the seed and its number:
the same seed gives the same table.

In each run something is chosen: nothing, bits of messages flipped, messages
lost or doubled on a link of the data network, bits of packets flipped in the
control network, a program that breaks a rule, and, in the middle of it,
all-fall-down, or all that users have saved and restored. Then every message
and result is compared with what it must be, and every report with what was
done. Exit status 1 if one of it is wrong: damage not found, or delivered, or
blamed on another link; a message lost or doubled unnoticed; a report of what
was not; a run that hangs. 2 if the command line is wrong.)";

std::string Again(const CampaignOptions& options, uint64_t run) {
  return absl::StrCat("./vcm5 test --campaign ", options.runs, " --seed ", options.seed, " --only ", run);
}

int RunAlone(const CampaignOptions& options, uint64_t run) {
  const Scenario scenario = DrawScenario(options.seed, run);
  std::fputs(Describe(scenario).c_str(), stdout);
  std::fflush(stdout);
  const Observed observed = Carry(scenario);
  std::printf("  struck: %llu; messages delivered: %llu; all-fall-downs: %llu; turns: %llu%s\n",
              static_cast<unsigned long long>(observed.struck.all()),
              static_cast<unsigned long long>(observed.messages),
              static_cast<unsigned long long>(observed.cuts),
              static_cast<unsigned long long>(observed.turns),
              observed.all_ended ? "" : "; a program did not end");
  for (const std::string& line : observed.reports) std::printf("  report: %s\n", line.c_str());
  const Result result = CarryOut(options.seed, run);
  std::printf("  %s\n", result.why.empty() ? "as it must be" : result.why.c_str());
  return result.why.empty() ? 0 : 1;
}

int RunAll(const CampaignOptions& options, bool json) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  signal(SIGINT, [](int) { interrupted = 1; });
  const Outcome outcome = RunCampaign(options, CarryOut, [&](const Outcome& so_far) {
    if (terminal) {
      std::fprintf(stderr, "\r\033[K%llu of %llu runs, %zu failed",
                   static_cast<unsigned long long>(so_far.done),
                   static_cast<unsigned long long>(options.runs), so_far.failures.size());
    }
    return interrupted == 0;
  });
  if (terminal) std::fputs("\r\033[K", stderr);
  std::fputs((json ? outcome.table.Json(options.seed) : outcome.table.Text()).c_str(), stdout);
  std::fflush(stdout);
  for (const Failure& failure : outcome.failures) {
    std::fprintf(stderr, "run %llu (%s): %s\n  again: %s\n",
                 static_cast<unsigned long long>(failure.run), KindName(failure.kind),
                 failure.why.c_str(), Again(options, failure.run).c_str());
  }
  if (outcome.interrupted) {
    std::fprintf(stderr, "interrupted after %llu of %llu runs\n",
                 static_cast<unsigned long long>(outcome.done),
                 static_cast<unsigned long long>(options.runs));
    return 130;
  }
  return outcome.failures.empty() ? 0 : 1;
}

int Main(int argc, char** argv) {
  CampaignOptions options;
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  uint64_t only = 0;
  bool json = false;
  CLI::App app(kAbout, "vcm5 test");
  app.add_option("--campaign", options.runs, "how many runs")
      ->required()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->option_text("N");
  app.add_option("--seed", options.seed, "of everything that is chosen; 1 if left out")->option_text("S");
  CLI::Option* alone = app.add_option("--only", only, "this run alone, and all that is known of it")
                           ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
                           ->option_text("RUN");
  app.add_option("--jobs", options.jobs, "runs at once; as many as processors if left out")
      ->check(CLI::Range(1u, 1024u))
      ->option_text("J");
  app.add_flag("--json", json, "the table as JSON");
  // Even if an option before it lacks its value.
  if (std::any_of(argv, argv + argc, [](const char* word) { return std::string(word) == "--help"; })) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "vcm5: test: %s (see `./vcm5 test --campaign --help`)\n", error.what());
    return 2;
  }
  return alone->count() != 0 ? RunAlone(options, only) : RunAll(options, json);
}

}  // namespace
}  // namespace vcm5::campaign

int main(int argc, char** argv) { return vcm5::campaign::Main(argc, argv); }
