// The programs that a campaign runs, and what each knows of the messages and results it must see.
#ifndef VCM5_TESTS_CAMPAIGN_PROGRAM_H_
#define VCM5_TESTS_CAMPAIGN_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "netif/port/ni_port.h"
#include "switches/topology/machine_spec.h"
#include "tests/campaign/scenario.h"

namespace vcm5::campaign {

// What the nodes of a program saw.
struct Seen {
  uint64_t missing = 0;  // messages that never came
  uint64_t twice = 0;    // that came more than once
  // Messages and results that are not what they should be.
  uint64_t bad = 0;
  std::string first_bad;
  // Router-done operations that were complete before all messages had come: a message that is there
  // twice stands for one that is not there yet ("the unexpected arrival of a message after the
  // router-done operation has completed", section 5).
  uint64_t early = 0;
  std::string first_early;

  void AddBad(std::string what) {
    if (bad++ == 0) first_bad = std::move(what);
  }
  void AddEarly(std::string what) {
    if (early++ == 0) first_early = std::move(what);
  }
};

class Program {
 public:
  virtual ~Program() = default;

  // One node's part, on its fiber, which may be dropped at any miss: what it allocates belongs to
  // the program.
  virtual void Run(vcm5_port& port) = 0;

  // After the run. Whether messages are missing means something only if all nodes have returned.
  virtual Seen Judge() = 0;

  // The nodes that break a rule, ascending.
  virtual std::vector<uint32_t> culprits() const { return {}; }
};

// For a partition of `nodes` nodes.
std::unique_ptr<Program> MakeProgram(ProgramKind kind, uint64_t seed, const MachineSpec& spec,
                                     uint32_t nodes);

// The data programs, for MakeProgram.
std::unique_ptr<Program> MakeTraffic(uint64_t seed, const MachineSpec& spec, uint32_t nodes);
std::unique_ptr<Program> MakeRounds(uint64_t seed, const MachineSpec& spec, uint32_t nodes,
                                    bool all_to_one);
std::unique_ptr<Program> MakeBulk(uint64_t seed, uint32_t nodes);

}  // namespace vcm5::campaign

#endif  // VCM5_TESTS_CAMPAIGN_PROGRAM_H_
