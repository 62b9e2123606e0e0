#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "experiments/figure_files.hpp"
#include "experiments/run_seed.hpp"
#include "experiments/theory.hpp"
#include "kqd/metrics/mmd.hpp"
#include "report/rows.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kDegree = 3;   // where rows vary
constexpr std::size_t kDegrees = 6;  // 1 to 6
// n E MMD_V^2 for the cubic kernel: sum_i C(3, i) (Var_P X^i + Var_Q X^i) = 3 (1 + 1) + 3 (2 + 2) + (15 + 9).
constexpr double kMmdFactor = 42.0;

MethodOptions polynomial_options(std::size_t degree, std::size_t num_directions, Seed seed) {
  constexpr std::size_t kReference = 8;
  MethodOptions options;
  options.kernel = parse_kernel(fmt::format("polynomial:{}:1", degree));
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = normal_points(kReference);
  options.directions.num_directions = num_directions;
  options.seed = seed;
  options.threads = ThreadCount{1};
  return options;
}

Sample drawn(const Sample& from, std::size_t n, Seed seed, Purpose purpose) {
  Sample sample{Matrix<double>(n, 1), {}, {}};
  RandomStream stream(seed, purpose);
  for (double& value : sample.points.values()) {
    double left = stream.uniform();
    std::size_t k = 0;
    while (k + 1 < from.weights.size() && left > from.weights[k]) left -= from.weights[k++];
    value = from.points(k, 0);
  }
  return sample;
}

// The quantile function of u on a distribution of few points, as a staircase.
std::vector<ChartPoint> staircase(const Sample& sample, const Directions& directions, std::size_t i) {
  Matrix<double> values(1, sample.points.rows());
  directions.evaluate(sample.points, i, values.view(), ThreadCount{1});
  std::vector<std::pair<double, double>> steps;
  for (std::size_t k = 0; k < values.cols(); ++k) steps.emplace_back(values(0, k), sample.weights[k]);
  std::ranges::sort(steps);
  std::vector<ChartPoint> points;
  double level = 0.0;
  for (const auto& [value, weight] : steps) {
    points.push_back({level, value});
    points.push_back({level += weight, value});
  }
  return points;
}

ChartPanel quantile_panel(Seed seed) {
  const MethodOptions options = polynomial_options(kDegree, 1, seed);
  const auto directions = ekqd(four_points(), three_points(), options).directions;
  Series p{.label = "P, four points", .points = staircase(four_points(), *directions, 0), .colour = palette_colour(2)};
  Series q{.label = "Q, three points",
           .points = staircase(three_points(), *directions, 0),
           .colour = palette_colour(3),
           .stroke = Stroke::dashed};
  double low = p.points.front().y;
  double high = p.points.back().y;
  low = std::min(low, q.points.front().y);
  high = std::max(high, q.points.back().y);
  const double margin = 0.08 * (high - low);
  return {.title = "a cubic direction u",
          .x = {.title = "level", .ticks = even_ticks(0.0, 1.0, 4)},
          .y = {.title = "quantile of u(X)",
                .low = low - margin,
                .high = high + margin,
                .ticks = even_ticks(low - margin, high + margin, 4)},
          .series = {std::move(p), std::move(q)}};
}

Series distance_series(bool mmd) {
  return {.label = mmd ? "MMD" : "e-KQD",
          .points = {},
          .colour = palette_colour(mmd ? 0 : 1),
          .marker = mmd ? Marker::circle : Marker::square};
}

ChartPanel degree_panel(const std::vector<MomentDistances>& found) {
  ChartPanel panel{.title = "P against Q",
                   .x = {.title = "degree of the kernel", .low = 0.7, .high = static_cast<double>(kDegrees) + 0.3},
                   .y = {.title = "distance"},
                   .series = {distance_series(true), distance_series(false)}};
  for (std::size_t degree = 1; degree <= kDegrees; ++degree) {
    const auto place = static_cast<double>(degree);
    panel.x.ticks.push_back({place, std::to_string(degree)});
    panel.series[0].points.push_back({place, found[degree - 1].mmd});
    panel.series[1].points.push_back({place, found[degree - 1].ekqd});
  }
  panel.y.high = 1.3 * found.back().mmd;  // e-KQD of the last degrees is above
  panel.y.low = -0.03 * panel.y.high;
  panel.y.ticks = even_ticks(0.0, panel.y.high, 4);
  return panel;
}

// For one number of rows: the root mean square of MMD over repeats, and the mean of e-KQD.
struct OfRows {
  double rows = 0.0;
  MomentDistances mean;
};

std::vector<OfRows> by_rows(const ExperimentOptions& options, std::size_t num_directions) {
  const std::vector<std::size_t> sizes =
      options.quick ? std::vector<std::size_t>{50, 200} : std::vector<std::size_t>{50, 100, 200, 400, 800, 1600, 3200};
  const std::size_t repeats = options.quick ? 10 : 100;
  const Sample p = four_points();
  const Sample q = three_points();
  std::vector<OfRows> found;
  for (const std::size_t n : sizes) {
    std::vector<MomentDistances> runs(repeats);
    const std::string name = fmt::format("same-moments {}", n);
    parallel_for_blocks(repeats, 1, options.threads, [&](std::size_t run, std::size_t) {
      const Seed seed = run_seed(name, options.seed, run);
      runs[run] = polynomial_distances(drawn(p, n, seed, Purpose::synthetic_x), drawn(q, n, seed, Purpose::synthetic_y),
                                       kDegree, num_directions, options.seed);
    });
    OfRows at{static_cast<double>(n), {}};
    for (const MomentDistances& run : runs) {
      at.mean.mmd += run.mmd * run.mmd / static_cast<double>(repeats);
      at.mean.ekqd += run.ekqd / static_cast<double>(repeats);
    }
    at.mean.mmd = std::sqrt(at.mean.mmd);
    found.push_back(at);
  }
  return found;
}

ChartPanel rows_panel(const std::vector<OfRows>& found) {
  ChartPanel panel{
      .title = "samples, cubic kernel",
      .x = {.title = "rows n", .low = 0.8 * found.front().rows, .high = 1.25 * found.back().rows, .log = true},
      .y = {.title = "distance", .low = 0.05, .high = 2.0, .log = true, .ticks = {{0.1, "0.1"}, {1.0, "1"}}},
      .series = {distance_series(true), distance_series(false)}};
  for (const double place : {100.0, 1000.0}) panel.x.ticks.push_back({place, shortest(place)});
  Series theory{.label = "sqrt(42 / n)", .points = {}, .colour = "#555555", .stroke = Stroke::dotted};
  for (const OfRows& at : found) {
    panel.series[0].points.push_back({at.rows, at.mean.mmd});
    panel.series[1].points.push_back({at.rows, at.mean.ekqd});
    theory.points.push_back({at.rows, std::sqrt(kMmdFactor / at.rows)});
  }
  panel.series.push_back(std::move(theory));
  return panel;
}

}  // namespace

Sample four_points() {
  const double root6 = std::sqrt(6.0);
  const double outer = std::sqrt(3.0 + root6);
  const double inner = std::sqrt(3.0 - root6);
  const double light = (3.0 - root6) / 12.0;
  const double heavy = (3.0 + root6) / 12.0;
  return {Matrix<double>(4, 1, {-outer, -inner, inner, outer}), {light, heavy, heavy, light}, {}};
}

Sample three_points() {
  const double root3 = std::sqrt(3.0);
  return {Matrix<double>(3, 1, {-root3, 0.0, root3}), {1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0}, {}};
}

MomentDistances polynomial_distances(const SampleView& x, const SampleView& y, std::size_t degree,
                                     std::size_t num_directions, Seed seed) {
  const MethodOptions options = polynomial_options(degree, num_directions, seed);
  return {.mmd = mmd_v(x, y, options).statistic, .ekqd = ekqd(x, y, options).statistic};
}

ExperimentReport same_moments(const ExperimentOptions& options, const RunControl* control) {
  const StopScope stop(control);
  const ProgressScope progress(control, "repeats");
  const std::size_t num_directions = options.quick ? 16 : 256;
  std::vector<MomentDistances> exact;
  std::vector<std::vector<std::string>> lines = {{"kernel", "MMD", "e-KQD"}};
  nlohmann::ordered_json degrees;
  for (std::size_t degree = 1; degree <= kDegrees; ++degree) {
    exact.push_back(polynomial_distances(four_points(), three_points(), degree, num_directions, options.seed));
    lines.push_back({fmt::format("(x y + 1)^{}", degree), fmt::format("{:.2g}", exact.back().mmd),
                     fmt::format("{:.3f}", exact.back().ekqd)});
    degrees.push_back({{"degree", degree}, {"mmd", exact.back().mmd}, {"ekqd", exact.back().ekqd}});
  }
  const std::vector<OfRows> samples = by_rows(options, num_directions);
  std::vector<std::vector<std::string>> of_samples = {{"rows", "root mean square MMD", "sqrt(42 / n)", "mean e-KQD"}};
  nlohmann::ordered_json rows;
  for (const OfRows& at : samples) {
    of_samples.push_back({fmt::format("{}", at.rows), fmt::format("{:.3f}", at.mean.mmd),
                          fmt::format("{:.3f}", std::sqrt(kMmdFactor / at.rows)), fmt::format("{:.3f}", at.mean.ekqd)});
    rows.push_back({{"rows", at.rows}, {"mmd", at.mean.mmd}, {"ekqd", at.mean.ekqd}});
  }
  const std::string table = fmt::format(
      "### Equal moments\n\nP has four and Q three points; their first five moments are equal. {} directions, p = "
      "1.\n\n"
      "{}\nSamples of P and Q, kernel (x y + 1)^{}.\n\n{}",
      num_directions, markdown_table(lines), kDegree, markdown_table(of_samples));
  return write_figure("same-moments", options, {quantile_panel(options.seed), degree_panel(exact), rows_panel(samples)},
                      {{"directions", num_directions}, {"degrees", degrees}, {"samples", rows}}, table);
}

}  // namespace kqd::lab
