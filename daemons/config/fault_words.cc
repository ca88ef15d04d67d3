#include "daemons/config/fault_words.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace vcm5 {
namespace {

bool ReadNumber(const char* begin, const char* end, uint64_t* number) {
  const auto [stop, error] = std::from_chars(begin, end, *number);
  return error == std::errc() && stop == end;
}

}  // namespace

FaultWords::FaultWords(const std::string& text)
    : words_(absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {}

void FaultWords::Refuse(const std::string& expected) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      at_ == 0 ? absl::StrCat("expected ", expected)
               : absl::StrCat("word ", at_, " is `", words_[at_ - 1], "`; expected ", expected));
}

const std::string* FaultWords::Next(const std::string& expected) {
  if (!status_.ok()) return nullptr;
  if (at_ == words_.size()) {
    status_ = absl::InvalidArgumentError(absl::StrCat("it ends early; expected ", expected));
    return nullptr;
  }
  return &words_[at_++];
}

void FaultWords::Expect(const std::string& word) { TakeOneOf({word}); }

size_t FaultWords::TakeOneOf(const std::vector<std::string>& words) {
  std::string expected;
  for (size_t i = 0; i < words.size(); ++i) {
    absl::StrAppend(&expected, i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", "`", words[i],
                    "`");
  }
  const std::string* word = Next(expected);
  if (word == nullptr) return 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (*word == words[i]) return i;
  }
  Refuse(expected);
  return 0;
}

uint64_t FaultWords::TakeNumber(const std::string& what, uint64_t min, uint64_t max) {
  const std::string expected = absl::StrCat(what, ", a whole number from ", min, " to ", max);
  const std::string* word = Next(expected);
  uint64_t number = min;
  if (word == nullptr) return min;
  if (!ReadNumber(word->data(), word->data() + word->size(), &number) || number < min ||
      number > max) {
    Refuse(expected);
    return min;
  }
  return number;
}

void FaultWords::TakePair(const std::string& what, uint64_t* first, uint64_t* second) {
  const std::string* word = Next(what);
  if (word == nullptr) return;
  const size_t slash = word->find('/');
  const char* text = word->data();
  if (slash == std::string::npos || !ReadNumber(text, text + slash, first) ||
      !ReadNumber(text + slash + 1, text + word->size(), second)) {
    Refuse(what);
  }
}

void FaultWords::ExpectEnd() {
  if (Done()) return;
  ++at_;
  Refuse("nothing more");
}

}  // namespace vcm5
