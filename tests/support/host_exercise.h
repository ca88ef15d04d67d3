// What a host and its nodes do together, one operation after the other, each against what it must
// give: run by every member of a partition with a host, whatever the engine.
#ifndef VCM5_TESTS_SUPPORT_HOST_EXERCISE_H_
#define VCM5_TESTS_SUPPORT_HOST_EXERCISE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "vcm5/vcm5.hpp"

namespace vcm5 {

class HostExercise {
 public:
  explicit HostExercise(Node& node) : node_(node), nodes_(node.size()), self_(node.self()) {}

  // What was wrong first; "" if nothing.
  std::string Run() {
    WhoIsWho();
    Reductions();
    Scans();
    Broadcasts();
    Barriers();
    AsyncOrs();
    Messages();
    for (const auto operations : {ControlClass::kCombine, ControlClass::kBroadcast,
                                  ControlClass::kRouterDone, ControlClass::kSyncOr}) {
      HostAbstains(operations);
    }
    return wrong_;
  }

 private:
  template <class A, class B>
  void Expect(const A& got, const B& wanted, const char* what) {
    if (!wrong_.empty() || got == wanted) return;
    wrong_ = (node_.is_host() ? "host" : "node " + std::to_string(self_)) + std::string(": ") + what;
  }

  void WhoIsWho() {
    Expect(node_.has_host(), true, "has a host");
    Expect(node_.is_host(), self_ == nodes_, "is the host");
    Expect(node_.host(), nodes_, "the host's address");
    Expect(node_.Reduce(kAdd, node_.is_host() ? 1u : 0u), 1u, "one host");
  }

  void Reductions() {
    const uint32_t members = nodes_ + 1;
    Expect(node_.Reduce(kAdd, self_ + 1), members * (members + 1) / 2, "sum");
    Expect(node_.Reduce(kAdd, uint64_t{1} << 33), uint64_t{members} << 33, "sum of 64 bits");
    Expect(node_.Reduce(kMax, static_cast<int32_t>(self_)), static_cast<int32_t>(nodes_), "maximum");
    Expect(node_.Reduce(kMin, self_), 0u, "minimum");
    Expect(node_.Reduce(kOr, node_.is_host() ? 0x80000000u : 1u), 0x80000001u, "OR");
    Expect(node_.Reduce(kXor, 1u), members % 2, "XOR");
    Expect(node_.Reduce(kAdd, 0.5), 0.5 * members, "sum of floats");
  }

  // The host is the last one in their order.
  void Scans() {
    const uint32_t all = (nodes_ + 1) * (nodes_ + 2) / 2;
    const uint32_t before = self_ * (self_ + 1) / 2;
    Expect(node_.ScanForward(kAdd, self_ + 1), before, "forward scan");
    Expect(node_.ScanBackward(kAdd, self_ + 1), all - before - (self_ + 1), "backward scan");
    Expect(node_.ScanForward(kAdd, 1u, node_.is_host()), node_.is_host() ? 0 : self_,
           "scan that the host begins anew");
    Expect(node_.ReduceSegment(kAdd, 1u, self_ == 0 || node_.is_host()),
           node_.is_host() ? 1u : nodes_, "segment of the nodes");
  }

  void Broadcasts() {
    for (const uint32_t source : {node_.host(), 0u, nodes_ - 1}) {
      std::vector<uint32_t> words(100);
      if (self_ == source) {
        for (uint32_t i = 0; i < words.size(); ++i) words[i] = source + i * i;
      }
      node_.Broadcast(source, words);
      for (uint32_t i = 0; i < words.size(); ++i) Expect(words[i], source + i * i, "broadcast");
    }
  }

  void Barriers() {
    Expect(node_.SyncOr(node_.is_host()), true, "the host's bit");
    Expect(node_.SyncOr(self_ == 0), true, "a node's bit");
    Expect(node_.SyncOr(false), false, "nobody's bit");
    node_.BarrierEnter(node_.is_host());
    Expect(node_.BarrierExit(), true, "the host's bit of a barrier in two phases");
  }

  void AsyncOrs() {
    for (const uint32_t who : {node_.host(), 0u}) {
      if (self_ == who) node_.SetAsyncOr(true);
      node_.PollUntil([this] { return node_.AsyncOr(); });
      node_.Barrier();
      node_.SetAsyncOr(false);
      node_.PollUntil([this] { return !node_.AsyncOr(); });
      node_.Barrier();
    }
  }

  // Requests to the host and from it, with replies; router done waits for all of them.
  void Messages() {
    uint64_t asked = 0;
    uint64_t answered = 0;
    Handler<uint32_t> answer = node_.AddHandler([&](uint32_t value) { answered += value; });
    Handler<uint32_t, uint32_t> ask = node_.AddHandler([&](uint32_t from, uint32_t value) {
      asked += value;
      node_.Reply(from, answer, 2 * value);
    });
    node_.Barrier();
    constexpr uint32_t kEach = 40;
    for (uint32_t i = 0; i < kEach; ++i) {
      if (!node_.is_host()) node_.Request(node_.host(), ask, self_, 1u);
      if (!node_.is_host()) continue;
      for (uint32_t to = 0; to < nodes_; ++to) node_.Request(to, ask, self_, 3u);
    }
    node_.Quiesce();
    Expect(asked, node_.is_host() ? uint64_t{kEach} * nodes_ : 3 * kEach, "requests handled");
    Expect(answered, node_.is_host() ? uint64_t{6} * kEach * nodes_ : 2 * kEach, "replies");
    node_.Barrier();
  }

  // Some operation of the class, by `members` of them.
  void Do(ControlClass operations, uint32_t members) {
    uint32_t word = self_ == 0 ? 5 : 0;
    switch (operations) {
      case ControlClass::kCombine:
        Expect(node_.Reduce(kAdd, 1u), members, "sum where the host may abstain");
        break;
      case ControlClass::kBroadcast:
        node_.Broadcast(0, word);
        Expect(word, 5u, "broadcast where the host may abstain");
        break;
      case ControlClass::kRouterDone:
        node_.Quiesce();
        break;
      case ControlClass::kSyncOr:
        Expect(node_.SyncOr(self_ == 0), true, "OR where the host may abstain");
        break;
    }
  }

  // A barrier that is not of the class.
  void Meet(ControlClass operations) {
    if (operations == ControlClass::kSyncOr) {
      node_.Reduce(kOr, 0u);
    } else {
      node_.Barrier();
    }
  }

  void HostAbstains(ControlClass operations) {
    if (node_.is_host()) node_.SetAbstain(operations, true);
    Meet(operations);
    if (!node_.is_host()) Do(operations, nodes_);
    Meet(operations);
    if (node_.is_host()) node_.SetAbstain(operations, false);
    Meet(operations);
    Do(operations, nodes_ + 1);
  }

  Node& node_;
  const uint32_t nodes_;
  const uint32_t self_;
  std::string wrong_;
};

}  // namespace vcm5

#endif  // VCM5_TESTS_SUPPORT_HOST_EXERCISE_H_
