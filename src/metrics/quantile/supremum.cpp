#include "metrics/quantile/supremum.hpp"
#include "metrics/checked_samples.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/metrics/methods.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/numerics.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/quantile/sphere_ascent.hpp"
#include "metrics/split.hpp"

namespace kqd {
namespace {

SupremumOptions supremum_options(const ParameterValues& parameters) {
  return {.max_steps = parameters.count("steps"), .num_random = parameters.count("starts")};
}

std::vector<std::size_t> positions(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> list(end - begin);
  std::iota(list.begin(), list.end(), begin);
  return list;
}

// One weight per row of X, then of Y, each sample near 1; none when neither has any.
std::vector<double> joint_weights(const SampleView& x, const SampleView& y) {
  std::vector<double> weights;
  if (!x.weighted() && !y.weighted()) return weights;
  for (const SampleView* sample : {&x, &y}) {
    const auto own = sample->weighted() ? scaled_near_one(sample->weights) : std::vector<double>(sample->size(), 1.0);
    std::ranges::copy(own, std::back_inserter(weights));
  }
  return weights;
}

Matrix<double> all_rows(const Pool& pool) {
  Matrix<double> rows(pool.size(), pool.dim());
  copy_rows(pool, 0, rows);
  return rows;
}

double in_units(double value, double unit) {
  const double result = value * unit;
  require_finite(result, "the largest gap");
  return result;
}

void report(const Supremum& found, std::vector<Detail>& details) {
  details.push_back({"starts", static_cast<double>(found.num_starts)});
  details.push_back({"optima", static_cast<double>(found.num_optima)});
  details.push_back({"steps", static_cast<double>(found.num_steps)});
}

bool is_centered(const SupremumMethod& method, const ParameterValues& parameters) {
  return method.centered != nullptr && method.centered(parameters);
}

// |u(x) - u(y)| <= |phi(x) - phi(y)|: along no direction is transport more expensive than between the features.
std::optional<double> upper_bound(const SliceModel& model, const SampleView& x, const SampleView& y,
                                  const MethodOptions& options) {
  constexpr std::size_t kMostRows = 600;  // a tenth of a second
  const auto* const slices = dynamic_cast<const StoredSlices*>(model.slices.get());
  if (slices == nullptr || x.size() + y.size() > kMostRows || !options.weighting.is_uniform() ||
      options.point_evaluated_levels || std::isinf(options.power)) {
    return std::nullopt;
  }
  const SampleView features_x{slices->stored().row_range(0, x.size()), x.weights};
  const SampleView features_y{slices->stored().row_range(x.size(), y.size()), y.weights};
  MethodOptions transport;
  transport.power = options.power;
  transport.threads = options.threads;
  try {
    return distance("wasserstein", features_x, features_y, transport).statistic * model.unit;
  } catch (const Error& error) {  // high powers of distances underflow
    if (error.code() != ErrorCode::non_finite_value) throw;
    return std::nullopt;
  }
}

// Small problems have many local maxima next to their cost: they can afford more random starts.
std::size_t more_starts(const Slices& slices) {
  constexpr std::size_t kMost = 96;
  constexpr std::size_t kWork = 96'000;
  return std::min(kMost, kWork / std::max<std::size_t>(1, slices.num_points() * slices.dim()));
}

// A supremum over two samples, with the slices it was found on.
struct Fit {
  SliceModel model;
  Supremum found;
  double value = 0.0;
};

Fit fit(const SupremumMethod& method, const SampleView& x, const SampleView& y, const MethodOptions& options,
        const ParameterValues& parameters, SupremumMethod::Purpose purpose) {
  const std::size_t nx = x.size();
  const std::size_t n = nx + y.size();
  SupremumOptions limits = supremum_options(parameters);
  Fit result;
  result.model = method.make(all_rows({x.points, y.points}), row_blocks(nx, n), options, parameters, purpose);
  if (purpose == SupremumMethod::Purpose::value) limits.num_random += more_starts(*result.model.slices);
  require_feasible_seconds(expected_seconds(*result.model.slices, limits), options.allow_quadratic,
                           fmt::format("{} of {} rows", method.id, n));
  const auto x_positions = positions(0, nx);
  const auto y_positions = positions(nx, n);
  const auto weights = joint_weights(x, y);
  const GapProblem problem(*result.model.slices, x_positions, y_positions, weights, options,
                           is_centered(method, parameters));
  result.found = maximise_gap(problem, options.seed, limits, options.threads);
  result.value = in_units(result.found.value, result.model.unit);
  return result;
}

PreparedPlan prepare_by_split(const SupremumMethod& method, const TestPool& pool, const MethodOptions& options,
                              const PlanRequest& request, const ParameterValues& parameters) {
  const Split split = split_for_training(pool, parameters.value("share"), request, options.seed);
  const Fit trained =
      fit(method, split.train_x, split.train_y, options, parameters, SupremumMethod::Purpose::direction);
  const auto direction = trained.model.direction(trained.found.direction);
  PreparedPlan prepared = prepare_along(direction, pool, split.test_rows, options, Over::maximum, false);
  prepared.num_set_aside = split.train_rows.size();
  prepared.frozen.kernel = trained.model.kernel;
  prepared.details = trained.model.details;
  prepared.details.push_back({"fitted", trained.value});
  report(trained.found, prepared.details);
  prepared.warnings.insert(prepared.warnings.begin(), trained.model.warnings.begin(), trained.model.warnings.end());
  return prepared;
}

// The statistic of a permutation: a function of the unlabelled pool and of its labels.
struct Refit {
  SliceModel model;
  std::vector<double> weights;
  MethodOptions options;
  SupremumOptions limits;
  bool centered = false;

  [[nodiscard]] double operator()(std::span<const std::size_t> x, std::span<const std::size_t> y) const {
    const GapProblem problem(*model.slices, x, y, weights, options, centered);
    return in_units(maximise_gap(problem, options.seed, limits, ThreadCount{1}).value, model.unit);
  }
};

PreparedPlan prepare_by_refits(const SupremumMethod& method, const TestPool& pool, const MethodOptions& options,
                               const PlanRequest& request, const ParameterValues& parameters) {
  const std::size_t n = pool.order.size();
  auto refit = std::make_shared<Refit>();
  refit->model =
      method.make(all_rows(pool.rows()), row_blocks(n, n), options, parameters, SupremumMethod::Purpose::value);
  refit->options = options;
  refit->limits = supremum_options(parameters);
  refit->centered = is_centered(method, parameters);
  refit->weights = pool.weights_of(pool.order);
  const Slices& slices = *refit->model.slices;
  PreparedPlan prepared;
  prepared.expected_seconds = static_cast<double>(request.permutation_count) * expected_seconds(slices, refit->limits);
  require_feasible_seconds(prepared.expected_seconds, options.allow_quadratic,
                           fmt::format("{} of {} rows, once for each of {} permutations (share = 0),", method.id, n,
                                       request.permutation_count));
  prepared.rows = pool.order;
  prepared.frozen = options;
  prepared.frozen.kernel = refit->model.kernel;
  prepared.num_directions = 1;
  prepared.details = refit->model.details;
  prepared.warnings = refit->model.warnings;
  prepared.pooled_scale = in_units(largest_spread(slices, options.seed), refit->model.unit);
  // Ascents stop when five steps gain less than 1e-8 each: values closer than some of those count as equal, which can
  // only raise the p-value.
  prepared.plan = std::make_unique<DirectPlan>(
      n, [refit](auto x, auto y) { return (*refit)(x, y); }, [](double value) { return 1e-7 * std::abs(value); });
  return prepared;
}

// An order of samples that does not depend on which is called X: by size, then by their rows.
bool comes_before(const SampleView& a, const SampleView& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto row = a.points.row(i);
    const auto other = b.points.row(i);
    if (!std::ranges::equal(row, other)) return std::ranges::lexicographical_compare(row, other);
  }
  return false;
}

}  // namespace

DistanceResult supremum_distance(const SupremumMethod& method, const SampleView& x, const SampleView& y,
                                 const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x, y, options, result.warnings);
  const ParameterValues parameters(method.id, method.parameters, options.parameters);
  // Which local maximum is found depends on the order of the rows: with one order a distance is symmetric.
  const bool turned = comes_before(samples.y, samples.x);
  const SampleView& first = turned ? samples.y : samples.x;
  const SampleView& second = turned ? samples.x : samples.y;
  const Fit fitted = fit(method, first, second, options, parameters, SupremumMethod::Purpose::value);
  result.statistic = fitted.value;
  result.statistic_power = finite_power(fitted.value, options.power);
  result.per_direction = {fitted.value};
  result.kernel = fitted.model.kernel;
  result.num_directions = 1;
  result.details = fitted.model.details;
  report(fitted.found, result.details);
  try {
    result.directions = fitted.model.direction(fitted.found.direction);
  } catch (const Error& error) {  // the kernel is 0 on all rows
    if (error.code() != ErrorCode::degenerate_directions) throw;
  }
  if (!is_centered(method, parameters)) {
    if (const auto bound = upper_bound(fitted.model, first, second, options)) {
      result.details.push_back({"upper_bound", *bound});
    }
  }
  std::ranges::copy(fitted.model.warnings, std::back_inserter(result.warnings));
  return result;
}

PreparedPlan prepare_supremum(const SupremumMethod& method, const TestPool& pool, const MethodOptions& options,
                              const PlanRequest& request) {
  const ParameterValues parameters(method.id, method.parameters, options.parameters);
  if (is_centered(method, parameters) && parameters.value("share") > 0.0) {
    fail(ErrorCode::invalid_option,
         "a test of the centered form fits its direction again for every permutation; add the parameter share = 0");
  }
  PreparedPlan prepared = parameters.value("share") > 0.0
                              ? prepare_by_split(method, pool, options, request, parameters)
                              : prepare_by_refits(method, pool, options, request, parameters);
  prepared.no_interval = "the direction would be fitted again to every half-sample";
  return prepared;
}

}  // namespace kqd
