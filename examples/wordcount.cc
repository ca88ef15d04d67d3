// wordcount: how often each word occurs in some texts, most frequent first.
//
// Each node counts the words of its part of the text. Then every word has a node that is
// responsible for it, by a hash of its letters, and all counts of a word are sent there and added
// up. How much each node is going to get, and where in its memory each sender's share belongs,
// comes from one vector scan and one vector reduction (paper section 5); nobody has to ask, or wait
// for, anybody.
#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/common/program.h"

namespace {

using Counts = std::map<std::string, uint64_t, std::less<>>;

// Letters, digits, and all bytes of UTF-8 letters beyond ASCII.
bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '\'' ||
         (static_cast<uint8_t>(c) & 0x80) != 0;
}

// Words in small letters, without apostrophes around them.
Counts CountWords(std::string_view text) {
  Counts counts;
  size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && !IsWordByte(text[at])) ++at;
    const size_t begin = at;
    while (at < text.size() && IsWordByte(text[at])) ++at;
    std::string_view word = text.substr(begin, at - begin);
    while (!word.empty() && word.front() == '\'') word.remove_prefix(1);
    while (!word.empty() && word.back() == '\'') word.remove_suffix(1);
    if (word.empty()) continue;
    std::string small(word);
    for (char& c : small) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    ++counts[small];
  }
  return counts;
}

// FNV-1a.
uint32_t Hash(std::string_view word) {
  uint32_t hash = 2166136261u;
  for (const char c : word) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

// Counts as text, a line each: "count word". Adds what such text says.
void AppendLine(std::string& text, std::string_view word, uint64_t count) {
  text += std::to_string(count);
  text += ' ';
  text += word;
  text += '\n';
}
void AddLines(Counts& counts, std::string_view text) {
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const size_t end = text.find('\n');
    const std::string count(text.substr(0, space));
    counts[std::string(text.substr(space + 1, end - space - 1))] += std::stoull(count);
    text.remove_prefix(end + 1);
  }
}

// Sends every word's count to the node responsible for it; returns those for which this node is.
Counts Exchange(vcm5::Node& node, const Counts& counts) {
  std::vector<std::string> shares(node.size());
  for (const auto& [word, count] : counts) {
    AppendLine(shares[Hash(word) % node.size()], word, count);
  }
  std::vector<uint32_t> bytes(node.size());
  for (uint32_t i = 0; i < node.size(); ++i) bytes[i] = static_cast<uint32_t>(shares[i].size());
  std::vector<uint32_t> offsets(node.size());
  std::vector<uint32_t> totals(node.size());
  node.ScanForward(vcm5::kAdd, bytes, std::span(offsets));
  node.Reduce(vcm5::kAdd, bytes, std::span(totals));

  std::string received(totals[node.self()], '\0');
  const vcm5::BufferId buffer = node.RegisterBuffer(std::span(received));
  for (uint32_t i = 0; i < node.size(); ++i) {
    // Each begins with its right-hand neighbour, so that not all put to node 0 first.
    const uint32_t dest = (node.self() + 1 + i) % node.size();
    node.Put(dest, buffer, offsets[dest], std::span(shares[dest]));
  }
  node.PollUntil([&] { return node.BytesReceived(buffer) == received.size(); });
  node.MoveBuffer(buffer, std::span<std::byte>());
  Counts mine;
  AddLines(mine, received);
  return mine;
}

// The `top` most frequent words (0: all), equal ones in alphabetical order.
std::string Ranking(const Counts& counts, uint64_t top) {
  std::vector<std::pair<std::string_view, uint64_t>> words(counts.begin(), counts.end());
  std::stable_sort(words.begin(), words.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (top != 0 && words.size() > top) words.resize(top);
  std::string text;
  for (const auto& [word, count] : words) AppendLine(text, word, count);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  vcm5::Node& node = vcm5::self();
  std::vector<std::string> paths;
  uint64_t top = 0;
  CLI::App app("Counts the words of texts, and prints counts and words, most frequent first.");
  app.add_option("files", paths, "text files; - is standard input")->required();
  app.add_option("--top", top, "print only so many words; 0: all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  examples::ParseCommandLine(node, app, argc, argv);

  std::string whole;
  for (const std::string& path : paths) {
    whole += examples::ReadOnNodeZero(node, path);
    whole += '\n';
  }
  const uint64_t bytes = node.Reduce(vcm5::kMax, uint64_t{whole.size()});
  if (bytes >= uint64_t{1} << 30) examples::Fail(node, "texts are at most 1 GiB together");
  const std::string part = examples::DealOut(node, whole, [](char c) { return !IsWordByte(c); });

  const Counts mine = Exchange(node, CountWords(part));
  // A node's most frequent words contain all of its words that can be among the most frequent.
  Counts all;
  AddLines(all, examples::Gather(node, Ranking(mine, top)));
  examples::PrintOnNodeZero(node, Ranking(all, top));
  return 0;
}
