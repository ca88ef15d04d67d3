// A program on its way from the control processor to the nodes, as supervisor broadcasts (paper section
// 5: they "can be used to download code"): first a message that says how long it is and gives its
// CRC-32C, then its bytes, four words a message, the last one filled up with zeros.
//
// Both ends are told what came and asked what to send, and do nothing else.
#ifndef VCM5_RUNTIME_BOOT_PROGRAM_STREAM_H_
#define VCM5_RUNTIME_BOOT_PROGRAM_STREAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "netif/shm/supervisor_page.h"

namespace vcm5 {

class ProgramSender {
 public:
  using Message = std::array<uint32_t, VCM5_SUPERVISOR_WORDS_MAX>;

  // 1 to kBootBytesMax bytes, which must outlive the sender.
  explicit ProgramSender(std::span<const uint8_t> program);

  bool done() const { return done_; }
  // What goes next, until Sent() says that it has gone; only if not done().
  const Message& message() const { return message_; }
  void Sent();

 private:
  const std::span<const uint8_t> program_;
  size_t at_ = 0;
  bool done_ = false;
  Message message_;
};

class ProgramReceiver {
 public:
  // Takes the next message. An error says what is wrong with it; then the program will not come.
  absl::Status Take(std::span<const uint32_t> message);

  // All of it has come, and it is what was sent.
  bool done() const { return begun_ && program_.size() == bytes_; }
  std::span<const uint8_t> program() const { return program_; }

 private:
  bool begun_ = false;
  size_t bytes_ = 0;
  uint32_t crc_ = 0;
  std::vector<uint8_t> program_;
};

}  // namespace vcm5

#endif  // VCM5_RUNTIME_BOOT_PROGRAM_STREAM_H_
