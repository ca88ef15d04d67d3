// A link through memory that two daemons of one host share: a ring of frame heads and a ring of
// packets in each direction, written and read without a system call.
//
// The memory is made by the launcher and passed as a descriptor. In each direction
//   tail     is written by the sender, at Flush, with release;
//   head, packets_head   are written by the receiver at the end of Receive, with release.
// Positions are free-running. Rings hold everything that credits allow to be under way, so a send
// within credit always has room; a sender that finds none has been given credit that does not
// exist, and the link fails.
//
// Memory cannot tell that its other user died, so a socket pair travels with it; it carries
// nothing, and is looked at when nothing has arrived for a while.
#ifndef VCM5_DAEMONS_LINK_SHM_LINK_H_
#define VCM5_DAEMONS_LINK_SHM_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemons/link/link.h"
#include "daemons/link/link_frame.h"
#include "netif/shm/shared_memory.h"

namespace vcm5 {

// The fields of one direction, at the beginning of its half of the memory.
struct ShmLinkPositions {
  uint64_t tail;
  uint8_t pad0[120];
  uint64_t head;
  uint64_t packets_head;
  uint8_t pad1[112];
};

// Where things lie in one direction's memory; the same sum on both sides.
struct ShmLinkLayout {
  explicit ShmLinkLayout(const LinkGeometry& geometry);
  uint64_t frames;    // ring of heads; a power of two
  uint64_t packets;   // ring of packets; a power of two
  size_t packet_bytes;
  size_t heads_at;
  size_t packets_at;
  size_t bytes;       // of one direction
};

class ShmLink : public Link {
 public:
  // `side` is 0 or 1. `memory` is 2 * ShmLinkLayout::bytes, zero when new. Takes `liveness`, one end
  // of a socket pair. `ring_peer` wakes the other end.
  ShmLink(SharedMemory memory, int liveness, int side, const LinkGeometry& geometry,
          std::function<void()> ring_peer);
  ~ShmLink() override;

  void SendPacket(uint32_t wire, const DataPacket& packet, unsigned length) override;
  void SendCredit(uint32_t wire, uint32_t packets) override;
  void Flush() override;
  unsigned Receive(LinkReceiver& receiver) override;
  absl::Status status() const override { return status_; }

 private:
  struct Direction {
    ShmLinkPositions* positions;
    uint64_t* heads;
    uint8_t* packets;
  };

  Direction DirectionAt(uint8_t* memory) const;
  bool HasRoom(bool packet);
  void CheckPeerLives();
  void Fail(const char* why);

  const LinkGeometry geometry_;
  const ShmLinkLayout layout_;
  SharedMemory memory_;
  int liveness_;
  std::function<void()> ring_peer_;
  Direction out_;
  Direction in_;

  // Sending: next positions, as last published, and what the receiver had freed when last seen.
  uint64_t tail_ = 0;
  uint64_t tail_told_ = 0;
  uint64_t packets_tail_ = 0;
  uint64_t head_seen_ = 0;
  uint64_t packets_head_seen_ = 0;

  // Receiving.
  uint64_t head_ = 0;
  uint64_t packets_head_ = 0;
  uint64_t tail_seen_ = 0;
  unsigned empty_receives_ = 0;

  absl::Status status_;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_LINK_SHM_LINK_H_
