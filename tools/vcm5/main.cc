// vcm5: the command line of the virtual Connection Machine CM-5.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "daemons/config/fault_spec.h"
#include "runtime/base/version.h"
#include "tools/vcm5/commands.h"
#ifdef VCM5_HAVE_BENCH
#include "bench/bench.h"
#endif

namespace vcm5 {
namespace {

constexpr char kHelp[] = R"(vcm5: a virtual Connection Machine CM-5.

  vcm5 run [OPTIONS] PROGRAM [ARGS]   bring up a machine, run an SPMD program on it
  vcm5 machine [OPTIONS]              print, check or explain machine descriptions
  vcm5 bench [OPTIONS]                measure the networks
  vcm5 help [COMMAND]                 this text, or that of a command
  vcm5 help faults                    how to break a machine: `vcm5 run --fault`
  vcm5 --version

Examples:
  vcm5 run -n 32 examples/ring        32 nodes pass a token around
  vcm5 run -n 8 ./my-program --fast   any program linked with libvcm5
  vcm5 machine --print -n 64          the default machine of 64 nodes, with comments

`vcm5 COMMAND --help` says more about each.
)";

struct Command {
  const char* name;
  int (*main)(int argc, char** argv);
};

constexpr Command kCommands[] = {
    {"run", RunCommand},
    {"machine", MachineCommand},
#ifdef VCM5_HAVE_BENCH
    {"bench", BenchMain},
#endif
};

const Command* Find(const char* name) {
  for (const Command& command : kCommands) {
    if (std::strcmp(command.name, name) == 0) return &command;
  }
  return nullptr;
}

int Help(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "faults") == 0) {
    std::fputs(kFaultHelp, stdout);
    return 0;
  }
  const Command* command = argc > 1 ? Find(argv[1]) : nullptr;
  if (command == nullptr) {
    if (argc > 1) {
      std::fprintf(stderr, "vcm5: no command %s; there are run, machine, bench and help\n", argv[1]);
      return 2;
    }
    std::fputs(kHelp, stdout);
    return 0;
  }
  char help[] = "--help";
  char* arguments[] = {argv[1], help, nullptr};
  return command->main(2, arguments);
}

int Main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  if (std::strcmp(name, "--version") == 0 || std::strcmp(name, "version") == 0) {
    std::printf("vcm5 %s (%s)\n", VCM5_VERSION, VCM5_BUILD_TYPE);
    return 0;
  }
  if (std::strcmp(name, "help") == 0) return Help(argc - 1, argv + 1);
  if (std::strcmp(name, "--help") == 0 || std::strcmp(name, "-h") == 0) return Help(1, argv);
  if (const Command* command = Find(name)) return command->main(argc - 1, argv + 1);
  std::fprintf(stderr, "vcm5: %s%s; there are run, machine, bench and help\n",
               argc > 1 ? "no command " : "no command", name);
  return 2;
}

}  // namespace
}  // namespace vcm5

int main(int argc, char** argv) {
  // Standard streams that are closed shall not be what is opened next.
  for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    break;
  }
  // Exceptions do not leave our code; a library may run out of memory.
  try {
    const int status = vcm5::Main(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "vcm5: cannot write standard output: %s\n", std::strerror(errno));
    return status == 0 ? 1 : status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vcm5: cannot go on: %s\n", error.what());
    return 1;
  }
}
