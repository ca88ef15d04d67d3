// An SPMD program that behaves as a test asks: `probe MODE [ARGUMENTS]`. Written on the NI port, so
// that what is tested here is processes, and not the message layers.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "netif/port/ni_port.h"
#include "runtime/base/prng.h"
#include "runtime/node/attach.h"

namespace {

vcm5_port* port;
char** arguments;  // after the mode

unsigned long Argument(int index, unsigned long otherwise) {
  for (int i = 0; i <= index; ++i) {
    if (arguments[i] == nullptr) return otherwise;
  }
  return std::strtoul(arguments[index], nullptr, 10);
}

uint32_t Sum(uint32_t value) {
  vcm5_port_combine_first(port, VCM5_ADD, VCM5_REDUCE, 1, value);
  while (!vcm5_port_control_receive_ok(port, VCM5_FIFO_COMBINE)) {
  }
  return vcm5_port_control_receive_word(port, VCM5_FIFO_COMBINE);
}

void Send(int half, uint32_t destination, uint32_t word) {
  while (!vcm5_port_send(port, half, destination, 1, &word, 1)) vcm5_port_miss(port);
}

uint32_t Receive(int half) {
  while (!vcm5_port_receive_ok(port, half)) {
  }
  return vcm5_port_receive_word(port, half);
}

// One token round the machine, `rounds` times, alternating halves.
int Ring() {
  const uint32_t next = (port->self + 1) % port->partition_size;
  const unsigned long rounds = Argument(0, 1);
  for (unsigned long round = 0; round < rounds; ++round) {
    const int half = static_cast<int>(round % 2);
    if (port->self == 0) Send(half, next, 1);
    const uint32_t token = Receive(half);
    if (port->self != 0) Send(half, next, token + 1);
    if (port->self == 0 && token != port->partition_size) {
      std::printf("the token is %u\n", token);
      return 1;
    }
  }
  if (port->self == 0) std::printf("ring %u nodes %lu rounds\n", port->partition_size, rounds);
  return 0;
}

int Barriers() {
  const unsigned long count = Argument(0, 1000);
  for (unsigned long i = 0; i < count; ++i) {
    if (Sum(1) != port->partition_size) {
      std::printf("wrong sum\n");
      return 1;
    }
  }
  if (port->self == 0) std::printf("barriers %lu\n", count);
  return 0;
}

// Messages to everybody and sums for ever; node 0 says so at intervals.
int Busy() {
  vcm5::Prng prng(port->self + 1);
  for (unsigned long turn = 0;; ++turn) {
    const int half = static_cast<int>(turn % 2);
    const uint32_t word = static_cast<uint32_t>(turn);
    if (!vcm5_port_send(port, half, prng.Below(port->partition_size), 1, &word, 1)) {
      vcm5_port_miss(port);
    }
    while (vcm5_port_peek(port, half) != nullptr) vcm5_port_receive_word(port, half);
    if (turn % 64 == 0) Sum(1);
    if (turn % 1024 == 0 && port->self == 0) {
      std::printf("turn %lu\n", turn);
      std::fflush(stdout);
    }
  }
}

int Hello() {
  std::printf("hello from %u of %u\n", port->self, port->partition_size);
  return 0;
}

int ExitWith() {
  const uint32_t who = static_cast<uint32_t>(Argument(0, 0));
  return port->self == who ? static_cast<int>(Argument(1, 1)) : 0;
}

// One node exits, the others wait for it for ever.
int Abandon() {
  if (port->self == Argument(0, 0)) return static_cast<int>(Argument(1, 3));
  Sum(1);
  return 0;
}

// Never polls.
int Compute() {
  std::printf("computing\n");
  std::fflush(stdout);
  const volatile bool goes_on = true;
  while (goes_on) {
  }
  return 0;
}

int Wait() {
  if (port->self == 0) {
    std::printf("waiting\n");
    std::fflush(stdout);
  }
  Receive(VCM5_LEFT);
  return 0;
}

int Signal() {
  if (port->self == Argument(0, 0)) raise(static_cast<int>(Argument(1, SIGSEGV)));
  Sum(1);
  return 0;
}

// Ignores the gentle ways to end it.
int Stubborn() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN);
  Sum(1);
  if (port->self == 0) {
    std::printf("stubborn\n");
    std::fflush(stdout);
  }
  Receive(VCM5_LEFT);
  return 0;
}

// Standard input of each node, counted.
int Input() {
  unsigned long bytes = 0;
  char buffer[4096];
  size_t got;
  while ((got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0) bytes += got;
  std::printf("node %u read %lu\n", port->self, bytes);
  return 0;
}

// Lines of the node's own letter, of many lengths, on both outputs.
int Lines() {
  vcm5::Prng prng(port->self);
  const unsigned long count = Argument(0, 100);
  const uint32_t longest = static_cast<uint32_t>(Argument(1, 300));
  for (unsigned long i = 0; i < count; ++i) {
    std::string line(1 + prng.Below(longest), static_cast<char>('a' + port->self % 26));
    std::fprintf(i % 8 == 7 ? stderr : stdout, "%s\n", line.c_str());
  }
  return 0;
}

// Output without end, for readers that go away.
int Flood() {
  for (unsigned long i = 0;; ++i) std::printf("node %u line %lu\n", port->self, i);
}

// Leaves a descendant that holds the outputs open.
int Orphan() {
  if (fork() == 0) {
    if (fork() == 0) {
      signal(SIGTERM, SIG_IGN);
      for (;;) pause();
    }
    _exit(0);
  }
  std::printf("node %u left an orphan\n", port->self);
  return 0;
}

// Overwrites all of the NI's memory with random bytes, again and again, ringing all the while.
int Scribble() {
  const uint32_t bytes = port->page->bytes;
  if (port->self != Argument(0, 0)) {
    const unsigned long turns = Argument(2, 2000);
    for (unsigned long i = 0; i < turns; ++i) {
      const uint32_t word = 1;
      vcm5_port_send(port, VCM5_LEFT, (port->self + 1) % port->partition_size, 1, &word, 1);
      vcm5_port_miss(port);
    }
    return 0;
  }
  vcm5::Prng prng(Argument(1, 1));
  auto* words = reinterpret_cast<uint64_t*>(port->page);
  for (int round = 0; round < 300; ++round) {
    const uint32_t from = prng.Below(bytes / 8);
    const uint32_t count = prng.Below(bytes / 8 - from) + 1;
    for (uint32_t i = from; i < from + count; ++i) {
      // Small numbers and plain ones get further than noise.
      words[i] = prng.Chance(1, 3) ? prng.Below(64) : prng.Next();
    }
    for (int half = 0; half < VCM5_HALVES; ++half) vcm5_port_ring_data_bell(port, half);
    for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) vcm5_port_ring_control_bell(port, fifo);
  }
  return 0;
}

// Sends as much as it can to everybody, for ever, and never receives.
int Jam() {
  for (uint32_t to = port->self;; to = (to + 1) % port->partition_size) {
    for (int half = 0; half < VCM5_HALVES; ++half) {
      if (!vcm5_port_send(port, half, to, 1, &to, 1)) vcm5_port_miss(port);
    }
  }
}

// A message to nobody.
int Misaddress() {
  if (port->self == Argument(0, 0)) Send(VCM5_LEFT, 9999, 1);
  Receive(VCM5_RIGHT);
  return 0;
}

// Messages here and there on both halves, until the router is done.
int Traffic() {
  const auto receive = [] {
    for (int half = 0; half < VCM5_HALVES; ++half) {
      while (vcm5_port_peek(port, half) != nullptr) vcm5_port_receive_word(port, half);
    }
  };
  vcm5::Prng prng(port->self + 1);
  const unsigned long count = Argument(0, 100);
  for (unsigned long i = 0; i < count; ++i) {
    const uint32_t word = 1;
    while (!vcm5_port_send(port, static_cast<int>(i % 2), prng.Below(port->partition_size), 1,
                           &word, 1)) {
      receive();
      vcm5_port_miss(port);
    }
  }
  vcm5_port_control_first(port, VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
  while (!vcm5_port_control_receive_ok(port, VCM5_FIFO_ROUTER_DONE)) receive();
  if (port->self == 0) std::printf("router done\n");
  return 0;
}

// Sends what the network takes at once, and ends without receiving anything.
int Leave() {
  vcm5::Prng prng(port->self + 1);
  const unsigned long count = Argument(0, 100);
  for (unsigned long i = 0; i < count; ++i) {
    const uint32_t word = 1;
    vcm5_port_send(port, static_cast<int>(i % 2), prng.Below(port->partition_size), 1, &word, 1);
  }
  return 0;
}

// Each computes, and asks the network nothing, until an interrupt broadcast comes.
int Attention() {
  static volatile uint32_t came = 0;
  vcm5_port_set_attention_handler(
      port, [](uint32_t word, void*) { came = word; }, nullptr);
  Sum(1);
  if (port->self == 0) {
    std::printf("computing\n");
    std::fflush(stdout);
  }
  while (came == 0) {
  }
  std::printf("node %u got %u\n", port->self, came);
  return 0;
}

// Takes back all rings that it can reach, and says that every daemon is awake, for ever.
int Erase() {
  std::printf("erasing\n");
  for (;;) {
    for (vcm5_doorbell* doorbell : {port->data_doorbell[VCM5_LEFT], port->control_doorbell}) {
      std::memset(doorbell + 1, 0, (doorbell->bells + 63) & ~63u);
      vcm5_store_relaxed(&doorbell->sleeping, 0);
    }
    sched_yield();  // it is not processors that it fights for
  }
}

// The shared memory that it has mapped: a line each, with its inode.
int Memories() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long inode;
    if (std::strstr(line, "memfd:") == nullptr) continue;
    if (std::sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1) std::printf("%lu\n", inode);
  }
  return 0;
}

// A message to the next node, and then nothing until the machine says that it has a hard error.
int Hear() {
  static volatile uint32_t came = 0;
  signal(SIGTERM, SIG_IGN);  // the word may be on its way when the end comes
  vcm5_port_set_attention_handler(
      port, [](uint32_t word, void*) { came = word; }, nullptr);
  Send(VCM5_LEFT, (port->self + 1) % port->partition_size, 1);
  while (came != VCM5_ATTENTION_HARD_ERROR || !vcm5_port_hard_error(port)) vcm5_port_miss(port);
  std::printf("node %u heard\n", port->self);
  return 0;
}

// Sums and messages to the next node until a supervisor interrupts all nodes; then whether any has
// heard of a hard error.
int Sound() {
  static volatile uint32_t came = 0;
  vcm5_port_set_attention_handler(
      port, [](uint32_t word, void*) { came = word; }, nullptr);
  do {
    Send(VCM5_LEFT, (port->self + 1) % port->partition_size, 1);
    if (Receive(VCM5_LEFT) != 1) return 1;
  } while (Sum(came == SIGUSR1 ? 1 : 0) != port->partition_size);
  const uint32_t heard = Sum(vcm5_port_hard_error(port) || came != SIGUSR1 ? 1 : 0);
  if (port->self == 0) std::printf("%u of %u heard\n", heard, port->partition_size);
  return 0;
}

// The same until the asynchronous OR rises, which node 0 sees to.
int OrInterrupt() {
  static volatile bool came = false;
  vcm5_port_set_async_or_handler(
      port, [](void*) { came = true; }, nullptr);
  port->interrupts_enabled = true;
  vcm5_port_note_interrupts(port);
  Sum(1);
  if (port->self == 0) vcm5_port_set_async_or(port, 1);
  while (!came) {
  }
  std::printf("node %u saw it rise\n", port->self);
  return 0;
}

// One node tries what only a supervisor may; all wait for what will not come.
int Privileged() {
  if (port->self == Argument(0, 0)) {
    vcm5_port_control_first(port, VCM5_FIFO_BROADCAST, VCM5_ENTRY_KIND(VCM5_BROADCAST_INTERRUPT), 1,
                            1);
  }
  Receive(VCM5_LEFT);
  return 0;
}

// One node combines otherwise than all others.
int Mismatch() {
  vcm5_port_combine_first(port, port->self == Argument(0, 0) ? VCM5_MAX : VCM5_ADD, VCM5_REDUCE, 1,
                          1);
  Receive(VCM5_LEFT);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<int()>> modes = {
      {"abandon", Abandon},
      {"attention", Attention},
      {"barriers", Barriers},
      {"busy", Busy},
      {"compute", Compute},
      {"erase", Erase},
      {"exit", ExitWith},
      {"flood", Flood},
      {"hear", Hear},
      {"hello", Hello},
      {"input", Input},
      {"jam", Jam},
      {"leave", Leave},
      {"lines", Lines},
      {"memories", Memories},
      {"misaddress", Misaddress},
      {"mismatch", Mismatch},
      {"or-interrupt", OrInterrupt},
      {"orphan", Orphan},
      {"privileged", Privileged},
      {"ring", Ring},
      {"scribble", Scribble},
      {"signal", Signal},
      {"sound", Sound},
      {"stubborn", Stubborn},
      {"traffic", Traffic},
      {"wait", Wait},
  };
  const auto mode = argc > 1 ? modes.find(argv[1]) : modes.end();
  if (mode == modes.end()) {
    std::fprintf(stderr, "probe: no such mode\n");
    return 64;
  }
  arguments = argv + 2;
  port = vcm5_attach_self();
  return mode->second();
}
