// The data networks of a machine without an engine: NI pages, the agents of both halves, in one or
// more parts joined by links in memory, and ports that the test itself uses as every node. Between
// the pages lies memory that nobody may write.
#ifndef VCM5_TESTS_SUPPORT_DATA_MACHINE_H_
#define VCM5_TESTS_SUPPORT_DATA_MACHINE_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "daemons/driver/agent.h"
#include "daemons/driver/data_agent.h"
#include "daemons/driver/doorbell.h"
#include "netif/port/ni_port.h"
#include "netif/port/supervisor.h"
#include "runtime/base/prng.h"
#include "switches/topology/machine_spec.h"

namespace vcm5 {

class DataMachine {
 public:
  // Who has an NI and is in the partition: the processing nodes, or every leaf (NI12, DN10).
  enum class Members { kNodes, kLeaves };

  // `seed` decides how much the links between parts deliver at a time.
  DataMachine(const MachineSpec& spec, uint32_t parts, uint64_t seed,
              Members members_of = Members::kNodes);

  uint32_t nodes() const { return members_; }
  vcm5_port& port(uint32_t node) { return ports_[node]; }
  vcm5_ni_page* page(uint32_t node);
  // The supervisor's side of a node, and its page.
  Supervisor supervisor(uint32_t node) { return Supervisor(supervisor_ports_[node]); }
  vcm5_supervisor_page* supervisor_page(uint32_t node) { return supervisor_ports_[node].page; }
  uint32_t page_bytes() const { return page_bytes_; }
  // A node makes every bell that it can reach ring.
  void RingAllBells(uint32_t node);

  size_t agents() const { return agents_.size(); }
  Agent& agent(size_t index) { return *agents_[index]; }
  // All of them, those of the left half first.
  std::vector<DataNetworkAgent*> data_agents() const;
  // Gives every agent a turn, in order. Returns the work done.
  unsigned RunAll();
  // What the agents reported until now.
  const std::vector<FabricError>& errors();
  // Sum of a statistic over all agents, by name without the half: "messages delivered".
  uint64_t Stat(const std::string& name) const;

  // Stops the process if memory between the pages was written.
  void CheckFences() const;

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<uint8_t, Free>;

  static constexpr uint32_t kFenceBytes = 4096;
  static constexpr uint8_t kFence = 0x5a;

  void MakeNodes();
  void MakeAgents(uint64_t seed);

  MachineSpec spec_;
  uint32_t parts_;
  uint32_t page_bytes_;
  uint32_t members_;
  Memory pages_;  // fence, page, fence, page, ..., fence
  std::vector<Memory> bell_memory_;
  std::vector<Doorbell> doorbells_;  // half * parts + part
  std::vector<vcm5_port> ports_;
  std::vector<Memory> supervisor_pages_;
  std::vector<vcm5_supervisor_port> supervisor_ports_;
  std::vector<std::unique_ptr<DataNetworkAgent>> agents_;
  std::vector<FabricError> errors_;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_DATA_MACHINE_H_
