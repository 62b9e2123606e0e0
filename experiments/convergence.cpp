#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "experiments/figure_files.hpp"
#include "experiments/run_seed.hpp"
#include "experiments/theory.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "report/rows.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kDirections = 32;  // of e-KQD where rows vary
constexpr std::size_t kReference = 64;
constexpr std::size_t kRows = 100;  // of each sample where directions vary

Sample uniform_sample(std::size_t n, double low, Seed seed, Purpose purpose) {
  Sample sample{Matrix<double>(n, 1), {}, {}};
  RandomStream stream(seed, purpose);
  for (double& value : sample.points.values()) value = low + stream.uniform();
  return sample;
}

// N(shift, scale^2) in every column.
Sample normal_sample(std::size_t n, std::size_t dim, Seed seed, Purpose purpose, double shift = 0.0,
                     double scale = 1.0) {
  Sample sample{Matrix<double>(n, dim), {}, {}};
  RandomStream stream(seed, purpose);
  for (double& value : sample.points.values()) value = shift + scale * stream.normal();
  return sample;
}

// u(x) = exp(-x^2/2): the direction of a Gaussian kernel of width 1 at 0, which has norm 1 and falls on x > 0.
double u(double x) {
  return std::exp(-0.5 * x * x);
}

MethodOptions one_direction() {
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1");
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = Matrix<double>(1, 1, {0.0});
  options.directions.coefficients = Matrix<double>(1, 1, {1.0});
  options.threads = ThreadCount{1};
  return options;
}

// The Gaussian measure on the space of a Gaussian kernel of width sqrt(dim), seen through fixed reference points.
MethodOptions gaussian_measure(std::size_t dim, Seed seed) {
  MethodOptions options;
  options.kernel = parse_kernel(fmt::format("gaussian@{}", std::sqrt(static_cast<double>(dim))));
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = normal_sample(kReference, dim, seed, Purpose::reference_points).points;
  options.directions.num_directions = kDirections;
  options.threads = ThreadCount{1};
  options.seed = seed;
  return options;
}

MethodOptions linear_measure(Seed seed) {
  MethodOptions options;
  options.directions.family = DirectionFamily::linear;
  options.directions.num_directions = kDirections;
  options.threads = ThreadCount{1};
  options.seed = seed;
  return options;
}

using ErrorOfRun = std::function<double(std::size_t size, Seed seed)>;

RateCurve measured(std::string label, const std::vector<std::size_t>& sizes, const RateSettings& settings,
                   const ErrorOfRun& error_of, std::optional<double> factor = {}) {
  RateCurve curve{.label = std::move(label), .errors = {}, .fit = {}, .factor = factor};
  for (const std::size_t size : sizes) {
    std::vector<double> errors(settings.repeats);
    const std::string name = fmt::format("rates {} {}", curve.label, size);
    parallel_for_blocks(settings.repeats, 1, settings.threads, [&](std::size_t run, std::size_t) {
      errors[run] = error_of(size, run_seed(name, settings.seed, run));
    });
    curve.errors.push_back(root_mean_square(static_cast<double>(size), errors));
  }
  curve.fit = fit_power_law(curve.errors);
  return curve;
}

// P and Q uniform on [0, 1] and [0.5, 1.5]: u falls, so q_P > q_Q at every level, tau_1 = E u(X) - E u(Y), and the
// error is that of a difference of means.
RateCurve uniform_curve(const RateSettings& settings) {
  const double low = 0.5;
  const auto mean = [](double from) {  // of u over [from, from + 1]
    return std::sqrt(0.5 * std::numbers::pi) *
           (std::erf((from + 1.0) / std::numbers::sqrt2) - std::erf(from / std::numbers::sqrt2));
  };
  const auto mean_square = [](double from) {
    return 0.5 * std::sqrt(std::numbers::pi) * (std::erf(from + 1.0) - std::erf(from));
  };
  const double truth = mean(0.0) - mean(low);
  const double variance = mean_square(0.0) - mean(0.0) * mean(0.0) + mean_square(low) - mean(low) * mean(low);
  const MethodOptions options = one_direction();
  return measured(
      "d = 1, uniform", settings.rows, settings,
      [&](std::size_t n, Seed seed) {
        return ekqd(uniform_sample(n, 0.0, seed, Purpose::synthetic_x),
                    uniform_sample(n, low, seed, Purpose::synthetic_y), options)
                   .statistic -
               truth;
      },
      std::sqrt(variance));
}

// N(0, I) and N(m, I): along a direction w of the linear kernel tau_1 = |w.m|.
RateCurve shift_curve(std::size_t dim, const RateSettings& settings) {
  const double shift = 5.0;  // of every column: few directions see almost none of it
  const MethodOptions options = linear_measure(run_seed("rates directions", settings.seed, dim));
  const Sample any = normal_sample(2, dim, {}, Purpose::synthetic_x);
  const Matrix<double> weights = ekqd(any, any, options).directions->terms().coefficients;
  double truth = 0.0;
  for (std::size_t i = 0; i < weights.cols(); ++i) {
    double along = 0.0;
    for (std::size_t k = 0; k < dim; ++k) along += shift * weights(k, i);
    truth += std::abs(along) / static_cast<double>(weights.cols());
  }
  return measured(fmt::format("d = {}, shift", dim), settings.rows, settings, [&](std::size_t n, Seed seed) {
    return ekqd(normal_sample(n, dim, seed, Purpose::synthetic_x),
                normal_sample(n, dim, seed, Purpose::synthetic_y, shift), options)
               .statistic -
           truth;
  });
}

// P = Q: e-KQD is 0, so that of samples is all error.
RateCurve null_curve(std::size_t dim, const RateSettings& settings) {
  const MethodOptions options = gaussian_measure(dim, run_seed("rates directions", settings.seed, dim));
  return measured(fmt::format("d = {}, P = Q", dim), settings.rows, settings, [&](std::size_t n, Seed seed) {
    return ekqd(normal_sample(n, dim, seed, Purpose::synthetic_x), normal_sample(n, dim, seed, Purpose::synthetic_y),
                options)
        .statistic;
  });
}

RateCurve direction_curve(std::size_t dim, const RateSettings& settings) {
  const Seed fixed = run_seed("rates rows", settings.seed, dim);
  const Sample x = normal_sample(kRows, dim, fixed, Purpose::synthetic_x);
  const Sample y = normal_sample(kRows, dim, fixed, Purpose::synthetic_y, 0.0, 1.5);
  MethodOptions options = gaussian_measure(dim, fixed);
  options.directions.num_directions = settings.many_directions;
  options.threads = settings.threads;
  const DistanceResult all = ekqd(x, y, options);
  double variance = 0.0;
  for (const double tau : all.per_direction) {
    variance += (tau - all.statistic) * (tau - all.statistic) / static_cast<double>(all.per_direction.size() - 1);
  }
  options.threads = ThreadCount{1};
  return measured(
      fmt::format("d = {}", dim), settings.directions, settings,
      [&](std::size_t l, Seed seed) {
        MethodOptions few = options;
        few.directions.num_directions = l;
        few.seed = seed;
        return ekqd(x, y, few).statistic - all.statistic;
      },
      std::sqrt(variance));
}

Axis log_axis(std::string title, double low, double high) {
  Axis axis{.title = std::move(title), .low = low, .high = high, .log = true};
  for (double place = std::pow(10.0, std::ceil(std::log10(low) - 1e-9)); place <= high * (1.0 + 1e-9); place *= 10.0) {
    axis.ticks.push_back({place, place < 0.99 ? fmt::format("1e{}", std::lround(std::log10(place))) : shortest(place)});
  }
  return axis;
}

ChartPanel rate_panel(std::string title, std::string size, const std::vector<RateCurve>& curves,
                      std::size_t first_colour) {
  double least = curves.front().errors.front().error;
  double most = least;
  for (const RateCurve& curve : curves) {
    for (const SizedError& at : curve.errors) {
      least = std::min(least, at.error);
      most = std::max(most, at.error);
    }
  }
  const auto& sizes = curves.front().errors;
  ChartPanel panel{.title = std::move(title),
                   .x = log_axis(std::move(size), 0.8 * sizes.front().size, 1.25 * sizes.back().size),
                   .y = log_axis(first_colour == 0 ? "root mean square error" : "", 0.7 * least, 1.5 * most),
                   .series = {}};
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const RateCurve& curve = curves[k];
    Series series{.label = curve.label,
                  .points = {},
                  .colour = palette_colour(first_colour + k),
                  .marker = palette_marker(first_colour + k),
                  .stroke = Stroke::none};
    for (const SizedError& at : curve.errors) {
      series.points.push_back(
          {at.size, at.error,
           Interval{std::max(0.5 * least, at.error - 2.0 * at.standard_error), at.error + 2.0 * at.standard_error}});
    }
    // The line of slope -1/2: that of theory, or through the first error.
    const double factor = curve.factor.value_or(curve.errors.front().error * std::sqrt(sizes.front().size));
    panel.series.push_back({.label = curve.factor ? "known" : "slope -1/2",
                            .points = {{sizes.front().size, factor / std::sqrt(sizes.front().size)},
                                       {sizes.back().size, factor / std::sqrt(sizes.back().size)}},
                            .colour = curve.factor ? "#555555" : "#999999",
                            .stroke = curve.factor ? Stroke::solid : Stroke::dotted,
                            .width = 1.2});
    panel.series.push_back(std::move(series));
  }
  return panel;
}

void add_lines(std::vector<std::vector<std::string>>& lines, std::string_view what, std::string_view letter,
               const std::vector<RateCurve>& curves) {
  for (const RateCurve& curve : curves) {
    const SizedError& last = curve.errors.back();
    lines.push_back({fmt::format("{}, {}", what, curve.label),
                     fmt::format("{} = {} to {}", letter, curve.errors.front().size, last.size),
                     fmt::format("{:.3f}", curve.fit.slope), fmt::format("{:.3f}", curve.fit.standard_error),
                     curve.factor ? fmt::format("{:.3f}", last.error * std::sqrt(last.size) / *curve.factor) : ""});
  }
}

nlohmann::ordered_json curves_json(const std::vector<RateCurve>& curves) {
  auto list = nlohmann::ordered_json::array();
  for (const RateCurve& curve : curves) {
    nlohmann::ordered_json entry = {
        {"label", curve.label}, {"slope", curve.fit.slope}, {"slope_standard_error", curve.fit.standard_error}};
    if (curve.factor) entry["factor"] = *curve.factor;
    for (const SizedError& at : curve.errors) entry["errors"].push_back({at.size, at.error, at.standard_error});
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::vector<RateCurve> embedding_rates(const RateSettings& settings) {
  const auto direction = std::make_shared<const KernelDirections>(
      Kernel(parse_kernel("gaussian@1")), Matrix<double>(1, 1, {0.0}), Matrix<double>(1, 1, {1.0}));
  std::vector<RateCurve> curves;
  for (const double level : {0.1, 0.5, 0.75}) {
    // X is uniform on [0, 1] and u falls, so that the quantile of u(X) is u(1 - level), and its density there is
    // 1 / |u'|: above 1, as the theorem wants it above 0.
    const double place = 1.0 - level;
    const double factor = std::sqrt(level * (1.0 - level)) * place * u(place);
    curves.push_back(measured(
        fmt::format("level {}", level), settings.rows, settings,
        [&](std::size_t n, Seed seed) {
          const KernelQuantileEmbedding embedding(uniform_sample(n, 0.0, seed, Purpose::synthetic_x), direction,
                                                  ThreadCount{1});
          return embedding.quantile({level, 0}) - u(place);
        },
        factor));
  }
  return curves;
}

std::vector<RateCurve> row_rates(const RateSettings& settings) {
  return {uniform_curve(settings), null_curve(10, settings), null_curve(100, settings), shift_curve(100, settings)};
}

std::vector<RateCurve> direction_rates(const RateSettings& settings) {
  return {direction_curve(1, settings), direction_curve(10, settings), direction_curve(100, settings)};
}

ExperimentReport convergence(const ExperimentOptions& options, const RunControl* control) {
  const StopScope stop(control);
  const ProgressScope progress(control, "repeats");
  RateSettings settings{.rows = {100, 200, 400, 800, 1600, 3200, 6400, 12'800},
                        .directions = {4, 8, 16, 32, 64, 128, 256, 512, 1024},
                        .repeats = 200,
                        .many_directions = 1U << 17U,
                        .seed = options.seed,
                        .threads = options.threads};
  if (options.quick) {
    settings.rows = {50, 200};
    settings.directions = {4, 16};
    settings.repeats = 20;
    settings.many_directions = 512;
  }
  const std::vector<RateCurve> embedding = embedding_rates(settings);
  const std::vector<RateCurve> rows = row_rates(settings);
  const std::vector<RateCurve> directions = direction_rates(settings);
  std::vector<std::vector<std::string>> lines = {
      {"error of", "sizes", "slope", "standard error", "last error / known"}};
  add_lines(lines, "embedding", "n", embedding);
  add_lines(lines, "e-KQD in rows", "n", rows);
  add_lines(lines, "e-KQD in directions", "l", directions);
  const std::string table =
      fmt::format("### Rates of convergence\n\nSlopes of log error over log size, by least squares; {} repeats.\n\n{}",
                  settings.repeats, markdown_table(lines));
  return write_figure(
      "rates", options,
      {rate_panel("embedding (Th. 3)", "rows n", embedding, 0), rate_panel("e-KQD in rows (Th. 5)", "rows n", rows, 3),
       rate_panel("in directions (Th. 5)", "directions l", directions, 7)},
      {{"repeats", settings.repeats},
       {"embedding", curves_json(embedding)},
       {"rows", curves_json(rows)},
       {"directions", curves_json(directions)}},
      table);
}

}  // namespace kqd::lab
