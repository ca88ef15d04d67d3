#include "daemons/config/control_channel.h"

#include <google/protobuf/message_lite.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

constexpr size_t kHeaderBytes = 8;
constexpr size_t kPayloadBytesMax = 8 << 20;

absl::Status Gone(const char* what) {
  return absl::UnavailableError(absl::StrCat("control plane: ", what, ": ",
                                             errno == 0 ? "the other end is gone"
                                                        : std::strerror(errno)));
}

}  // namespace

ControlChannel::~ControlChannel() {
  for (const int fd : incoming_descriptors_) close(fd);
  if (fd_ >= 0) close(fd_);
}

absl::Status ControlChannel::Send(const google::protobuf::MessageLite& message,
                                  absl::Span<const int> descriptors) {
  Outgoing frame;
  const std::string payload = message.SerializeAsString();
  const uint32_t header[2] = {static_cast<uint32_t>(payload.size()),
                              static_cast<uint32_t>(descriptors.size())};
  frame.bytes.resize(kHeaderBytes);
  std::memcpy(frame.bytes.data(), header, kHeaderBytes);
  frame.bytes += payload;
  frame.descriptors.assign(descriptors.begin(), descriptors.end());
  outgoing_.push_back(std::move(frame));
  return Flush();
}

absl::Status ControlChannel::Flush() {
  while (!outgoing_.empty()) {
    Outgoing& frame = outgoing_.front();
    iovec bytes{frame.bytes.data() + frame.sent, frame.bytes.size() - frame.sent};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char rights[CMSG_SPACE(sizeof(int) * kDescriptorsPerFrameMax)] = {};
    if (frame.sent == 0 && !frame.descriptors.empty()) {
      const size_t size = sizeof(int) * frame.descriptors.size();
      message.msg_control = rights;
      message.msg_controllen = CMSG_SPACE(size);
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(size);
      std::memcpy(CMSG_DATA(header), frame.descriptors.data(), size);
    }
    const ssize_t sent = sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return absl::OkStatus();
      return Gone("sending");
    }
    frame.sent += static_cast<size_t>(sent);
    if (frame.sent == frame.bytes.size()) outgoing_.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ControlChannel::Frame>> ControlChannel::TakeFrame() {
  if (incoming_.size() < kHeaderBytes) return std::nullopt;
  uint32_t header[2];
  std::memcpy(header, incoming_.data(), kHeaderBytes);
  if (header[0] > kPayloadBytesMax || header[1] > kDescriptorsPerFrameMax) {
    return absl::DataLossError("control plane: the other end sent no frame of this protocol");
  }
  if (incoming_.size() < kHeaderBytes + header[0]) return std::nullopt;
  if (incoming_descriptors_.size() < header[1]) {
    // They came with the first byte, so they will not come any more.
    return absl::DataLossError(
        "control plane: descriptors were lost (is the limit on open files too low?)");
  }
  Frame frame;
  frame.payload = incoming_.substr(kHeaderBytes, header[0]);
  frame.descriptors.assign(incoming_descriptors_.begin(), incoming_descriptors_.begin() + header[1]);
  incoming_.erase(0, kHeaderBytes + header[0]);
  incoming_descriptors_.erase(incoming_descriptors_.begin(),
                              incoming_descriptors_.begin() + header[1]);
  return frame;
}

absl::Status ControlChannel::ReadSome(bool* read_any) {
  char buffer[64 << 10];
  alignas(cmsghdr) char rights[CMSG_SPACE(sizeof(int) * 253)];
  iovec bytes{buffer, sizeof buffer};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = rights;
  message.msg_controllen = sizeof rights;
  *read_any = false;
  ssize_t got;
  do {
    got = recvmsg(fd_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return absl::OkStatus();
  if (got == 0) errno = 0;
  if (got <= 0) return Gone("receiving");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const size_t before = incoming_descriptors_.size();
    incoming_descriptors_.resize(before + count);
    std::memcpy(&incoming_descriptors_[before], CMSG_DATA(header), count * sizeof(int));
  }
  incoming_.append(buffer, static_cast<size_t>(got));
  *read_any = true;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ControlChannel::Frame>> ControlChannel::Receive() {
  for (;;) {
    absl::StatusOr<std::optional<Frame>> frame = TakeFrame();
    if (!frame.ok() || frame->has_value()) return frame;
    bool read_any = false;
    if (absl::Status status = ReadSome(&read_any); !status.ok()) return status;
    if (!read_any) return std::nullopt;
  }
}

void ControlChannel::WaitToReceive() const {
  pollfd entry{fd_, POLLIN, 0};
  while (poll(&entry, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace vcm5
