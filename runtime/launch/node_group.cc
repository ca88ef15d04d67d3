#include "runtime/launch/node_group.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/launch/program_lookup.h"

namespace vcm5 {

absl::Status NodeGroup::StartNext(const JobFabric& fabric) {
  const uint32_t node = next();
  const JobFabric::Place place = fabric.places()[node];
  const ProgramRun& run = options_.programs[place.partition];
  const bool is_host = fabric.is_host(node);
  const ProgramFile& file = is_host ? *run.host : run;
  if (null_.get() < 0) null_ = UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC));
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start node ", node, ": pipe: ", std::strerror(errno)));
  }
  UniqueFd out_read(out[0]);
  UniqueFd out_write(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start node ", node, ": pipe: ", std::strerror(errno)));
  }
  UniqueFd err_read(err[0]);
  UniqueFd err_write(err[1]);

  SpawnRequest request;
  request.path = file.path;
  request.arguments = {file.path};
  request.arguments.insert(request.arguments.end(), file.arguments.begin(), file.arguments.end());
  request.variables = {
      absl::StrCat(kNodeVariable, "=", fabric.EnvironmentOf(node).Format())};
  if (run.host.has_value()) {
    if (boot_.empty()) {
      absl::StatusOr<std::string> boot = FindDaemon("vcm5-boot");
      if (!boot.ok()) return boot.status();
      boot_ = *boot;
    }
    request.path = boot_;
    request.variables.push_back(
        absl::StrCat(kBootVariable, "=", fabric.BootEnvironmentOf(node).Format()));
  }
  // The host has it, else node 0.
  const bool has_input = place.partition == 0 && is_host == run.host.has_value() &&
                         (is_host || place.self == 0) && fcntl(STDIN_FILENO, F_GETFD) >= 0;
  request.descriptors = {has_input ? STDIN_FILENO : null_.get(), out_write.get(), err_write.get()};
  for (const int fd : fabric.NodeDescriptors(node)) request.descriptors.push_back(fd);
  absl::StatusOr<pid_t> pid = spawner_.Spawn(request);
  if (!pid.ok()) return pid.status();
  alive_.emplace(*pid, node);
  statuses_.emplace_back();
  const std::string name = options_.LabelOf(place.partition, place.self);
  output_.Add(name, OutputForwarder::kStdout, std::move(out_read));
  output_.Add(name, OutputForwarder::kStderr, std::move(err_read));
  return absl::OkStatus();
}

void NodeGroup::Signal(int number, uint32_t first, uint32_t last) const {
  for (const auto& [pid, node] : alive_) {
    if (node >= first && node < last) kill(pid, number);
  }
}

std::optional<uint32_t> NodeGroup::Ended(pid_t pid, int status) {
  const auto found = alive_.find(pid);
  if (found == alive_.end()) return std::nullopt;
  const uint32_t node = found->second;
  alive_.erase(found);
  statuses_[node] = status;
  return node;
}

}  // namespace vcm5
