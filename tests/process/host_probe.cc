// A program for a host and its nodes alike, which does as a test asks: `host_probe MODE [ARGUMENTS]`.
#include <dirent.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/support/host_exercise.h"
#include "vcm5/ni.h"
#include "vcm5/vcm5.hpp"

#ifdef VCM5_BALLAST
// Takes a while to be broadcast.
extern volatile char ballast[VCM5_BALLAST];
volatile char ballast[VCM5_BALLAST] = {1};
#endif

namespace {

int Exercise(vcm5::Node& node) {
  const std::string wrong = vcm5::HostExercise(node).Run();
  if (!wrong.empty()) std::printf("%s\n", wrong.c_str());
  if (node.is_host()) std::printf("%u nodes and their host\n", node.size());
  return wrong.empty() ? 0 : 1;
}

int Hello(vcm5::Node& node, const char* argument) {
  std::printf("%s %u of %u: %s\n", node.is_host() ? "host" : "node", node.self(), node.size(), argument);
  return 0;
}

int OpenFiles() {
  DIR* folder = opendir("/proc/self/fd");
  int files = -1;  // the folder itself
  while (const dirent* entry = readdir(folder)) files += entry->d_name[0] != '.' ? 1 : 0;
  closedir(folder);
  return files;
}

// The network interface and the process are as if nobody had used them before.
int Fresh(vcm5::Node& node) {
  vcm5_port* port = &node.port();
  const vcm5_ni_page* page = port->page;
  uint32_t used = page->node_control.waiting | page->control.error | page->control.interrupts;
  for (int half = 0; half < VCM5_HALVES; ++half) {
    used |= page->node_data.out_tail[half] | page->node_data.in_head[half] |
            page->data[half].out_head | page->data[half].in_tail | page->node_data.received[half];
  }
  for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    used |= page->node_control.out_tail[fifo] | page->node_control.in_head[fifo] |
            page->control.out_head[fifo] | page->control.in_tail[fifo];
  }
  char path[256] = {};
  const bool from_memory = readlink("/proc/self/exe", path, sizeof path - 1) > 0 &&
                           std::strncmp(path, "/memfd:", 7) == 0;
  const bool hidden = std::getenv("VCM5_BOOT") == nullptr && std::getenv("VCM5_NODE") == nullptr;
  // Standard streams and the interrupt line.
  const bool closed = OpenFiles() == 4;
  if (used == 0 && from_memory != node.is_host() && hidden && closed) return 0;
  std::printf("not fresh: used %u, memory %d, hidden %d, %d files\n", used, from_memory, hidden,
              OpenFiles());
  return 1;
}

int Input(vcm5::Node& node) {
  int bytes = 0;
  while (std::getchar() != EOF) ++bytes;
  if (bytes != 0) std::printf("%s read %d\n", node.is_host() ? "host" : "node", bytes);
  return 0;
}

int Wait(vcm5::Node& node) {
  if (node.is_host()) std::printf("waiting\n");
  std::fflush(stdout);
  for (;;) node.Poll();
}

// The host stops receiving, and its nodes send to it for ever.
int Jam(vcm5::Node& node) {
  const uint32_t word = 1;
  for (;;) {
    if (node.is_host()) pause();
    if (!vcm5_port_send(&node.port(), VCM5_LEFT, node.host(), 0, &word, 1)) {
      vcm5_port_miss(&node.port());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::string argument = argc > 2 ? argv[2] : "";
  vcm5::Node& node = vcm5::self();
  if (mode == "exercise") return Exercise(node);
  if (mode == "hello") return Hello(node, argument.c_str());
  if (mode == "fresh") return Fresh(node);
  if (mode == "input") return Input(node);
  if (mode == "wait") return Wait(node);
  if (mode == "jam") return Jam(node);
  if (mode == "exit") return std::atoi(argument.c_str());
  if (mode == "die") std::abort();
  std::fprintf(stderr, "host_probe: no such mode\n");
  return 64;
}
