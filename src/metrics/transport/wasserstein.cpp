#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/summation.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/quantile/kqd_plan.hpp"
#include "metrics/transport/assignment.hpp"
#include "metrics/transport/costs.hpp"
#include "metrics/transport/network_flow.hpp"
#include "metrics/transport/weights.hpp"

namespace kqd {
namespace {

enum class Solver { automatic, assignment, network };

constexpr std::array<std::string_view, 3> kSolvers = {"auto", "assignment", "network"};
constexpr std::array<ParameterInfo, 1> kParameters = {{
    {"solver", 0, 0, 2, true,
     "auto: sorting on the line, assignment for equal sizes without weights, else network; the others force one",
     kSolvers},
}};

constexpr std::size_t kMaxRows = 5000;  // per sample

// Rough seconds of one thread for normal samples on a 2.4 GHz core. In few dimensions augmenting paths are long,
// because many columns cost nearly the same.
double expected_seconds(Solver solver, std::size_t nx, std::size_t ny, std::size_t dim) {
  const double pairs = static_cast<double>(nx) * static_cast<double>(ny);
  if (solver == Solver::network) return 0.17 * std::pow(1e-6 * pairs, 1.12);
  return (dim <= 3 ? 0.13 : 0.03) * std::pow(1e-6 * pairs, 1.5);
}

Solver solver_for(Solver wanted, std::size_t nx, std::size_t ny, bool weighted) {
  const bool assignable = nx == ny && !weighted;
  if (wanted == Solver::assignment && !assignable) {
    fail(ErrorCode::invalid_option,
         "solver assignment needs samples of equal size without weights, got {} and {} rows{}; use solver network", nx,
         ny, weighted ? " with weights" : "");
  }
  if (wanted != Solver::automatic) return wanted;
  return assignable ? Solver::assignment : Solver::network;
}

// In one dimension transport is solved by sorting, unless another solver is requested.
bool by_sorting(Solver wanted, std::size_t dim) {
  return dim == 1 && wanted == Solver::automatic;
}

// Returns the estimate for all permutations.
double require_feasible_transport(Solver solver, const SampleView& x, const SampleView& y,
                                  std::size_t permutation_count, const MethodOptions& options) {
  const std::size_t nx = x.size();
  const std::size_t ny = y.size();
  if (std::isinf(options.power)) {
    fail_option("power", options.power, "a finite number, for exact transport beyond one dimension",
                "Take a large one, or a sliced distance");
  }
  if (std::max(nx, ny) > kMaxRows && !options.allow_quadratic) {
    fail(ErrorCode::resource_limit,
         "exact transport between {} and {} rows: more than {} rows take very long; {}, or a sliced distance", nx, ny,
         kMaxRows, kHowToAllow);
  }
  const double seconds = static_cast<double>(permutation_count) * expected_seconds(solver, nx, ny, x.dim());
  require_feasible_seconds(seconds, options.allow_quadratic,
                           fmt::format("exact transport between {} and {} rows, once for each of {} permutations", nx,
                                       ny, permutation_count));
  return seconds;
}

struct Transport {
  double cost = 0.0;         // of moving mass 1
  double duality_gap = 0.0;  // how far above the optimum that may be
};

// a and b are empty for equal weights.
Transport solve(Solver solver, MatrixView<const double> costs, std::span<const double> a, std::span<const double> b) {
  if (solver == Solver::assignment) {
    const Assignment found = solve_assignment(costs);
    const auto n = static_cast<double>(costs.rows());
    return {found.cost / n, found.duality_gap / n};
  }
  const TransportPlan found =
      solve_transport(costs, a.empty() ? uniform_masses(costs.rows(), costs.cols()) : rounded_masses(a, b));
  return {found.cost, found.duality_gap};
}

bool all_equal(std::span<const double> weights) {
  return std::ranges::all_of(weights, [&](double w) { return w == weights.front(); });
}

// Rows of equal weight need no weights.
SampleView simplified(SampleView sample) {
  if (all_equal(sample.weights)) sample.weights = {};
  return sample;
}

MethodOptions options_on_the_line(const MethodOptions& options) {
  MethodOptions line = options;
  line.directions = {.family = DirectionFamily::axis};
  line.weighting = {};
  line.point_evaluated_levels = false;
  return line;
}

// A total this small may lack some of its terms: high powers of distances between different points underflow to 0.
void require_no_underflow(double cost, MatrixView<const double> costs, double power,
                          FunctionRef<bool(std::size_t i, std::size_t j)> are_same_point) {
  constexpr double kSafe = 1e-280;  // terms lost by underflow are below its rounding
  if (cost >= kSafe) return;
  for (std::size_t i = 0; i < costs.rows(); ++i) {
    for (std::size_t j = 0; j < costs.cols(); ++j) {
      const bool lost = costs(i, j) < std::numeric_limits<double>::min();
      if (lost && !are_same_point(i, j)) {
        fail(ErrorCode::non_finite_value,
             "costs |x - y|^{} between different points are 0 to rounding; take a smaller power", power);
      }
    }
  }
}

DistanceResult wasserstein(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView x = simplified(samples.x);
  const SampleView y = simplified(samples.y);
  const auto wanted = ParameterValues("wasserstein", kParameters, options.parameters).choice<Solver>("solver");
  if (by_sorting(wanted, x.dim())) {
    const DistanceResult found = ekqd(x, y, options_on_the_line(options));
    result.statistic = found.statistic;
    result.statistic_power = found.statistic_power;
    return result;
  }
  const bool weighted = x.weighted() || y.weighted();
  const Solver solver = solver_for(wanted, x.size(), y.size(), weighted);
  require_feasible_transport(solver, x, y, 1, options);
  const CostRule rule{options.power, longest_distance({x.points, y.points})};
  Matrix<double> costs(x.size(), y.size());
  fill_costs(x.points, y.points, rule, costs, options.threads);
  const Transport found = solve(solver, costs, weighted ? normalised_weights(x) : std::vector<double>{},
                                weighted ? normalised_weights(y) : std::vector<double>{});
  require_no_underflow(found.cost, costs, rule.power, [&](std::size_t i, std::size_t j) {
    return std::ranges::equal(x.points.row(i), y.points.row(j));
  });
  result.statistic = rule.unit * std::pow(found.cost, 1.0 / rule.power);
  result.statistic_power = finite_power(result.statistic, rule.power);
  result.details = {{"duality_gap", found.duality_gap * finite_power(rule.unit, rule.power)}};
  return result;
}

// The root of the pooled total variance: the spread of the points as a length.
double pooled_spread(const Pool& pool) {
  const std::vector<double> mean = pooled_mean(pool);
  CompensatedSum squares;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto row = pool.row(i);
    double own = 0.0;
    for (std::size_t k = 0; k < row.size(); ++k) own += (row[k] - mean[k]) * (row[k] - mean[k]);
    squares.add(own);
  }
  return std::sqrt(squares.value() / static_cast<double>(pool.size()));
}

PreparedPlan prepare_on_the_line(const TestPool& pool, const MethodOptions& options) {
  PreparedPlan prepared;
  prepared.rows = pool.order;
  prepared.frozen = options;
  const LinearDirections line(Matrix<double>(1, 1, 1.0));
  auto plan = std::make_unique<KqdPlan>(line, pool, prepared.rows, options_on_the_line(options), Over::mean, nullptr);
  prepared.pooled_scale = plan->pooled_scale();
  prepared.plan = std::move(plan);
  return prepared;
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const auto wanted = ParameterValues("wasserstein", kParameters, options.parameters).choice<Solver>("solver");
  if (by_sorting(wanted, pool.x.dim())) return prepare_on_the_line(pool, options);
  std::vector<double> weights = pool.weights_of(pool.order);
  if (all_equal(weights)) weights.clear();
  const Solver solver = solver_for(wanted, pool.x.size(), pool.y.size(), !weights.empty());

  PreparedPlan prepared;
  prepared.rows = pool.order;
  prepared.frozen = options;
  prepared.pooled_scale = pooled_spread(pool.rows());
  prepared.expected_seconds = require_feasible_transport(solver, pool.x, pool.y, request.permutation_count, options);
  const CostRule rule{options.power, longest_distance(pool.rows())};
  const auto costs = std::make_shared<const PooledCosts>(pool.rows(), rule, options.threads);
  const auto statistic = [costs, rule, wanted, weights, rows = pool.rows()](std::span<const std::size_t> x,
                                                                            std::span<const std::size_t> y) {
    Matrix<double> block(x.size(), y.size());
    costs->block(x, y, block);
    const Transport found = solve(solver_for(wanted, x.size(), y.size(), !weights.empty()), block,
                                  weights.empty() ? std::vector<double>{} : weights_at(weights, x),
                                  weights.empty() ? std::vector<double>{} : weights_at(weights, y));
    require_no_underflow(found.cost, block, rule.power, [&](std::size_t i, std::size_t j) {
      return std::ranges::equal(rows.row(x[i]), rows.row(y[j]));
    });
    return rule.unit * std::pow(found.cost, 1.0 / rule.power);
  };
  // In units of the longest distance costs are at most 1. An assignment is optimal up to the rounding of path lengths
  // of at most N steps, N eps; a network flow up to that of its whole costs, 2^-43, and of its masses, N 2^-58; the
  // root carries an error s of the power to min(s^(1/p), s / (p v^(p-1))).
  const double eps = std::numeric_limits<double>::epsilon();
  const double slack = 4.0 * static_cast<double>(pool.order.size()) * eps + (solver == Solver::network ? 0x1p-43 : 0.0);
  const auto tie_slack = [rule, slack, eps](double value) {
    const double v = value / rule.unit;
    const double by_root = std::pow(slack, 1.0 / rule.power);
    const double by_slope = v > 0.0 ? slack / (rule.power * std::pow(v, rule.power - 1.0)) : by_root;
    return rule.unit * std::min(by_root, by_slope) + 16.0 * eps * value;
  };
  prepared.plan = std::make_unique<DirectPlan>(prepared.rows.size(), statistic, tie_slack);
  return prepared;
}

}  // namespace

Method wasserstein_method() {
  return {
      .info = {.id = "wasserstein",
               .family = "transport",
               .summary = "Wasserstein distance, exactly",
               .reports = "the root W_p = (least mean |x - y|^p over couplings)^(1/p), >= 0",
               .cost = "N log N on the line; N^2 d + N^3 beyond",
               .permutation = "N on the line; beyond it no shortcut: N^3, solved again",
               .calibrations = "permutation, sign-flip",
               .details =
                   "Euclidean cost |x - y|^p. On the line quantile functions are compared, for any p up to "
                   "infinity. In more dimensions samples of equal size without weights are matched by linear "
                   "assignment (shortest augmenting paths), others by the network simplex with whole masses; p is "
                   "finite, more than 5000 rows or an hour need " KQD_OPTION("allow_quadratic=yes") ". Default p = 1.",
               .reference = "Villani: Optimal Transport (2009); Jonker, Volgenant: Computing 38 (1987)",
               .sign_flip = true,
               .uses = {.power = true},
               .parameters = kParameters},
      .distance = wasserstein,
      .prepare = prepare};
}

}  // namespace kqd
