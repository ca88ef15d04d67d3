// vcm5-boot: what the processes of a partition with a host begin as (SY4; docs/host-node.md). On the
// control processor it broadcasts the node program, which the launcher has read, and becomes the host
// program; on a node it receives the node program, and becomes it from memory. Both hand their network
// interface on, which they have not used.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "netif/shm/shared_memory.h"
#include "runtime/base/version.h"
#include "runtime/boot/program_stream.h"
#include "runtime/boot/supervisor_end.h"
#include "runtime/node/map_memory.h"
#include "runtime/node/node_environment.h"

namespace vcm5 {
namespace {

absl::Status Failure(const char* what) {
  return absl::InternalError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::Status SendProgram(SupervisorEnd& end, const BootEnvironment& boot) {
  const absl::StatusOr<SharedMemory> program =
      AttachMemory(boot.program, boot.program_bytes, "node program");
  if (!program.ok()) return program.status();
  for (ProgramSender sender({program->data(), program->size()}); !sender.done(); sender.Sent()) {
    end.Send(sender.message());
  }
  end.WaitUntilSent();
  return absl::OkStatus();
}

// Memory that nobody can change any more, holding the program.
absl::StatusOr<int> ReceiveProgram(SupervisorEnd& end) {
  ProgramReceiver receiver;
  while (!receiver.done()) {
    if (absl::Status status = receiver.Take(end.Receive()); !status.ok()) return status;
  }
  end.StopListening();
  const int fd = memfd_create("vcm5-program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return Failure("no memory for it");
  for (std::span<const uint8_t> left = receiver.program(); !left.empty();) {
    const ssize_t written = write(fd, left.data(), left.size());
    if (written < 0) return Failure("no memory for it");
    left = left.subspan(static_cast<size_t>(written));
  }
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (fcntl(fd, F_ADD_SEALS, kSeals) != 0) return Failure("sealing it");
  return fd;
}

// Returns why the process did not become its program.
absl::Status Boot(const NodeEnvironment& node, const BootEnvironment& boot, char** argv) {
  absl::StatusOr<std::unique_ptr<SupervisorEnd>> end = SupervisorEnd::Attach(node, boot);
  if (!end.ok()) return end.status();
  unsetenv(kBootVariable);
  if (boot.program != 0) {
    if (absl::Status status = SendProgram(**end, boot); !status.ok()) return status;
    execve(argv[0], argv, environ);
    return errno == ENOEXEC ? absl::InvalidArgumentError("it is no program for this system")
                            : absl::InvalidArgumentError(std::strerror(errno));
  }
  const absl::StatusOr<int> program = ReceiveProgram(**end);
  if (!program.ok()) return program.status();
  fexecve(*program, argv, environ);
  return Failure("from memory");
}

// Arguments are the program's, unless there is none.
int ByHand(int argc, char** argv) {
  if (argc == 2 && (std::strcmp(argv[1], "--help") == 0 || std::strcmp(argv[1], "-h") == 0)) {
    std::printf(
        "vcm5-boot loads the programs of a partition that has a host.\n\n"
        "It is a part of vcm5 and is started by `vcm5 run --host`; there is nothing to run by hand.\n"
        "`vcm5 run --help` says how to run a program on a virtual CM-5.\n");
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("vcm5-boot %s\n", VCM5_VERSION);
    return 0;
  }
  std::fprintf(stderr, "vcm5-boot: cannot be run by hand; `vcm5 run --host` starts it\n");
  return 2;
}

int Main(int argc, char** argv) {
  const char* const node_text = std::getenv(kNodeVariable);
  const char* const boot_text = std::getenv(kBootVariable);
  if (node_text == nullptr || boot_text == nullptr || argc < 1) return ByHand(argc, argv);
  const absl::StatusOr<NodeEnvironment> node = NodeEnvironment::Parse(node_text);
  const absl::StatusOr<BootEnvironment> boot = BootEnvironment::Parse(boot_text);
  absl::Status status = node.status();
  if (status.ok()) status = boot.status();
  if (status.ok()) status = Boot(*node, *boot, argv);
  std::fprintf(stderr, "vcm5: cannot run %s: %s\n", argv[0], std::string(status.message()).c_str());
  return 2;
}

}  // namespace
}  // namespace vcm5

int main(int argc, char** argv) { return vcm5::Main(argc, argv); }
