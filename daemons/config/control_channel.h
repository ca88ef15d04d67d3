// One end of the control plane's stream socket: whole protobuf messages, with descriptors beside
// them. Both the launcher and the daemons use it; neither blocks in it.
//
// A frame is 8 bytes (payload length, number of descriptors; both 32 bits, little endian), then
// the payload. Descriptors travel by SCM_RIGHTS with the frame's first byte.
#ifndef VCM5_DAEMONS_CONFIG_CONTROL_CHANNEL_H_
#define VCM5_DAEMONS_CONFIG_CONTROL_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace google::protobuf {
class MessageLite;
}

namespace vcm5 {

// Descriptors that one frame may carry; the kernel's own bound is 253.
inline constexpr size_t kDescriptorsPerFrameMax = 240;

class ControlChannel {
 public:
  struct Frame {
    std::string payload;
    std::vector<int> descriptors;  // the receiver's to close
  };

  // Takes `fd`, one end of a stream socket pair.
  explicit ControlChannel(int fd) : fd_(fd) {}
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  int fd() const { return fd_; }

  // Queues a message and offers to the socket what it takes now. `descriptors` must stay open
  // until pending() is false. Not OK once the other end is gone.
  absl::Status Send(const google::protobuf::MessageLite& message,
                    absl::Span<const int> descriptors = {});

  // Offers what is queued. Call again when the socket can be written while pending().
  absl::Status Flush();
  bool pending() const { return !outgoing_.empty(); }

  // The next whole frame, or nothing if none has come yet. Not OK when the other end is gone
  // (kUnavailable) or sent no frame of ours.
  absl::StatusOr<std::optional<Frame>> Receive();

  // Blocks until something can be received (or the other end is gone).
  void WaitToReceive() const;

 private:
  struct Outgoing {
    std::string bytes;
    std::vector<int> descriptors;
    size_t sent = 0;
  };

  absl::StatusOr<std::optional<Frame>> TakeFrame();
  absl::Status ReadSome(bool* read_any);

  int fd_;
  std::deque<Outgoing> outgoing_;
  std::string incoming_;
  std::vector<int> incoming_descriptors_;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_CONTROL_CHANNEL_H_
