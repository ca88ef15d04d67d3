#include "vcm5/bulk.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "api/direct_copy.h"

namespace vcm5 {

Bulk::Bulk(vcm5_port& port) : Collectives(port) {
  SetLibraryHandler(kTagBulkWords, &HandleWords, this);
  SetLibraryHandler(kTagBulkBytes, &HandleBytes, this);
  SetLibraryHandler(kTagBulkOffer, &HandleOffer, this);
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
  while (CanOffer(data)) {
    const size_t part = std::min(data.size(), kOfferMax);
    offers_ = PutDirectly(dest, buffer, offset, data.first(part));
    if (!offers_) break;
    offset += part;
    data = data.subspan(part);
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

bool Bulk::CanOffer(std::span<const std::byte> data) const {
  return offers_ && data.size() >= kDirectBytes && context() == Context::kProgram &&
         words_max() >= kWordsOf<Offer> &&
         reinterpret_cast<uint64_t>(data.data()) >> (32 + kAddressHighBits) == 0;
}

bool Bulk::PutDirectly(uint32_t dest, BufferId buffer, size_t offset,
                       std::span<const std::byte> data) {
  if (copied_directly_ == 0) AllowDirectCopies();
  const auto address = reinterpret_cast<uint64_t>(data.data());
  const Offer offer = {buffer.value << kPidBits | static_cast<uint32_t>(getpid()),
                       static_cast<uint32_t>(offset), static_cast<uint32_t>(data.size()),
                       static_cast<uint32_t>(address),
                       self() << kAddressHighBits | static_cast<uint32_t>(address >> 32)};
  MessageWords message;
  message.Append(offer);
  answer_ = Answer::kNone;
  SendLibrary(dest, kTagBulkOffer, message, Half::kLeft);
  PollUntil([this] { return answer_ != Answer::kNone; });
  if (answer_ != Answer::kTaken) return false;
  copied_directly_ += data.size();
  vcm5_store64_relaxed(&this->port().page->node_data.copied_directly, copied_directly_);
  return true;
}

// ---- receiving ---------------------------------------------------------------------------------

std::span<std::byte> Bulk::Target(uint32_t buffer, uint64_t offset, size_t bytes) {
  Buffer& target = buffers_[buffer];
  if (offset + bytes > target.memory.size()) {
    Fail("a put of %zu bytes at offset %llu does not fit into buffer %u of %zu bytes", bytes,
         static_cast<unsigned long long>(offset), buffer, target.memory.size());
  }
  return target.memory.subspan(offset, bytes);
}

bool Bulk::Store(uint32_t buffer, uint64_t offset, const void* data, size_t bytes) {
  if (buffer >= buffers_.size()) return false;
  std::memcpy(Target(buffer, offset, bytes).data(), data, bytes);
  buffers_[buffer].received += bytes;
  return true;
}

bool Bulk::HandleOffer(void* argument, const MessageView& view) {
  auto* bulk = static_cast<Bulk*>(argument);
  if (view.half == Half::kRight) {
    bulk->answer_ = view.words[0] != 0 ? Answer::kTaken : Answer::kRefused;
    return true;
  }
  if (view.words.size() != kWordsOf<Offer>) return true;  // Not ours.
  const auto offer = view.As<Offer>();
  const uint32_t buffer = offer.buffer_and_pid >> kPidBits;
  if (buffer >= bulk->buffers_.size()) return false;
  const uint64_t address =
      uint64_t{offer.address_high_and_source & ((1u << kAddressHighBits) - 1)} << 32 |
      offer.address_low;
  const bool taken = CopyDirectly(offer.buffer_and_pid & ((1u << kPidBits) - 1), address,
                                  bulk->Target(buffer, offer.offset, offer.bytes));
  if (taken) bulk->buffers_[buffer].received += offer.bytes;
  MessageWords answer;
  answer.Append(uint32_t{taken});
  bulk->SendLibrary(offer.address_high_and_source >> kAddressHighBits, kTagBulkOffer, answer,
                    Half::kRight);
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
