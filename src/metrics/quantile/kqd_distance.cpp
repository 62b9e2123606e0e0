#include "kqd/metrics/discrepancy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/pairs.hpp"
#include "core/pool.hpp"
#include "core/summation.hpp"
#include "directions/reference.hpp"
#include "kernel/kernel_traits.hpp"
#include "kernel/resolve.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/mean_embedding.hpp"
#include "metrics/numerics.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "metrics/test_pool.hpp"
#include "quantiles/quantile_gap.hpp"
#include "quantiles/sorted_projections.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMinProjectionBytes = std::size_t{256} << 20U;
constexpr std::size_t kPairsPerReport = 64;

// Directions whose projections of all samples fit into 1.5 times the input (at least 256 MB), or into the user's limit.
std::size_t directions_at_a_time(std::span<const SampleView> samples, std::size_t max_memory) {
  std::size_t rows = 0;
  for (const SampleView& sample : samples) rows += sample.size();
  const std::size_t input_bytes = rows * samples.front().dim() * sizeof(double);
  const std::size_t budget = max_memory > 0 ? max_memory : std::max(kMinProjectionBytes, input_bytes + input_bytes / 2);
  const bool weighted = std::ranges::any_of(samples, &SampleView::weighted);
  return directions_that_fit(budget, rows * sizeof(double) * (weighted ? 2 : 1));  // two: cumulative weights next to
}

// tau_p along one direction, whichever way the samples are weighted.
class GapMeter {
 public:
  GapMeter(const SortedProjections& x, const SortedProjections& y, const MethodOptions& options)
      : GapMeter(x.num_points(), y.num_points(), x.weighted() || y.weighted(), options) {}

  GapMeter(std::size_t nx, std::size_t ny, bool weighted, const MethodOptions& options)
      : weighting_(options.weighting), power_{options.power} {
    if (!weighted) grid_.emplace(nx, ny, options.weighting, options.point_evaluated_levels);
    require_levels_known(options.point_evaluated_levels, weighted);
  }

  [[nodiscard]] double tau(const QuantileFunction& x, const QuantileFunction& y, GapForm form) const {
    return grid_ ? quantile_gap(x.values, y.values, *grid_, power_, form)
                 : quantile_gap(x, y, weighting_, power_, form);
  }

 private:
  LevelWeights weighting_;
  Power power_;
  std::optional<LevelGrid> grid_;
};

// Plain, or centered when the squared MMD_V is given.
GapForm gap_form(double mean_x, double mean_y, std::optional<double> mmd_squared) {
  if (!mmd_squared) return {};
  const double c = mean_x - mean_y;
  return {.centered = true, .shift = *mmd_squared - c * c};
}

// If most pooled values are equal, the median of one of the samples is that value.
bool is_flat(const QuantileFunction& x, const QuantileFunction& y) {
  const std::size_t total = x.values.size() + y.values.size();
  const auto count = [](std::span<const double> sorted, double value) {
    return static_cast<std::size_t>(std::ranges::upper_bound(sorted, value) - std::ranges::lower_bound(sorted, value));
  };
  for (const QuantileFunction* sample : {&x, &y}) {
    const double candidate = sample->values[sample->values.size() / 2];
    const std::size_t same = count(x.values, candidate) + count(y.values, candidate);
    if (is_mostly_one_value(same, total)) return true;
  }
  return false;
}

SortedProjections project(const Directions& directions, std::span<const double> origin, const SampleView& sample,
                          DirectionRange range, ThreadCount threads) {
  Matrix<double> values(range.count, sample.size());
  directions.evaluate_from(origin, sample.points, range.first, values, threads);
  return {std::move(values), sample.weights, threads};
}

void require_finite_gaps(std::span<const double> tau) {
  const auto overflow = std::ranges::find_if(tau, [](double t) { return !std::isfinite(t); });
  if (overflow == tau.end()) return;
  require_finite(*overflow, fmt::format("the gap along direction {}", overflow - tau.begin() + 1));
}

struct DirectionGaps {
  std::vector<double> tau;
  std::size_t num_flat = 0;
};

// tau along every direction, a bounded number of directions at a time.
DirectionGaps direction_gaps(const SampleView& x, const SampleView& y, const Directions& directions,
                             const MethodOptions& options, std::optional<double> mmd_squared) {
  const std::vector<double> origin = directions.linear() ? pooled_mean({x.points, y.points}) : std::vector<double>{};
  const GapMeter meter(x.size(), y.size(), x.weighted() || y.weighted(), options);
  const std::size_t l = directions.count();
  const std::array<SampleView, 2> samples = {x, y};
  const std::size_t step = directions_at_a_time(samples, options.max_memory);

  DirectionGaps gaps{std::vector<double>(l), 0};
  std::vector<char> flat(l, 0);
  for (std::size_t first = 0; first < l; first += step) {
    const std::size_t count = std::min(step, l - first);
    const SortedProjections px = project(directions, origin, x, {first, count}, options.threads);
    const SortedProjections py = project(directions, origin, y, {first, count}, options.threads);
    parallel_for_blocks(count, 1, options.threads, [&](std::size_t i, std::size_t) {
      gaps.tau[first + i] = meter.tau(px.quantiles(i), py.quantiles(i), gap_form(px.mean(i), py.mean(i), mmd_squared));
      flat[first + i] = is_flat(px.quantiles(i), py.quantiles(i)) ? 1 : 0;
    });
  }
  require_finite_gaps(gaps.tau);
  gaps.num_flat = static_cast<std::size_t>(std::ranges::count(flat, 1));
  return gaps;
}

// mean_i (tau_i / scale)^p.
double scaled_power_mean(std::span<const double> tau, double p, double scale) {
  CompensatedSum total;
  for (const double t : tau) total.add(p == 1.0 ? t / scale : std::pow(t / scale, p));
  return total.value() / static_cast<double>(tau.size());
}

// Delta method: sd(tau^p)/sqrt(l) carried through the p-th root. Also scaled by the largest.
std::optional<double> error_of_power_mean(std::span<const double> tau, double p) {
  const double largest = *std::ranges::max_element(tau);
  if (tau.size() < 2 || std::isinf(p)) return std::nullopt;
  if (largest == 0.0) return 0.0;
  const double mean = scaled_power_mean(tau, p, largest);
  std::vector<double> powers(tau.begin(), tau.end());
  for (double& t : powers) t = std::pow(t / largest, p);
  return largest * standard_error(powers, mean) * std::pow(mean, 1.0 / p - 1.0) / p;
}

void summarise(DistanceResult& result, Over over, double p) {
  result.statistic = over_directions(over, result.per_direction, p);
  if (over == Over::mean) result.standard_error = error_of_power_mean(result.per_direction, p);
  result.statistic_power = finite_power(result.statistic, p);
}

}  // namespace

double over_directions(Over over, std::span<const double> tau, double p) {
  const double largest = *std::ranges::max_element(tau);
  if (over == Over::maximum || std::isinf(p) || !(largest > 0.0)) return largest;
  return largest * std::pow(scaled_power_mean(tau, p, largest), 1.0 / p);
}

HalvedStatistic over_halves(Over over, std::span<const double> tau, double p) {
  const std::array<std::span<const double>, 2> halves = {tau.first(tau.size() / 2), tau.subspan(tau.size() / 2)};
  HalvedStatistic found;
  for (std::size_t h = 0; h < halves.size(); ++h) found.halves[h] = *std::ranges::max_element(halves[h]);
  const double largest = found.all = std::max(found.halves[0], found.halves[1]);
  if (over == Over::maximum || std::isinf(p) || !(largest > 0.0)) return found;
  const auto root_of_mean = [&](const CompensatedSum& total, std::size_t count) {
    return largest * std::pow(total.value() / static_cast<double>(count), 1.0 / p);
  };
  CompensatedSum all;
  for (std::size_t h = 0; h < halves.size(); ++h) {
    CompensatedSum half;
    for (const double t : halves[h]) {
      const double power = p == 1.0 ? t / largest : std::pow(t / largest, p);
      all.add(power);
      half.add(power);
    }
    found.halves[h] = root_of_mean(half, halves[h].size());
  }
  found.all = root_of_mean(all, tau.size());
  return found;
}

double finite_power(double value, double p) {
  return std::isinf(p) ? value : std::min(std::pow(value, p), std::numeric_limits<double>::max());
}

bool is_mostly_one_value(std::size_t num_equal, std::size_t total) {
  return static_cast<double>(num_equal) > 0.95 * static_cast<double>(total);
}

KernelSpec kernel_of_directions(const MethodOptions& options, const Pool& pool, Warnings& warnings) {
  return has_own_kernel(options.directions.family) ? parse_kernel("linear") : resolve_kernel(options, pool, warnings);
}

void require_normalised_directions(const MethodOptions& options) {
  if (options.directions.normalise) return;
  fail(ErrorCode::invalid_option, "a centered discrepancy needs directions of norm 1, got unnormalised ones");
}

SharedSlices draw_slices(const Pool& pool, const MethodOptions& options, Over over) {
  SharedSlices slices;
  slices.over = over;
  const Kernel kernel(kernel_of_directions(options, pool, slices.warnings));
  slices.drawn = draw_directions(kernel, pool, options.directions, options.seed, options.threads);
  std::ranges::move(slices.drawn.warnings, std::back_inserter(slices.warnings));
  return slices;
}

PairwiseGaps measure_all_pairs(const Directions& directions, std::span<const double> origin,
                               std::span<const SampleView> samples, const MethodOptions& options, Over over,
                               const RunControl* control) {
  const std::vector<IndexPair> pairs = all_pairs(samples.size());
  const std::size_t l = directions.count();
  const std::size_t step = directions_at_a_time(samples, options.max_memory);
  Matrix<double> tau(pairs.size(), l);
  std::vector<char> flat(pairs.size(), 0);
  std::vector<std::optional<SortedProjections>> sorted(samples.size());
  const std::size_t num_chunks = (l + step - 1) / step;
  for (std::size_t first = 0; first < l; first += step) {
    const std::size_t count = std::min(step, l - first);
    const auto report = [&](double part) {  // projecting is about half of the work
      if (control == nullptr || !control->progress) return;
      const std::size_t chunk = first / step;
      control->progress(
          {.done = static_cast<double>(chunk) + part, .total = static_cast<double>(num_chunks), .what = "distances"});
    };
    for (std::size_t i = 0; i < samples.size(); ++i) {
      stop_point();
      sorted[i].reset();  // the memory of the last range goes before the next is taken
      sorted[i].emplace(project(directions, origin, samples[i], {first, count}, options.threads));
      report(0.5 * static_cast<double>(i + 1) / static_cast<double>(samples.size()));
    }
    for (std::size_t begin = 0; begin < pairs.size(); begin += kPairsPerReport) {
      const std::size_t num_pairs = std::min(kPairsPerReport, pairs.size() - begin);
      parallel_for_blocks(num_pairs, 1, options.threads, [&](std::size_t offset, std::size_t) {
        const std::size_t k = begin + offset;
        const SortedProjections& x = *sorted[pairs[k].i];
        const SortedProjections& y = *sorted[pairs[k].j];
        const GapMeter meter(x, y, options);
        for (std::size_t i = 0; i < count; ++i) {
          tau(k, first + i) = meter.tau(x.quantiles(i), y.quantiles(i), {});
          if (is_flat(x.quantiles(i), y.quantiles(i))) flat[k] = 1;
        }
      });
      report(0.5 + 0.5 * static_cast<double>(begin + num_pairs) / static_cast<double>(pairs.size()));
    }
  }
  PairwiseGaps gaps{Matrix<double>(samples.size(), samples.size(), 0.0),
                    static_cast<std::size_t>(std::ranges::count(flat, 1))};
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    require_finite_gaps(tau.row(k));
    const auto [i, j] = pairs[k];
    gaps.distances(i, j) = gaps.distances(j, i) = over_directions(over, tau.row(k), options.power);
  }
  return gaps;
}

void measure_along(DistanceResult& result, const Directions& directions, const SampleView& x, const SampleView& y,
                   const MethodOptions& options, Over over, std::optional<double> mmd_squared) {
  result.kernel = directions.kernel().spec();
  result.num_directions = directions.count();
  DirectionGaps gaps = direction_gaps(x, y, directions, options, mmd_squared);
  result.per_direction = std::move(gaps.tau);
  warn_about_flat_directions(gaps.num_flat, result.num_directions, result.kernel, result.warnings);
  summarise(result, over, options.power);
}

namespace {

DistanceResult discrepancy(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options,
                           Over over, bool centered) {
  DistanceResult result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  MethodOptions resolved = options;
  if (!has_own_kernel(options.directions.family))
    resolved.kernel = resolve_on_test_pool(x, y, options, result.warnings);
  SharedSlices slices = draw_slices({x.points, y.points}, resolved, over);
  std::ranges::move(slices.warnings, std::back_inserter(result.warnings));
  const DrawnDirections& drawn = slices.drawn;
  result.num_reference = drawn.num_reference;
  result.directions = drawn.directions;
  std::optional<double> mmd_squared;
  if (centered) {
    require_normalised_directions(options);
    require_feasible(x.size() + y.size(), x.dim(), options.allow_quadratic, "the MMD of the centered discrepancy");
    mmd_squared = mmd_v_squared(drawn.directions->kernel(), x, y, options.threads);
    result.details.push_back({"mmd_squared", *mmd_squared});
  }
  measure_along(result, *drawn.directions, x, y, options, over, mmd_squared);
  return result;
}

}  // namespace

std::optional<double> find_detail(const std::vector<Detail>& details, std::string_view name) {
  const auto found = std::ranges::find(details, name, &Detail::name);
  return found == details.end() ? std::nullopt : std::optional(found->value);
}

void validate(const MethodOptions& options) {
  if (!(options.power >= 1.0)) fail_option("power", options.power, "a number >= 1");
  validate(options.kernel);
}

DistanceResult ekqd(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return discrepancy(x, y, options, Over::mean, false);
}

DistanceResult supkqd(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return discrepancy(x, y, options, Over::maximum, false);
}

DistanceResult ekqd_centered(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return discrepancy(x, y, options, Over::mean, true);
}

DistanceResult supkqd_centered(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return discrepancy(x, y, options, Over::maximum, true);
}

namespace {

// A norm is a root of a sum that is at least 1e-12 of its terms (directions.cpp), so that directions of norm 1 have it
// to 1e-3 at worst.
void require_unit_norms(const Directions& directions) {
  constexpr double kWorstNorm = 1e-3;
  for (std::size_t i = 0; i < directions.count(); ++i) {
    const double squared = directions.inner_product(i, directions, i);
    if (std::abs(squared - 1.0) <= 2.0 * kWorstNorm) continue;
    fail(ErrorCode::invalid_option,
         "a centered discrepancy needs directions of norm 1, but direction {} has norm {:.4g}", i + 1,
         std::sqrt(std::max(0.0, squared)));
  }
}

DistanceResult discrepancy(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                           const MethodOptions& options, Over over, bool centered) {
  validate(options);
  if (p.directions() != q.directions()) {
    fail(ErrorCode::shape_mismatch, "the embeddings have different directions, expected the same object");
  }
  DistanceResult result;
  result.kernel = p.directions()->kernel().spec();
  result.num_directions = p.directions()->count();
  result.per_direction.resize(result.num_directions);
  result.directions = p.directions();
  std::optional<double> mmd_squared;
  if (centered) {
    require_unit_norms(*p.directions());
    mmd_squared = mmd_v_squared(p.directions()->kernel(), p.sample(), q.sample(), options.threads);
    result.details.push_back({"mmd_squared", *mmd_squared});
  }
  const GapMeter meter(p.projections(), q.projections(), options);
  parallel_for_blocks(result.num_directions, 1, options.threads, [&](std::size_t i, std::size_t) {
    result.per_direction[i] = meter.tau(p.projections().quantiles(i), q.projections().quantiles(i),
                                        gap_form(p.projections().mean(i), q.projections().mean(i), mmd_squared));
  });
  require_finite_gaps(result.per_direction);
  summarise(result, over, options.power);
  return result;
}

}  // namespace

DistanceResult ekqd(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q, const MethodOptions& options) {
  return discrepancy(p, q, options, Over::mean, false);
}

DistanceResult supkqd(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                      const MethodOptions& options) {
  return discrepancy(p, q, options, Over::maximum, false);
}

DistanceResult ekqd_centered(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                             const MethodOptions& options) {
  return discrepancy(p, q, options, Over::mean, true);
}

DistanceResult supkqd_centered(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                               const MethodOptions& options) {
  return discrepancy(p, q, options, Over::maximum, true);
}

DistanceResult distance(std::string_view id, const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                        const MethodOptions& options) {
  constexpr std::string_view kCentered = "-centered";
  const bool centered = id.ends_with(kCentered);
  const std::string_view plain = centered ? id.substr(0, id.size() - kCentered.size()) : id;
  if (plain != "ekqd" && plain != "supkqd") {
    fail_option("method", id, "ekqd, supkqd, ekqd-centered or supkqd-centered for embeddings");
  }
  return discrepancy(p, q, options, plain == "ekqd" ? Over::mean : Over::maximum, centered);
}

}  // namespace kqd
