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
  bool hollow = false;       ///< markers without fill
  bool filled = false;       ///< the area below the curve is shaded
  double width = 2.0;        ///< of the line
  double marker_size = 4.0;  ///< half the width of a marker
  double shift = 0.0;        ///< to the right, in pixels, so that bars of series do not overlap
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

/// Text inside a panel.
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
  bool square = false;      ///< as high as wide, for data in the plane
  bool named_rows = false;  ///< ticks of the y axis are names, each on a line of its own
};

/// Panels side by side with one legend, as a standalone SVG file: text as text, one element per series or set of
/// ticks.
[[nodiscard]] std::string svg_chart(const std::vector<ChartPanel>& panels);

/// Colours that are distinct with any kind of colour vision [Okabe, Ito 2008], strongest contrast first, repeated
/// after eight. Markers repeat in another order, so that the first 64 numbers all look different.
[[nodiscard]] std::string palette_colour(std::size_t number);
[[nodiscard]] Marker palette_marker(std::size_t number);

/// Round places from low to high, about `count` of them.
[[nodiscard]] std::vector<Tick> even_ticks(double low, double high, std::size_t count);

}  // namespace kqd::lab
