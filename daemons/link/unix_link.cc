#include "daemons/link/unix_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace vcm5 {
namespace {

constexpr size_t kHeadBytes = sizeof(uint64_t);
constexpr size_t kReceiveBytes = 16 << 10;

constexpr size_t PacketBytes(unsigned length) { return offsetof(DataPacket, words) + 4 * length; }

size_t BufferBytes(const LinkGeometry& geometry) {
  return geometry.in_flight_max() * (2 * kHeadBytes + PacketBytes(geometry.words_max));
}

}  // namespace

UnixLink::UnixLink(int socket, const LinkGeometry& geometry, std::function<void()> ring_peer)
    : geometry_(geometry),
      socket_(socket),
      ring_peer_(std::move(ring_peer)),
      out_(BufferBytes(geometry)),
      in_(kReceiveBytes) {}

UnixLink::~UnixLink() { close(socket_); }

void UnixLink::Fail(const char* why, int error) {
  if (!status_.ok()) return;
  status_ = absl::UnavailableError(absl::StrCat("socket link: ", why, error != 0 ? ": " : "",
                                                error != 0 ? std::strerror(error) : ""));
}

uint8_t* UnixLink::Reserve(size_t bytes) {
  if (!status_.ok()) return nullptr;
  if (out_end_ + bytes > out_.size()) {
    std::memmove(out_.data(), out_.data() + out_begin_, out_end_ - out_begin_);
    out_end_ -= out_begin_;
    out_begin_ = 0;
    if (out_end_ + bytes > out_.size()) {
      Fail("the other end gave more credit than it has");
      return nullptr;
    }
  }
  uint8_t* at = out_.data() + out_end_;
  out_end_ += bytes;
  return at;
}

void UnixLink::SendPacket(uint32_t wire, const DataPacket& packet, unsigned length) {
  VCM5_CHECK(wire < geometry_.wires && length >= 1 && length <= geometry_.words_max);
  uint8_t* at = Reserve(kHeadBytes + PacketBytes(length));
  if (at == nullptr) return;
  const uint64_t head = LinkFrame::MakePacket(wire, length);
  std::memcpy(at, &head, kHeadBytes);
  std::memcpy(at + kHeadBytes, &packet, PacketBytes(length));
}

void UnixLink::SendCredit(uint32_t wire, uint32_t packets) {
  VCM5_CHECK(wire < geometry_.wires && packets >= 1 && packets <= geometry_.depth);
  uint8_t* at = Reserve(kHeadBytes);
  if (at == nullptr) return;
  const uint64_t head = LinkFrame::MakeCredit(wire, packets);
  std::memcpy(at, &head, kHeadBytes);
}

void UnixLink::Flush() {
  if (out_begin_ == out_end_ || !status_.ok()) return;
  bool sent_any = false;
  while (out_begin_ != out_end_) {
    const ssize_t sent =
        send(socket_, out_.data() + out_begin_, out_end_ - out_begin_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) Fail("the other end is gone", errno);
      break;
    }
    out_begin_ += static_cast<size_t>(sent);
    sent_any = true;
  }
  if (out_begin_ == out_end_) out_begin_ = out_end_ = 0;
  if (sent_any) ring_peer_();
}

unsigned UnixLink::TakeFrames(LinkReceiver& receiver) {
  unsigned frames = 0;
  size_t at = 0;
  while (in_end_ - at >= kHeadBytes) {
    uint64_t head;
    std::memcpy(&head, &in_[at], kHeadBytes);
    LinkFrame frame;
    if (!LinkFrame::Decode(head, geometry_, &frame)) {
      Fail("the other end sent a malformed frame");
      break;
    }
    if (frame.is_packet()) {
      const size_t bytes = PacketBytes(frame.length);
      if (in_end_ - at < kHeadBytes + bytes) break;
      DataPacket packet{};
      std::memcpy(static_cast<void*>(&packet), &in_[at + kHeadBytes], bytes);
      at += kHeadBytes + bytes;
      receiver.OnPacket(frame.wire, packet, frame.length);
    } else {
      at += kHeadBytes;
      receiver.OnCredit(frame.wire, frame.credit);
    }
    ++frames;
  }
  std::memmove(in_.data(), in_.data() + at, in_end_ - at);
  in_end_ -= at;
  return frames;
}

unsigned UnixLink::Receive(LinkReceiver& receiver) {
  if (!status_.ok()) return 0;
  const ssize_t got = recv(socket_, in_.data() + in_end_, in_.size() - in_end_, MSG_DONTWAIT);
  if (got < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      Fail("the other end is gone", errno);
    }
    return 0;
  }
  if (got == 0) {
    Fail("the other end is gone");
    return 0;
  }
  in_end_ += static_cast<size_t>(got);
  return TakeFrames(receiver);
}

}  // namespace vcm5
