#include "runtime/node/node_environment.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

constexpr uint32_t kFormat = 1;

// Reads a decimal number of at most nine digits and what ends it.
bool TakeNumber(const char** text, char end, uint32_t* number) {
  const char* at = *text;
  uint32_t value = 0;
  for (; *at >= '0' && *at <= '9' && at - *text < 9; ++at) {
    value = 10 * value + static_cast<uint32_t>(*at - '0');
  }
  if (at == *text || *at != end) return false;
  *text = at + 1;
  *number = value;
  return true;
}

// Reads `fields`, the first of which is the format's number.
template <size_t kCount>
absl::Status ParseFields(const char* variable, const char* text, uint32_t (&fields)[kCount]) {
  for (size_t i = 0; i < kCount; ++i) {
    if (!TakeNumber(&text, i + 1 < kCount ? ':' : '\0', &fields[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat(variable, " is malformed: field ", i + 1, " of ", kCount,
                       " is no number; expected what `vcm5 run` sets"));
    }
  }
  if (fields[0] != kFormat) {
    return absl::InvalidArgumentError(absl::StrCat(
        variable, " has format ", fields[0], " where this program understands ", kFormat,
        "; the program and vcm5 are of different versions"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string NodeEnvironment::Format() const {
  return absl::StrCat(kFormat, ":", memory, ":", memory_bytes, ":", data_doorbell, ":", data_bells,
                      ":", control_doorbell, ":", control_bells, ":", interrupt_line);
}

absl::StatusOr<NodeEnvironment> NodeEnvironment::Parse(const char* text) {
  uint32_t field[8];
  if (absl::Status status = ParseFields(kNodeVariable, text, field); !status.ok()) return status;
  NodeEnvironment environment;
  environment.memory = static_cast<int>(field[1]);
  environment.memory_bytes = field[2];
  environment.data_doorbell = static_cast<int>(field[3]);
  environment.data_bells = field[4];
  environment.control_doorbell = static_cast<int>(field[5]);
  environment.control_bells = field[6];
  environment.interrupt_line = static_cast<int>(field[7]);
  return environment;
}

std::string BootEnvironment::Format() const {
  return absl::StrCat(kFormat, ":", supervisor_memory, ":", pages, ":", page, ":", program, ":",
                      program_bytes);
}

absl::StatusOr<BootEnvironment> BootEnvironment::Parse(const char* text) {
  uint32_t field[6];
  if (absl::Status status = ParseFields(kBootVariable, text, field); !status.ok()) return status;
  return BootEnvironment{.supervisor_memory = static_cast<int>(field[1]),
                         .pages = field[2],
                         .page = field[3],
                         .program = static_cast<int>(field[4]),
                         .program_bytes = field[5]};
}

}  // namespace vcm5
