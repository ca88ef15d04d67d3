// The words of a fault, read one after the other (fault_spec.h). The first that is not as expected
// is remembered, and everything after it reads as nothing: who parses asks once, at the end.
#ifndef VCM5_DAEMONS_CONFIG_FAULT_WORDS_H_
#define VCM5_DAEMONS_CONFIG_FAULT_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace vcm5 {

class FaultWords {
 public:
  explicit FaultWords(const std::string& text);

  bool Done() const { return !status_.ok() || at_ == words_.size(); }
  const absl::Status& status() const { return status_; }

  // The next word has to be this one.
  void Expect(const std::string& word);
  // One of several words; returns its index. The error lists them.
  size_t TakeOneOf(const std::vector<std::string>& words);
  // A whole number in [min, max]; `what` is what the error calls it: "bit".
  uint64_t TakeNumber(const std::string& what, uint64_t min, uint64_t max);
  // Two whole numbers in one word, A/B, neither checked further.
  void TakePair(const std::string& what, uint64_t* first, uint64_t* second);
  // There have to be no more words.
  void ExpectEnd();

  // Refuses the word that was read last: "at `chip 9/0`: this network has levels 1 to 3".
  void Refuse(const std::string& expected);

 private:
  // The next word, or nothing; refuses the end of the text.
  const std::string* Next(const std::string& expected);

  std::vector<std::string> words_;
  size_t at_ = 0;
  absl::Status status_;
};

}  // namespace vcm5

#endif  // VCM5_DAEMONS_CONFIG_FAULT_WORDS_H_
