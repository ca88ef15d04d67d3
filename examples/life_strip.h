// A strip of rows of a torus of Life cells, 64 cells to a word.
#ifndef VCM5_EXAMPLES_LIFE_STRIP_H_
#define VCM5_EXAMPLES_LIFE_STRIP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/life_pattern.h"

namespace examples {

class LifeStrip {
 public:
  using Row = std::span<const uint64_t>;

  LifeStrip(uint32_t width, uint32_t rows)
      : width_(width),
        rows_(rows),
        words_(WordsOf(width)),
        cells_(size_t{rows} * words_),
        next_(cells_.size()) {}

  // Words of a row of `width` cells. Cell x is bit x % 64 of word x / 64; bits beyond are 0.
  static size_t WordsOf(uint32_t width) { return (width + 63) / 64; }

  uint32_t rows() const { return rows_; }
  Row row(uint32_t y) const { return Row(cells_).subspan(y * words_, words_); }
  Row cells() const { return cells_; }
  void Set(uint32_t x, uint32_t y) { cells_[y * words_ + x / 64] |= uint64_t{1} << (x % 64); }

  // One generation; `above` and `below` are the rows next to the strip.
  void Step(const LifeRule& rule, Row above, Row below);

 private:
  void StepRow(const LifeRule& rule, Row above, Row here, Row below,
               std::span<uint64_t> next) const;
  uint64_t West(Row row, size_t word) const;
  uint64_t East(Row row, size_t word) const;

  uint32_t width_;
  uint32_t rows_;
  size_t words_;
  std::vector<uint64_t> cells_;
  std::vector<uint64_t> next_;
};

}  // namespace examples

#endif  // VCM5_EXAMPLES_LIFE_STRIP_H_
