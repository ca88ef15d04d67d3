#include "bench/plot.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace vcm5::bench {
namespace {

constexpr double kPanelWidth = 420;
constexpr double kPanelHeight = 300;
constexpr double kMarginLeft = 64;
constexpr double kMarginRight = 16;
constexpr double kMarginTop = 52;
constexpr double kMarginBottom = 44;
constexpr double kTitleHeight = 40;
constexpr unsigned kColumns = 2;
// Told apart by the colour-blind, too.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};

std::string Escape(std::string_view text) {
  return absl::StrReplaceAll(std::string(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

void Text(std::string* svg, double x, double y, const char* anchor, std::string_view text,
          const char* colour = "#333") {
  absl::StrAppend(svg, absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">",
                                       x, y, anchor, colour),
                  Escape(text), "</text>\n");
}

void Line(std::string* svg, double x1, double y1, double x2, double y2, const char* colour,
          double width) {
  absl::StrAppendFormat(
      svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%g\"/>\n",
      x1, y1, x2, y2, colour, width);
}

// From values to places: logarithms, in whole powers at the ends.
class Axis {
 public:
  Axis(double base, double least, double greatest, double from, double to)
      : base_(base), first_(std::floor(Log(least) + 1e-9)), last_(std::ceil(Log(greatest) - 1e-9)),
        from_(from), to_(to) {
    if (last_ <= first_) last_ = first_ + 1;
  }
  double Place(double value) const {
    return from_ + (to_ - from_) * (Log(value) - first_) / (last_ - first_);
  }
  // Calls mark(value) for each power within.
  template <class Mark>
  void ForEachPower(Mark&& mark) const {
    for (double power = first_; power <= last_; ++power) mark(std::pow(base_, power));
  }

 private:
  double Log(double value) const { return std::log(value) / std::log(base_); }

  double base_, first_, last_, from_, to_;
};

}  // namespace

void Plot::Add(const Result& result) {
  Add(result.what, "vcm5", result.ours);
  if (result.against.has_value()) {
    Add(result.what, result.against->peer, result.against->values);
  }
}

void Plot::Add(const Case& what, const std::string& name, const Summary& values) {
  auto panel = std::find_if(panels_.begin(), panels_.end(), [&](const Panel& each) {
    return each.benchmark == what.benchmark && each.bytes == what.bytes;
  });
  if (panel == panels_.end()) {
    panel = panels_.insert(panel, {what.benchmark, what.bytes, {}});
  }
  auto series = std::find_if(panel->series.begin(), panel->series.end(),
                             [&](const Series& each) { return each.name == name; });
  if (series == panel->series.end()) series = panel->series.insert(series, {name, {}});
  // Ours is told again with each peer.
  const bool known = std::any_of(series->points.begin(), series->points.end(),
                                 [&](const Point& point) { return point.nodes == what.nodes; });
  if (!known) series->points.push_back({what.nodes, values});
}

void Plot::Draw(const Panel& panel, double left, double top, std::string* svg) {
  const Display display = DisplayOf(panel.benchmark->unit);
  Point least{~0u, {1e300, 0, 0}};
  Point greatest{1, {0, 0, 0}};
  for (const Series& series : panel.series) {
    for (const Point& point : series.points) {
      least.nodes = std::min(least.nodes, point.nodes);
      greatest.nodes = std::max(greatest.nodes, point.nodes);
      least.values.min = std::min(least.values.min, point.values.min);
      greatest.values.max = std::max(greatest.values.max, point.values.max);
    }
  }
  const double right = left + kPanelWidth - kMarginRight;
  const double bottom = top + kPanelHeight - kMarginBottom;
  const Axis along(2, least.nodes, greatest.nodes, left + kMarginLeft, right);
  const Axis up(10, least.values.min * display.scale, greatest.values.max * display.scale, bottom,
                top + kMarginTop);

  std::string title = absl::StrCat(panel.benchmark->name, ", ", display.unit);
  if (panel.bytes != 0) absl::StrAppend(&title, ", ", panel.bytes, " bytes");
  Text(svg, left + kMarginLeft, top + 20, "start", title, "#000");
  along.ForEachPower([&](double nodes) {
    const double x = along.Place(nodes);
    Line(svg, x, top + kMarginTop, x, bottom, "#e4e4e4", 1);
    Text(svg, x, bottom + 18, "middle", absl::StrFormat("%g", nodes));
  });
  Text(svg, (left + kMarginLeft + right) / 2, bottom + 36, "middle", "nodes");
  up.ForEachPower([&](double value) {
    const double y = up.Place(value);
    Line(svg, left + kMarginLeft, y, right, y, "#e4e4e4", 1);
    Text(svg, left + kMarginLeft - 6, y + 4, "end", absl::StrFormat("%g", value));
  });
  double name_at = left + kMarginLeft;
  for (size_t i = 0; i < panel.series.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    std::vector<Point> points = panel.series[i].points;
    std::sort(points.begin(), points.end(),
              [](const Point& a, const Point& b) { return a.nodes < b.nodes; });
    std::string path;
    for (const Point& point : points) {
      const double x = along.Place(point.nodes);
      const double y = up.Place(point.values.median * display.scale);
      absl::StrAppendFormat(&path, "%s%.1f,%.1f", path.empty() ? "" : " ", x, y);
      Line(svg, x, up.Place(point.values.min * display.scale), x,
           up.Place(point.values.max * display.scale), colour, 1.5);
      absl::StrAppendFormat(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x, y,
                            colour);
    }
    absl::StrAppendFormat(
        svg, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path,
        colour);
    Text(svg, name_at, top + 40, "start", panel.series[i].name, colour);
    name_at += 24 + 8.0 * static_cast<double>(panel.series[i].name.size());
  }
}

std::string Plot::Svg() const {
  const auto rows = static_cast<double>((panels_.size() + kColumns - 1) / kColumns);
  const double width = kPanelWidth * static_cast<double>(std::min<size_t>(
                                         std::max<size_t>(panels_.size(), 1), kColumns));
  const double height = kTitleHeight + kPanelHeight * rows;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      width, height);
  Text(&svg, 16, 26, "start", title_, "#000");
  for (size_t i = 0; i < panels_.size(); ++i) {
    Draw(panels_[i], kPanelWidth * static_cast<double>(i % kColumns),
         kTitleHeight + kPanelHeight * static_cast<double>(i / kColumns), &svg);
  }
  return svg + "</svg>\n";
}

}  // namespace vcm5::bench
