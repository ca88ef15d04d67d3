// Bulk transfer: putting bytes into a buffer of another node.
//
// Messages may overtake each other (paper section 3), so each carries its place: a header word with
// buffer and offset, then data. Any offset, length and alignment will do; whole words at
// word-aligned offsets travel fastest, 4 * (words_max - 1) bytes a message. Both halves of the data
// network are used in turn: taking in a put sends nothing, so it can always be done.
//
// A put of kDirectBytes or more to a node of the same host is offered instead of sent: one message
// says where the data lie, the destination copies them from there into its buffer, once, and replies.
//
//     program of A                                   B, when it polls
//     Put ── offer: process, address, place ──▶      copies from A's memory into the buffer
//     polls until  ◀── reply: done, or not allowed   (counts the offer as received only then)
//
// So a put is a request and a reply like others: flow control, Quiesce and BytesReceived know it as
// messages. Where the system does not let a process read another's memory, the data are sent.
#ifndef VCM5_BULK_HPP_
#define VCM5_BULK_HPP_

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "vcm5/collectives.hpp"

namespace vcm5 {

// A registered buffer; the same id on every node.
struct BufferId {
  uint32_t value = 0;
};

class Bulk : public Collectives {
 public:
  static constexpr uint32_t kBuffersMax = 64;

  explicit Bulk(vcm5_port& port);

  // Registers memory of this node into which others may put: in the same order on every node, but
  // of any size, also none. Does not wait; a put that comes before the registration waits for it.
  // The memory stays valid until the last put to it has been handled.
  BufferId RegisterBuffer(std::span<std::byte> memory);
  template <typename T>
  requires std::is_trivially_copyable_v<T> BufferId RegisterBuffer(std::span<T> memory) {
    return RegisterBuffer(std::as_writable_bytes(memory));
  }

  // Gives a buffer other memory, and sets its count of bytes received to 0. Between the last put to
  // the old memory (Quiesce) and the first to the new one (Barrier).
  void MoveBuffer(BufferId buffer, std::span<std::byte> memory);
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void MoveBuffer(BufferId buffer, std::span<T> memory) {
    MoveBuffer(buffer, std::as_writable_bytes(memory));
  }

  // Puts of so many bytes are offered; less is sent in messages sooner than a reply comes.
  static constexpr size_t kDirectBytes = 4096;

  // Puts `data` at byte `offset` of `buffer` on node `dest`, which may be this one. Returns when
  // the network has accepted it all, or the destination has copied it, for which that must poll;
  // `data` may change then. It has arrived when the destination's BytesReceived says so, or after
  // Quiesce. In a request's handler it is a reply, and sent whatever its length. A put beyond the end
  // of the destination's buffer stops the program there.
  void Put(uint32_t dest, BufferId buffer, size_t offset, std::span<const std::byte> data);
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void Put(uint32_t dest, BufferId buffer, size_t offset, std::span<T> data) {
    Put(dest, buffer, offset, std::as_bytes(data));
  }

  // How many bytes of this node's puts others have copied directly.
  uint64_t BytesCopiedDirectly() const { return copied_directly_; }

  // Bytes that others (and this node) have put into this node's buffer since it was registered or
  // moved. They may have arrived in any order.
  uint64_t BytesReceived(BufferId buffer) const;

 private:
  struct Buffer {
    std::span<std::byte> memory;
    uint64_t received = 0;
  };

  // kTagBulkWords: header (buffer, word offset), words.
  static constexpr uint32_t kWordOffsetBits = 26;
  // kTagBulkBytes: header (buffer, bytes), byte offset, bytes.
  static constexpr uint32_t kByteCountBits = 8;

  // kTagBulkOffer, on the left half: an offer. On the right: one word, whether it was taken.
  struct Offer {
    uint32_t buffer_and_pid;
    uint32_t offset;
    uint32_t bytes;
    uint32_t address_low;
    uint32_t address_high_and_source;
  };
  static constexpr uint32_t kPidBits = 22;  // what Linux has at most
  static constexpr uint32_t kAddressHighBits = 16;
  static constexpr size_t kOfferMax = size_t{4} << 20;  // then others may have a turn
  enum class Answer : uint8_t { kNone, kTaken, kRefused };

  bool CanOffer(std::span<const std::byte> data) const;
  // Offers data and waits for the answer; false if it was refused.
  bool PutDirectly(uint32_t dest, BufferId buffer, size_t offset, std::span<const std::byte> data);
  static bool HandleOffer(void* argument, const MessageView& view);

  static bool HandleWords(void* argument, const MessageView& view);
  static bool HandleBytes(void* argument, const MessageView& view);
  bool Store(uint32_t buffer, uint64_t offset, const void* data, size_t bytes);
  // Where a put to a registered buffer belongs.
  std::span<std::byte> Target(uint32_t buffer, uint64_t offset, size_t bytes);
  void PutBytes(uint32_t dest, BufferId buffer, size_t offset, std::span<const std::byte> data);
  Half NextHalf();

  std::vector<Buffer> buffers_;
  Half next_half_ = Half::kLeft;
  bool offers_ = true;  // nobody has refused
  Answer answer_ = Answer::kNone;
  uint64_t copied_directly_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_BULK_HPP_
