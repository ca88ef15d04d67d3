#include "examples/life_pattern.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace examples {
namespace {

// A place in the text, and the small words that occur there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  void Skip() {
    if (Peek() == '\n') ++line_;
    ++at_;
  }
  void SkipSpace() {
    while (!AtEnd() && std::isspace(static_cast<unsigned char>(Peek())) != 0) Skip();
  }
  void SkipLine() {
    while (!AtEnd() && Peek() != '\n') Skip();
  }
  // Reads `word`, with spaces before it, if that is what comes.
  bool Read(std::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  // Reads a number of up to 9 digits; if there is none returns false and leaves *number alone.
  bool ReadNumber(uint32_t* number) {
    SkipSpace();
    const size_t begin = at_;
    uint32_t value = 0;
    while (std::isdigit(static_cast<unsigned char>(Peek())) != 0 && at_ - begin < 9) {
      value = value * 10 + static_cast<uint32_t>(Peek() - '0');
      Skip();
    }
    if (at_ == begin) return false;
    *number = value;
    return true;
  }
  // Reads what is left of the line, without the spaces around it.
  std::string ReadLine() {
    const size_t begin = at_;
    SkipLine();
    std::string line(text_.substr(begin, at_ - begin));
    std::erase_if(line, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
    return line;
  }
  std::string Place() const { return "line " + std::to_string(line_) + ": "; }

 private:
  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

bool ReadCounts(std::string_view digits, uint32_t* counts) {
  *counts = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '8') return false;
    *counts |= 1u << (digit - '0');
  }
  return true;
}

// "B3/S23", or in the older order and without letters "23/3".
bool ParseRule(std::string_view text, LifeRule* rule) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view first = text.substr(0, slash);
  std::string_view second = text.substr(slash + 1);
  const auto letter = [](std::string_view part, char expected) {
    return !part.empty() && std::toupper(static_cast<unsigned char>(part[0])) == expected;
  };
  if (letter(first, 'B') && letter(second, 'S')) {
    return ReadCounts(first.substr(1), &rule->birth) &&
           ReadCounts(second.substr(1), &rule->survival);
  }
  return ReadCounts(first, &rule->survival) && ReadCounts(second, &rule->birth);
}

std::string ParseHeader(Scanner& scanner, LifePattern* pattern) {
  if (!scanner.Read("x") || !scanner.Read("=") || !scanner.ReadNumber(&pattern->width) ||
      !scanner.Read(",") || !scanner.Read("y") || !scanner.Read("=") ||
      !scanner.ReadNumber(&pattern->height)) {
    return scanner.Place() + "expected a header such as `x = 3, y = 3, rule = B3/S23`";
  }
  if (pattern->width > kLifeSizeMax || pattern->height > kLifeSizeMax) {
    return scanner.Place() + "patterns are at most " + std::to_string(kLifeSizeMax) +
           " cells wide and high";
  }
  if (scanner.Read(",")) {
    if (!scanner.Read("rule") || !scanner.Read("=")) {
      return scanner.Place() + "expected `rule = B3/S23` after the size";
    }
    const std::string rule = scanner.ReadLine();
    if (!ParseRule(rule, &pattern->rule)) {
      return scanner.Place() + "cannot read the rule `" + rule + "`; expected such as B3/S23";
    }
  }
  return "";
}

}  // namespace

std::string LifeRule::ToString() const {
  std::string text = "B";
  for (int n = 0; n <= 8; ++n) {
    if ((birth >> n & 1) != 0) text += static_cast<char>('0' + n);
  }
  text += "/S";
  for (int n = 0; n <= 8; ++n) {
    if ((survival >> n & 1) != 0) text += static_cast<char>('0' + n);
  }
  return text;
}

std::string ParseRle(std::string_view text, LifePattern* pattern) {
  *pattern = LifePattern{};
  Scanner scanner(text);
  for (scanner.SkipSpace(); scanner.Peek() == '#'; scanner.SkipSpace()) scanner.SkipLine();
  if (std::string wrong = ParseHeader(scanner, pattern); !wrong.empty()) return wrong;

  uint64_t x = 0;
  uint64_t y = 0;
  while (true) {
    scanner.SkipSpace();
    if (scanner.AtEnd()) return scanner.Place() + "the pattern does not end with `!`";
    uint32_t run = 1;
    if (scanner.ReadNumber(&run)) scanner.SkipSpace();
    const char what = scanner.Peek();
    const std::string place = scanner.Place();
    if (!scanner.AtEnd()) scanner.Skip();
    if (what == '!') return "";
    if (what == '$') {
      y += run;
      x = 0;
    } else if (what == 'b') {
      x += run;
    } else if (what == 'o') {
      if (x + run > pattern->width || y >= pattern->height) {
        return place + "cells outside of the " + std::to_string(pattern->width) + " by " +
               std::to_string(pattern->height) + " that the header promises";
      }
      for (uint32_t i = 0; i < run; ++i) {
        pattern->live.push_back({static_cast<uint32_t>(x++), static_cast<uint32_t>(y)});
      }
    } else {
      return place + "expected a count, b, o, $ or !, not `" + std::string(1, what) + "`";
    }
  }
}

LifeView LifeView::Cropped() const {
  uint32_t x_min = left + width;
  uint32_t x_max = left;
  uint32_t y_min = top + height;
  uint32_t y_max = top;
  for (uint32_t y = top; y < top + height; ++y) {
    for (uint32_t x = left; x < left + width; ++x) {
      if (!live(x, y)) continue;
      x_min = std::min(x_min, x);
      x_max = std::max(x_max, x);
      y_min = std::min(y_min, y);
      y_max = std::max(y_max, y);
    }
  }
  if (x_min > x_max) return {0, 0, 0, 0, live};
  return {x_min, y_min, x_max - x_min + 1, y_max - y_min + 1, live};
}

std::string ToRle(const LifeView& view, const LifeRule& rule) {
  std::string text = "x = " + std::to_string(view.width) + ", y = " + std::to_string(view.height) +
                     ", rule = " + rule.ToString() + "\n";
  size_t line_begin = text.size();
  const auto append = [&](uint32_t run, char what) {
    if (run == 0) return;
    const std::string token = (run > 1 ? std::to_string(run) : "") + what;
    if (text.size() - line_begin + token.size() > 70) {
      text += '\n';
      line_begin = text.size();
    }
    text += token;
  };
  uint32_t row_ends = 0;  // not yet written
  for (uint32_t y = view.top; y < view.top + view.height; ++y) {
    uint32_t x = view.left;
    const uint32_t end = view.left + view.width;
    while (x < end) {
      const bool live = view.live(x, y);
      uint32_t run = 0;
      while (x < end && view.live(x, y) == live) ++run, ++x;
      if (!live && x == end) break;  // Dead cells at the end of a row are not written.
      append(std::exchange(row_ends, 0), '$');
      append(run, live ? 'o' : 'b');
    }
    ++row_ends;
  }
  append(1, '!');
  return text + '\n';
}

std::string ToText(const LifeView& view) {
  std::string text;
  for (uint32_t y = view.top; y < view.top + view.height; ++y) {
    for (uint32_t x = view.left; x < view.left + view.width; ++x)
      text += view.live(x, y) ? 'O' : '.';
    text += '\n';
  }
  return text;
}

}  // namespace examples
