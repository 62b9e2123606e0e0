#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "experiments/figure_files.hpp"
#include "experiments/theory.hpp"
#include "kqd/metrics/mmd.hpp"
#include "report/rows.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kColumns = 3;
constexpr std::array<double, 7> kAngles = {0, 15, 30, 45, 60, 75, 90};
constexpr double kDegree = std::numbers::pi / 180.0;

// Mean over directions of (mean of u on X - mean of u on Y)^2.
double squared_mean_gap(const Sample& x, const Sample& y, const Directions& directions, ThreadCount threads) {
  const auto means = [&](const Sample& sample) {
    Matrix<double> values(directions.count(), sample.points.rows());
    directions.evaluate(sample.points, 0, values.view(), threads);
    std::vector<double> result;
    for (std::size_t i = 0; i < values.rows(); ++i) {
      double mean = 0.0;
      for (std::size_t j = 0; j < values.cols(); ++j) mean += values(i, j) / static_cast<double>(values.cols());
      result.push_back(mean);
    }
    return result;
  };
  const std::vector<double> of_x = means(x);
  const std::vector<double> of_y = means(y);
  double total = 0.0;
  for (std::size_t i = 0; i < of_x.size(); ++i) total += (of_x[i] - of_y[i]) * (of_x[i] - of_y[i]);
  return total / static_cast<double>(of_x.size());
}

Interpolants distances(double at, const Sample& x, const Sample& y, const MethodOptions& options) {
  const DistanceResult plain = ekqd(x, y, options);
  return {.x = at,
          .mmd = mmd_v(x, y, options).statistic,
          .ekqd = plain.statistic,
          .centered = ekqd_centered(x, y, options).statistic,
          .mean_gap = std::sqrt(squared_mean_gap(x, y, *plain.directions, options.threads))};
}

double laplace_quantile(double level) {  // of variance 1
  const double tail = std::log(level < 0.5 ? 2.0 * level : 2.0 * (1.0 - level)) / std::numbers::sqrt2;
  return level < 0.5 ? tail : -tail;
}

struct Curve {
  std::string label;
  double Interpolants::*value;
  Marker marker;
};
const std::array<Curve, 3> kCurves = {{{"MMD", &Interpolants::mmd, Marker::circle},
                                       {"e-KQD (kernel SW)", &Interpolants::ekqd, Marker::square},
                                       {"centered e-KQD", &Interpolants::centered, Marker::diamond}}};

// From N(0, I) to N(r cos(a) e1, (1 + r sin(a))^2 I) with r = 1, in closed form.
double closed_form(std::size_t curve, double angle) {
  const double shift = std::cos(angle);
  const double spread = std::sin(angle);
  switch (curve) {
    case 0:
      return shift;
    case 1:
      return std::sqrt(shift * shift / static_cast<double>(kColumns) + spread * spread);
    default:
      return std::sqrt(shift * shift + spread * spread);
  }
}

ChartPanel angle_panel(const std::vector<Interpolants>& found) {
  ChartPanel panel{.title = "linear kernel",
                   .x = {.title = "from shift to spread, degrees", .low = -3.0, .high = 93.0},
                   .y = {.title = "distance of order 2", .high = 1.2, .ticks = even_ticks(0.0, 1.2, 4)},
                   .series = {}};
  for (const double angle : kAngles) panel.x.ticks.push_back({angle, fmt::format("{}", angle)});
  for (std::size_t k = 0; k < kCurves.size(); ++k) {
    Series line{.label = "", .points = {}, .colour = palette_colour(k)};
    for (int angle = 0; angle <= 90; angle += 2) {
      line.points.push_back({static_cast<double>(angle), closed_form(k, angle * kDegree)});
    }
    Series points{.label = kCurves[k].label,
                  .points = {},
                  .colour = palette_colour(k),
                  .marker = kCurves[k].marker,
                  .stroke = Stroke::none};
    for (const Interpolants& at : found) points.points.push_back({at.x, at.*kCurves[k].value});
    panel.series.push_back(std::move(line));
    panel.series.push_back(std::move(points));
  }
  return panel;
}

ChartPanel bandwidth_panel(const std::vector<Interpolants>& found) {
  ChartPanel panel{
      .title = "Gaussian kernel",
      .x = {.title = "bandwidth", .low = 0.8 * found.front().x, .high = 1.25 * found.back().x, .log = true},
      .y = {.title = "share of centered e-KQD", .high = 1.1, .ticks = even_ticks(0.0, 1.1, 4)},
      .series = {},
      .guides = {1.0}};
  for (const double place : {0.1, 1.0, 10.0}) panel.x.ticks.push_back({place, fmt::format("{}", place)});
  for (std::size_t k = 0; k + 1 < kCurves.size(); ++k) {
    Series line{.label = kCurves[k].label, .points = {}, .colour = palette_colour(k), .marker = kCurves[k].marker};
    for (const Interpolants& at : found) line.points.push_back({at.x, at.*kCurves[k].value / at.centered});
    panel.series.push_back(std::move(line));
  }
  return panel;
}

double identity_error(const Interpolants& at) {
  const double squared = at.ekqd * at.ekqd + at.mmd * at.mmd - at.mean_gap * at.mean_gap;
  return std::abs(at.centered * at.centered - squared) / squared;
}

std::string table_of(std::string_view head, const std::vector<Interpolants>& found) {
  std::vector<std::vector<std::string>> lines = {
      {std::string(head), "MMD", "e-KQD", "mean gap", "centered e-KQD", "error of the identity"}};
  for (const Interpolants& at : found) {
    lines.push_back({fmt::format("{:.3g}", at.x), fmt::format("{:.4f}", at.mmd), fmt::format("{:.4f}", at.ekqd),
                     fmt::format("{:.4f}", at.mean_gap), fmt::format("{:.4f}", at.centered),
                     fmt::format("{:.0e}", identity_error(at))});
  }
  return markdown_table(lines);
}

nlohmann::ordered_json json_of(const std::vector<Interpolants>& found) {
  auto list = nlohmann::ordered_json::array();
  for (const Interpolants& at : found) {
    list.push_back(
        {{"x", at.x}, {"mmd", at.mmd}, {"ekqd", at.ekqd}, {"centered", at.centered}, {"mean_gap", at.mean_gap}});
  }
  return list;
}

}  // namespace

Matrix<double> normal_points(std::size_t count) {
  Matrix<double> points(count, 1);
  for (std::size_t j = 0; j < count; ++j) {
    points(j, 0) = normal_quantile((static_cast<double>(j) + 0.5) / static_cast<double>(count));
  }
  return points;
}

std::vector<Interpolants> from_shift_to_spread(std::size_t rows, std::size_t num_directions, Seed seed,
                                               ThreadCount threads) {
  MethodOptions options;
  options.kernel = parse_kernel("linear");
  options.directions.family = DirectionFamily::linear;
  options.directions.num_directions = num_directions;
  options.power = 2.0;
  options.seed = seed;
  options.threads = threads;
  std::vector<Interpolants> found;
  for (const double degrees : kAngles) {
    const double angle = degrees * kDegree;
    Sample x{Matrix<double>(rows, kColumns), {}, {}};
    Sample y = x;
    RandomStream of_x(seed, Purpose::synthetic_x);
    RandomStream of_y(seed, Purpose::synthetic_y);
    for (double& value : x.points.values()) value = of_x.normal();
    for (double& value : y.points.values()) value = (1.0 + std::sin(angle)) * of_y.normal();
    for (std::size_t i = 0; i < rows; ++i) y.points(i, 0) += std::cos(angle);
    found.push_back(distances(degrees, x, y, options));
  }
  return found;
}

std::vector<Interpolants> by_bandwidth(std::size_t rows, std::size_t num_directions, Seed seed, ThreadCount threads) {
  constexpr std::size_t kReference = 64;
  Sample x{Matrix<double>(rows, 1), {}, {}};
  Sample y = x;
  for (std::size_t j = 0; j < rows; ++j) {
    const double level = (static_cast<double>(j) + 0.5) / static_cast<double>(rows);
    x.points(j, 0) = normal_quantile(level);
    y.points(j, 0) = laplace_quantile(level);
  }
  MethodOptions options;
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = normal_points(kReference);
  options.directions.num_directions = num_directions;
  options.power = 2.0;
  options.seed = seed;
  options.threads = threads;
  std::vector<Interpolants> found;
  for (const double width : {0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8}) {
    options.kernel = parse_kernel(fmt::format("gaussian@{}", width));
    found.push_back(distances(width, x, y, options));
  }
  return found;
}

ExperimentReport interpolation(const ExperimentOptions& options, const RunControl* control) {
  const StopScope stop(control);
  const ProgressScope progress(control, "distances");
  const std::size_t rows = options.quick ? 200 : 4000;
  const std::size_t num_directions = options.quick ? 32 : 512;
  const auto angles = from_shift_to_spread(rows, num_directions, options.seed, options.threads);
  const auto widths = by_bandwidth(rows / 2, num_directions, options.seed, options.threads);
  const std::string table = fmt::format(
      "### Between MMD and kernel sliced Wasserstein\n\nDistances of order 2. Linear kernel, {} rows of N(0, I) in "
      "three "
      "columns and of N(cos(a) e1, (1 + sin(a))² I).\n\n{}\nGaussian kernel, N(0, 1) and the Laplace distribution of "
      "variance 1 by {} quantiles.\n\n{}",
      rows, table_of("a, degrees", angles), rows / 2, table_of("bandwidth", widths));
  return write_figure(
      "interpolation", options, {angle_panel(angles), bandwidth_panel(widths)},
      {{"rows", rows}, {"directions", num_directions}, {"angles", json_of(angles)}, {"bandwidths", json_of(widths)}},
      table);
}

}  // namespace kqd::lab
