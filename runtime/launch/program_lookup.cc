#include "runtime/launch/program_lookup.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace vcm5 {
namespace {

// Why `path` cannot be run; OK if it can.
absl::Status Executable(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    const int error = errno;
    const std::string why = absl::StrCat("cannot run ", path, ": ", std::strerror(error));
    return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(why)
                                               : absl::PermissionDeniedError(why);
  }
  if (S_ISDIR(status.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot run ", path, ": it is a directory; expected a program"));
  }
  if (!S_ISREG(status.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("cannot run ", path, ": it is no regular file"));
  }
  if (access(path.c_str(), X_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot run ", path, ": it is not executable (chmod +x?)"));
  }
  return absl::OkStatus();
}

std::vector<std::string> SearchPath() {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return {};
  return absl::StrSplit(path, ':', absl::SkipEmpty());
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  if (name.empty()) return absl::InvalidArgumentError("the name of the program is empty");
  const absl::Status here = Executable(name);
  if (here.ok()) return name.find('/') == std::string::npos ? absl::StrCat("./", name) : name;
  std::vector<std::string> candidates;
  if (const char* folder = std::getenv("VCM5_PROGRAM_PATH"); folder != nullptr && name[0] != '/') {
    candidates.push_back(absl::StrCat(folder, "/", name));
  }
  if (name.find('/') == std::string::npos) {
    for (const std::string& folder : SearchPath()) {
      candidates.push_back(absl::StrCat(folder, "/", name));
    }
  }
  for (const std::string& candidate : candidates) {
    if (Executable(candidate).ok()) return candidate;
  }
  return here;
}

absl::StatusOr<std::string> FindDaemon(const std::string& name) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length < 0) {
    return absl::InternalError(absl::StrCat("cannot find ", name, ": /proc/self/exe: ",
                                            std::strerror(errno)));
  }
  std::string folder(self, static_cast<size_t>(length));
  folder.resize(folder.rfind('/'));
  const std::string beside = absl::StrCat(folder, "/", name);
  const std::string installed = absl::StrCat(folder, "/../libexec/vcm5/", name);
  if (access(beside.c_str(), X_OK) == 0) return beside;
  if (access(installed.c_str(), X_OK) == 0) return installed;
  return absl::NotFoundError(
      absl::StrCat("cannot find ", name, ": neither ", beside, " nor ", installed, " is there"));
}

}  // namespace vcm5
