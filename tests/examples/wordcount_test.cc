#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/examples/run_example.h"

namespace vcm5 {
namespace {

std::string Expected(const std::string& text, size_t top) {
  std::map<std::string, uint64_t> counts;
  std::string word;
  for (const char c : text + "\n") {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '\'') {
      word += byte < 0x80 ? static_cast<char>(std::tolower(byte)) : c;
      continue;
    }
    const size_t begin = word.find_first_not_of('\'');
    if (begin != std::string::npos) {
      ++counts[word.substr(begin, word.find_last_not_of('\'') - begin + 1)];
    }
    word.clear();
  }
  std::vector<std::pair<std::string, uint64_t>> words(counts.begin(), counts.end());
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (top != 0 && words.size() > top) words.resize(top);
  std::string out;
  for (const auto& [text_word, count] : words) {
    out += std::to_string(count) + " " + text_word + "\n";
  }
  return out;
}

class WordcountTest : public testing::TestWithParam<MachineChoice> {};

TEST_P(WordcountTest, Poem) {
  const std::string path = DataPath("carroll.txt");
  const Outcome all = RunExample(GetParam(), "wordcount", {path});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(all.out, Expected(ReadFile(path), 0));
  const Outcome top = RunExample(GetParam(), "wordcount", {"--top", "20", path});
  EXPECT_EQ(top.out, Expected(ReadFile(path), 20));
}

TEST_P(WordcountTest, SeveralFilesAndOddText) {
  const std::string odd =
      "'' don't 'quoted' na\xc3\xafve na\xc3\xafve 42-times a" + std::string(5000, 'z') + " end";
  const std::string first = WriteTemporary("first.txt", odd);
  const std::string second = WriteTemporary("second.txt", "end Don't\n");
  const Outcome outcome = RunExample(GetParam(), "wordcount", {first, second});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, Expected(odd + "\n" + "end Don't\n", 0));
}

TEST_P(WordcountTest, NoWords) {
  const Outcome outcome = RunExample(GetParam(), "wordcount", {"-"}, " ... ''' \n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

INSTANTIATE_TEST_SUITE_P(Machines, WordcountTest, testing::ValuesIn(kMachines), NameOf);

}  // namespace
}  // namespace vcm5
