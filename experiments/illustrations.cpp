#include "experiments/illustrations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "experiments/chart.hpp"
#include "experiments/figure_files.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/io/printable.hpp"
#include "kqd/io/read.hpp"
#include "kqd/metrics/methods.hpp"
#include "quantiles/sort.hpp"

namespace kqd::lab {
namespace {

using Json = nlohmann::ordered_json;

// Ascending, so that a quantile is an index.
class Sorted {
 public:
  explicit Sorted(std::vector<double> values) : values_(std::move(values)) { sort_ascending(std::span(values_)); }

  // The value of rank ceil(alpha n), the quantile used everywhere in kqd.
  [[nodiscard]] double quantile(double alpha) const {
    const auto rank = static_cast<std::size_t>(std::ceil(alpha * static_cast<double>(values_.size())));
    return values_[std::max<std::size_t>(rank, 1) - 1];
  }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
};

// A Gaussian kernel density estimate with Silverman's bandwidth.
std::vector<ChartPoint> density(const Sorted& sorted, double low, double high) {
  constexpr std::size_t kPlaces = 160;
  const std::vector<double>& values = sorted.values();
  const auto n = static_cast<double>(values.size());
  const double spread = (sorted.quantile(0.75) - sorted.quantile(0.25)) / 1.349;
  const double width = 0.9 * spread * std::pow(n, -0.2);
  std::vector<ChartPoint> points;
  for (std::size_t k = 0; k <= kPlaces; ++k) {
    const double place = low + (high - low) * static_cast<double>(k) / kPlaces;
    double sum = 0.0;
    for (const double value : values) {
      const double z = (place - value) / width;
      if (std::abs(z) < 6.0) sum += std::exp(-0.5 * z * z);
    }
    points.push_back({place, sum / (n * width * std::sqrt(2.0 * std::numbers::pi))});
  }
  return points;
}

double highest(const std::vector<ChartPoint>& points) {
  return std::ranges::max_element(points, {}, &ChartPoint::y)->y;
}

// Two bent clusters: a distribution whose quantiles depend strongly on the direction.
std::vector<std::array<double, 2>> plane_sample(std::size_t n, Seed seed) {
  std::vector<std::array<double, 2>> points;
  RandomStream stream(seed, Purpose::synthetic_x);
  for (std::size_t i = 0; i < n; ++i) {
    const bool first = stream.uniform() < 0.6;
    const double a = stream.normal();
    const double b = stream.normal();
    points.push_back(first ? std::array{0.9 + 0.7 * a, 0.5 + 0.4 * a + 0.45 * b}
                           : std::array{-1.1 + 0.45 * a, -0.2 - 0.5 * a + 0.5 * b});
  }
  return points;
}

Sorted projected(const std::vector<std::array<double, 2>>& points, double angle) {
  std::vector<double> values;
  for (const auto& [x, y] : points) values.push_back(x * std::cos(angle) + y * std::sin(angle));
  return Sorted(std::move(values));
}

// Points on the plane, and the part of it that is shown, which ends at `reach` on all sides.
struct Cloud {
  std::vector<std::array<double, 2>> points;
  double reach = 3.0;
  std::array<std::string, 2> names = {"x1", "x2"};
};

// All but the outermost hundredth of each column is shown.
Cloud cloud_of(const Sample& sample, const std::string& path) {
  if (sample.points.cols() != 2) {
    fail(ErrorCode::shape_mismatch, {.place = printable(path),
                                     .value = fmt::format("{} columns", sample.points.cols()),
                                     .expected = "two, for a figure of the plane"});
  }
  constexpr double kOutermost = 0.005;
  Cloud cloud;
  cloud.reach = 0.0;
  for (std::size_t k = 0; k < 2; ++k) {
    std::vector<double> column;
    for (std::size_t i = 0; i < sample.points.rows(); ++i) column.push_back(sample.points(i, k));
    const Sorted sorted(std::move(column));
    const double ends = std::max(std::abs(sorted.quantile(kOutermost)), std::abs(sorted.quantile(1.0 - kOutermost)));
    cloud.reach = std::max(cloud.reach, 1.1 * ends);
    if (!sample.column_names.empty()) cloud.names[k] = sample.column_names[k];
  }
  if (!(cloud.reach > 0.0)) cloud.reach = 1.0;
  for (std::size_t i = 0; i < sample.points.rows(); ++i)
    cloud.points.push_back({sample.points(i, 0), sample.points(i, 1)});
  return cloud;
}

Axis plane_axis(std::string title, double reach) {
  return {.title = std::move(title), .low = -reach, .high = reach, .ticks = even_ticks(-reach, reach, 4)};
}

ChartPanel cloud_panel(const Cloud& cloud_of_points, double angle) {
  const auto& [points, reach, names] = cloud_of_points;
  ChartPanel panel{.title = "P, and a direction u",
                   .x = plane_axis(names[0], reach),
                   .y = plane_axis(names[1], reach),
                   .series = {},
                   .square = true};
  Series cloud{.label = "",
               .points = {},
               .colour = palette_colour(6),
               .marker = Marker::circle,
               .stroke = Stroke::none,
               .marker_size = 1.5};
  for (std::size_t i = 0; i < std::min<std::size_t>(points.size(), 600); ++i)
    cloud.points.push_back({points[i][0], points[i][1]});
  const double length = 0.87 * reach;
  const double x = length * std::cos(angle);
  const double y = length * std::sin(angle);
  panel.series = {std::move(cloud), {.label = "", .points = {{-x, -y}, {x, y}}, .colour = palette_colour(1)}};
  panel.texts = {{x + 0.05 * reach, y + 0.017 * reach, "u", palette_colour(1)}};
  return panel;
}

const std::array<double, 4> kLevels = {0.5, 0.7, 0.9, 0.97};

ChartPanel projection_panel(const Sorted& along, double reach) {
  ChartPanel panel{.title = "P along u",
                   .x = plane_axis("<u, x>", reach),
                   .y = {.title = "density, smoothed"},
                   .series = {},
                   .square = true};
  std::vector<ChartPoint> curve = density(along, -reach, reach);
  panel.y.high = 1.15 * highest(curve);
  panel.y.ticks = even_ticks(0.0, panel.y.high, 4);
  panel.series.push_back({.label = "", .points = std::move(curve), .colour = palette_colour(6), .filled = true});
  for (std::size_t k = 0; k < kLevels.size(); ++k) {
    const double q = along.quantile(kLevels[k]);
    panel.series.push_back({.label = fmt::format("quantile {}", kLevels[k]),
                            .points = {{q, 0.0}, {q, panel.y.high}},
                            .colour = palette_colour(k)});
  }
  return panel;
}

// q_alpha(u) u for all u on the circle: a closed curve for each level.
ChartPanel quantiles_panel(const Cloud& cloud) {
  const auto& [points, reach, names] = cloud;
  constexpr std::size_t kAngles = 180;
  ChartPanel panel{.title = "quantiles along all u",
                   .x = plane_axis(names[0], reach),
                   .y = plane_axis(names[1], reach),
                   .series = {},
                   .square = true};
  for (std::size_t k = 0; k < kLevels.size(); ++k)
    panel.series.push_back(
        {.label = fmt::format("quantile {}", kLevels[k]), .points = {}, .colour = palette_colour(k)});
  for (std::size_t a = 0; a <= kAngles; ++a) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(a) / kAngles;
    const Sorted along = projected(points, angle);
    for (std::size_t k = 0; k < kLevels.size(); ++k) {
      const double q = along.quantile(kLevels[k]);
      panel.series[k].points.push_back({q * std::cos(angle), q * std::sin(angle)});
    }
  }
  return panel;
}

std::vector<double> normal_mixture(Seed seed, Purpose purpose, double centre, std::size_t n) {
  std::vector<double> values;
  RandomStream stream(seed, purpose);
  for (std::size_t i = 0; i < n; ++i) {
    const double side = stream.uniform() < 0.5 ? -centre : centre;
    values.push_back(side + 0.6 * stream.normal());
  }
  return values;
}

Sorted along_direction(const KernelDirections& directions, std::size_t i, const std::vector<double>& points) {
  Matrix<double> values(1, points.size());
  directions.evaluate({points.data(), points.size(), 1}, i, values.view(), ThreadCount{1});
  return Sorted({values.values().begin(), values.values().end()});
}

// The values on the line as a sample, which they outlive.
SampleView on_line(const Sorted& values) {
  return {{values.values().data(), values.values().size(), 1}, {}};
}

double tau_1(const Sorted& p, const Sorted& q) {
  return distance("wasserstein", on_line(p), on_line(q)).statistic;
}

// Both samples on a line, in units in which the directions below are spread over them.
struct Line {
  std::vector<double> p;
  std::vector<double> q;
  double middle = 0.0;
  double unit = 1.0;

  static constexpr double kReach = 4.0;  // units, of the shown part
  [[nodiscard]] double low() const { return middle - kReach * unit; }
  [[nodiscard]] double high() const { return middle + kReach * unit; }
};

std::vector<double> only_column(const Sample& sample, const std::string& path) {
  if (sample.points.cols() != 1) {
    fail(ErrorCode::shape_mismatch, {.place = printable(path),
                                     .value = fmt::format("{} columns", sample.points.cols()),
                                     .expected = "one, for a figure of the line"});
  }
  return {sample.points.values().begin(), sample.points.values().end()};
}

// The middle nine tenths of the pool take four of the eight units.
Line line_of(const std::vector<std::string>& files) {
  constexpr double kTail = 0.05;
  const SamplePair pair = read_pair(files.front(), files.back());
  Line line{.p = only_column(pair.x, files.front()), .q = only_column(pair.y, files.back())};
  std::vector<double> pool = line.p;
  pool.insert(pool.end(), line.q.begin(), line.q.end());
  const Sorted sorted(std::move(pool));
  const double low = sorted.quantile(kTail);
  const double high = sorted.quantile(1.0 - kTail);
  line.middle = 0.5 * (low + high);
  line.unit = high > low ? 0.25 * (high - low) : 1.0;
  return line;
}

// Two combinations of Gaussian kernels at -2, 0 and 2 units from the middle: one even, one not.
KernelDirections two_directions(const Line& line) {
  const double step = 2.0 * line.unit;
  Matrix<double> reference(3, 1, {line.middle - step, line.middle, line.middle + step});
  Matrix<double> coefficients(3, 2, {1.0, 0.3, -2.0, 0.4, 1.0, -1.0});
  KernelSpec kernel = parse_kernel("gaussian");
  kernel.bandwidth = line.unit;
  return {Kernel(kernel), std::move(reference), std::move(coefficients)};
}

// The densities are drawn per unit, so that they fit next to the directions.
ChartPanel functions_panel(const KernelDirections& directions, const Line& line, const Sorted& p, const Sorted& q) {
  constexpr std::size_t kPlaces = 160;
  const auto per_unit = [&](std::vector<ChartPoint> points) {
    for (ChartPoint& point : points) point.y *= line.unit;
    return points;
  };
  ChartPanel panel{
      .title = "P, Q and two directions",
      .x = {.title = "x", .low = line.low(), .high = line.high(), .ticks = even_ticks(line.low(), line.high(), 4)},
      .y = {.title = "u(x), density", .low = -1.0, .high = 0.6, .ticks = even_ticks(-1.0, 0.6, 4)},
      .series = {},
      .guides = {0.0}};
  panel.series.push_back({.label = "P",
                          .points = per_unit(density(p, line.low(), line.high())),
                          .colour = palette_colour(0),
                          .stroke = Stroke::dotted});
  panel.series.push_back({.label = "Q",
                          .points = per_unit(density(q, line.low(), line.high())),
                          .colour = palette_colour(1),
                          .stroke = Stroke::dotted});
  std::vector<double> places;
  for (std::size_t k = 0; k <= kPlaces; ++k)
    places.push_back(line.low() + (line.high() - line.low()) * static_cast<double>(k) / kPlaces);
  Matrix<double> values(directions.count(), places.size());
  directions.evaluate({places.data(), places.size(), 1}, 0, values.view(), ThreadCount{1});
  for (std::size_t i = 0; i < directions.count(); ++i) {
    Series curve{.label = fmt::format("direction u{}", i + 1),
                 .points = {},
                 .colour = palette_colour(4),
                 .stroke = i == 0 ? Stroke::solid : Stroke::dashed};
    for (std::size_t k = 0; k < places.size(); ++k) curve.points.push_back({places[k], values(i, k)});
    panel.series.push_back(std::move(curve));
  }
  return panel;
}

ChartPanel pushed_panel(std::size_t number, const Sorted& p, const Sorted& q) {
  const double low = std::min(p.values().front(), q.values().front()) - 0.1;
  const double high = std::max(p.values().back(), q.values().back()) + 0.1;
  ChartPanel panel{
      .title = fmt::format("along u{}: tau = {:.3f}", number, tau_1(p, q)),
      .x = {.title = fmt::format("u{}(x)", number), .low = low, .high = high, .ticks = even_ticks(low, high, 4)},
      .y = {.title = "density, smoothed"},
      .series = {}};
  std::vector<ChartPoint> of_p = density(p, low, high);
  std::vector<ChartPoint> of_q = density(q, low, high);
  panel.y.high = 1.1 * std::max(highest(of_p), highest(of_q));
  panel.y.ticks = even_ticks(0.0, panel.y.high, 4);
  panel.series.push_back({.label = "u#P", .points = std::move(of_p), .colour = palette_colour(0), .filled = true});
  panel.series.push_back({.label = "u#Q", .points = std::move(of_q), .colour = palette_colour(1), .filled = true});
  return panel;
}

}  // namespace

ExperimentReport figure_1(const ExperimentOptions& options, const RunControl* /*control*/) {
  constexpr std::size_t kPoints = 20'000;
  const double angle = 0.6;
  const Cloud cloud = options.files.empty() ? Cloud{plane_sample(options.quick ? 2000 : kPoints, options.seed)}
                                            : cloud_of(read_sample(options.files.front()), options.files.front());
  const Sorted along = projected(cloud.points, angle);
  return write_figure("figure-1", options,
                      {cloud_panel(cloud, angle), projection_panel(along, cloud.reach), quantiles_panel(cloud)},
                      {{"n", cloud.points.size()}, {"angle", angle}, {"levels", kLevels}});
}

ExperimentReport figure_2(const ExperimentOptions& options, const RunControl* /*control*/) {
  const std::size_t n = options.quick ? 2000 : 20'000;
  const Line line = options.files.empty() ? Line{.p = normal_mixture(options.seed, Purpose::synthetic_x, 1.0, n),
                                                 .q = normal_mixture(options.seed, Purpose::synthetic_y, 1.6, n)}
                                          : line_of(options.files);
  const KernelDirections directions = two_directions(line);
  std::vector<ChartPanel> panels = {functions_panel(directions, line, Sorted(line.p), Sorted(line.q))};
  Json taus = Json::array();
  for (std::size_t i = 0; i < directions.count(); ++i) {
    const Sorted of_p = along_direction(directions, i, line.p);
    const Sorted of_q = along_direction(directions, i, line.q);
    panels.push_back(pushed_panel(i + 1, of_p, of_q));
    taus.push_back(tau_1(of_p, of_q));
  }
  return write_figure("figure-2", options, panels,
                      {{"n", std::max(line.p.size(), line.q.size())},
                       {"kernel", fmt::format("gaussian@{}", line.unit)},
                       {"tau", taus}});
}

}  // namespace kqd::lab
