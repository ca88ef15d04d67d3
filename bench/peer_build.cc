#include "bench/peer_build.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/launch/program_lookup.h"

namespace vcm5::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kCompileSeconds = 300;
constexpr double kVersionSeconds = 30;

struct Places {
  fs::path sources;
  fs::path output;
};

// Nothing, if the environment names no home: a folder that others can write to will not do.
fs::path CacheFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') {
    return fs::path(cache) / "vcm5";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] != '/' ? fs::path() : fs::path(home) / ".cache" / "vcm5";
}

absl::StatusOr<Places> FindPlaces() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = self.parent_path() / ".." / "share" / "vcm5" / "bench-peers";
  if (fs::exists(installed, error)) return Places{installed, CacheFolder()};
  const fs::path tree = VCM5_BENCH_PEER_SOURCES;
  if (fs::exists(tree, error)) return Places{tree, VCM5_BENCH_PEER_OUTPUT};
  return absl::NotFoundError(absl::StrCat("the peers' sources are neither in ", installed.string(),
                                          " nor in ", tree.string()));
}

absl::StatusOr<std::vector<fs::path>> SourcesIn(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> sources;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".c" || entry.path().extension() == ".h") {
      sources.push_back(entry.path());
    }
  }
  if (error) {
    return absl::InternalError(
        absl::StrCat("cannot read ", folder.string(), ": ", error.message()));
  }
  return sources;
}

bool UpToDate(const fs::path& program, const std::vector<fs::path>& sources) {
  std::error_code error;
  const fs::file_time_type built = fs::last_write_time(program, error);
  if (error) return false;
  for (const fs::path& source : sources) {
    if (fs::last_write_time(source, error) > built || error) return false;
  }
  return true;
}

absl::Status Compile(const std::string& compiler, const std::vector<fs::path>& sources,
                     const fs::path& program) {
  std::error_code error;
  fs::create_directories(program.parent_path(), error);
  // Another bench may do the same: each writes a file of its own.
  const fs::path fresh = absl::StrCat(program.string(), ".", getpid());
  Command command{compiler, {"-std=c11", "-D_GNU_SOURCE", "-O3", "-w", "-o", fresh.string()}, {}};
  for (const fs::path& source : sources) {
    if (source.extension() == ".c") command.arguments.push_back(source.string());
  }
  if (absl::Status status = RunCommand(command, kCompileSeconds, [](const std::string&) {});
      !status.ok()) {
    return status;
  }
  fs::rename(fresh, program, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("cannot write ", program.string(), ": ", error.message()));
}

std::string VersionOf(const PeerKind& kind, const std::string& launcher,
                      const std::vector<std::string>& variables) {
  std::string version;
  const auto take = [&](const std::string& line) {
    absl::string_view text = absl::StripAsciiWhitespace(line);
    if (!version.empty() || !absl::ConsumePrefix(&text, kind.version_line)) return;
    version = std::string(absl::StripAsciiWhitespace(text));
  };
  const absl::Status status =
      RunCommand({launcher, {"--version"}, variables}, kVersionSeconds, take);
  return status.ok() ? version : launcher;
}

}  // namespace

absl::StatusOr<PeerProgram> BuildPeer(const PeerKind& kind) {
  if (kind.program != nullptr) {
    const absl::StatusOr<std::string> program = FindDaemon(kind.program);
    if (!program.ok()) return program.status();
    return PeerProgram{"", [path = *program](uint32_t) { return Command{path, {}, {}}; }};
  }
  const std::string compiler = FindInPath(kind.compilers);
  const std::string launcher = FindInPath(kind.launchers);
  if (compiler.empty() || launcher.empty()) {
    const std::string missing = compiler.empty() ? kind.compilers.back() : kind.launchers.back();
    return absl::FailedPreconditionError(
        absl::StrCat("--against ", kind.name, " needs ", kind.title, ", but there is no ", missing,
                     " in $PATH; as root, run: apt-get install ", kind.packages));
  }
  const absl::StatusOr<Places> places = FindPlaces();
  if (!places.ok()) return places.status();
  const absl::StatusOr<std::vector<fs::path>> sources = SourcesIn(places->sources);
  if (!sources.ok()) return sources.status();
  if (places->output.empty()) {
    return absl::FailedPreconditionError(
        "there is no place for the peer's program: neither $XDG_CACHE_HOME nor $HOME is set");
  }
  const fs::path program = places->output / absl::StrCat("bench-peer-", kind.name);
  if (!UpToDate(program, *sources)) {
    if (absl::Status status = Compile(compiler, *sources, program); !status.ok()) return status;
  }
  std::vector<std::string> variables = kind.variables;
  if (geteuid() == 0) {
    variables.insert(variables.end(), kind.root_variables.begin(), kind.root_variables.end());
  }
  PeerProgram peer;
  peer.version = VersionOf(kind, launcher, variables);
  peer.command_for = [&kind, launcher, variables, program](uint32_t nodes) {
    Command command{launcher, kind.launch_arguments, variables};
    command.arguments.insert(command.arguments.end(),
                             {"-n", absl::StrCat(nodes), program.string()});
    return command;
  };
  return peer;
}

}  // namespace vcm5::bench
