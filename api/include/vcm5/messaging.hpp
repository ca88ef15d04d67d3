// A node's side of the data network: sending, receiving, polling, active messages (paper section
// 3).
//
// The contract of the data network is that a node keeps receiving. So every call here that may wait
// (Send, Request, Reply, PollUntil, Receive, and the collective calls of the other headers) handles
// arriving messages while it waits, and lets other nodes run when there are none.
//
// Who may do what, so that nothing deadlocks and buffers stay constant (section 3, the
// fetch-deadlock problem):
//
//     in the program            anything
//     in a handler of the left  Reply (or Send, Put on the right half); TrySend. While the reply
//     half (of a request)       cannot be sent, only the right half is polled.
//     in a handler of the right TrySend only
//     half (of a reply)
//
// Anything else is a mistake that stops the program with a line that says so. Handlers run to their
// end, one at a time but for a reply's handler that runs while a request's handler sends its own
// reply.
#ifndef VCM5_MESSAGING_HPP_
#define VCM5_MESSAGING_HPP_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "netif/port/ni_port.h"
#include "vcm5/active_message.hpp"
#include "vcm5/message.hpp"

namespace vcm5 {

class Messaging {
 public:
  explicit Messaging(vcm5_port& port);
  Messaging(const Messaging&) = delete;
  Messaging& operator=(const Messaging&) = delete;

  // This node's relative address, the number of nodes, the longest message in words.
  uint32_t self() const { return port_.self; }
  uint32_t size() const { return port_.partition_size; }
  // The host (vcm5_ni_has_host): one more member, beside the nodes. Its address is size(); without a
  // host a message to it is a mistake that stops the program.
  bool has_host() const { return vcm5_port_has_host(&port_); }
  bool is_host() const { return vcm5_port_is_host(&port_); }
  uint32_t host() const { return size(); }
  uint32_t words_max() const { return port_.words_max; }
  // The registers below all this. Do not take messages of tags 10 to 13 away from the library.
  vcm5_port& port() { return port_; }

  // ---- messages by tag ----

  // Offers a message of 1 to words_max words; false if the FIFO is full. Never waits.
  bool TrySendWords(uint32_t dest, uint32_t tag, WordSpan words, Half half = Half::kLeft);
  // The same, waiting until it is accepted.
  void SendWords(uint32_t dest, uint32_t tag, WordSpan words, Half half = Half::kLeft);

  // One value of at most words_max words. Tags are 0 to 9.
  template <Payload T>
  bool TrySend(uint32_t dest, uint32_t tag, const T& value, Half half = Half::kLeft) {
    MessageWords message;
    message.Append(value);
    return TrySendWords(dest, tag, {message.data(), message.length()}, half);
  }
  template <Payload T>
  void Send(uint32_t dest, uint32_t tag, const T& value, Half half = Half::kLeft) {
    MessageWords message;
    message.Append(value);
    SendWords(dest, tag, {message.data(), message.length()}, half);
  }

  // Has `handler` run for each message of `tag` (0 to 9) that arrives from now on.
  void OnTag(uint32_t tag, std::function<void(const MessageView&)> handler);
  template <Payload T, typename F>
  void OnTag(uint32_t tag, F handler) {
    OnTag(tag, [f = std::move(handler)](const MessageView& view) mutable { f(view.As<T>()); });
  }

  // The oldest message without a handler. Receive waits for one. Messages that arrive while the
  // node waits for something else are kept in this node's memory, however many they are.
  std::optional<Message> TryReceive();
  Message Receive();

  // ---- active messages ----

  // Registers a handler; see active_message.hpp. In the same order on every node; a message for a
  // handler that is not registered yet waits in the FIFO until it is.
  template <typename F>
  auto AddHandler(F&& function) {
    using Callable = active_message_internal::CallableOf<F>;
    handlers_.push_back(Callable::Wrap(std::forward<F>(function)));
    return typename Callable::HandlerType{static_cast<uint32_t>(handlers_.size() - 1)};
  }

  // Runs `handler` on node `dest` with these arguments: a request on the left half, a reply on the
  // right. Waits until the network has accepted it.
  template <typename... Params, typename... Args>
  void Request(uint32_t dest, Handler<Params...> handler, const Args&... args) {
    const MessageWords message = Pack(handler, args...);
    SendLibrary(dest, kTagActiveMessage, message, Half::kLeft);
  }
  template <typename... Params, typename... Args>
  void Reply(uint32_t dest, Handler<Params...> handler, const Args&... args) {
    const MessageWords message = Pack(handler, args...);
    SendLibrary(dest, kTagActiveMessage, message, Half::kRight);
  }

  // ---- polling ----

  // Handles messages that have come, a bounded number; lets others run if there are none. Returns
  // how many it handled. Not from a handler.
  uint32_t Poll();

  // Polls until predicate() holds. Not from a handler.
  template <typename Predicate>
  void PollUntil(Predicate predicate) {
    CheckInProgram("PollUntil");
    while (!predicate()) Poll();
  }

  bool in_handler() const { return context_ != Context::kProgram; }

 protected:
  enum class Context : uint8_t { kProgram, kLeftHandler, kRightHandler };

  // Takes a message of one of the library's tags. False: not yet, leave it in the FIFO.
  using LibraryHandler = bool (*)(void* argument, const MessageView& view);
  void SetLibraryHandler(uint32_t tag, LibraryHandler handler, void* argument) {
    library_[tag - kUserTags] = {handler, argument};
  }

  // As SendWords, for the library's tags.
  void SendLibrary(uint32_t dest, uint32_t tag, const MessageWords& message, Half half);
  Context context() const { return context_; }
  // Stops the program if `what` is called from a handler.
  void CheckInProgram(const char* what) const {
    if (__builtin_expect(in_handler(), 0)) FailInHandler(what);
  }
  // What a call does that waits for something: handles what has come, or lets others run. In line,
  // for a wait is short when all nodes come at once.
  void Wait() {
    if (vcm5_port_peek(&port_, VCM5_RIGHT) == nullptr &&
        vcm5_port_peek(&port_, VCM5_LEFT) == nullptr) {
      vcm5_port_miss(&port_);
    } else {
      Poll();
    }
  }
  // A message that must wait for a registration is at the head of a FIFO.
  bool stalled() const { return stalled_[VCM5_LEFT] || stalled_[VCM5_RIGHT]; }
  // Prints one line that begins with this node's address, and stops the program.
  [[noreturn]] void Fail(const char* format, ...) const __attribute__((format(printf, 2, 3)));

 private:
  struct Library {
    LibraryHandler handler = nullptr;
    void* argument = nullptr;
  };

  template <typename... Params, typename... Args>
  static MessageWords Pack(Handler<Params...> handler, const Args&... args) {
    static_assert(sizeof...(Params) == sizeof...(Args), "arguments do not match the handler's");
    MessageWords message;
    message.Append(handler.id);
    (message.Append(static_cast<Params>(args)), ...);
    return message;
  }

  void CheckSend(uint32_t dest, uint32_t tag, size_t length) const;
  [[noreturn]] void FailInHandler(const char* what) const;
  // Takes from `half` what has come, at most `limit`.
  uint32_t PollHalf(Half half, uint32_t limit);
  bool Dispatch(const MessageView& view);
  void SendWaiting(uint32_t dest, uint32_t tag, WordSpan words, Half half);
  static bool RunActiveMessage(void* argument, const MessageView& view);

  vcm5_port& port_;
  Context context_ = Context::kProgram;
  std::array<bool, VCM5_HALVES> stalled_{};
  std::array<Library, kTags - kUserTags> library_;
  std::array<std::function<void(const MessageView&)>, kUserTags> tag_handlers_;
  // A deque, so that a handler may register further handlers.
  std::deque<std::function<void(WordSpan)>> handlers_;
  std::deque<Message> inbox_;
};

}  // namespace vcm5

#endif  // VCM5_MESSAGING_HPP_
