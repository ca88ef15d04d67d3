// The engine `embedded`: a whole machine in one process. Nodes are fibers; the networks are the same
// agents that the daemons run, over the same NI memory, on the same threads.
//
// On one thread everything that happens follows from the program, the machine and the seed: two runs
// are alike to the byte. With `random_schedule` the seed also decides in which order nodes and
// networks get their turns, which is how tests look for orders that matter.
#ifndef VCM5_RUNTIME_ENGINES_EMBEDDED_H_
#define VCM5_RUNTIME_ENGINES_EMBEDDED_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemons/driver/agent.h"
#include "netif/port/ni_port.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

class AllFallDown;  // daemons/driver/all_fall_down.h

struct EmbeddedOptions {
  MachineSpec spec;
  uint64_t seed = 1;             // of the schedule; the machine's own seed is spec.seed
  bool random_schedule = false;
  unsigned threads = 1;          // nodes and networks are dealt out over so many threads
  size_t stack_bytes = 1 << 20;  // of each node; only what is used is touched
  // Called around a node's turns, on its thread, if set: `entering` or leaving node `self`.
  std::function<void(uint32_t self, bool entering)> on_switch;
  // Asked now and then; true ends the run with status kDeadlineExceeded.
  std::function<bool()> should_stop;
};

class Embedded {
 public:
  explicit Embedded(EmbeddedOptions options);
  ~Embedded();
  Embedded(const Embedded&) = delete;
  Embedded& operator=(const Embedded&) = delete;

  // Runs node_main once for every node of the machine and returns when all have returned, or with
  // the first error that a network reported ("node 3: destination 99 is outside ..."). May be
  // called again: the networks keep their state, as a machine does.
  absl::Status Run(const std::function<void(vcm5_port&)>& node_main);

  // Ends the calling node's fiber as if its main had returned. On a node's fiber only.
  [[noreturn]] void Finish(vcm5_port& port);

  // The node whose turn it is on the calling thread, or null.
  static vcm5_port* Current();

  // Empties the data networks of a running program and fills them again (DN7). To be used on the
  // machine's thread (there is but one), from a node's fiber or from on_switch, at any moment.
  AllFallDown MakeAllFallDown();

  // What the networks carried, and who waits for whom.
  std::vector<FabricStat> Stats() const;
  std::vector<std::string> Waiting() const;

  // For tests: the NI memory of a node.
  vcm5_ni_page* page(uint32_t node);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_EMBEDDED_H_
