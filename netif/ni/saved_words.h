// Saved state as words of 32 bits: how values are written one after the other, and read back from
// words that may say anything.
#ifndef VCM5_NETIF_NI_SAVED_WORDS_H_
#define VCM5_NETIF_NI_SAVED_WORDS_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace vcm5 {

class SavedWordsWriter {
 public:
  void Put(uint32_t word) { words_.push_back(word); }
  void Put(std::span<const uint32_t> words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }
  std::vector<uint32_t>& words() { return words_; }

 private:
  std::vector<uint32_t> words_;
};

class SavedWordsReader {
 public:
  explicit SavedWordsReader(std::span<const uint32_t> words) : left_(words) {}

  // 0 if there are no more.
  uint32_t Take() {
    uint32_t word = 0;
    Take({&word, 1});
    return word;
  }
  void Take(std::span<uint32_t> words) {
    if (words.size() > left_.size()) return Fail();
    std::copy_n(left_.begin(), words.size(), words.begin());
    left_ = left_.subspan(words.size());
  }
  // A count of things of at least `words_each` words, all of which can still come; else 0.
  uint32_t TakeCount(uint32_t words_each) {
    const uint32_t count = Take();
    if (count <= left_.size() / words_each) return count;
    Fail();
    return 0;
  }
  void Fail() {
    failed_ = true;
    left_ = {};
  }
  // Everything asked for was there.
  bool holds() const { return !failed_; }
  bool at_end() const { return left_.empty(); }

 private:
  std::span<const uint32_t> left_;
  bool failed_ = false;
};

}  // namespace vcm5

#endif  // VCM5_NETIF_NI_SAVED_WORDS_H_
