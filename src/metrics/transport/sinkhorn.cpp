#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/scale.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"
#include "kernel/kernel_traits.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/numerics.hpp"
#include "metrics/transport/costs.hpp"
#include "metrics/transport/entropic.hpp"
#include "metrics/transport/weights.hpp"

namespace kqd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<ParameterInfo, 3> kParameters = {{
    {"epsilon", 0, 0, kInfinity, false,
     "strength of the entropy, in units of the cost; 0: 0.05 times the median pooled cost"},
    {"iterations", 1000, 1, 1e9, true, "sweeps at most"},
    {"tolerance", 1e-6, 1e-14, 1, false, "1-norm of the error of the marginals at which a solution is good enough"},
}};

constexpr double kDefaultEpsilon = 0.05;   // of the median pooled cost
constexpr double kSmallestEpsilon = 1e-9;  // of the largest cost: below it sweeps have no effect
constexpr double kScaling = 0.5;           // of lengths, from one epsilon to the next: costs scale by its p-th power
constexpr std::size_t kMaxSummaryRows = 1000;
constexpr std::size_t kMaxRows = 20000;  // per sample: two matrices of 3.2 GB

// A summary of the costs of a pool, from the pairs of at most 1000 of its rows, label-blind.
struct CostSummary {
  double median = 0.0;  // of those that are not 0 when more than half are; 1 when all are
  double mean = 0.0;
};

CostSummary summarise(const Pool& pool, const CostRule& rule, Seed seed) {
  const Matrix<double> rows = subsample(pool, kMaxSummaryRows, seed, Purpose::bandwidth_subsample);
  Matrix<double> costs(rows.rows(), rows.rows());
  fill_costs(rows, rows, rule, costs, ThreadCount{1});
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    values.insert(values.end(), costs.row(i).begin() + static_cast<std::ptrdiff_t>(i) + 1, costs.row(i).end());
  }
  CostSummary summary{.median = 1.0};
  if (values.empty()) return summary;
  summary.mean = sum(values) / static_cast<double>(values.size());
  if (median(values) <= 0.0) std::erase_if(values, [](double v) { return v <= 0.0; });
  if (!values.empty()) summary.median = median(values);
  return summary;
}

struct Settings {
  CostRule costs;
  EntropicRule rule;
  CostSummary summary;
};

Settings settings_for(const Pool& pool, const MethodOptions& options) {
  const ParameterValues values("sinkhorn", kParameters, options.parameters);
  if (std::isinf(options.power)) {
    fail_option("power", options.power, "a finite number, for the Sinkhorn divergence");
  }
  Settings settings;
  settings.costs = {.power = options.power, .unit = 1.0};
  const double largest_cost = std::pow(longest_distance(pool), options.power);
  require_finite(largest_cost, fmt::format("a cost |x - y|^{} between pooled points", options.power));
  settings.summary = summarise(pool, settings.costs, options.seed);
  const double wanted = values.value("epsilon");
  const double epsilon = wanted > 0.0 ? wanted : kDefaultEpsilon * settings.summary.median;
  if (!(epsilon >= kSmallestEpsilon * largest_cost) || !std::isfinite(epsilon)) {
    fail(ErrorCode::invalid_option,
         "sinkhorn epsilon = {}, needs a finite number >= {:.3g} for costs up to {:.3g}; method wasserstein is the "
         "limit "
         "at 0",
         epsilon, kSmallestEpsilon * largest_cost, largest_cost);
  }
  settings.rule = {.epsilon = epsilon,
                   .tolerance = values.value("tolerance"),
                   .max_sweeps = values.count("iterations"),
                   .scaling = std::pow(kScaling, options.power)};
  return settings;
}

// Seconds of one thread for all permutations: about a hundred sweeps over the three matrices, and some exponentials.
double require_feasible_sweeps(const SampleView& x, const SampleView& y, std::size_t permutation_count,
                               const MethodOptions& options) {
  constexpr double kSecondsPerPair = 1.2e-7;
  const auto nx = static_cast<double>(x.size());
  const auto ny = static_cast<double>(y.size());
  if (std::max(x.size(), y.size()) > kMaxRows && !options.allow_quadratic) {
    fail(ErrorCode::resource_limit,
         "the Sinkhorn divergence between {} and {} rows keeps two matrices of {:.0f} GB; {}, or a sliced distance",
         x.size(), y.size(), 8e-9 * std::max(nx, ny) * std::max(nx, ny), kHowToAllow);
  }
  const double seconds =
      static_cast<double>(permutation_count) * kSecondsPerPair * (nx * ny + 0.5 * (nx * nx + ny * ny));
  require_feasible_seconds(
      seconds, options.allow_quadratic,
      fmt::format("the Sinkhorn divergence between {} and {} rows, once for each of {} permutations", x.size(),
                  y.size(), permutation_count));
  return seconds;
}

// S_eps = OT(P, Q) - OT(P, P)/2 - OT(Q, Q)/2: costs are debiased, not their roots (erratum 8).
struct Divergence {
  EntropicTransport cross;
  EntropicTransport own_x;
  EntropicTransport own_y;

  [[nodiscard]] double value() const { return cross.value - 0.5 * (own_x.value + own_y.value); }
  [[nodiscard]] bool converged() const { return cross.converged && own_x.converged && own_y.converged; }
  [[nodiscard]] double marginal_error() const {
    return std::max({cross.marginal_error, own_x.marginal_error, own_y.marginal_error});
  }
  [[nodiscard]] std::size_t sweeps() const { return std::max({cross.sweeps, own_x.sweeps, own_y.sweeps}); }
};

// Transport from P to Q, from the potentials of both self-transports or those of epsilon scaling, whichever has the
// smaller marginal error after a sweep. The first are solutions when P = Q, where sweeps from others converge very
// slowly: only the part exp(-gap / eps) of a mass crosses a gap between groups of points in one sweep.
EntropicTransport solve_from_the_better_start(MatrixView<const double> costs, std::span<const double> a,
                                              std::span<const double> b, std::span<const double> own_f,
                                              std::span<const double> own_g, const EntropicRule& rule) {
  EntropicRule one_sweep = rule;
  one_sweep.max_sweeps = 1;
  EntropicTransport start = solve_entropic(costs, a, b, one_sweep, own_f, own_g);
  if (start.converged || rule.max_sweeps == 1) return start;
  EntropicTransport scaled = solve_entropic(costs, a, b, one_sweep);
  if (scaled.marginal_error < start.marginal_error) start = std::move(scaled);
  return solve_entropic(costs, a, b, rule, start.f, start.g);
}

DistanceResult sinkhorn(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  require_feasible_sweeps(x, y, 1, options);
  Settings settings = settings_for(make_summary_pool(x, y, options).rows(), options);
  settings.rule.threads = options.threads;
  const std::vector<double> a = normalised_weights(x);
  const std::vector<double> b = normalised_weights(y);
  const auto costs_between = [&](const SampleView& from, const SampleView& to) {
    Matrix<double> costs(from.size(), to.size());
    fill_costs(from.points, to.points, settings.costs, costs, options.threads);
    return costs;
  };
  Divergence found{.cross = {},
                   .own_x = solve_entropic_self(costs_between(x, x), a, settings.rule),
                   .own_y = solve_entropic_self(costs_between(y, y), b, settings.rule)};
  found.cross = solve_from_the_better_start(costs_between(x, y), a, b, found.own_x.f, found.own_y.f, settings.rule);
  result.statistic = found.value();
  result.statistic_power = result.statistic;
  result.details = {{"epsilon", settings.rule.epsilon},
                    {"transport_cost", found.cross.value},
                    {"converged", found.converged() ? 1.0 : 0.0},
                    {"sweeps", static_cast<double>(found.sweeps())},
                    {"marginal_error", found.marginal_error()}};
  if (result.statistic >= 0.0) {
    result.details.push_back({"root", std::pow(result.statistic, 1.0 / options.power)});
  }
  if (!found.converged()) {
    warn(result.warnings, WarningId::sinkhorn_not_converged, found.sweeps(), found.marginal_error());
  }
  return result;
}

// The divergence of one permutation after another. Every permutation starts from the potentials of the pool's transport
// to itself, never from those of another permutation: a value must be a function of its permutation only.
class PooledSinkhorn {
 public:
  PooledSinkhorn(const TestPool& pool, const Settings& settings, ThreadCount threads)
      : weights_(pool.weights_of(pool.order)), costs_(pool.rows(), settings.costs, threads), rule_(settings.rule) {
    if (!costs_.stored()) return;  // permutations start from 0, with epsilon scaled down
    EntropicRule together = rule_;
    together.threads = threads;
    std::vector<std::size_t> all(pool.order.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    start_ = solve_entropic_self(costs_.all(), weights_at(weights_, all), together);
  }

  [[nodiscard]] Divergence operator()(std::span<const std::size_t> x, std::span<const std::size_t> y) const {
    // S(P, Q) = S(Q, P), but rows and columns are not updated alike: the group with the first position has the rows.
    if (y.front() < x.front()) std::swap(x, y);
    const std::vector<double> a = weights_at(weights_, x);
    const std::vector<double> b = weights_at(weights_, y);
    const std::vector<double> f = start_at(x);
    const std::vector<double> g = start_at(y);
    return {.cross = solve_entropic(costs_between(x, y), a, b, rule_, f, g),
            .own_x = solve_entropic_self(costs_between(x, x), a, rule_, f),
            .own_y = solve_entropic_self(costs_between(y, y), b, rule_, g)};
  }

 private:
  [[nodiscard]] Matrix<double> costs_between(std::span<const std::size_t> x, std::span<const std::size_t> y) const {
    Matrix<double> costs(x.size(), y.size());
    costs_.block(x, y, costs);
    return costs;
  }

  [[nodiscard]] std::vector<double> start_at(std::span<const std::size_t> positions) const {
    std::vector<double> potentials;
    if (start_.f.empty()) return potentials;
    for (const std::size_t i : positions) potentials.push_back(start_.f[i]);
    return potentials;
  }

  std::vector<double> weights_;
  PooledCosts costs_;
  EntropicRule rule_;
  EntropicTransport start_;
};

void share_epsilon(const Pool& pool, MethodOptions& options) {
  options.parameters["epsilon"] = settings_for(pool, options).rule.epsilon;
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  PreparedPlan prepared;
  prepared.expected_seconds = require_feasible_sweeps(pool.x, pool.y, request.permutation_count, options);
  const Settings settings = settings_for(pool.rows(), options);
  const auto divergence = std::make_shared<const PooledSinkhorn>(pool, settings, options.threads);
  prepared.rows = pool.order;
  prepared.frozen = options;
  prepared.frozen.parameters["epsilon"] = settings.rule.epsilon;
  prepared.pooled_scale = settings.summary.mean;
  prepared.squares = true;
  prepared.details = {{"epsilon", settings.rule.epsilon}};
  // The warning is that of the observed permutation, which is representative of the others.
  const Groups groups = pool.observed();
  if (const Divergence observed = (*divergence)(groups.x, groups.y); !observed.converged()) {
    warn(prepared.warnings, WarningId::sinkhorn_not_converged_in_test, observed.sweeps(), observed.marginal_error());
  }
  // Sums of N terms at potentials of the size of the largest cost round by N eps of it. A solution stops within the
  // tolerance of its marginals: one more sweep would raise the dual by eps KL(a | marginal), and all further sweeps by
  // amounts of second order in the tolerance. The bound is of first order.
  const double largest_cost = std::pow(longest_distance(pool.rows()), options.power);
  const double slack = 4.0 * static_cast<double>(pool.order.size()) * std::numeric_limits<double>::epsilon() *
                           (largest_cost + settings.rule.epsilon) +
                       settings.rule.epsilon * settings.rule.tolerance;
  prepared.plan = std::make_unique<DirectPlan>(
      prepared.rows.size(),
      [divergence](std::span<const std::size_t> x, std::span<const std::size_t> y) {
        return (*divergence)(x, y).value();
      },
      [slack](double) { return slack; });
  return prepared;
}

}  // namespace

Method sinkhorn_method() {
  return {
      .info = {.id = "sinkhorn",
               .family = "transport",
               .summary = "Sinkhorn divergence: entropic transport, debiased",
               .reports =
                   "the cost S_eps = OT_eps(P,Q) - OT_eps(P,P)/2 - OT_eps(Q,Q)/2, >= 0 for p = 1 and 2; not its root",
               .cost = "N^2 d + sweeps N^2",
               .permutation = "no shortcut: sweeps N^2, solved again",
               .calibrations = "permutation, sign-flip",
               .details =
                   "OT_eps = min <pi, C> + eps KL(pi | a x b) with C = |x - y|^p, Euclidean; p finite, by default "
                   "1. Solved with stabilised matrix scaling and epsilon scaling until the marginals are right to "
                   "the tolerance; the result says whether they are. Between W_p^p (epsilon to 0) and half the "
                   "energy distance (p = 1) or the squared distance of the means (p = 2) as epsilon grows.",
               .reference = "Genevay et al. (AISTATS 2018); Feydy et al. (AISTATS 2019)",
               .sign_flip = true,
               .uses = {.power = true},
               .parameters = kParameters},
      .distance = sinkhorn,
      .prepare = prepare,
      .share = share_epsilon};
}

}  // namespace kqd
