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
#include "absl/status/statusor.h"
#include "daemons/driver/agent.h"
#include "netif/port/ni_port.h"
#include "netif/port/supervisor.h"
#include "switches/topology/machine_spec.h"
#include "switches/topology/partition.h"

namespace vcm5 {

class AllFallDown;    // daemons/driver/all_fall_down.h
struct SavedMachine;  // runtime/engines/saved_machine.h

struct EmbeddedOptions {
  MachineSpec spec;
  // Subtrees that run programs of their own (CheckPartitions); empty: one of all usable nodes. Nodes
  // in no partition stay idle.
  std::vector<Partition> partitions;
  // Each partition gets a host as its last member (PlaceHosts), if it has none: a control processor,
  // which runs the partition's main, too. The machine must have as many that are not mapped out.
  bool hosts = false;
  uint64_t seed = 1;             // of the schedule; the machine's own seed is spec.seed
  bool random_schedule = false;
  unsigned threads = 1;          // nodes and networks are dealt out over so many threads
  size_t stack_bytes = 1 << 20;  // of each node; only what is used is touched
  // Called around a node's turns, on its thread, if set: `entering` or leaving it. Members of all
  // partitions are numbered on, in order.
  std::function<void(uint32_t node, bool entering)> on_switch;
  // Asked now and then; true ends the run with status kDeadlineExceeded.
  std::function<bool()> should_stop;
};

class Embedded {
 public:
  // A node is left: the description of the machine is checked.
  explicit Embedded(EmbeddedOptions options);
  ~Embedded();
  Embedded(const Embedded&) = delete;
  Embedded& operator=(const Embedded&) = delete;

  // Members of all partitions, hosts included; without partitions given, the nodes of the machine
  // that are not mapped out (NI8).
  uint32_t nodes() const;

  using NodeMain = std::function<void(vcm5_port&)>;

  // Runs node_main once for every node of the machine, and for the host if there is one, and returns when all have returned, or with
  // the first error that a network reported ("node 3: destination 99 is outside ..."), or with
  // kDataLoss and a line for each place where messages were lost or made. May be called again: the
  // networks keep their state, as a machine does. For a machine of one partition.
  absl::Status Run(const NodeMain& node_main);

  // The same with a program for each partition, at the same time. What a network reports ends the
  // partitions that it concerns, and the others go on. Of a hard error of the data network the nodes
  // of these are told first, and the bit stays until the supervisor of the partition's first node
  // takes it back. should_stop ends those that have not ended.
  std::vector<absl::Status> RunPartitions(const std::vector<NodeMain>& mains);

  // Ends a partition while the machine runs, with status kDeadlineExceeded; from should_stop or
  // on_switch. False if it had ended already.
  bool StopPartition(uint32_t partition);

  // Ends the calling node's fiber as if its main had returned. On a node's fiber only.
  [[noreturn]] void Finish(vcm5_port& port);

  // The node whose turn it is on the calling thread, or null.
  static vcm5_port* Current();

  // The supervisor's side of the NI of a node or host, by physical address, which the node's program has not: privileged broadcasts,
  // the supervisor's asynchronous OR, hard errors. Usable from anywhere, also while the machine
  // runs, by one thread at a time; what it does happens while the machine runs.
  Supervisor supervisor(uint32_t node);

  // Empties the data networks of a running program and fills them again (DN7). To be used on the
  // machine's thread (there is but one), from a node's fiber or from on_switch, at any moment.
  AllFallDown MakeAllFallDown();

  // The end of a timeslice, and the beginning of the next (SY2, CN10, NI11). To be used like
  // MakeAllFallDown, or while nothing runs.
  //
  //   Freeze()   empties the data networks and flushes the control networks; NIs hold
  //   Save()     what users have in the machine, ports of nodes included; the rest is the programs'
  //   Restore()  instead of that, what users had who were saved, here or in another machine
  //   Resume()   messages are sent on, and what was not complete in the control network begins again
  //
  // Programs that run while the machine is frozen find networks that take nothing. They must not run
  // between Save and Resume if it is there that they are to go on as they were. A status says what is
  // wrong; after a failed Save or Restore the machine is as it was before it, still frozen.
  //
  // All partitions are frozen together. Freeze fails if a network does not get empty, as when a flush
  // is damaged on its way: then there is nothing to save or restore, and Resume lets those partitions
  // go on whose networks are whole. What a network has reported of a user is not saved, for words or
  // messages may be missing, nor does it go on: the partition ends, unless it is restored to somebody
  // else before.
  absl::Status Freeze();
  absl::StatusOr<SavedMachine> Save();
  absl::Status Restore(const SavedMachine& saved);
  absl::Status Resume();

  // What the networks carried; who waits for whom, and where messages were lost or made.
  std::vector<FabricStat> Stats() const;
  std::vector<std::string> Waiting() const;

  // For tests: the NI memory of a leaf, by physical address.
  vcm5_ni_page* page(uint32_t node);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_ENGINES_EMBEDDED_H_
