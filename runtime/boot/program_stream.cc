#include "runtime/boot/program_stream.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "netif/wire/crc32c.h"
#include "runtime/base/check.h"
#include "runtime/node/node_environment.h"

namespace vcm5 {
namespace {

constexpr uint32_t kMagic = 0x544f4f42u;  // "BOOT"
constexpr uint32_t kFormat = 1;

// Of the length and the bytes.
uint32_t Crc(std::span<const uint8_t> bytes) {
  uint32_t crc = Crc32cStep64(~uint32_t{0}, bytes.size());
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    crc = Crc32cStep64(crc, word);
  }
  // What is left, filled up with zeros.
  uint64_t rest = 0;
  std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return ~Crc32cStep64(crc, rest);
}

}  // namespace

ProgramSender::ProgramSender(std::span<const uint8_t> program)
    : program_(program),
      message_{kMagic, kFormat, static_cast<uint32_t>(program.size()), Crc(program)} {
  VCM5_CHECK(!program.empty() && program.size() <= kBootBytesMax);
}

void ProgramSender::Sent() {
  VCM5_CHECK(!done_);
  done_ = at_ == program_.size();
  const size_t part = std::min(sizeof message_, program_.size() - at_);
  message_ = {};
  std::memcpy(message_.data(), program_.data() + at_, part);
  at_ += part;
}

absl::Status ProgramReceiver::Take(std::span<const uint32_t> message) {
  if (message.size() != VCM5_SUPERVISOR_WORDS_MAX) {
    return absl::DataLossError(absl::StrCat("a message of ", message.size(), " words came; expected ",
                                            VCM5_SUPERVISOR_WORDS_MAX));
  }
  if (!begun_) {
    if (message[0] != kMagic || message[1] != kFormat) {
      return absl::DataLossError("what came does not begin as a program of this version of vcm5");
    }
    if (message[2] == 0 || message[2] > kBootBytesMax) {
      return absl::DataLossError(absl::StrCat("a program of ", message[2],
                                              " bytes was announced; expected 1 to ", kBootBytesMax));
    }
    begun_ = true;
    bytes_ = message[2];
    crc_ = message[3];
    program_.reserve(bytes_);
    return absl::OkStatus();
  }
  if (done()) return absl::DataLossError("more came than the program that was announced");
  const auto* bytes = reinterpret_cast<const uint8_t*>(message.data());
  program_.insert(program_.end(), bytes,
                  bytes + std::min(message.size_bytes(), bytes_ - program_.size()));
  if (done() && Crc(program_) != crc_) {
    return absl::DataLossError("the program was damaged on its way: its CRC is wrong");
  }
  return absl::OkStatus();
}

}  // namespace vcm5
