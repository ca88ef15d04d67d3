#include "runtime/node/node_environment.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vcm5 {
namespace {

constexpr uint32_t kFormat = 1;
constexpr size_t kFields = 8;

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

}  // namespace

std::string NodeEnvironment::Format() const {
  return absl::StrCat(kFormat, ":", memory, ":", memory_bytes, ":", data_doorbell, ":", data_bells,
                      ":", control_doorbell, ":", control_bells, ":", interrupt_line);
}

absl::StatusOr<NodeEnvironment> NodeEnvironment::Parse(const char* text) {
  uint32_t field[kFields];
  for (size_t i = 0; i < kFields; ++i) {
    if (!TakeNumber(&text, i + 1 < kFields ? ':' : '\0', &field[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat(kNodeVariable, " is malformed: field ", i + 1, " of ", kFields,
                       " is no number; expected what `vcm5 run` sets"));
    }
  }
  if (field[0] != kFormat) {
    return absl::InvalidArgumentError(absl::StrCat(
        kNodeVariable, " has format ", field[0], " where this program understands ", kFormat,
        "; the program and vcm5 are of different versions"));
  }
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

}  // namespace vcm5
