// Patterns and rules of the Game of Life in the RLE format, in which they have been exchanged since
// the days of the Connection Machine:
//
//     #C a comment
//     x = 3, y = 3, rule = B3/S23
//     bob$2bo$3o!
#ifndef VCM5_EXAMPLES_LIFE_PATTERN_H_
#define VCM5_EXAMPLES_LIFE_PATTERN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

// With how many live neighbours (bit n: with n) a cell is born, or survives.
struct LifeRule {
  uint32_t birth = 1u << 3;
  uint32_t survival = 1u << 2 | 1u << 3;

  std::string ToString() const;
};

struct LifePattern {
  struct Cell {
    uint32_t x;
    uint32_t y;
  };
  uint32_t width = 0;
  uint32_t height = 0;
  LifeRule rule;
  std::vector<Cell> live;
};

inline constexpr uint32_t kLifeSizeMax = 65536;

// Reads a pattern. Returns what is wrong with the text, or an empty string.
std::string ParseRle(std::string_view text, LifePattern* pattern);

// A rectangle of cells, and how to ask for one.
struct LifeView {
  uint32_t left = 0;
  uint32_t top = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  std::function<bool(uint32_t x, uint32_t y)> live;

  // The same cells without the empty rows and columns around them.
  LifeView Cropped() const;
};

std::string ToRle(const LifeView& view, const LifeRule& rule);
// One character a cell, O or a point, one line a row.
std::string ToText(const LifeView& view);

}  // namespace examples

#endif  // VCM5_EXAMPLES_LIFE_PATTERN_H_
