// Who has a turn when: nodes and networks on a worker, and the end of partitions.
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemons/driver/node_ranges.h"
#include "daemons/driver/node_wake.h"
#include "runtime/base/check.h"
#include "runtime/engines/embedded_machine.h"
#include "switches/topology/concerned.h"

namespace vcm5 {
namespace {

thread_local EmbeddedNode* current_node = nullptr;

}  // namespace

vcm5_port* Embedded::Current() { return current_node == nullptr ? nullptr : &current_node->port; }

void Embedded::Machine::Idle(vcm5_port* port) {
  EmbeddedNode* node = current_node;
  VCM5_CHECK_MSG(node != nullptr && &node->port == port, "a node's port used outside its fiber");
  const Machine* machine = static_cast<Machine*>(port->engine);
  vcm5_store_relaxed(&port->page->node_control.waiting, NodeWake::kParked);
  if (machine->workers_.size() > 1) {
    // A network on another thread may have delivered just before: look once more, after a fence.
    NodeWake::Fence();
    const NetworkPositions now = NetworkPositions::Look(*port->page);
    if (!(now == node->seen)) {
      vcm5_store_relaxed(&port->page->node_control.waiting, NodeWake::kAwake);
      node->seen = now;
    }
  }
  // Straight on to the next node, if nobody wants to hear of it.
  Worker& worker = *node->worker;
  if (machine->hop_ && !machine->StopWanted(worker)) {
    ++worker.at;
    if (EmbeddedNode* next = machine->NextReady(worker)) {
      ++worker.ran;
      current_node = next;
      node->fiber->SuspendTo(*next->fiber);
      return;
    }
    --worker.at;
  }
  node->fiber->Suspend();
}

void Embedded::Machine::Shuffle(Worker& worker) {
  for (size_t i = worker.nodes.size(); i > 1; --i) {
    std::swap(worker.nodes[i - 1], worker.nodes[worker.prng.Below(static_cast<uint32_t>(i))]);
  }
}

// The first node from worker.at on that is to have a turn in this round, now at worker.at; or null.
inline EmbeddedNode* Embedded::Machine::NextReady(Worker& worker) const {
  for (; worker.at < worker.nodes.size(); ++worker.at) {
    EmbeddedNode* node = worker.nodes[worker.at];
    uint32_t* waiting = &node->port.page->node_control.waiting;
    if (worker.all) {
      vcm5_store_relaxed(waiting, NodeWake::kAwake);
      return node;
    }
    if (vcm5_load_relaxed(waiting) != NodeWake::kParked) return node;
  }
  return nullptr;
}

// Gives every node that does not wait (or simply every node) one turn. Returns how many had one.
unsigned Embedded::Machine::RunNodes(Worker& worker, bool all) {
  if (options_.random_schedule) Shuffle(worker);
  const bool hooked = options_.on_switch != nullptr;
  unsigned finished = 0;
  worker.all = all;
  worker.ran = 0;
  for (worker.at = 0; EmbeddedNode* node = NextReady(worker); ++worker.at) {
    ++worker.ran;
    if (__builtin_expect(options_.random_schedule, 0) && worker.prng.Chance(1, 4)) continue;
    current_node = node;
    if (hooked) options_.on_switch(node->number, true);
    node->fiber->Resume();
    if (hooked) options_.on_switch(node->number, false);
    // Turns may have gone from node to node meanwhile: the last one came back.
    if (__builtin_expect(current_node->fiber->finished(), 0)) ++finished;
    if (__builtin_expect(StopWanted(worker), 0)) break;
  }
  current_node = nullptr;
  if (finished != 0) Retire(worker);
  return worker.ran;
}

unsigned Embedded::Machine::RunAgents(Worker& worker) {
  unsigned work = 0;
  for (Agent* agent : worker.agents) {
    if (options_.random_schedule && worker.prng.Chance(1, 4)) {
      ++work;
      continue;
    }
    work += agent->DoWork();
    Collect(worker, *agent);
  }
  return work;
}

// An error ends the partitions that it concerns. If it is a hard error of the data network their nodes
// are told first (CN8), and have some turns more.
void Embedded::Machine::Collect(Worker& worker, Agent& agent) {
  for (const FabricError& error : agent.TakeErrors()) {
    const bool is_network = error.leaf == FabricError::kNetwork;
    for (const uint32_t i : ConcernedBy(options_.partitions, error.place())) {
      if (is_network) supervisor(options_.partitions[i].front()).SetHardError(true);
      const absl::Status status =
          absl::FailedPreconditionError(ErrorLine(options_.partitions, options_.spec.nodes, error));
      worker.sentences.push_back({i, status, worker.rounds + (is_network ? kRoundsToHear : 0)});
      const std::lock_guard<std::mutex> lock(status_mutex_);
      damage_[i].Update(status);
    }
  }
}

// The sentences of up to some round.
void Embedded::Machine::CarryOut(Worker& worker, uint64_t rounds) {
  std::erase_if(worker.sentences, [this, rounds](Sentence& sentence) {
    if (sentence.round > rounds) return false;
    Stop(sentence.partition, std::move(sentence.status));
    return true;
  });
}

// What is known to be wrong is why a partition ends, though it be told to stop before its time.
bool Embedded::Machine::StopIfTold(Worker& worker) {
  if (!options_.should_stop || !options_.should_stop()) return false;
  CarryOut(worker, ~uint64_t{0});
  StopAll(absl::DeadlineExceededError("the run was told to stop"));
  return true;
}

// Nothing happens to a partition that has ended already: false.
bool Embedded::Machine::Stop(uint32_t partition, absl::Status status) {
  const std::lock_guard<std::mutex> lock(status_mutex_);
  Outcome& outcome = outcomes_[partition];
  if (outcome.stopped || (outcome.live == 0 && absl::IsDeadlineExceeded(status))) return false;
  outcome.status = std::move(status);
  outcome.stopped = true;
  stops_.fetch_add(1, std::memory_order_release);
  return true;
}

void Embedded::Machine::StopAll(const absl::Status& status) {
  for (uint32_t i = 0; i < outcomes_.size(); ++i) Stop(i, status);
}

// Nodes that have finished, or whose partition was stopped, get no more turns.
void Embedded::Machine::Retire(Worker& worker) {
  worker.stops_seen = stops_.load(std::memory_order_acquire);
  const size_t retired = std::erase_if(worker.nodes, [this](EmbeddedNode* node) {
    Outcome& outcome = outcomes_[node->partition];
    if (!node->fiber->finished() && !outcome.stopped) return false;
    outcome.live.fetch_sub(1, std::memory_order_relaxed);
    return true;
  });
  live_.fetch_sub(static_cast<uint32_t>(retired), std::memory_order_acq_rel);
}

void Embedded::Machine::RunWorker(Worker& worker) {
  const std::vector<EmbeddedNode*> all_nodes = worker.nodes;
  worker.rounds = 0;
  while (live_.load(std::memory_order_acquire) != 0) {
    if (__builtin_expect(StopWanted(worker), 0)) Retire(worker);
    // A node that missed may yet do something that no message is needed for, and others may be busy
    // until it does: now and then everybody gets a turn.
    const unsigned ran = RunNodes(worker, (worker.rounds & 0xff) == 0xff);
    const unsigned work = RunAgents(worker);
    if (__builtin_expect(!worker.sentences.empty(), 0)) CarryOut(worker, worker.rounds);
    if ((++worker.rounds & 0xff) == 0) StopIfTold(worker);
    if (ran != 0 || work != 0) {
      worker.quiet_rounds = 0;
      continue;
    }
    // Everybody here waits and nothing is on its way. Another thread may be about to act; then,
    // whoever waits for something that no network brings (a clock) must be let look for it.
    if (++worker.quiet_rounds <= spin_rounds_) {
      __builtin_ia32_pause();
      continue;
    }
    RunNodes(worker, true);
    Wait(worker);
  }
  CarryOut(worker, ~uint64_t{0});
  worker.nodes = all_nodes;
}

void Embedded::Machine::Wait(Worker& worker) {
  // Another thread may be about to act, on a processor that we share with it.
  const bool shared = workers_.size() > 1;
  if (shared && worker.quiet_rounds > 2) sched_yield();
  if (worker.quiet_rounds < (shared ? 1000 : 64)) return;
  if (StopIfTold(worker)) return;
  const uint64_t microseconds =
      std::min<uint64_t>(worker.quiet_rounds, shared ? kSharedPauseMaxUs : kPauseMaxUs);
  timespec pause{0, static_cast<long>(microseconds * 1000)};
  nanosleep(&pause, nullptr);
}

void Embedded::Machine::Finish(vcm5_port& port) {
  EmbeddedNode* node = current_node;
  VCM5_CHECK(node != nullptr && &node->port == &port);
  node->fiber->Finish();
}

}  // namespace vcm5
