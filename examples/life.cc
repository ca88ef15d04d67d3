// life: Conway's Game of Life on a torus (or any rule of its kind).
//
// Each node has a strip of rows. A generation needs the rows next to the strip, which the
// neighbours put into this node's memory (common/halo.h): nearest-neighbour traffic, for which the
// fat tree is at its best. At the end node 0 has all strips put into its memory and prints the
// pattern.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "examples/common/blocks.h"
#include "examples/common/halo.h"
#include "examples/common/program.h"
#include "examples/life_pattern.h"
#include "examples/life_strip.h"

namespace {

using examples::Fail;

struct Options {
  std::string pattern;
  std::string size = "512x512";
  uint64_t generations = 100;
  bool view = false;
  uint32_t width = 0;
  uint32_t height = 0;
};

Options Parse(vcm5::Node& node, int argc, char** argv) {
  Options options;
  CLI::App app(
      "The Game of Life on a torus. Prints the last generation, cropped to its live cells, in the "
      "RLE format.");
  app.add_option("--pattern", options.pattern,
                 "RLE file of the first generation; - reads standard input")
      ->required();
  app.add_option("--size", options.size, "columns and rows of the torus")
      ->capture_default_str()
      ->type_name("WxH");
  app.add_option("--generations", options.generations, "generations to go")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--view", options.view, "print a picture in text instead of RLE");
  examples::ParseCommandLine(node, app, argc, argv);

  char rest = 0;
  if (std::sscanf(options.size.c_str(), "%9ux%9u%c", &options.width, &options.height, &rest) != 2 ||
      options.width - 1 >= examples::kLifeSizeMax || options.height - 1 >= examples::kLifeSizeMax) {
    Fail(node, "--size wants columns and rows such as 512x512, each 1 to " +
                   std::to_string(examples::kLifeSizeMax) + ", not " + options.size);
  }
  return options;
}

// Node 0 reads the file, all nodes parse it: what is wrong with it is wrong everywhere.
examples::LifePattern ReadPattern(vcm5::Node& node, const Options& options) {
  std::string text = examples::ReadOnNodeZero(node, options.pattern);
  node.Broadcast(0, text);
  examples::LifePattern pattern;
  if (std::string wrong = ParseRle(text, &pattern); !wrong.empty()) {
    Fail(node, options.pattern + ": " + wrong);
  }
  if (pattern.width > options.width || pattern.height > options.height) {
    Fail(node, options.pattern + ": the pattern of " + std::to_string(pattern.width) + "x" +
                   std::to_string(pattern.height) + " cells does not fit into --size " +
                   options.size);
  }
  return pattern;
}

}  // namespace

int main(int argc, char** argv) {
  vcm5::Node& node = vcm5::self();
  const Options options = Parse(node, argc, argv);
  const examples::LifePattern pattern = ReadPattern(node, options);

  const uint32_t width = options.width;
  const uint32_t height = options.height;
  const examples::Blocks rows{height, node.size()};
  const auto first = static_cast<uint32_t>(rows.Begin(node.self()));
  examples::LifeStrip strip(width, static_cast<uint32_t>(rows.Size(node.self())));
  const uint32_t left = (width - pattern.width) / 2;
  const uint32_t top = (height - pattern.height) / 2;
  for (const auto [x, y] : pattern.live) {
    // Rows above the strip wrap to large numbers.
    if (top + y - first < strip.rows()) strip.Set(left + x, top + y - first);
  }

  // Where all strips come together in the end: node 0's memory.
  const size_t words = examples::LifeStrip::WordsOf(width);
  std::vector<uint64_t> grid(node.self() == 0 ? height * words : 0);
  const vcm5::BufferId gathered = node.RegisterBuffer(std::span(grid));

  // With more nodes than rows some have no strip, and no neighbours.
  std::optional<uint32_t> above;
  std::optional<uint32_t> below;
  if (strip.rows() > 0) {
    above = rows.Owner((first + height - 1) % height);
    below = rows.Owner((first + strip.rows()) % height);
  }
  examples::Halo<uint64_t> halo(node, words, above, below);
  for (uint64_t generation = 0; strip.rows() > 0 && generation < options.generations;
       ++generation) {
    halo.Exchange(strip.row(0), strip.row(strip.rows() - 1));
    strip.Step(pattern.rule, halo.above(), halo.below());
  }

  node.Put(0, gathered, first * words * sizeof(uint64_t), strip.cells());
  node.Quiesce();
  if (node.self() == 0) {
    const examples::LifeView whole{0, 0, width, height, [&](uint32_t x, uint32_t y) {
                                     return (grid[y * words + x / 64] >> (x % 64) & 1) != 0;
                                   }};
    const examples::LifeView cropped = whole.Cropped();
    examples::PrintOnNodeZero(node, options.view ? ToText(cropped) : ToRle(cropped, pattern.rule));
  }
  return 0;
}
