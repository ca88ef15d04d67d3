// Random traffic on an embedded machine: a plan that says who sends what to whom, the program that
// every node runs to carry it out, and a check that all of it arrived exactly once and unaltered.
//
// Some messages on the left half ask for a reply, which comes back on the right (paper section 3):
// a node that owes a reply receives nothing more on the left until the right half has taken it.
#ifndef VCM5_TESTS_SIM_EMBEDDED_TRAFFIC_H_
#define VCM5_TESTS_SIM_EMBEDDED_TRAFFIC_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "netif/port/ni_port.h"
#include "runtime/base/prng.h"
#include "runtime/engines/embedded.h"

namespace vcm5 {

struct PlannedMessage {
  uint32_t source;
  uint32_t destination;
  int half;
  unsigned length;
  unsigned tag;
  bool wants_reply;
};

class TrafficPlan {
 public:
  TrafficPlan(uint64_t seed, const MachineSpec& spec, uint32_t messages_per_node);

  uint32_t nodes() const { return static_cast<uint32_t>(sends_.size()); }
  uint64_t seed() const { return seed_; }
  const std::vector<uint32_t>& sends(uint32_t node) const { return sends_[node]; }
  // Messages and replies that end at a node.
  uint32_t expected(uint32_t node) const { return expected_[node]; }
  uint32_t total() const;

  // A message id is its index here; its reply's is the same with kReply.
  static constexpr uint32_t kReply = 1u << 30;
  // What arrives under an id; nothing for an id that the plan does not have.
  std::optional<PlannedMessage> Find(uint32_t id) const;

 private:
  uint64_t seed_;
  uint32_t words_max_;
  std::vector<PlannedMessage> messages_;
  std::vector<std::vector<uint32_t>> sends_;
  std::vector<uint32_t> expected_;
};

// What happened, in order: one line an event. Shared by the nodes of one thread.
using EventTrace = std::string;

// One node's part of a plan.
class TrafficNode {
 public:
  TrafficNode(const TrafficPlan& plan, vcm5_port& port, EventTrace* trace = nullptr);

  // Sends, receives and replies until this node has done its part. On the node's fiber.
  void Run();

  // Ids in the order of their arrival.
  const std::vector<uint32_t>& arrived() const { return arrived_; }
  // The first thing that was not as planned, or "".
  const std::string& wrong() const { return wrong_; }
  uint32_t refused() const { return refused_; }

 private:
  bool SendNext();
  bool Reply();
  bool Push(uint32_t id, uint32_t destination, int half, unsigned length, unsigned tag);
  bool ReceiveOne(int half);
  void Judge(int half, unsigned length, unsigned tag, const uint32_t* words);
  void Note(char event, uint32_t id);

  const TrafficPlan& plan_;
  vcm5_port& port_;
  EventTrace* trace_;
  Prng prng_;
  size_t next_ = 0;               // of plan_.sends
  std::optional<uint32_t> owed_;  // message to which a reply is due
  std::vector<uint32_t> arrived_;
  std::string wrong_;
  uint32_t refused_ = 0;
};

// For EmbeddedOptions::should_stop: a run that hangs ends when it has been asked so often, and for so
// long, as no run here comes near to.
std::function<bool()> StopAHang();

// A machine of 1 to 70 nodes, of any shape and depth.
MachineSpec RandomMachine(Prng& prng);
// Such a machine under a random schedule, with StopAHang().
EmbeddedOptions RandomOptions(uint64_t seed, Prng& prng);

// Runs the plan on the machine. Returns "" or what was wrong. With `send_refuse` each node's port
// refuses every so manyeth send for no reason.
std::string RunPlan(const TrafficPlan& plan, Embedded& machine, uint32_t send_refuse = 0,
                    EventTrace* trace = nullptr);

}  // namespace vcm5

#endif  // VCM5_TESTS_SIM_EMBEDDED_TRAFFIC_H_
