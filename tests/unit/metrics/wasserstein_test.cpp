// Exact Wasserstein distances: against all assignments of small samples, closed forms and the two solvers against each
// other.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <thread>

#include "core/executor.hpp"
#include "metrics/transport/assignment.hpp"
#include "metrics/transport/costs.hpp"
#include "metrics/transport/network_flow.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::kInfinity;

MethodOptions with_power(double power, double solver = 0) {
  MethodOptions options;
  options.power = power;
  options.threads = ThreadCount{1};
  if (solver != 0) options.parameters["solver"] = solver;
  return options;
}

double wasserstein(const SampleView& x, const SampleView& y, double power, double solver = 0) {
  return distance("wasserstein", x, y, with_power(power, solver)).statistic;
}

Sample normal_sample(std::size_t n, std::size_t dim, std::uint64_t index, double shift = 0.0) {
  return test::drawn_sample(n, dim, {}, index, Seed{77}, shift);
}

double length(std::span<const double> a, std::span<const double> b) {
  double squares = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) squares += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(squares);
}

// W_p of equally many points, by trying all assignments.
double by_all_assignments(const Sample& x, const Sample& y, double p) {
  const std::size_t n = x.points.rows();
  std::vector<std::size_t> column(n);
  std::iota(column.begin(), column.end(), 0U);
  double best = kInfinity;
  do {
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += std::pow(length(x.points.row(i), y.points.row(column[i])), p);
    best = std::min(best, total);
  } while (std::next_permutation(column.begin(), column.end()));
  return std::pow(best / static_cast<double>(n), 1.0 / p);
}

Sample repeated(const Sample& sample, const std::vector<std::size_t>& times) {
  std::vector<double> values;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t k = 0; k < times[i]; ++k)
      values.insert(values.end(), sample.points.row(i).begin(), sample.points.row(i).end());
  }
  Sample result{Matrix<double>(values.size() / sample.points.cols(), sample.points.cols()), {}, {}};
  std::ranges::copy(values, result.points.data());
  return result;
}

// Rounding of six costs, their sum and a root: some tens of units in the last place. The network's whole costs add
// 2^-43 of the largest cost.
constexpr double kSmallTolerance = 1e-12;

TEST(Wasserstein, is_the_best_of_all_720_assignments_of_six_points) {
  for (const std::size_t dim : {1U, 2U, 5U}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Sample x = normal_sample(6, dim, 10 + seed);
      const Sample y = normal_sample(6, dim, 20 + seed, 0.3);
      for (const double p : {1.0, 1.5, 2.0, 3.0}) {
        const double expected = by_all_assignments(x, y, p);
        for (const double solver : {0, 1, 2}) {
          EXPECT_NEAR(wasserstein(x, y, p, solver), expected, kSmallTolerance) << dim << " " << p << " " << solver;
        }
      }
    }
  }
}

TEST(Wasserstein, of_unequal_sizes_is_that_of_points_repeated_to_a_common_size) {
  const Sample x = normal_sample(2, 2, 31);
  const Sample y = normal_sample(3, 2, 32, 0.5);
  for (const double p : {1.0, 2.0}) {
    const double expected = by_all_assignments(repeated(x, {3, 3}), repeated(y, {2, 2, 2}), p);
    EXPECT_NEAR(wasserstein(x, y, p), expected, kSmallTolerance);
  }
}

TEST(Wasserstein, weights_are_repetitions) {
  Sample x = normal_sample(3, 2, 33);
  Sample y = normal_sample(2, 2, 34, 0.5);
  const double expected = by_all_assignments(repeated(x, {1, 2, 3}), repeated(y, {4, 2}), 2.0);
  x.weights = {1, 2, 3};
  y.weights = {0.4, 0.2};
  EXPECT_NEAR(wasserstein(x, y, 2.0), expected, kSmallTolerance);
}

TEST(Wasserstein, equal_weights_are_no_weights) {
  Sample x = normal_sample(8, 2, 35);
  const Sample y = normal_sample(8, 2, 36);
  const double expected = wasserstein(x, y, 2.0);
  x.weights.assign(8, 0.3);
  EXPECT_EQ(wasserstein(x, y, 2.0, 1), expected);
}

TEST(Wasserstein, both_solvers_agree_on_samples_with_and_without_ties) {
  for (const bool ties : {false, true}) {
    for (const std::size_t dim : {1U, 2U, 8U}) {
      for (const std::size_t n : {1U, 2U, 3U, 17U, 60U}) {
        const Sample x = test::drawn_sample(n, dim, {"", n, n, false, ties}, 41);
        const Sample y = test::drawn_sample(n, dim, {"", n, n, false, ties}, 42);
        for (const double p : {1.0, 2.0, 7.0}) {
          const double by_assignment = wasserstein(x, y, p, 1);
          // Whole costs shift the power by 2^-43 of the largest cost, below 20^p here; through the root.
          const double bound = std::min(std::pow(0x1p-43, 1.0 / p) * 20.0, 1e-9 * (1.0 + by_assignment));
          EXPECT_NEAR(wasserstein(x, y, p, 2), by_assignment, bound) << n << " " << dim << " " << p << " " << ties;
          if (dim == 1) {
            EXPECT_NEAR(wasserstein(x, y, p), by_assignment, 1e-11 * (1.0 + by_assignment));
          }
        }
      }
    }
  }
}

// A translation is optimal for every p > 1, and a shift by v costs |v|; for p = 1 no plan is cheaper than the means'
// distance.
TEST(Wasserstein, of_a_shifted_sample_is_the_length_of_the_shift) {
  const Sample x = normal_sample(50, 3, 51);
  Sample y = x;
  for (std::size_t i = 0; i < 50; ++i) y.points(i, 1) += 0.7;
  for (const double p : {1.0, 1.3, 2.0, 4.0, 30.0}) EXPECT_NEAR(wasserstein(x, y, p), 0.7, 1e-12) << p;
}

// The gradient of a convex function is an optimal map for p = 2 [Brenier 1991]: W_2^2 between X and AX + b with A
// positive definite is mean |x - Ax - b|^2, and on the corners of a cube the moments are those of N(0, I): 3.
TEST(Wasserstein, of_scaled_cube_corners_is_that_of_gaussians) {
  Sample x{Matrix<double>(32, 5), {}, {}};
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t k = 0; k < 5; ++k) x.points(i, k) = ((i >> k) & 1U) != 0 ? 1.0 : -1.0;
  }
  Sample y = x;
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t k = 0; k < 3; ++k) y.points(i, k) *= 2.0;
  }
  for (const double solver : {1, 2}) {
    const DistanceResult found = distance("wasserstein", x, y, with_power(2.0, solver));
    EXPECT_NEAR(found.statistic_power, 3.0, 1e-12);
    EXPECT_NEAR(found.statistic, std::sqrt(3.0), 1e-12);
    ASSERT_EQ(found.details.size(), 1U);
    EXPECT_EQ(found.details[0].name, "duality_gap");
    EXPECT_LE(found.details[0].value, 1e-11);
  }
}

// Quantiles at midpoints of n cells stand for the distribution; what is wrong sits in the two outer cells, of mass 1/n
// each, where quantiles differ by less than 15.
Sample quantile_grid(std::size_t n, double (*quantile)(double)) {
  Sample sample{Matrix<double>(n, 1), {}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    sample.points(i, 0) = quantile((static_cast<double>(i) + 0.5) / static_cast<double>(n));
  }
  return sample;
}

TEST(Wasserstein, has_the_check_values_on_the_line) {
  constexpr std::size_t kCells = 1000000;
  const Sample normal = quantile_grid(kCells, normal_quantile);
  const Sample wide = quantile_grid(kCells, [](double t) { return 2.0 * normal_quantile(t); });
  const Sample moved = quantile_grid(kCells, [](double t) { return 1.0 + 3.0 * normal_quantile(t); });
  const Sample laplace = quantile_grid(kCells, [](double t) {
    return (t < 0.5 ? std::log(2.0 * t) : -std::log(2.0 * (1.0 - t))) / std::numbers::sqrt2;
  });
  EXPECT_NEAR(wasserstein(normal, wide, 1.0), 0.7978845608, 15.0 / kCells);
  EXPECT_NEAR(distance("wasserstein", normal, moved, with_power(2.0)).statistic_power, 1.0 + 4.0, 1e-4);
  EXPECT_NEAR(distance("wasserstein", normal, laplace, with_power(2.0)).statistic_power, 0.0373118367, 1e-4);
}

TEST(Wasserstein, on_the_line_takes_the_largest_gap_at_infinity) {
  const Sample x{Matrix<double>(2, 1, {0, 1}), {}, {}};
  const Sample y{Matrix<double>(3, 1, {.5, 2, 3}), {}, {}};
  EXPECT_NEAR(wasserstein(x, y, 1.0), 4.0 / 3.0, 1e-15);
  EXPECT_NEAR(wasserstein(x, y, kInfinity), 2.0, 1e-15);
}

TEST(Wasserstein, is_zero_on_equal_samples_in_any_order) {
  const Sample x = normal_sample(40, 3, 61);
  Sample y = x;
  for (std::size_t i = 0; i < 40; ++i) std::ranges::copy(x.points.row(i), y.points.row(39 - i).begin());
  for (const double solver : {0, 1, 2}) EXPECT_EQ(wasserstein(x, y, 2.0, solver), 0.0);
  const Sample point{Matrix<double>(5, 2, 3.0), {}, {}};
  for (const double solver : {0, 1, 2}) EXPECT_EQ(wasserstein(point, point, 1.0, solver), 0.0);
}

TEST(Wasserstein, does_not_change_when_the_data_are_far_away_or_tiny) {
  Sample x = normal_sample(20, 2, 62);
  Sample y = normal_sample(20, 2, 63);
  const double expected = wasserstein(x, y, 3.0);
  for (double& v : x.points.values()) v *= 1e-120;
  for (double& v : y.points.values()) v *= 1e-120;
  EXPECT_NEAR(wasserstein(x, y, 3.0) * 1e120, expected, 1e-12);
  for (double& v : x.points.values()) v *= 1e240;
  for (double& v : y.points.values()) v *= 1e240;
  EXPECT_NEAR(wasserstein(x, y, 3.0) * 1e-120, expected, 1e-12);
}

TEST(Wasserstein, plan_equals_recomputation) {
  for (const test::PlanCase& c : test::plan_cases()) {
    for (const std::size_t dim : {1U, 3U}) {
      for (const double p : {1.0, 1.5, 2.0, 12.0}) {
        test::expect_plan_equals_distance("wasserstein", c, dim, with_power(p),
                                          {.of_scale = 1e-10, .slack_of_scale = 1e-5});
      }
    }
    test::expect_plan_equals_distance("wasserstein", c, 1, with_power(kInfinity),
                                      {.of_scale = 1e-10, .slack_of_scale = 1e-5});
    test::expect_plan_equals_distance("wasserstein", c, 2, with_power(2.0, 2),
                                      {.of_scale = 1e-10, .slack_of_scale = 1e-5});
  }
}

TEST(Wasserstein, refuses_what_it_cannot_do) {
  const Sample x = normal_sample(5, 2, 71);
  const Sample y = normal_sample(6, 2, 72);
  test::expect_error(
      ErrorCode::invalid_option,
      "power = inf: expected a finite number, for exact transport beyond one dimension. Take a large one, "
      "or a sliced distance",
      [&] { (void)wasserstein(x, y, kInfinity); });
  test::expect_error(ErrorCode::invalid_option,
                     "solver assignment needs samples of equal size without weights, got 5 and 6 rows; use solver "
                     "network",
                     [&] { (void)wasserstein(x, y, 1.0, 1); });
  const Sample large{Matrix<double>(5001, 2, 0.0), {}, {}};
  EXPECT_THROW((void)wasserstein(large, y, 1.0), Error);
  const Sample many = normal_sample(5000, 2, 73);
  const TestPool pool = make_test_pool(many, many, ThreadCount{1});
  EXPECT_THROW((void)method_with_id("wasserstein")
                   .prepare(pool, with_power(1.0), {.permutation_count = 1000, .whole_units = {}}),
               Error);
}

TEST(Wasserstein, says_beforehand_how_long_a_test_takes) {
  const Sample x = normal_sample(40, 2, 74);
  const TestPool pool = make_test_pool(x, x, ThreadCount{1});
  const auto seconds = [&](std::size_t permutations) {
    return method_with_id("wasserstein")
        .prepare(pool, with_power(1.0), {.permutation_count = permutations, .whole_units = {}})
        .expected_seconds;
  };
  EXPECT_GT(seconds(1), 0.0);
  EXPECT_NEAR(seconds(1000), 1000.0 * seconds(1), 1e-9);
}

TEST(PooledCosts, are_the_same_whether_they_are_stored_or_not) {
  constexpr std::size_t kTooMany = 8200;  // squared, and as doubles, more than 512 MB
  RandomStream stream(Seed{5}, Purpose::test_data);
  Matrix<double> points(kTooMany, 2);
  for (double& v : points.values()) v = stream.normal();
  const MatrixView<const double> none(nullptr, 0, 2);
  const CostRule rule{1.5, 2.0};
  const PooledCosts large({points, none}, rule, ThreadCount{1});
  const PooledCosts small({points.view().row_range(0, 100), none}, rule, ThreadCount{1});
  EXPECT_FALSE(large.stored());
  EXPECT_TRUE(small.stored());
  const std::vector<std::size_t> x = {3, 50, 99};
  const std::vector<std::size_t> y = {0, 50, 17, 2, 98};
  Matrix<double> from_large(3, 5);
  Matrix<double> from_small(3, 5);
  large.block(x, y, from_large);
  small.block(x, y, from_small);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_EQ(from_large(i, j), from_small(i, j));
      EXPECT_NEAR(from_small(i, j), std::pow(length(points.row(x[i]), points.row(y[j])) / 2.0, 1.5), 1e-13);
    }
  }
}

TEST(Assignment, has_prices_that_prove_it_optimal) {
  RandomStream stream(Seed{6}, Purpose::test_data);
  for (const std::size_t n : {1U, 2U, 5U, 9U, 64U, 131U}) {
    for (const bool whole : {false, true}) {
      Matrix<double> costs(n, n);
      for (double& c : costs.values()) c = whole ? std::floor(4.0 * stream.uniform()) - 2.0 : stream.normal();
      const Assignment found = solve_assignment(costs);
      std::vector<int> taken(n);
      double cost = 0.0;
      double dual = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        ++taken[found.column_of_row[i]];
        cost += costs(i, found.column_of_row[i]);
        dual += found.row_prices[i] + found.column_prices[i];
        for (std::size_t j = 0; j < n; ++j) {
          EXPECT_LE(found.row_prices[i] + found.column_prices[j], costs(i, j) + 1e-14 * static_cast<double>(n));
        }
      }
      EXPECT_EQ(taken, std::vector<int>(n, 1));
      EXPECT_NEAR(found.cost, cost, 1e-12);
      EXPECT_NEAR(cost, dual, 1e-12 * static_cast<double>(n));  // so no assignment is cheaper
      EXPECT_NEAR(found.duality_gap, cost - dual, 1e-12 * static_cast<double>(n));
    }
  }
}

TEST(Assignment, refuses_a_matrix_that_is_not_square) {
  EXPECT_THROW((void)solve_assignment(Matrix<double>(2, 3, 1.0)), Error);
}

TEST(NetworkFlow, spreads_uniform_masses_exactly) {
  const WholeMasses masses = uniform_masses(4, 6);
  EXPECT_EQ(masses.supply, std::vector<std::int64_t>(4, 3));
  EXPECT_EQ(masses.demand, std::vector<std::int64_t>(6, 2));
  EXPECT_EQ(masses.total, 12);
}

TEST(NetworkFlow, rounds_masses_to_the_same_total) {
  RandomStream stream(Seed{7}, Purpose::test_data);
  std::vector<double> a(101);
  for (double& w : a) w = stream.uniform() / 50.0;
  const std::vector<double> b = {0.3, 0.7};
  const double total_a = std::accumulate(a.begin(), a.end(), 0.0);
  for (double& w : a) w /= total_a;
  const WholeMasses masses = rounded_masses(a, b);
  EXPECT_EQ(std::accumulate(masses.supply.begin(), masses.supply.end(), std::int64_t{0}), masses.total);
  EXPECT_EQ(std::accumulate(masses.demand.begin(), masses.demand.end(), std::int64_t{0}), masses.total);
  EXPECT_NEAR(static_cast<double>(masses.supply[5]) / static_cast<double>(masses.total), a[5], 1e-15);
}

// Issue 22: a network simplex ran to its end, seconds or minutes, whoever asked it to stop.
TEST(Wasserstein, a_network_simplex_can_be_stopped) {
  const Sample x = normal_sample(2000, 2, 1);
  const Sample y = normal_sample(1900, 2, 2);
  std::atomic<bool> stop = false;
  const RunControl control{.stop = &stop};
  const StopScope scope(&control);
  std::thread asks([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  test::expect_error(ErrorCode::interrupted, "stopped on request", [&] { static_cast<void>(wasserstein(x, y, 1.0)); });
  asks.join();
}

}  // namespace
}  // namespace kqd
