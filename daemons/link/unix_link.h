// A link through a pair of local stream sockets: the frames of one Flush leave in one system call,
// and one call takes in what has arrived.
//
// On the socket a frame is its head (link_frame.h), and for a packet header, CRC and as many words
// as it has. What the kernel does not take stays in a buffer that is as large as everything that
// credits allow to be under way, made once.
#ifndef VCM5_DAEMONS_LINK_UNIX_LINK_H_
#define VCM5_DAEMONS_LINK_UNIX_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "daemons/link/link.h"
#include "daemons/link/link_frame.h"

namespace vcm5 {

class UnixLink : public Link {
 public:
  // Takes `socket`, one end of an AF_UNIX stream socket pair.
  UnixLink(int socket, const LinkGeometry& geometry, std::function<void()> ring_peer);
  ~UnixLink() override;

  void SendPacket(uint32_t wire, const DataPacket& packet, unsigned length) override;
  void SendCredit(uint32_t wire, uint32_t packets) override;
  void Flush() override;
  unsigned Receive(LinkReceiver& receiver) override;
  absl::Status status() const override { return status_; }

 private:
  // Room for `bytes` more at the end of the outgoing buffer; null if the link failed.
  uint8_t* Reserve(size_t bytes);
  // Hands over whole frames of the incoming buffer, and says how many.
  unsigned TakeFrames(LinkReceiver& receiver);
  void Fail(const char* why, int error = 0);

  const LinkGeometry geometry_;
  const int socket_;
  std::function<void()> ring_peer_;

  std::vector<uint8_t> out_;  // [out_begin_, out_end_) is not yet taken by the kernel
  size_t out_begin_ = 0;
  size_t out_end_ = 0;
  std::vector<uint8_t> in_;  // [0, in_end_) has arrived, the beginning of a frame at most
  size_t in_end_ = 0;

  absl::Status status_;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_LINK_UNIX_LINK_H_
