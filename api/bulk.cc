#include "vcm5/bulk.hpp"

#include <algorithm>
#include <cstring>

namespace vcm5 {

Bulk::Bulk(vcm5_port& port) : Collectives(port) {
  SetLibraryHandler(kTagBulkWords, &HandleWords, this);
  SetLibraryHandler(kTagBulkBytes, &HandleBytes, this);
}

// ---- buffers -----------------------------------------------------------------------------------

BufferId Bulk::RegisterBuffer(std::span<std::byte> memory) {
  if (buffers_.size() == kBuffersMax) Fail("more than %u buffers registered", kBuffersMax);
  buffers_.push_back({memory});
  return {static_cast<uint32_t>(buffers_.size() - 1)};
}

void Bulk::MoveBuffer(BufferId buffer, std::span<std::byte> memory) {
  if (buffer.value >= buffers_.size()) Fail("MoveBuffer: no buffer %u", buffer.value);
  buffers_[buffer.value] = {memory};
}

uint64_t Bulk::BytesReceived(BufferId buffer) const {
  if (buffer.value >= buffers_.size()) Fail("BytesReceived: no buffer %u", buffer.value);
  return buffers_[buffer.value].received;
}

// ---- sending -----------------------------------------------------------------------------------

Half Bulk::NextHalf() {
  // In a handler a put is a reply.
  if (context() != Context::kProgram) return Half::kRight;
  next_half_ = next_half_ == Half::kLeft ? Half::kRight : Half::kLeft;
  return next_half_;
}

void Bulk::Put(uint32_t dest, BufferId buffer, size_t offset, std::span<const std::byte> data) {
  if (buffer.value >= buffers_.size()) Fail("Put: no buffer %u", buffer.value);
  if (offset > UINT32_MAX || data.size() > UINT32_MAX - offset) {
    Fail("Put: offset %zu and length %zu reach beyond 4 GiB", offset, data.size());
  }
  constexpr size_t kWordsReach = size_t{4} << kWordOffsetBits;
  // Up to a word boundary, then whole words, then the rest.
  if (offset % 4 != 0) {
    const size_t part = std::min(data.size(), 4 - offset % 4);
    PutBytes(dest, buffer, offset, data.first(part));
    offset += part;
    data = data.subspan(part);
  }
  const size_t message_bytes = 4 * size_t{words_max() - 1};
  while (data.size() >= 4 && offset < kWordsReach && message_bytes != 0) {
    const size_t part = std::min(message_bytes, data.size() & ~size_t{3});
    MessageWords message;
    message.Append(buffer.value << kWordOffsetBits | static_cast<uint32_t>(offset / 4));
    message.AppendBytes(data.data(), part);
    SendLibrary(dest, kTagBulkWords, message, NextHalf());
    offset += part;
    data = data.subspan(part);
  }
  PutBytes(dest, buffer, offset, data);
}

void Bulk::PutBytes(uint32_t dest, BufferId buffer, size_t offset,
                    std::span<const std::byte> data) {
  if (data.empty()) return;
  if (words_max() < 3) Fail("Put needs a machine whose messages have at least 3 words");
  const size_t message_bytes = 4 * size_t{words_max() - 2};
  while (!data.empty()) {
    const size_t part = std::min(message_bytes, data.size());
    MessageWords message;
    message.Append(buffer.value << kByteCountBits | static_cast<uint32_t>(part));
    message.Append(static_cast<uint32_t>(offset));
    message.AppendBytes(data.data(), part);
    SendLibrary(dest, kTagBulkBytes, message, NextHalf());
    offset += part;
    data = data.subspan(part);
  }
}

// ---- receiving ---------------------------------------------------------------------------------

bool Bulk::Store(uint32_t buffer, uint64_t offset, const void* data, size_t bytes) {
  if (buffer >= buffers_.size()) return false;
  Buffer& target = buffers_[buffer];
  if (offset + bytes > target.memory.size()) {
    Fail("a put of %zu bytes at offset %llu does not fit into buffer %u of %zu bytes", bytes,
         static_cast<unsigned long long>(offset), buffer, target.memory.size());
  }
  std::memcpy(target.memory.data() + offset, data, bytes);
  target.received += bytes;
  return true;
}

bool Bulk::HandleWords(void* argument, const MessageView& view) {
  const uint32_t header = view.words[0];
  const WordSpan data = view.words.subspan(1);
  return static_cast<Bulk*>(argument)->Store(header >> kWordOffsetBits,
                                             4 * uint64_t{header & ((1u << kWordOffsetBits) - 1)},
                                             data.data(), data.size_bytes());
}

bool Bulk::HandleBytes(void* argument, const MessageView& view) {
  if (view.words.size() < 3) return true;  // Not ours: too short to hold a byte.
  const uint32_t bytes = view.words[0] & ((1u << kByteCountBits) - 1);
  const WordSpan data = view.words.subspan(2);
  return static_cast<Bulk*>(argument)->Store(view.words[0] >> kByteCountBits, view.words[1],
                                             data.data(),
                                             std::min<size_t>(bytes, data.size_bytes()));
}

}  // namespace vcm5
