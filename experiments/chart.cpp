#include "experiments/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "core/text.hpp"

namespace kqd::lab {
namespace {

// In pixels of the file. Letters are large relative to the panels because figures are read at half a page's width.
constexpr double kPanelWidth = 300.0;
constexpr double kOnlyPanelWidth = 460.0;
constexpr double kPanelHeight = 230.0;
constexpr double kLeft = 68.0;
constexpr double kNamedRow = 20.0;  // height of a line of names
constexpr double kRight = 24.0;
constexpr double kTop = 34.0;
constexpr double kBottom = 50.0;
constexpr double kLegendLine = 22.0;
constexpr double kSample = 34.0;  // of a line in the legend

// Somewhat wider than in Helvetica, because fonts differ.
double text_width(std::string_view text) {
  double width = 0.0;
  for (const char c : text) {
    const bool wide = (c >= 'A' && c <= 'Z') || c == 'm' || c == 'w' || c == '%';
    const bool narrow = std::string_view("ijlt.,:;()| ").find(c) != std::string_view::npos;
    width += wide ? 11.6 : (narrow ? 5.2 : 9.6);
  }
  return width;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

// Maps numbers of an axis to pixels.
class Scale {
 public:
  Scale(const Axis& axis, double from, double to) : log_(axis.log), from_(from), to_(to) {
    low_ = mapped(axis.low);
    high_ = mapped(axis.high);
  }
  [[nodiscard]] double operator()(double value) const {
    return from_ + (to_ - from_) * (mapped(value) - low_) / (high_ - low_);
  }

 private:
  [[nodiscard]] double mapped(double value) const { return log_ ? std::log(value) : value; }
  bool log_;
  double from_;
  double to_;
  double low_ = 0.0;
  double high_ = 1.0;
};

std::string_view dashes(Stroke stroke) {
  switch (stroke) {
    case Stroke::dotted:
      return R"( stroke-dasharray="2 4")";
    case Stroke::dashed:
      return R"( stroke-dasharray="7 4")";
    default:
      return "";
  }
}

// A polygon around (x, y), as part of a path; its corners are in units of the size.
std::string polygon(double x, double y, double size, std::span<const std::pair<double, double>> corners) {
  std::string path;
  for (const auto& [dx, dy] : corners) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x + size * dx, y + size * dy);
  }
  return path + "Z";
}

std::string two_lines(double x, double y, double size, const std::array<std::array<double, 4>, 2>& lines) {
  std::string path;
  for (const auto& [x1, y1, x2, y2] : lines) {
    path += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", x + size * x1, y + size * y1, x + size * x2, y + size * y2);
  }
  return path;
}

// The marker of a series at (x, y), as part of a path.
std::string marker_path(const Series& series, double x, double y) {
  using Corners = std::initializer_list<std::pair<double, double>>;
  const double s = series.marker_size;
  const auto shape = [&](Corners corners) { return polygon(x, y, s, {corners.begin(), corners.size()}); };
  switch (series.marker) {
    case Marker::none:
      return "";
    case Marker::circle:
      return fmt::format("M{0:.1f} {1:.1f}a{2:.1f} {2:.1f} 0 1 0 {3:.1f} 0a{2:.1f} {2:.1f} 0 1 0 -{3:.1f} 0", x - s, y,
                         s, 2.0 * s);
    case Marker::square:
      return shape({{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}});
    case Marker::triangle:
      return shape({{0, -1.2}, {1.1, .8}, {-1.1, .8}});
    case Marker::down:
      return shape({{0, 1.2}, {1.1, -.8}, {-1.1, -.8}});
    case Marker::diamond:
      return shape({{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}});
    case Marker::star:
      return shape({{0, -1.4}, {.4, -.4}, {1.4, 0}, {.4, .4}, {0, 1.4}, {-.4, .4}, {-1.4, 0}, {-.4, -.4}});
    case Marker::cross:
      return two_lines(x, y, s, {{{-1, -1, 1, 1}, {-1, 1, 1, -1}}});
    case Marker::plus:
      return two_lines(x, y, s, {{{-1.2, 0, 1.2, 0}, {0, -1.2, 0, 1.2}}});
  }
  return "";
}

// All markers of a series as one path, however many points it has.
std::string markers_svg(const Series& series, const std::string& path) {
  if (path.empty()) return "";
  const bool lines = series.marker == Marker::cross || series.marker == Marker::plus;
  return fmt::format("<path d=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", path,
                     lines || series.hollow ? "none" : series.colour, series.colour,
                     lines           ? "2"
                     : series.hollow ? "1.5"
                                     : "0.5");
}

std::string series_svg(const Series& series, const Scale& to_x, const Scale& to_y, double floor) {
  std::string bars;
  std::string path;
  std::string markers;
  for (const ChartPoint& point : series.points) {
    const double x = to_x(point.x) + series.shift;
    const double y = to_y(point.y);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
    markers += marker_path(series, x, y);
    if (!point.interval) continue;
    const double top = to_y(point.interval->upper);
    const double end = to_y(point.interval->lower);
    bars += fmt::format("M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h6M{3:.1f} {2:.1f}h6", x, top, end, x - 3.0);
  }
  std::string out;
  if (series.filled && !series.points.empty()) {
    out += fmt::format("<path d=\"{}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" fill=\"{}\" fill-opacity=\"0.25\"/>\n", path,
                       to_x(series.points.back().x), floor, to_x(series.points.front().x), floor, series.colour);
  }
  if (series.stroke != Stroke::none) {
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", path, series.colour,
                       series.width, dashes(series.stroke));
  }
  if (!bars.empty()) {
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.2\"/>\n", bars, series.colour);
  }
  return out + markers_svg(series, markers);
}

std::string text_svg(double x, double y, const std::string& text, std::string_view attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, attributes, escaped(text));
}

// The position of the axes, the same in every panel.
struct Frame {
  double left = kLeft;
  double width = 0.0;
  double height = 0.0;
};

std::string axes_svg(const ChartPanel& panel, const Scale& to_x, const Scale& to_y, const Frame& frame) {
  const auto [left, width, height] = frame;
  std::string out = fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444444\" stroke-width=\"1\"/>\n",
      left, kTop, width, height);
  const double below = kTop + height;
  std::string marks;
  std::string names;
  double next_start = std::numeric_limits<double>::infinity();
  for (std::size_t k = panel.x.ticks.size(); k-- > 0;) {
    const Tick& tick = panel.x.ticks[k];
    const double x = to_x(tick.place);
    marks += fmt::format("M{:.1f} {:.1f}v5", x, below);
    // A name that would touch the next one is skipped; the last one is always there.
    const double half = 0.5 * text_width(tick.text);
    if (x + half > next_start) continue;
    next_start = x - half - 6.0;
    names += text_svg(x, below + 20.0, tick.text, R"( text-anchor="middle")");
  }
  for (const Tick& tick : panel.y.ticks) {
    const double y = to_y(tick.place);
    marks += fmt::format("M{:.1f} {:.1f}h-5", left, y);
    names += text_svg(left - 8.0, y + 5.0, tick.text, R"( text-anchor="end")");
  }
  if (!marks.empty()) out += fmt::format("<path d=\"{}\" stroke=\"#444444\"/>\n", marks);
  out += names;
  for (const double guide : panel.guides) {
    out += fmt::format("<path d=\"M{:.1f} {:.1f}h{:.1f}\" stroke=\"#999999\" stroke-width=\"1\"/>\n", left, to_y(guide),
                       width);
  }
  out += text_svg(left + 0.5 * width, kTop - 12.0, panel.title, R"( text-anchor="middle" font-weight="bold")");
  out += text_svg(left + 0.5 * width, below + 42.0, panel.x.title, R"( text-anchor="middle")");
  const double middle = kTop + 0.5 * height;
  out += text_svg(16.0, middle, panel.y.title,
                  fmt::format(" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1f})\"", middle));
  return out;
}

std::string panel_svg(const ChartPanel& panel, std::size_t number, double offset, const Frame& frame) {
  const auto [left, width, height] = frame;
  const Scale to_x(panel.x, left, left + width);
  const Scale to_y(panel.y, kTop + height, kTop);
  std::string out = fmt::format("<g transform=\"translate({:.1f} 0)\">\n", offset);
  out += fmt::format("<clipPath id=\"panel{}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
                     number, left - 5.0, kTop - 5.0, width + 10.0, height + 10.0);
  out += axes_svg(panel, to_x, to_y, frame);
  out += fmt::format("<g clip-path=\"url(#panel{})\">\n", number);
  for (const Series& series : panel.series) out += series_svg(series, to_x, to_y, kTop + height);
  out += "</g>\n";
  for (const ChartText& text : panel.texts) {
    out += text_svg(to_x(text.x), to_y(text.y), text.text, fmt::format(" fill=\"{}\"", text.colour));
  }
  return out + "</g>\n";
}

// The series that the legend names, each name once.
std::vector<Series> legend_of(const std::vector<ChartPanel>& panels) {
  std::vector<Series> legend;
  for (const ChartPanel& panel : panels) {
    for (const Series& series : panel.series) {
      if (!series.label.empty() && std::ranges::find(legend, series.label, &Series::label) == legend.end()) {
        legend.push_back(series);
      }
    }
  }
  return legend;
}

// Returns the text and the height of the legend.
std::pair<std::string, double> legend_svg(const std::vector<Series>& legend, double top, double width) {
  std::string out;
  double x = kLeft;
  double y = top;
  for (const Series& entry : legend) {
    const double needed = kSample + 16.0 + text_width(entry.label);
    if (x + needed > width && x > kLeft) {
      x = kLeft;
      y += kLegendLine;
    }
    if (entry.stroke != Stroke::none) {
      out += fmt::format("<path d=\"M{:.1f} {:.1f}h{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", x, y,
                         kSample - 6.0, entry.colour, entry.width, dashes(entry.stroke));
    }
    out += markers_svg(entry, marker_path(entry, x + 0.5 * (kSample - 6.0), y));
    out += text_svg(x + kSample, y + 5.0, entry.label);
    x += needed;
  }
  return {out, legend.empty() ? 0.0 : y - top + kLegendLine};
}

}  // namespace

std::string svg_chart(const std::vector<ChartPanel>& panels) {
  Frame frame{.width = (panels.size() == 1 ? kOnlyPanelWidth : kPanelWidth) - kLeft - kRight,
              .height = kPanelHeight - kTop};
  if (std::ranges::any_of(panels, &ChartPanel::square)) frame.height = frame.width;
  for (const ChartPanel& panel : panels) {
    if (!panel.named_rows) continue;
    frame.height = std::max(frame.height, kNamedRow * static_cast<double>(panel.y.ticks.size()));
    for (const Tick& tick : panel.y.ticks) frame.left = std::max(frame.left, text_width(tick.text));
  }
  const double panel_width = frame.left + frame.width + kRight;
  const double width = panel_width * static_cast<double>(panels.size());
  const double legend_top = kTop + frame.height + kBottom + 14.0;
  const auto [legend, legend_height] = legend_svg(legend_of(panels), legend_top, width);
  const double total = kTop + frame.height + kBottom + legend_height + 4.0;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"15\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      width, total);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    out += panel_svg(panels[k], k, panel_width * static_cast<double>(k), frame);
  }
  return out + legend + "</svg>\n";
}

std::string palette_colour(std::size_t number) {
  constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#000000", "#e69f00", "#56b4e9", "#7f7f7f"};
  return kColours[number % kColours.size()];
}

Marker palette_marker(std::size_t number) {
  constexpr std::array<Marker, 8> kMarkers = {Marker::circle, Marker::square, Marker::triangle, Marker::diamond,
                                              Marker::down,   Marker::star,   Marker::plus,     Marker::cross};
  const std::size_t round = number / kMarkers.size();
  return kMarkers[(number + 3 * round) % kMarkers.size()];
}

std::vector<Tick> even_ticks(double low, double high, std::size_t count) {
  const double rough = (high - low) / static_cast<double>(count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10.0 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1.0) {
    ticks.push_back({k * step, shortest(std::round(k * step * 1e9) / 1e9 + 0.0)});  // no "-0"
  }
  return ticks;
}

}  // namespace kqd::lab
