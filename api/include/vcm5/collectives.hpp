// The control network as a program sees it: barriers, the ORs, reduce, scan, broadcast, router done
// (paper section 5).
//
// Every operation here is collective: all nodes, and the host if there is one, call the same ones in
// the same order. Each waits
// for its result, and handles arriving messages meanwhile; none may be called from a handler.
// Vectors are pipelined: as many elements are pushed as the network takes before the first result
// is awaited.
#ifndef VCM5_COLLECTIVES_HPP_
#define VCM5_COLLECTIVES_HPP_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "vcm5/exact_sum.hpp"
#include "vcm5/messaging.hpp"
#include "vcm5/operators.hpp"

namespace vcm5 {

// Classes of control-network operations from which a node can abstain (NI7).
enum class ControlClass : int {
  kCombine = VCM5_FIFO_COMBINE,
  kBroadcast = VCM5_FIFO_BROADCAST,
  kRouterDone = VCM5_FIFO_ROUTER_DONE,
  kSyncOr = VCM5_FIFO_SYNC_OR,
};

class Collectives : public Messaging {
 public:
  explicit Collectives(vcm5_port& port) : Messaging(port) {}
  ~Collectives();

  // ---- barriers and ORs ----

  // Returns when all nodes have called it. On the synchronous OR.
  void Barrier() { SyncOr(false); }

  // The OR of all nodes' bits; also a barrier.
  bool SyncOr(bool bit) {
    CheckInProgram("a barrier");
    if (barrier_open_) FailInBarrier();
    PushOne(VCM5_FIFO_SYNC_OR, bit);
    return AwaitOne(VCM5_FIFO_SYNC_OR) != 0;
  }

  // The same in two phases, so that work can be done while others arrive: enter, do something else,
  // ask with BarrierTest if it is over (or not), exit. One at a time.
  void BarrierEnter(bool bit = false);
  // True when all have entered. Handles messages, does not wait.
  bool BarrierTest();
  // Waits until all have entered; the OR of the bits.
  bool BarrierExit();

  // The asynchronous OR: sets this node's bit; reads the OR of all bits as of a moment ago. Neither
  // waits, but a read that tells nothing new lets others run.
  void SetAsyncOr(bool bit) { vcm5_port_set_async_or(&port(), bit); }
  bool AsyncOr();
  // Calls `handler` each time the asynchronous OR goes from 0 to 1 (several times may be one call);
  // null: no more. It runs when this node waits, and where the node is a process at any other
  // instant, too: it may look at things and set variables, no more.
  void OnAsyncOr(std::function<void()> handler);

  // ---- the supervisor, and errors ----

  // Calls `handler` with the word of an interrupt broadcast, by which a supervisor gets the
  // attention of all nodes; the same rules. (SIGUSR1 to `vcm5 run` is one, with that signal's
  // number.)
  void OnInterrupt(std::function<void(uint32_t word)> handler);

  // What the control network has signalled to all nodes of the partition (CN8).
  struct NetworkError {
    uint32_t report = 0;              // 0: none; VCM5_ERROR_KIND takes it apart
    uint32_t first_node[2] = {0, 0};  // the first node of either party
    bool hard_error = false;          // of a chip or a network interface, somewhere
  };
  NetworkError network_error();

  // Returns when all nodes have called it and no message is in the data network (router done): all
  // messages sent before have been handled, and so have the replies to them.
  void Quiesce();

  // ---- reduce and scan ----

  // The combination of all nodes' values, on every node. kAdd, kMax, kMin for integers of 32 and 64
  // bits, float and double; kOr, kXor, kAnd, kMultiply for integers; kLogicalAnd, kLogicalOr for
  // integers and bool. Sums of floats are exact, then rounded once.
  template <typename Op, Element T>
  requires Combines<Op, T> T Reduce(Op, T value) {
    CombineElements<Op, T>(VCM5_REDUCE, false, {&value, 1}, {&value, 1});
    return value;
  }
  // Element by element; `results` has the size of `values` and may be the same memory.
  template <typename Op, Element T>
  requires Combines<Op, T>
  void Reduce(Op, std::type_identity_t<std::span<const T>> values, std::span<T> results) {
    CombineElements<Op, T>(VCM5_REDUCE, false, values, results);
  }

  // Exclusive scans: the combination of the values of all nodes before this one (ScanForward) or
  // after it (ScanBackward). The first in that direction receives the operator's identity, as does
  // one that starts a segment: there the scan starts over. (For segments whose first nodes are
  // marked in a forward scan, a backward scan marks their last.)
  template <typename Op, Element T>
  requires Combines<Op, T> T ScanForward(Op, T value, bool segment_start = false) {
    CombineElements<Op, T>(VCM5_SCAN_FORWARD, segment_start, {&value, 1}, {&value, 1});
    return value;
  }
  template <typename Op, Element T>
  requires Combines<Op, T>
  void ScanForward(Op, std::type_identity_t<std::span<const T>> values, std::span<T> results,
                   bool segment_start = false) {
    CombineElements<Op, T>(VCM5_SCAN_FORWARD, segment_start, values, results);
  }
  template <typename Op, Element T>
  requires Combines<Op, T> T ScanBackward(Op, T value, bool segment_start = false) {
    CombineElements<Op, T>(VCM5_SCAN_BACKWARD, segment_start, {&value, 1}, {&value, 1});
    return value;
  }
  template <typename Op, Element T>
  requires Combines<Op, T>
  void ScanBackward(Op, std::type_identity_t<std::span<const T>> values, std::span<T> results,
                    bool segment_start = false) {
    CombineElements<Op, T>(VCM5_SCAN_BACKWARD, segment_start, values, results);
  }

  // The combination over this node's segment, as marked for a forward scan: by two segmented scans,
  // after a third one that tells where segments end. All nodes take part. Sums of floats are rounded
  // three times.
  template <typename Op, Element T>
  requires Combines<Op, T> T ReduceSegment(Op op, T value, bool segment_start) {
    // The nearest start behind this node tells whether its segment ends here.
    const uint32_t next = ScanBackward(kMin, segment_start ? self() : ~uint32_t{0});
    const bool is_last = self() + 1 == port().addresses || next == self() + 1;
    const T before = ScanForward(op, value, segment_start);
    bool overflow = overflowed_;
    const T after = ScanBackward(op, value, is_last);
    overflow |= overflowed_;
    using operators_internal::Apply;
    const T result = Apply<Op, T>(Apply<Op, T>(before, value, &overflow), after, &overflow);
    overflowed_ = overflow;
    return result;
  }

  // Whether an addition of the last Reduce or Scan overflowed on the way to this node's result:
  // signed overflow for signed integers, a carry for unsigned ones. Floats never do, products do
  // not say.
  bool overflowed() const { return overflowed_; }

  // ---- broadcast ----

  // Copies node `source`'s values to all nodes; the size is the same everywhere.
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void Broadcast(uint32_t source, std::span<T> values) {
    BroadcastBytes(source, std::as_writable_bytes(values));
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void Broadcast(uint32_t source, T& value) { Broadcast(source, std::span<T>(&value, 1)); }
  // Any length: receivers' containers are resized to the source's.
  template <typename T>
  void Broadcast(uint32_t source, std::vector<T>& values) {
    BroadcastResizing(source, values);
  }
  void Broadcast(uint32_t source, std::string& text) { BroadcastResizing(source, text); }

  // ---- abstaining ----

  // From now on this node takes no part in a class of operations, and must not call them; or takes
  // part again. Waits until the network has heard it.
  void SetAbstain(ControlClass operations, bool abstain);

 private:
  // One kind of combine operation: messages of `words` words each.
  struct Operation {
    vcm5_combiner combiner;
    vcm5_pattern pattern;
    bool segment_start;
    uint32_t words;
  };

  // Pushes `count` messages and receives as many; `in` and `out` may be the same memory.
  void Combine(const Operation& operation, size_t count, const uint32_t* in, uint32_t* out);
  // `words` independent words, eight to a message; what is left over follows in a shorter one.
  void CombineIndependent(Operation operation, size_t words, const uint32_t* in, uint32_t* out);
  void BroadcastBytes(uint32_t source, std::span<std::byte> bytes);
  // Pushes a message of one word, waiting for room.
  void PushOne(int fifo, uint32_t word) {
    for (;;) {
      vcm5_port_control_first(&port(), fifo, 0, 1, word);
      if (__builtin_expect(port().fifo[fifo].send_ok, 1)) return;
      Wait();
    }
  }
  // Waits for a message in a control FIFO; takes its first word.
  uint32_t AwaitOne(int fifo) {
    while (vcm5_port_control_peek(&port(), fifo) == nullptr) Wait();
    return vcm5_port_control_receive_word(&port(), fifo);
  }
  [[noreturn]] void FailInBarrier() const;
  void CheckSizes(size_t values, size_t results) const;

  template <typename Container>
  void BroadcastResizing(uint32_t source, Container& values) {
    auto count = static_cast<uint64_t>(values.size());
    Broadcast(source, count);
    values.resize(count);
    Broadcast(source, std::span(values.data(), values.size()));
  }

  template <typename Op, Element T>
  void CombineElements(vcm5_pattern pattern, bool segment_start, std::span<const T> values,
                       std::span<T> results) {
    CheckSizes(values.size(), results.size());
    if constexpr (FloatElement<T> && std::is_same_v<Op, AddOperator>) {
      AddExactly(pattern, segment_start, values, results);
    } else {
      using Coding = operators_internal::Coding<Op, T>;
      const Operation operation{Coding::kCombiner, pattern, segment_start, Coding::kWords};
      if (values.size() == 1) {
        uint32_t words[Coding::kWords];
        Coding::Write(values[0], words);
        Combine(operation, 1, words, words);
        results[0] = Coding::Read(words);
        if constexpr (!Coding::kReportsOverflow) overflowed_ = false;
        return;
      }
      std::vector<uint32_t> words(values.size() * Coding::kWords);
      for (size_t i = 0; i < values.size(); ++i) {
        Coding::Write(values[i], &words[i * Coding::kWords]);
      }
      if constexpr (Coding::kWordsIndependent) {
        CombineIndependent(operation, words.size(), words.data(), words.data());
      } else {
        Combine(operation, values.size(), words.data(), words.data());
      }
      for (size_t i = 0; i < values.size(); ++i) {
        results[i] = Coding::Read(&words[i * Coding::kWords]);
      }
      if constexpr (!Coding::kReportsOverflow) overflowed_ = false;
    }
  }

  // Addition of floats by integers; see exact_sum.hpp.
  template <FloatElement T>
  void AddExactly(vcm5_pattern pattern, bool segment_start, std::span<const T> values,
                  std::span<T> results);

  bool overflowed_ = false;
  bool barrier_open_ = false;
  std::function<void()> on_async_or_;
  std::function<void(uint32_t)> on_interrupt_;
};

template <FloatElement T>
void Collectives::AddExactly(vcm5_pattern pattern, bool segment_start, std::span<const T> values,
                             std::span<T> results) {
  exact_sum::Contents contents = exact_sum::ContentsOf<T>(values);
  constexpr uint32_t kContentsWords = 1 + (exact_sum::Format<T>::kLimbs + 31) / 32;
  Combine({VCM5_OR, VCM5_REDUCE, false, kContentsWords}, 1, contents.words, contents.words);
  const exact_sum::Layout layout = exact_sum::LayoutOf(contents);
  const size_t value_words = static_cast<size_t>(layout.groups) * layout.words();

  std::vector<uint32_t> special(contents.special() != 0 ? values.size() : 0);
  for (size_t i = 0; i < special.size(); ++i) special[i] = exact_sum::SpecialOf(values[i]);
  CombineIndependent({VCM5_OR, pattern, segment_start, 1}, special.size(), special.data(),
                     special.data());

  std::vector<uint32_t> words(values.size() * value_words);
  for (size_t i = 0; i < values.size(); ++i) {
    exact_sum::Write(layout, values[i], words.data() + i * value_words);
  }
  Combine({VCM5_ADD, pattern, segment_start, layout.words()},
          values.size() * static_cast<size_t>(layout.groups), words.data(), words.data());
  for (size_t i = 0; i < values.size(); ++i) {
    const bool finite = special.empty() || special[i] == 0;
    results[i] = finite ? exact_sum::Read<T>(layout, words.data() + i * value_words)
                        : exact_sum::SpecialSum<T>(special[i]);
  }
  overflowed_ = false;
}

}  // namespace vcm5

#endif  // VCM5_COLLECTIVES_HPP_
