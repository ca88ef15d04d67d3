// What travels in the data network, as C++ values: halves, tags, messages, and how typed arguments
// lie in a message's words.
#ifndef VCM5_MESSAGE_HPP_
#define VCM5_MESSAGE_HPP_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "netif/port/ni_port.h"

namespace vcm5 {

// The two halves of the data network (paper section 3). Requests travel on the left, replies on the
// right.
enum class Half : int { kLeft = VCM5_LEFT, kRight = VCM5_RIGHT };

// Tags 0 to 9 are the user's; 10 to 13 this library's; 14 and 15 the system's.
inline constexpr uint32_t kUserTags = 10;
inline constexpr uint32_t kTagActiveMessage = 10;
inline constexpr uint32_t kTagBulkWords = 11;
inline constexpr uint32_t kTagBulkBytes = 12;
inline constexpr uint32_t kTagBulkOffer = 13;
inline constexpr uint32_t kTags = 16;

// A value that can be a message or an argument of one: its bytes are all there is to it.
template <typename T>
concept Payload =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && sizeof(T) <= 4 * VCM5_WORDS_MAX;

// Words that a T fills; the last may be filled in part.
template <typename T>
inline constexpr uint32_t kWordsOf = (sizeof(T) + 3) / 4;

// A message where it lies in the incoming FIFO. Valid while its handler runs.
struct MessageView {
  Half half;
  uint32_t tag;
  std::span<const uint32_t> words;

  // The message as the T that was sent; T is at most as long as the message.
  template <Payload T>
  T As() const {
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), words.data(), std::min(sizeof(T), words.size_bytes()));
    return std::bit_cast<T>(bytes);
  }
};

// A received message, as a value of its own.
class Message {
 public:
  explicit Message(const MessageView& view)
      : half_(view.half), tag_(view.tag), length_(static_cast<uint32_t>(view.words.size())) {
    std::memcpy(words_.data(), view.words.data(), view.words.size_bytes());
  }

  Half half() const { return half_; }
  uint32_t tag() const { return tag_; }
  std::span<const uint32_t> words() const { return {words_.data(), length_}; }
  template <Payload T>
  T As() const {
    return MessageView{half_, tag_, words()}.As<T>();
  }

 private:
  Half half_;
  uint32_t tag_;
  uint32_t length_;
  std::array<uint32_t, VCM5_WORDS_MAX> words_;
};

// Words of a message being put together: arguments follow each other, each in words of its own.
class MessageWords {
 public:
  // Bytes beyond the longest message are counted but not kept; the send then refuses the length.
  void AppendBytes(const void* bytes, size_t count) {
    const size_t words = (count + 3) / 4;
    if (length_ + words <= VCM5_WORDS_MAX && words > 0) {
      words_[length_ + words - 1] = 0;
      std::memcpy(&words_[length_], bytes, count);
    }
    length_ += static_cast<uint32_t>(words);
  }
  void Append(std::span<const uint32_t> words) { AppendBytes(words.data(), words.size_bytes()); }
  template <Payload T>
  void Append(const T& value) {
    AppendBytes(&value, sizeof value);
  }

  const uint32_t* data() const { return words_; }
  uint32_t length() const { return length_; }

 private:
  uint32_t words_[VCM5_WORDS_MAX];
  uint32_t length_ = 0;
};

}  // namespace vcm5

#endif  // VCM5_MESSAGE_HPP_
