// Geometric medians against closed forms, their optimality condition, and the one of another construction.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "metrics/median/geometric_median.hpp"
#include "support/errors.hpp"
#include "support/methods.hpp"
#include "support/plans.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using test::column;

constexpr MedianOptions kToTheEnd{.iterations = 100'000, .tolerance = 0.0};

Matrix<double> gram(const std::string& kernel, const Sample& x) {
  Matrix<double> values(x.points.rows(), x.points.rows());
  Kernel(parse_kernel(kernel)).evaluate(x.points, x.points, values);
  return values;
}

std::vector<double> equal_mass(std::size_t n) {
  return std::vector<double>(n, 1.0 / static_cast<double>(n));
}

// Ten digits are what the check values have. The last step was shorter than 1e-10.
TEST(GeometricMedian, has_the_check_values_by_default) {
  const GeometricMedian found = geometric_median(gram("gaussian@1", column({0, 1, 3})), equal_mass(3), {});
  EXPECT_NEAR(found.weights[0], 0.3542037202, 1e-10);
  EXPECT_NEAR(found.weights[1], 0.4493855242, 1e-10);
  EXPECT_NEAR(found.weights[2], 0.1964107556, 1e-10);
  EXPECT_NEAR(found.objective, 0.6841884364, 1e-10);
  EXPECT_TRUE(found.converged);
}

TEST(GeometricMedian, on_the_line_is_the_median) {
  for (const MedianOptions& options : {MedianOptions{}, kToTheEnd}) {
    const GeometricMedian found = geometric_median(gram("linear:0", column({0, 1, 10})), equal_mass(3), options);
    EXPECT_NEAR(found.weights[1] + 10.0 * found.weights[2], 1.0, 1e-9);
    EXPECT_NEAR(found.objective, 10.0 / 3.0, 1e-9);
    EXPECT_TRUE(found.converged);
  }
  test::Source source(1);
  std::vector<double> values(31);
  for (double& v : values) v = source.normal();
  const GeometricMedian found = geometric_median(gram("linear:0", column(values)), equal_mass(31), kToTheEnd);
  double place = 0.0;
  for (std::size_t i = 0; i < 31; ++i) place += found.weights[i] * values[i];
  std::ranges::sort(values);
  EXPECT_NEAR(place, values[15], 1e-6);
}

// A point with more than half of the mass is the median, wherever the others are [VZ00].
TEST(GeometricMedian, is_the_point_with_most_of_the_mass) {
  const std::vector<double> mass = {0.1, 0.6, 0.2, 0.1};
  const GeometricMedian found = geometric_median(gram("gaussian@1", column({0, 1, 2, 5})), mass, kToTheEnd);
  EXPECT_EQ(found.weights, (std::vector<double>{0, 1, 0, 0}));
  EXPECT_TRUE(found.converged);
}

TEST(GeometricMedian, starts_at_the_mean_and_stays_there_if_it_is_a_median) {
  const GeometricMedian centre = geometric_median(gram("linear:0", column({-1, 0, 1})), equal_mass(3), {});
  EXPECT_EQ(centre.weights, (std::vector<double>{0, 1, 0}));
  const GeometricMedian two = geometric_median(gram("gaussian@1", column({0, 5})), equal_mass(2), {});
  EXPECT_EQ(two.weights, equal_mass(2));
  const GeometricMedian one = geometric_median(gram("gaussian@1", column({7})), {{1.0}}, {});
  EXPECT_EQ(one.weights, std::vector<double>{1.0});
  EXPECT_EQ(one.objective, 0.0);
}

// Equidistant points: a regular simplex, whose median is its centre.
TEST(GeometricMedian, of_equidistant_points_is_their_mean) {
  const GeometricMedian found =
      geometric_median(gram("gaussian@1", column({0, 100, 200, 300, 400})), equal_mass(5), kToTheEnd);
  for (const double w : found.weights) EXPECT_NEAR(w, 0.2, 1e-12);
  EXPECT_NEAR(found.objective, std::sqrt(0.8), 1e-12);
}

// A mean that is a point but not the median: the Vardi-Zhang step must leave it. (0,0) is the mean of the corners and
// of the heap beyond; the plain iteration would divide by 0.
TEST(GeometricMedian, leaves_a_point_that_is_the_mean_but_not_the_median) {
  const Sample x{Matrix<double>(4, 2, {0, 0, 1, 1, 1, -1, -20, 0}), {}, {}};
  const std::vector<double> mass = {0.1, 0.4286, 0.4286, 0.0428};  // mean near, then exactly at the first point
  std::vector<double> exact = {0.1, 0.0, 0.0, 0.9 / 21.0};
  exact[1] = exact[2] = 0.5 * (0.9 - exact[3]);
  for (const auto& a : {mass, exact}) {
    const GeometricMedian found = geometric_median(gram("linear:0", x), a, kToTheEnd);
    // Optimality: the unit vectors to the points, weighted, sum to 0.
    double f[2] = {0, 0};
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 2; ++k) f[k] += found.weights[i] * x.points(i, k);
    }
    double pull[2] = {0, 0};
    for (std::size_t i = 0; i < 4; ++i) {
      const double d = std::hypot(x.points(i, 0) - f[0], x.points(i, 1) - f[1]);
      for (std::size_t k = 0; k < 2; ++k) pull[k] += a[i] * (x.points(i, k) - f[k]) / d;
    }
    EXPECT_GT(f[0], 0.1);
    EXPECT_NEAR(std::hypot(pull[0], pull[1]), 0.0, 1e-6);
  }
}

// At the minimum the weights are a_i / d_i, scaled to sum 1 (Weiszfeld's fixed point); kernels from nearly flat to
// nearly diagonal, light and heavy tails.
TEST(GeometricMedian, is_a_fixed_point_to_eight_digits_by_default) {
  test::Source source(9);
  for (const char* kernel : {"gaussian@0.1", "gaussian@1", "gaussian@20", "laplace@1", "linear:0", "polynomial:3:1"}) {
    Sample x = test::normal_sample({80, 2}, source);
    for (std::size_t i = 0; i < 80; i += 7) x.points(i, 0) *= 30.0;
    const Matrix<double> k = gram(kernel, x);
    const GeometricMedian found = geometric_median(k, equal_mass(80), {});
    EXPECT_TRUE(found.converged) << kernel;
    std::vector<double> expected(80);
    double total = 0.0;
    for (std::size_t i = 0; i < 80; ++i) {
      double squared = 0.0;
      for (std::size_t a = 0; a < 80; ++a) {
        for (std::size_t b = 0; b < 80; ++b) {
          squared += ((a == i) - found.weights[a]) * ((b == i) - found.weights[b]) * k(a, b);
        }
      }
      total += expected[i] = 1.0 / std::sqrt(squared);
    }
    double furthest = 0.0;
    for (std::size_t i = 0; i < 80; ++i)
      furthest = std::max(furthest, std::abs(found.weights[i] - expected[i] / total));
    EXPECT_LT(furthest, 1e-8) << kernel;
  }
}

// No small change of the weights lowers the objective, judged by its definition.
TEST(GeometricMedian, is_a_minimum) {
  test::Source source(2);
  const Sample x = test::varied_sample({25, 2}, source, false, false);
  const Matrix<double> k = gram("gaussian@1", x);
  std::vector<double> mass(25);
  double total = 0.0;
  for (double& m : mass) total += m = source.uniform(0.1, 1.0);
  for (double& m : mass) m /= total;
  const auto objective = [&](const std::vector<double>& w) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 25; ++i) {
      double squared = 0.0;
      for (std::size_t a = 0; a < 25; ++a) {
        for (std::size_t b = 0; b < 25; ++b) squared += ((a == i) - w[a]) * ((b == i) - w[b]) * k(a, b);
      }
      sum += mass[i] * std::sqrt(squared);
    }
    return sum;
  };
  const GeometricMedian found = geometric_median(k, mass, kToTheEnd);
  EXPECT_NEAR(found.objective, objective(found.weights), 1e-13);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> other = found.weights;
    for (double& w : other) w += 1e-4 * source.normal();
    EXPECT_GE(objective(other), found.objective - 1e-13);
  }
}

TEST(KMedian, is_the_distance_between_medians) {
  // On the line with the linear kernel: medians 1 and 4.
  EXPECT_NEAR(distance("kmedian", column({0, 1, 10}), column({3, 4, 400}), test::options_with("linear")).statistic, 3.0,
              1e-7);
  // One row each: the distance in the feature space.
  EXPECT_NEAR(distance("kmedian", column({0}), column({1}), test::options_with("gaussian@1")).statistic,
              std::sqrt(2.0 - 2.0 * std::exp(-0.5)), 1e-15);
  const DistanceResult found = distance("kmedian", column({0, 1, 3}), column({5, 6}), test::options_with("gaussian@1"));
  EXPECT_EQ(found.details[0].name, "objective_x");
  EXPECT_NEAR(found.details[0].value, 0.6841884364, 1e-9);
  EXPECT_EQ(found.details[3].name, "converged");
}

TEST(KMedian, rows_that_are_equal_count_as_weight) {
  Sample weighted = column({0, 1, 3});
  weighted.weights = {2, 1, 3};
  const Sample y = column({4, 5, 5.5});
  EXPECT_NEAR(distance("kmedian", weighted, y, test::options_with("gaussian@1")).statistic,
              distance("kmedian", column({3, 0, 1, 0, 3, 3}), y, test::options_with("gaussian@1")).statistic, 1e-9);
}

TEST(KMedian, of_equal_samples_is_zero_to_the_last_bit) {
  test::Source source(3);
  for (const bool weighted : {false, true}) {
    const Sample x = test::varied_sample({120, 2}, source, false, weighted);
    EXPECT_EQ(distance("kmedian", x, x).statistic, 0.0);
  }
}

// Far from the origin the linear kernel loses eight digits of a plain Gram matrix; not of one moved to its mean.
TEST(KMedian, does_not_feel_where_the_origin_is) {
  test::Source source(4);
  const Sample x = test::varied_sample({21, 1}, source, false, false);
  const Sample y = test::varied_sample({31, 1}, source, false, false);
  Sample far_x = x, far_y = y;
  for (double& v : far_x.points.values()) v += 1e4;
  for (double& v : far_y.points.values()) v += 1e4;
  EXPECT_NEAR(distance("kmedian", far_x, far_y, test::options_with("linear")).statistic,
              distance("kmedian", x, y, test::options_with("linear")).statistic, 1e-5);
}

TEST(KMedian, plans_equal_direct_recomputation) {
  test::Source source(5);
  for (const auto& [nx, ny] : {std::pair{20UL, 20UL}, {13UL, 30UL}, {3UL, 25UL}, {1UL, 6UL}}) {
    for (const bool ties : {false, true}) {
      for (const bool weighted : {false, true}) {
        const Sample x = test::varied_sample({nx, 2}, source, ties, weighted);
        const Sample y = test::varied_sample({ny, 2}, source, ties, weighted);
        test::expect_plan_equals_distance("kmedian", x, y, test::options_with("gaussian"));
        test::expect_plan_equals_distance("kmedian", x, y, test::options_with("laplace", {{"iterations", 20}}));
      }
    }
  }
}

TEST(KMedian, plans_give_the_same_bits_for_any_threads) {
  test::Source source(6);
  test::expect_same_bits("kmedian", test::varied_sample({30, 2}, source, false, true),
                         test::varied_sample({20, 2}, source, false, false), {});
}

TEST(KMedian, a_few_far_rows_move_it_little) {
  test::Source source(7);
  Sample x = test::varied_sample({41, 1}, source, false, false);
  const Sample y = test::varied_sample({41, 1}, source, false, false);
  const double before = distance("kmedian", x, y, test::options_with("linear")).statistic;
  for (std::size_t i = 0; i < 4; ++i) x.points(i, 0) = 1e6;
  EXPECT_LT(distance("kmedian", x, y, test::options_with("linear", {{"iterations", 5000}})).statistic, before + 1.0);
  EXPECT_GT(distance("mmd-v", x, y, test::options_with("linear")).statistic, 9e4);
}

TEST(KMedian, refuses_sizes_that_take_hours_and_says_when_it_stopped_early) {
  const DistanceResult stopped =
      distance("kmedian", column({0, 1, 3}), column({4, 5, 9}), test::options_with("gaussian@1", {{"iterations", 1}}));
  EXPECT_EQ(stopped.warnings.back(), make_warning(WarningId::median_not_converged, 1));
  const Sample large{Matrix<double>(20'000, 1, 0.5), {}, {}};
  const TestPool pool = make_test_pool(large, large, ThreadCount{1});
  PlanRequest request;
  request.permutation_count = 1000;
  try {
    static_cast<void>(method_with_id("kmedian").prepare(pool, test::options_with("gaussian@1"), request));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
    EXPECT_TRUE(
        std::string(error.what()).starts_with("the geometric median of 20000 and 20000 rows, 1000 times takes about"));
  }
  test::Source source(8);
  const Sample wide = test::normal_sample({12'000, 1}, source);
  const Sample other = test::normal_sample({12'000, 1}, source);
  test::expect_error(
      ErrorCode::resource_limit,
      "the geometric median keeps the Gram matrix of 24000 rows, 4.6 GB; use allow_quadratic = yes to run it, "
      "fewer rows, or a method whose memory is near-linear",
      [&] { static_cast<void>(distance("kmedian", wide, other, test::options_with("gaussian@1"))); });
}

}  // namespace
}  // namespace kqd
