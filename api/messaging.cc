#include "vcm5/messaging.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace vcm5 {
namespace {

// Messages handled in one look at a half: enough to be efficient, few enough that a program which
// waits for something else looks soon.
constexpr uint32_t kPollLimit = 32;

}  // namespace

Messaging::Messaging(vcm5_port& port) : port_(port) {
  SetLibraryHandler(kTagActiveMessage, &RunActiveMessage, this);
}

void Messaging::Fail(const char* format, ...) const {
  // One write, so that lines of several nodes do not mix.
  char line[400];
  int at = is_host() ? std::snprintf(line, sizeof line, "vcm5: host: ")
                     : std::snprintf(line, sizeof line, "vcm5: node %u: ", port_.self);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line + at, sizeof line - static_cast<size_t>(at), format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s\n", line);
  std::abort();
}

void Messaging::FailInHandler(const char* what) const {
  Fail("%s called from a message handler; a handler may only reply (vcm5/messaging.hpp)", what);
}

// ---- sending -----------------------------------------------------------------------------------

void Messaging::CheckSend(uint32_t dest, uint32_t tag, size_t length) const {
  if (__builtin_expect(dest < port_.addresses && length - 1 < port_.words_max, 1)) return;
  if (dest >= port_.addresses) {
    Fail("message of tag %u to node %u, but addresses are 0 to %u", tag, dest,
         port_.addresses - 1);
  }
  Fail("message of tag %u of %zu words, but lengths are 1 to %u words on this machine", tag, length,
       port_.words_max);
}

bool Messaging::TrySendWords(uint32_t dest, uint32_t tag, WordSpan words, Half half) {
  CheckSend(dest, tag, words.size());
  if (tag >= kUserTags) Fail("tag %u is not a user's tag (0 to 9)", tag);
  return vcm5_port_send(&port_, static_cast<int>(half), dest, tag, words.data(),
                        static_cast<uint32_t>(words.size()));
}

void Messaging::SendWords(uint32_t dest, uint32_t tag, WordSpan words, Half half) {
  if (tag >= kUserTags) Fail("tag %u is not a user's tag (0 to 9)", tag);
  SendWaiting(dest, tag, words, half);
}

void Messaging::SendLibrary(uint32_t dest, uint32_t tag, const MessageWords& message, Half half) {
  SendWaiting(dest, tag, {message.data(), message.length()}, half);
}

// While a message cannot be sent, the node keeps its contract with the network: the program
// receives on both halves; a request's handler, whose half is taken by the request itself, on the
// right one.
void Messaging::SendWaiting(uint32_t dest, uint32_t tag, WordSpan words, Half half) {
  CheckSend(dest, tag, words.size());
  if (__builtin_expect(context_ != Context::kProgram, 0)) {
    if (context_ == Context::kRightHandler) FailInHandler("a send that may wait");
    if (half == Half::kLeft) FailInHandler("a send on the left half");
  }
  while (!vcm5_port_send(&port_, static_cast<int>(half), dest, tag, words.data(),
                         static_cast<uint32_t>(words.size()))) {
    uint32_t handled = PollHalf(Half::kRight, kPollLimit);
    if (context_ == Context::kProgram) handled += PollHalf(Half::kLeft, kPollLimit);
    if (handled == 0) vcm5_port_miss(&port_);
  }
}

// ---- receiving ---------------------------------------------------------------------------------

void Messaging::OnTag(uint32_t tag, std::function<void(const MessageView&)> handler) {
  if (tag >= kUserTags) Fail("tag %u is not a user's tag (0 to 9)", tag);
  tag_handlers_[tag] = std::move(handler);
}

uint32_t Messaging::Poll() {
  CheckInProgram("Poll");
  const uint32_t handled = PollHalf(Half::kRight, kPollLimit) + PollHalf(Half::kLeft, kPollLimit);
  if (handled == 0) vcm5_port_miss(&port_);
  return handled;
}

std::optional<Message> Messaging::TryReceive() {
  CheckInProgram("TryReceive");
  if (inbox_.empty()) Poll();
  if (inbox_.empty()) return std::nullopt;
  std::optional<Message> message(inbox_.front());
  inbox_.pop_front();
  return message;
}

Message Messaging::Receive() {
  while (true) {
    if (std::optional<Message> message = TryReceive()) return *message;
  }
}

uint32_t Messaging::PollHalf(Half half, uint32_t limit) {
  const int side = static_cast<int>(half);
  const auto half_index = static_cast<size_t>(half);
  const Context before = context_;
  uint32_t handled = 0;
  stalled_[half_index] = false;
  for (; handled < limit; ++handled) {
    const uint8_t* packet = vcm5_port_peek(&port_, side);
    if (packet == nullptr) break;
    const MessageView view{
        half, vcm5_packet_tag(packet), {vcm5_packet_words(packet), vcm5_packet_length(packet)}};
    context_ = half == Half::kLeft ? Context::kLeftHandler : Context::kRightHandler;
    const bool taken = Dispatch(view);
    context_ = before;
    if (!taken) {
      stalled_[half_index] = true;
      break;
    }
    // The slot is free when the handler has returned, and only then is the message received: so a
    // handler may read its arguments in place, and router-done waits for its replies.
    vcm5_port_release(&port_, side);
    vcm5_port_count_received(&port_, side);
  }
  return handled;
}

bool Messaging::Dispatch(const MessageView& view) {
  if (view.tag >= kUserTags) {
    const Library& library = library_[view.tag - kUserTags];
    if (library.handler == nullptr) Fail("a message of tag %u, which nothing handles", view.tag);
    return library.handler(library.argument, view);
  }
  if (tag_handlers_[view.tag]) {
    tag_handlers_[view.tag](view);
  } else {
    inbox_.emplace_back(view);
  }
  return true;
}

bool Messaging::RunActiveMessage(void* argument, const MessageView& view) {
  auto* node = static_cast<Messaging*>(argument);
  const uint32_t id = view.words[0];
  if (id >= node->handlers_.size()) return false;
  node->handlers_[id](view.words.subspan(1));
  return true;
}

}  // namespace vcm5
