#include "examples/life_strip.h"

#include <utility>

namespace examples {
namespace {

// Sums of bits, for 64 cells at once: bit i of `ones`, `twos`, ... are the digits of cell i's sum.
struct Sum2 {
  uint64_t ones;
  uint64_t twos;
};

Sum2 Add(uint64_t a, uint64_t b, uint64_t c) { return {a ^ b ^ c, (a & b) | (a & c) | (b & c)}; }

}  // namespace

// The word of which each bit is the cell to the west (or east) of the one at that bit. The row is
// closed to a ring.
uint64_t LifeStrip::West(Row row, size_t word) const {
  const uint64_t before =
      word > 0 ? row[word - 1] >> 63 : row[words_ - 1] >> ((width_ - 1) % 64) & 1;
  return row[word] << 1 | before;
}

uint64_t LifeStrip::East(Row row, size_t word) const {
  if (word + 1 < words_) return row[word] >> 1 | row[word + 1] << 63;
  return row[word] >> 1 | (row[0] & 1) << ((width_ - 1) % 64);
}

void LifeStrip::StepRow(const LifeRule& rule, Row above, Row here, Row below,
                        std::span<uint64_t> next) const {
  for (size_t i = 0; i < words_; ++i) {
    const Sum2 north = Add(West(above, i), above[i], East(above, i));
    const Sum2 south = Add(West(below, i), below[i], East(below, i));
    const Sum2 sides = Add(West(here, i), East(here, i), 0);
    // The number of live neighbours, 0 to 8, in four binary digits.
    const Sum2 ones = Add(north.ones, south.ones, sides.ones);
    const Sum2 twos = Add(north.twos, south.twos, sides.twos);
    const Sum2 more_twos = Add(twos.ones, ones.twos, 0);
    const Sum2 fours = Add(twos.twos, more_twos.twos, 0);
    const uint64_t digits[4] = {ones.ones, more_twos.ones, fours.ones, fours.twos};

    uint64_t born = 0;
    uint64_t survives = 0;
    for (unsigned n = 0; n <= 8; ++n) {
      if (((rule.birth | rule.survival) >> n & 1) == 0) continue;
      uint64_t has_n = ~uint64_t{0};
      for (unsigned d = 0; d < 4; ++d) has_n &= (n >> d & 1) != 0 ? digits[d] : ~digits[d];
      if ((rule.birth >> n & 1) != 0) born |= has_n;
      if ((rule.survival >> n & 1) != 0) survives |= has_n;
    }
    next[i] = (born & ~here[i]) | (survives & here[i]);
  }
  if (width_ % 64 != 0) next[words_ - 1] &= (uint64_t{1} << (width_ % 64)) - 1;
}

void LifeStrip::Step(const LifeRule& rule, Row above, Row below) {
  for (uint32_t y = 0; y < rows_; ++y) {
    StepRow(rule, y > 0 ? row(y - 1) : above, row(y), y + 1 < rows_ ? row(y + 1) : below,
            std::span(next_).subspan(y * words_, words_));
  }
  std::swap(cells_, next_);
}

}  // namespace examples
