#include "daemons/link/shm_link.h"

#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "netif/shm/atomic_words.h"
#include "runtime/base/check.h"

namespace vcm5 {
namespace {

// Frames handed over in one Receive: enough to amortise publication, few enough that the other
// wires and nodes of a daemon do not wait long.
constexpr unsigned kReceiveMax = 256;

// Empty receives between two looks at the liveness socket.
constexpr unsigned kLivenessInterval = 1024;

constexpr size_t RoundUp(size_t bytes) { return (bytes + 127) & ~size_t{127}; }

uint64_t LoadAcquire(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
void StoreRelease(uint64_t* word, uint64_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

}  // namespace

ShmLinkLayout::ShmLinkLayout(const LinkGeometry& geometry)
    : frames(std::bit_ceil(2 * geometry.in_flight_max())),
      packets(std::bit_ceil(geometry.in_flight_max())),
      packet_bytes(32 * PacketUnits(geometry.words_max)),
      heads_at(RoundUp(sizeof(ShmLinkPositions))),
      packets_at(RoundUp(heads_at + frames * sizeof(uint64_t))),
      bytes(RoundUp(packets_at + packets * packet_bytes)) {}

ShmLink::ShmLink(SharedMemory memory, int liveness, int side, const LinkGeometry& geometry,
                 std::function<void()> ring_peer)
    : geometry_(geometry),
      layout_(geometry),
      memory_(std::move(memory)),
      liveness_(liveness),
      ring_peer_(std::move(ring_peer)),
      out_(DirectionAt(memory_.data() + (side == 0 ? 0 : layout_.bytes))),
      in_(DirectionAt(memory_.data() + (side == 0 ? layout_.bytes : 0))) {
  VCM5_CHECK(memory_.size() == 2 * layout_.bytes);
  memory_.CloseFd();
}

ShmLink::~ShmLink() { close(liveness_); }

ShmLink::Direction ShmLink::DirectionAt(uint8_t* memory) const {
  return {reinterpret_cast<ShmLinkPositions*>(memory),
          reinterpret_cast<uint64_t*>(memory + layout_.heads_at), memory + layout_.packets_at};
}

void ShmLink::Fail(const char* why) {
  if (status_.ok()) status_ = absl::UnavailableError(absl::StrCat("shared-memory link: ", why));
}

// Positions of the other side are copied once; nonsense in them is the other side's fault.
bool ShmLink::HasRoom(bool packet) {
  if (!status_.ok()) return false;
  if (tail_ - head_seen_ < layout_.frames &&
      (!packet || packets_tail_ - packets_head_seen_ < layout_.packets)) {
    return true;
  }
  // SYNC link_head: pairs with the release in Receive().
  const uint64_t head = LoadAcquire(&out_.positions->head);
  const uint64_t packets_head = LoadAcquire(&out_.positions->packets_head);
  if (tail_ - head > layout_.frames || packets_tail_ - packets_head > layout_.packets) {
    Fail("the other end's positions are nonsense");
    return false;
  }
  head_seen_ = head;
  packets_head_seen_ = packets_head;
  if (tail_ - head_seen_ < layout_.frames &&
      (!packet || packets_tail_ - packets_head_seen_ < layout_.packets)) {
    return true;
  }
  Fail("the other end gave more credit than it has");
  return false;
}

void ShmLink::SendPacket(uint32_t wire, const DataPacket& packet, unsigned length) {
  VCM5_CHECK(wire < geometry_.wires && length >= 1 && length <= geometry_.words_max);
  if (!HasRoom(true)) return;
  CopyPacket(out_.packets + (packets_tail_ & (layout_.packets - 1)) * layout_.packet_bytes, &packet,
             length);
  ++packets_tail_;
  out_.heads[tail_++ & (layout_.frames - 1)] = LinkFrame::MakePacket(wire, length);
}

void ShmLink::SendCredit(uint32_t wire, uint32_t packets) {
  VCM5_CHECK(wire < geometry_.wires && packets >= 1 && packets <= geometry_.depth);
  if (!HasRoom(false)) return;
  out_.heads[tail_++ & (layout_.frames - 1)] = LinkFrame::MakeCredit(wire, packets);
}

void ShmLink::Flush() {
  if (tail_ == tail_told_) return;
  tail_told_ = tail_;
  // SYNC link_tail: pairs with the acquire in Receive().
  StoreRelease(&out_.positions->tail, tail_);
  ring_peer_();
}

unsigned ShmLink::Receive(LinkReceiver& receiver) {
  if (!status_.ok()) return 0;
  if (head_ == tail_seen_) {
    // SYNC link_tail: pairs with the release in Flush().
    const uint64_t tail = LoadAcquire(&in_.positions->tail);
    if (tail - head_ > layout_.frames) {
      Fail("the other end's positions are nonsense");
      return 0;
    }
    tail_seen_ = tail;
    if (head_ == tail_seen_) {
      if (++empty_receives_ % kLivenessInterval == 0) CheckPeerLives();
      return 0;
    }
  }
  unsigned frames = 0;
  while (head_ != tail_seen_ && frames < kReceiveMax) {
    // Each head and packet is copied once; only the copy is looked at.
    const uint64_t head = vcm5_load64_relaxed(&in_.heads[head_ & (layout_.frames - 1)]);
    LinkFrame frame;
    if (!LinkFrame::Decode(head, geometry_, &frame)) {
      Fail("the other end sent a malformed frame");
      break;
    }
    ++head_;
    ++frames;
    if (frame.is_packet()) {
      DataPacket packet{};
      CopyPacket(&packet,
                 in_.packets + (packets_head_ & (layout_.packets - 1)) * layout_.packet_bytes,
                 frame.length);
      ++packets_head_;
      receiver.OnPacket(frame.wire, packet, frame.length);
    } else {
      receiver.OnCredit(frame.wire, frame.credit);
    }
  }
  // SYNC link_head: pairs with the acquire in HasRoom().
  StoreRelease(&in_.positions->packets_head, packets_head_);
  StoreRelease(&in_.positions->head, head_);
  empty_receives_ = 0;
  return frames;
}

void ShmLink::CheckPeerLives() {
  char byte;
  const ssize_t got = recv(liveness_, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
    // What it sent before it died may have come after we looked.
    if (LoadAcquire(&in_.positions->tail) == head_) Fail("the other end is gone");
  }
}

}  // namespace vcm5
