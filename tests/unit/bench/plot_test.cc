#include "bench/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vcm5::bench {
namespace {

using testing::HasSubstr;

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Result Barrier(uint32_t nodes, double us, const char* peer) {
  return {{FindBenchmark("barrier"), nodes, 0},
          {us, us, us},
          Against{peer, {10 * us, 10 * us, 10 * us}, {10, 10, 10}}};
}

TEST(Plot, DrawsEveryoneOnceAPlace) {
  Plot plot("a <title>");
  for (const uint32_t nodes : {2u, 4u, 8u}) {
    plot.Add(Barrier(nodes, nodes, "openmpi"));
    plot.Add(Barrier(nodes, nodes, "mpich"));
  }
  plot.Add({{FindBenchmark("bulk"), 2, 1024}, {1e6, 1e6, 1e6}, {}});
  const std::string svg = plot.Svg();
  EXPECT_THAT(svg, HasSubstr("a &lt;title&gt;"));
  EXPECT_EQ(Count(svg, ">vcm5<"), 2u) << "in both panels";
  EXPECT_EQ(Count(svg, ">openmpi<"), 1u);
  EXPECT_EQ(Count(svg, ">mpich<"), 1u);
  EXPECT_EQ(Count(svg, "<circle"), 3u * 3 + 1) << "ours is told with each peer, and drawn once";
  EXPECT_THAT(svg, HasSubstr(">barrier, us<"));
  EXPECT_THAT(svg, HasSubstr(">bulk, MB/s, 1024 bytes<"));
  EXPECT_EQ(Count(svg, "nan") + Count(svg, "inf"), 0u);
  EXPECT_EQ(Count(svg, "<svg"), Count(svg, "</svg>"));
}

TEST(Plot, PlacesValuesByTheirLogarithms) {
  Plot plot("");
  plot.Add({{FindBenchmark("barrier"), 2, 0}, {1, 1, 1}, {}});
  plot.Add({{FindBenchmark("barrier"), 4, 0}, {10, 10, 10}, {}});
  plot.Add({{FindBenchmark("barrier"), 8, 0}, {100, 100, 100}, {}});
  // Three points on one straight line, from corner to corner.
  EXPECT_THAT(plot.Svg(), HasSubstr("<polyline points=\"64.0,296.0 234.0,194.0 404.0,92.0\""));
}

TEST(Plot, OfNothingIsAPicture) { EXPECT_THAT(Plot("empty").Svg(), HasSubstr("</svg>")); }

}  // namespace
}  // namespace vcm5::bench
