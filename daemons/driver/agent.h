// A daemon is agents and an idle strategy: each agent does a bounded amount of work when asked and
// says how much it did. The same agents run in the daemon processes and, in the embedded engine,
// on the threads that run the nodes.
#ifndef VCM5_DAEMONS_DRIVER_AGENT_H_
#define VCM5_DAEMONS_DRIVER_AGENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "switches/topology/partition.h"

namespace vcm5 {

// Something went wrong in a network or at a node's NI that the people who run the job must know.
// Agents keep the first few; a partition that one concerns ends with the first.
struct FabricError {
  static constexpr uint32_t kNetwork = 0xffffffffu;

  uint32_t leaf = 0;    // physical address of the node whose NI saw it, or kNetwork: no node did
  std::string message;  // one line, without the node's name: "destination 99 is outside ..."
  Subtree below{};      // of kNetwork: the leaves below what is broken, or at its lower end

  Subtree place() const { return leaf == kNetwork ? below : Subtree{leaf, 1}; }  // for ConcernedBy
};

// What one end of a wire between two data daemons counted, modulo 2^32.
struct WireEnd {
  int half = 0;
  uint32_t wire = 0;  // of CutWires
  uint32_t in = 0;    // messages that came by it
  uint32_t out = 0;   // and that left by it
};

// A counter as an operator reads it.
struct FabricStat {
  std::string name;  // "left: messages delivered", "left: level 2 chip 3 parent port 1: messages"
  uint64_t value = 0;
  bool is_link = false;  // one of many per-link counts; only the busiest are shown
  uint32_t arm_links = 0;  // not 0: the load of an arm of the fat tree, which has so many links
};

class Agent {
 public:
  virtual ~Agent() = default;

  // Does a bounded amount of work, without blocking. Returns how much; 0 means that nothing will
  // change until somebody else acts.
  virtual unsigned DoWork() = 0;

  // Errors since the last call. Empty almost always.
  virtual std::vector<FabricError> TakeErrors() = 0;

  // What it carried and why it waited.
  virtual std::vector<FabricStat> Stats() const = 0;

  // Who waits for whom, one line each, for a report about a job that hangs. `pages` of nodes and
  // queues are read as they are; nothing changes.
  virtual std::vector<std::string> Waiting() const = 0;

  // Where messages were lost or made, by Kirchhoff's law over all that this agent knows both sides
  // of. Empty unless something is broken.
  virtual std::vector<FabricError> Unbalanced() const { return {}; }

  // Its ends of the wires that lead to other daemons, of which it knows one side.
  virtual std::vector<WireEnd> WireEnds() const { return {}; }
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_DRIVER_AGENT_H_
