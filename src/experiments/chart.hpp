#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kqd/testing/pvalue.hpp"

namespace kqd::lab {

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;
  std::optional<Interval> interval = {};  ///< drawn as a bar
};

enum class Marker { none, circle, square, triangle, diamond, cross, plus, down, star };
enum class Stroke { none, solid, dotted, dashed };

/// One curve, cloud of points or filled outline.
struct Series {
  std::string label;  ///< empty: not in the legend
  std::vector<ChartPoint> points;
  std::string colour = "#000000";
  Marker marker = Marker::none;
  Stroke stroke = Stroke::solid;
  bool hollow = false;       ///< markers without a filling
  bool filled = false;       ///< the area below the curve is shaded
  double width = 2.0;        ///< of the line
  double marker_size = 4.0;  ///< half the width of a marker
  double shift = 0.0;        ///< to the right, in pixels: bars of series that meet stand side by side
};

struct Tick {
  double place = 0.0;
  std::string text;
};

struct Axis {
  std::string title;
  double low = 0.0;
  double high = 1.0;
  bool log = false;
  std::vector<Tick> ticks = {};
};

/// Words inside a panel.
struct ChartText {
  double x = 0.0;
  double y = 0.0;
  std::string text;
  std::string colour = "#000000";
};

struct ChartPanel {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<double> guides = {};  ///< thin horizontal lines
  std::vector<ChartText> texts = {};
  bool square = false;      ///< as high as wide, for maps of the plane
  bool named_rows = false;  ///< ticks of the y axis are names, each on a line of its own
};

/// Panels side by side under one legend, as a stand-only SVG file of one font, with nothing to load.
[[nodiscard]] std::string svg_chart(const std::vector<ChartPanel>& panels);

/// Colours that people with any kind of colour vision tell apart [Okabe, Ito 2008], darkest contrasts first; goes
/// round. Marks go round in another way, so that no two of the first 64 numbers look alike.
[[nodiscard]] std::string palette_colour(std::size_t number);
[[nodiscard]] Marker palette_marker(std::size_t number);

/// Round places from low to high, about `count` of them.
[[nodiscard]] std::vector<Tick> even_ticks(double low, double high, std::size_t count);

}  // namespace kqd::lab
