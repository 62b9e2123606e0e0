// Suprema over the sphere (methods B): the gradient, the ascent, and the methods made of them. Oracles: closed forms,
// finite differences, a scan of the circle, and one-dimensional transport written out in tests/support.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/pool.hpp"
#include "kqd/kqd.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/method.hpp"
#include "metrics/quantile/gap_objective.hpp"
#include "metrics/quantile/partial_cholesky.hpp"
#include "metrics/quantile/sphere_ascent.hpp"
#include "metrics/split.hpp"
#include "support/errors.hpp"
#include "support/oracles.hpp"
#include "support/plans.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::kInfinity;

using test::Source;

std::vector<std::size_t> numbers(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> list(end - begin);
  std::iota(list.begin(), list.end(), begin);
  return list;
}

std::vector<double> unit_vector(std::size_t dim, Source& source) {
  std::vector<double> w(dim);
  double squares = 0.0;
  for (double& c : w) {
    c = source.normal();
    squares += c * c;
  }
  for (double& c : w) c /= std::sqrt(squares);
  return w;
}

// Stored features, a permutation and what belongs to it.
struct Problem {
  Problem(std::size_t nx, std::size_t ny, std::size_t dim, bool weighted, Source& source, const MethodOptions& options)
      : x(numbers(0, nx)),
        y(numbers(nx, nx + ny)),
        slices(test::normal_matrix({nx + ny, dim}, source), row_blocks(nx, nx + ny)),
        weights(weighted ? nx + ny : 0) {
    for (double& w : weights) w = source.uniform(0.2, 1.5);
    gap.emplace(slices, x, y, weights, options);
  }
  std::vector<std::size_t> x;
  std::vector<std::size_t> y;
  StoredSlices slices;
  std::vector<double> weights;
  std::optional<GapProblem> gap;
};

// The distance of a gradient to central differences, relative to its length.
double error_by_differences(GapObjective& objective, std::vector<double> w, std::span<const double> gradient) {
  constexpr double kStep = 1e-5;
  double error = 0.0;
  double size = 0.0;
  for (std::size_t k = 0; k < w.size(); ++k) {
    const double at = w[k];
    w[k] = at + kStep;
    const double above = objective.value(w);
    w[k] = at - kStep;
    const double below = objective.value(w);
    w[k] = at;
    error = std::hypot(error, (above - below) / (2 * kStep) - gradient[k]);
    size = std::hypot(size, gradient[k]);
  }
  return error / size;
}

// Central differences with h = 1e-5 are off by h^2 |f'''| / 6 + eps |f| / h, some 1e-10 where tau is smooth, and at a
// random w no two of a hundred values are within h of one another. p = 1 and infinity are smooth there as well.
TEST(GapObjective, has_the_gradient_of_finite_differences) {
  Source source(1);
  for (const double power : {1.0, 1.5, 2.0, 3.0, 12.0, kInfinity}) {
    for (const char* weighting : {"uniform", "triangle:0.2", "slope-up"}) {
      for (const auto& [nx, ny, weighted] : {std::tuple{12UL, 12UL, false}, {9UL, 14UL, false}, {10UL, 13UL, true}}) {
        MethodOptions options;
        options.power = power;
        options.weighting = parse_level_weights(weighting);
        Problem problem(nx, ny, 5, weighted, source, options);
        GapObjective objective(*problem.gap);
        std::vector<double> w = unit_vector(5, source);
        std::vector<double> gradient(5);
        const double tau = objective.gradient(w, gradient);
        EXPECT_NEAR(tau, objective.value(w), 1e-14 * tau);
        EXPECT_LT(error_by_differences(objective, w, gradient), 1e-6)
            << "p = " << power << " " << weighting << " " << nx;
      }
    }
  }
}

// sqrt((q_x - q_y)^2 - c^2 + MMD^2) at every level, with c and the MMD from the features, by definition.
TEST(GapObjective, of_centered_embeddings_has_its_value_and_gradient) {
  Source source(9);
  for (const double power : {1.0, 1.5, 2.0, 3.0, kInfinity}) {
    for (const auto& [nx, ny, weighted] : {std::tuple{12UL, 12UL, false}, {9UL, 14UL, false}, {10UL, 13UL, true}}) {
      MethodOptions options;
      options.power = power;
      Problem plain(nx, ny, 5, weighted, source, options);
      const GapProblem problem(plain.slices, plain.x, plain.y, plain.weights, options, true);
      GapObjective objective(problem);
      std::vector<double> w = unit_vector(5, source);
      std::vector<double> gradient(5);
      const double tau = objective.gradient(w, gradient);
      EXPECT_NEAR(tau, objective.value(w), 1e-13 * tau);
      std::vector<double> values(nx + ny);
      plain.slices.evaluate(w, values);
      std::vector<double> witness(5);
      double mean_gap = 0.0;
      for (std::size_t i = 0; i < nx + ny; ++i) mean_gap += problem.signed_weights[i] * values[i];
      for (std::size_t i = 0; i < nx + ny; ++i) {
        for (std::size_t k = 0; k < 5; ++k) witness[k] += problem.signed_weights[i] * plain.slices.stored()(i, k);
      }
      double mmd_squared = 0.0;
      for (const double c : witness) mmd_squared += c * c;
      if (power == 2.0 && !weighted) {  // then the square is that of the plain gap plus the constant
        GapObjective uncentered(*plain.gap);
        const double gap = uncentered.value(w);
        EXPECT_NEAR(tau * tau, gap * gap - mean_gap * mean_gap + mmd_squared, 1e-12 * tau * tau);
      }
      EXPECT_GE(tau * tau, 0.999999 * (mmd_squared - mean_gap * mean_gap));
      EXPECT_LT(error_by_differences(objective, w, gradient), 1e-6) << "p = " << power << " " << nx << " " << weighted;
    }
  }
}

TEST(GapObjective, is_the_transport_along_the_direction) {
  Source source(2);
  for (const double power : {1.0, 2.0, 3.5}) {
    MethodOptions options;
    options.power = power;
    Problem problem(8, 11, 3, false, source, options);
    GapObjective objective(*problem.gap);
    const std::vector<double> w = unit_vector(3, source);
    std::vector<double> values(19);
    problem.slices.evaluate(w, values);
    const std::vector<double> x(values.begin(), values.begin() + 8);
    const std::vector<double> y(values.begin() + 8, values.end());
    const auto expected = static_cast<double>(test::quantile_gap(x, y, test::uniform_levels(), power));
    EXPECT_NEAR(objective.value(w), expected, 1e-13 * expected);
  }
}

TEST(Ascent, never_falls_and_ends_above_its_start) {
  Source source(3);
  for (const double power : {1.0, 2.0, 3.0, kInfinity}) {
    MethodOptions options;
    options.power = power;
    Problem problem(40, 55, 6, false, source, options);
    GapObjective objective(*problem.gap);
    const Ascent ascent = ascend(objective, unit_vector(6, source), 200);
    ASSERT_GT(ascent.history.size(), 1U) << power;
    EXPECT_TRUE(std::ranges::is_sorted(ascent.history)) << power;
    EXPECT_EQ(ascent.value, ascent.history.back());
    EXPECT_EQ(objective.value(ascent.direction), ascent.value);
    double squares = 0.0;
    for (const double c : ascent.direction) squares += c * c;
    EXPECT_NEAR(squares, 1.0, 1e-14);
  }
}

// In the plane all directions can be looked at. 20000 angles miss a maximum by a relative 1 - cos(pi/40000) at most,
// times the slope of the values, far below 1e-4; the ascent must not be below that, and cannot be above the supremum.
TEST(Supremum, in_the_plane_is_that_of_a_scan_of_the_circle) {
  Source source(4);
  for (const double power : {1.0, 2.0, 4.0}) {
    for (const bool weighted : {false, true}) {
      MethodOptions options;
      options.power = power;
      Problem problem(15, 18, 2, weighted, source, options);
      GapObjective objective(*problem.gap);
      double scanned = 0.0;
      for (int k = 0; k < 20000; ++k) {
        const double angle = std::numbers::pi * k / 20000;
        scanned = std::max(scanned, objective.value(std::vector<double>{std::cos(angle), std::sin(angle)}));
      }
      const Supremum found = maximise_gap(*problem.gap, Seed{1}, {}, ThreadCount{2});
      EXPECT_GE(found.value, scanned * (1 - 1e-9)) << power;
      EXPECT_LE(found.value, scanned * (1 + 1e-4)) << power;
      EXPECT_EQ(found.num_starts, 8U);
      EXPECT_GE(found.num_optima, 1U);
      EXPECT_LE(found.num_optima, found.num_starts);
    }
  }
}

TEST(Supremum, has_the_same_bits_for_any_number_of_threads) {
  Source source(5);
  MethodOptions options;
  options.power = 2.0;
  Problem problem(300, 260, 7, false, source, options);
  const Supremum only = maximise_gap(*problem.gap, Seed{1}, {}, ThreadCount{1});
  for (unsigned threads = 2; threads <= 4; ++threads) {
    const Supremum together = maximise_gap(*problem.gap, Seed{1}, {}, ThreadCount{threads});
    EXPECT_EQ(together.value, only.value);
    EXPECT_EQ(together.direction, only.direction);
  }
}

// --- features ---

TEST(PartialCholesky, reproduces_the_gram_matrix_and_functions_on_the_points) {
  Source source(6);
  const Matrix<double> points = test::normal_matrix({60, 3}, source);
  for (const char* name : {"gaussian@1", "laplace@2", "polynomial:2:1", "linear"}) {
    const Kernel kernel(parse_kernel(name));
    Matrix<double> gram(60, 60);
    kernel.evaluate(points, points, gram);
    double largest = 0.0;
    for (std::size_t i = 0; i < 60; ++i) largest = std::max(largest, gram(i, i));
    const PartialCholesky factor = partial_cholesky(kernel, points, row_blocks(30, 60), 60, 1e-12, ThreadCount{2});
    // The rest is positive semidefinite with diagonal entries up to 1e-12 of the largest, which then bounds all.
    for (std::size_t i = 0; i < 60; ++i) {
      for (std::size_t j = 0; j < 60; ++j) {
        const double product = static_cast<double>(test::dot(factor.features.row(i), factor.features.row(j)));
        EXPECT_NEAR(product, gram(i, j), 2e-12 * largest) << name;
      }
    }
    if (std::string(name) == "linear") {
      EXPECT_EQ(factor.pivots.size(), 3U);
    } else if (std::string(name) == "polynomial:2:1") {
      EXPECT_EQ(factor.pivots.size(), 10U);
    }
    // w . phi(x) as a combination of kernels at the pivots: 1e-8 leaves coefficients of up to 1e4.
    const PartialCholesky coarse = partial_cholesky(kernel, points, row_blocks(30, 60), 60, 1e-8, ThreadCount{1});
    const std::vector<double> w = unit_vector(coarse.pivots.size(), source);
    const std::vector<double> c = coarse.coefficients(w);
    for (std::size_t i = 0; i < 60; ++i) {
      double value = 0.0;
      for (std::size_t j = 0; j < c.size(); ++j) value += c[j] * gram(i, coarse.pivots[j]);
      EXPECT_NEAR(value, static_cast<double>(test::dot(coarse.features.row(i), w)), 1e-8 * std::sqrt(largest)) << name;
    }
  }
}

TEST(PartialCholesky, of_fewer_columns_leaves_a_rest_and_says_how_large) {
  Source source(7);
  const Matrix<double> points = test::normal_matrix({50, 4}, source);
  const Kernel kernel(parse_kernel("gaussian@1"));
  double before = 1.0;
  for (const std::size_t rank : {1UL, 5UL, 20UL, 50UL}) {
    const PartialCholesky factor = partial_cholesky(kernel, points, row_blocks(25, 50), rank, 1e-12, ThreadCount{1});
    EXPECT_EQ(factor.features.cols(), rank);
    double captured = 0.0;
    for (const double v : factor.features.values()) captured += v * v;
    EXPECT_NEAR(factor.residual, 1.0 - captured / 50.0, 1e-12);
    EXPECT_LT(factor.residual, before);
    before = factor.residual;
  }
}

// --- max-sw ---

TEST(MaxSw, of_two_points_is_their_distance) {
  const Sample x{Matrix<double>(1, 3, {1, 2, 3}), {}, {}};
  const Sample y{Matrix<double>(1, 3, {3, -1, 9}), {}, {}};
  for (const double power : {1.0, 2.0, 5.0, kInfinity}) {
    MethodOptions options;
    options.power = power;
    EXPECT_NEAR(distance("max-sw", x, y, options).statistic, 7.0, 1e-13) << power;  // sqrt(4 + 9 + 36)
    options.kernel = parse_kernel("linear");
    EXPECT_NEAR(distance("supkqd-opt", x, y, options).statistic, 7.0, 1e-12) << power;
  }
}

// {0,1} against {0.5,2,3}: W_1 = 4/3, W_2^2 = 9/4, W_3^3 = 101/24.
TEST(MaxSw, on_the_line_is_wasserstein) {
  const Sample x = test::column({0, 1});
  const Sample y = test::column({0.5, 2, 3});
  for (const auto& [power, expected] : {std::pair{1.0, 4.0 / 3.0}, {2.0, 1.5}, {3.0, std::cbrt(101.0 / 24.0)}}) {
    MethodOptions options;
    options.power = power;
    EXPECT_NEAR(distance("max-sw", x, y, options).statistic, expected, 1e-14);
    options.kernel = parse_kernel("linear");
    EXPECT_NEAR(distance("supkqd-opt", x, y, options).statistic, expected, 1e-12);
  }
}

// N(0, I) against N(0, diag(4, 1, ..)), p = 2: (2 - 1)^2 = 1 along e_1. With n = 20000 the standard deviations along
// e_1 have errors of 0.005 and 0.01; the maximum over the sphere and W_2 of samples add less than 0.01.
TEST(MaxSw, finds_the_direction_of_the_larger_spread) {
  Source source(8);
  const Sample x = test::normal_sample({20000, 4}, source);
  Sample y = test::normal_sample({20000, 4}, source);
  for (std::size_t i = 0; i < 20000; ++i) y.points(i, 0) *= 2.0;
  MethodOptions options;
  options.power = 2.0;
  const DistanceResult found = distance("max-sw", x, y, options);
  EXPECT_NEAR(found.statistic_power, 1.0, 0.06);
  MethodOptions along;  // the same gap along e_1 only: nearly all of it
  along.power = 2.0;
  along.kernel = parse_kernel("linear");
  along.directions.reference = ReferenceMeasure::points;
  along.directions.reference_points = Matrix<double>(1, 4, {1, 0, 0, 0});
  along.directions.coefficients = Matrix<double>(1, 1, 1.0);
  const double first_axis = ekqd(x, y, along).statistic;
  EXPECT_GE(found.statistic, first_axis);
  EXPECT_LE(found.statistic, 1.02 * first_axis);
}

// The two methods climb the same function in two coordinate systems: the data, and a Cholesky factor of their Gram
// matrix. Where both find the best maximum they agree to the accuracy of an ascent, some 1e-7.
TEST(MaxSw, is_supkqd_opt_of_the_linear_kernel) {
  Source source(9);
  for (const double power : {1.0, 2.0, 3.0}) {
    const Sample x = test::normal_sample({30, 3}, source);
    Sample y = test::normal_sample({24, 3}, source, 0.3);
    for (std::size_t i = 0; i < 24; ++i) y.points(i, 1) *= 2.5;
    MethodOptions options;
    options.power = power;
    options.parameters = {{"starts", 12}};
    const double sliced = distance("max-sw", x, y, options).statistic;
    options.kernel = parse_kernel("linear");
    EXPECT_NEAR(distance("supkqd-opt", x, y, options).statistic, sliced, 1e-6 * sliced) << power;
  }
}

TEST(MaxSw, is_above_sw_and_above_the_distance_of_the_means) {
  Source source(10);
  for (const double power : {1.0, 2.0, kInfinity}) {
    Sample x = test::normal_sample({30, 5}, source);
    const Sample y = test::normal_sample({40, 5}, source, 0.2);
    for (std::size_t i = 0; i < 30; ++i) x.weights.push_back(source.uniform());
    MethodOptions options;
    options.power = power;
    options.directions.num_directions = 64;
    const double largest = distance("max-sw", x, y, options).statistic;
    EXPECT_GE(largest, distance("sw", x, y, options).statistic);
    options.kernel = parse_kernel("linear");
    EXPECT_GE(largest, mmd_v(x, y, options).statistic * (1 - 1e-12));
  }
}

TEST(MaxSw, does_not_see_where_the_data_lie_and_follows_their_unit) {
  Source source(11);
  const Sample x = test::normal_sample({20, 3}, source);
  const Sample y = test::normal_sample({20, 3}, source, 0.5);
  const double plain = distance("max-sw", x, y).statistic;
  for (const double unit : {1e-200, 1e200}) {
    Sample sx = x;
    Sample sy = y;
    for (Sample* sample : {&sx, &sy}) {
      for (double& v : sample->points.values()) v = v * unit + unit;
    }
    // Adding 1 rounds the data at 1e-16, and the ascent ends within 1e-7 of a maximum.
    EXPECT_NEAR(distance("max-sw", sx, sy).statistic / unit, plain, 1e-6 * plain);
  }
}

// --- supkqd-opt ---

// The witness is a start, and tau_p >= |mean difference| for uniform levels. The features leave out at most 1e-12
// (1/nx + 1/ny) N <= 1e-11 of MMD^2.
TEST(SupkqdOpt, is_at_least_the_mmd) {
  Source source(12);
  for (const char* kernel : {"gaussian", "laplace", "polynomial:2:1", "gaussian@0.3"}) {
    for (const double power : {1.0, 2.0, 3.0}) {
      const Sample x = test::normal_sample({25, 3}, source);
      const Sample y = test::normal_sample({35, 3}, source, 0.3);
      MethodOptions options;
      options.kernel = parse_kernel(kernel);
      options.power = power;
      const double mmd = mmd_v(x, y, options).statistic;
      const DistanceResult found = distance("supkqd-opt", x, y, options);
      EXPECT_GE(found.statistic, mmd - 1e-10 * (1.0 + 1.0 / mmd)) << kernel;
      EXPECT_GE(found.statistic, supkqd(x, y, options).statistic) << kernel;  // far above 64 random directions
    }
  }
}

// The direction is made of kernel functions that add more than 1e-8 of the first to the others: without the rest,
// values change by at most 1e-4 of the largest.
TEST(Maximiser, has_the_largest_gap_and_norm_one) {
  Source source(21);
  const Sample x = test::normal_sample({40, 3}, source);
  const Sample y = test::normal_sample({30, 3}, source, 0.5, 1.5);
  for (const char* const id : {"supkqd-opt", "max-sw", "max-gsw"}) {
    for (const double power : {1.0, 2.0}) {
      MethodOptions options;
      options.power = power;
      const DistanceResult found = distance(id, x, y, options);
      ASSERT_NE(found.directions, nullptr) << id;
      Matrix<double> of_x(1, 40);
      Matrix<double> of_y(1, 30);
      found.directions->evaluate(x.points, 0, of_x, {});
      found.directions->evaluate(y.points, 0, of_y, {});
      const auto gap = static_cast<double>(test::quantile_gap(
          {of_x.data(), of_x.data() + 40}, {of_y.data(), of_y.data() + 30}, test::uniform_levels(), power));
      EXPECT_NEAR(gap, found.statistic, 1e-4 * found.statistic) << id << " " << power;
      EXPECT_NEAR(found.directions->inner_product(0, *found.directions, 0), 1.0, 1e-6) << id;
      EXPECT_GE(find_detail(found.details, "upper_bound").value(), found.statistic * (1.0 - 1e-12)) << id;
    }
  }
}

TEST(SupkqdOpt, upper_bound_is_reached_on_the_line_with_the_linear_kernel) {
  Source source(22);
  MethodOptions options;
  options.kernel = parse_kernel("linear");
  const DistanceResult found =
      distance("supkqd-opt", test::normal_sample({20, 1}, source), test::normal_sample({25, 1}, source, 0.3), options);
  EXPECT_NEAR(find_detail(found.details, "upper_bound").value(), found.statistic, 1e-9 * found.statistic);
}

TEST(SupkqdOpt, centered_is_at_least_every_drawn_centered_gap_and_the_mmd) {
  Source source(23);
  for (const double power : {1.0, 2.0, 3.0}) {
    MethodOptions options;
    options.kernel = parse_kernel("gaussian@1.5");
    options.power = power;
    options.directions.num_directions = 500;
    const Sample x = test::normal_sample({25, 2}, source);
    const Sample y = test::normal_sample({20, 2}, source, 0.4, 1.4);
    const double drawn = supkqd_centered(x, y, options).statistic;
    const double mmd = mmd_v(x, y, options).statistic;
    options.parameters = {{"centered", 1}};
    const DistanceResult found = distance("supkqd-opt", x, y, options);
    EXPECT_GE(found.statistic, drawn * (1.0 - 1e-9)) << power;
    EXPECT_GE(found.statistic, mmd * (1.0 - 1e-9)) << power;  // [KQE Prop. 2]
    EXPECT_FALSE(find_detail(found.details, "upper_bound"));
  }
}

TEST(SupkqdOpt, test_of_the_centered_form_needs_refits) {
  Source source(24);
  TwoSampleOptions options;
  options.method = "supkqd-opt";
  options.statistic.parameters = {{"centered", 1}};
  options.test.num_permutations = 19;
  const Sample x = test::normal_sample({12, 1}, source);
  const Sample y = test::normal_sample({12, 1}, source);
  test::expect_error(
      ErrorCode::invalid_option,
      "a test of the centered form fits its direction again for every permutation; add the parameter share = 0",
      [&] { static_cast<void>(two_sample_test(x, y, options)); });
  options.statistic.parameters["share"] = 0.0;
  EXPECT_GE(two_sample_test(x, y, options).test.pvalue, 0.05);
}

TEST(SupkqdOpt, with_few_features_is_a_lower_bound_and_reports_what_is_left_out) {
  Source source(13);
  const Sample x = test::normal_sample({40, 2}, source);
  const Sample y = test::normal_sample({40, 2}, source, 0.7);
  MethodOptions options;
  const double full = distance("supkqd-opt", x, y, options).statistic;
  options.parameters = {{"rank", 8}};
  const DistanceResult coarse = distance("supkqd-opt", x, y, options);
  EXPECT_LT(coarse.statistic, full);
  EXPECT_GT(coarse.statistic, 0.5 * full);
  ASSERT_EQ(coarse.details.size(), 6U);
  EXPECT_EQ(coarse.details[0].name, "rank");
  EXPECT_EQ(coarse.details[0].value, 8.0);
  EXPECT_EQ(coarse.details[1].name, "residual");
  EXPECT_GT(coarse.details[1].value, 0.0);
  EXPECT_EQ(coarse.details[2].name, "starts");
  EXPECT_EQ(coarse.details[3].name, "optima");
  EXPECT_EQ(coarse.details[4].name, "steps");
}

// --- tests ---

struct Data {
  Data(std::size_t nx, std::size_t ny, std::size_t dim, bool weighted, bool ties, std::uint64_t seed) {
    Source source(seed);
    for (auto* sample : {&x, &y}) {
      const std::size_t n = sample == &x ? nx : ny;
      *sample = test::normal_sample({n, dim}, source, sample == &x ? 0.0 : 0.4);
      if (ties) {
        for (double& v : sample->points.values()) v = std::floor(2.0 * v);
      }
      for (std::size_t i = 0; weighted && i < n; ++i) sample->weights.push_back(source.uniform(0.3, 1.5));
    }
  }
  Sample x;
  Sample y;
};

const std::vector<std::string>& optimised() {
  static const std::vector<std::string> ids = {"max-sw", "supkqd-opt"};
  return ids;
}

std::vector<double> evaluate(const PreparedPlan& prepared, SampleSizes sizes, unsigned count, LabelBatch& batch) {
  const PermutationSource source(Design::independent(), sizes, prepared.rows, Seed{9});
  source.fill(PermutationMode::random, 0, count, batch);
  std::vector<double> values(count);
  prepared.plan->evaluate({&batch, 1}, values, ThreadCount{2});
  return values;
}

// Refits start from the pool's own features and rows, a distance from those of two samples: other coordinates and other
// rounding, the same suprema. Ascents end within some 1e-7 of a maximum, and in the plane eight starts find the best.
TEST(OptimisedPlans, that_refit_equal_the_distance_of_every_permutation) {
  for (const std::string& id : optimised()) {
    for (const auto& [nx, ny, weighted, ties] : {std::tuple{14UL, 14UL, false, false},
                                                 {9UL, 17UL, false, false},
                                                 {12UL, 15UL, true, false},
                                                 {16UL, 13UL, false, true}}) {
      const Data data(nx, ny, 2, weighted, ties, 21);
      MethodOptions options;
      options.power = 2.0;
      options.kernel = parse_kernel("linear");  // supkqd-opt: few maxima, so that both find the same one
      options.parameters = {{"share", 0.0}, {"starts", 12}};
      const TestPool pool = make_test_pool(data.x, data.y, ThreadCount{1});
      const PreparedPlan prepared =
          method_with_id(id).prepare(pool, options, {.permutation_count = 4, .whole_units = {}});
      EXPECT_EQ(prepared.rows.size(), nx + ny);
      EXPECT_EQ(prepared.num_set_aside, 0U);
      EXPECT_GT(prepared.expected_seconds, 0.0);
      test::expect_plan_equals_distance(id, data.x, data.y, options, {.slacks = 0.0, .relative = 1e-6},
                                        Design::independent(), 4);
    }
  }
}

// On the line there is one direction, so the gap of every permutation of the rows that are left is the Wasserstein
// distance.
TEST(OptimisedPlans, that_split_test_the_other_rows_along_one_direction) {
  for (const std::string& id : optimised()) {
    for (const auto& [weighted, ties] : {std::pair{false, false}, {true, false}, {false, true}}) {
      for (const double power : {1.0, 2.0, 3.0}) {
        const Data data(30, 41, 1, weighted, ties, 22);
        MethodOptions options;
        options.power = power;
        options.kernel = parse_kernel("linear");
        const TestPool pool = make_test_pool(data.x, data.y, ThreadCount{1});
        const PreparedPlan prepared = method_with_id(id).prepare(pool, options, {});
        EXPECT_EQ(prepared.num_set_aside, 35U);  // 15 and 20
        EXPECT_EQ(prepared.rows.size(), 36U);
        EXPECT_EQ(prepared.num_directions, 1U);
        EXPECT_GT(prepared.pooled_scale, 0.0);
        LabelBatch batch;
        const auto values = evaluate(prepared, {30, 41}, 6, batch);
        for (unsigned b = 0; b < 6; ++b) {
          const double direct = ekqd(test::labelled(pool, prepared, batch, b, true),
                                     test::labelled(pool, prepared, batch, b, false), options)
                                    .statistic;
          const double bound = prepared.plan->tie_slack(direct) + 1e-12 * direct;
          EXPECT_NEAR(values[b], direct, bound) << id << " p = " << power;
        }
        options.parameters = {{"share", 0.2}};
        EXPECT_EQ(method_with_id(id).prepare(pool, options, {}).num_set_aside, 14U);  // 6 and 8
      }
    }
  }
}

// "fitted" is the supremum over the training rows: the distance of the two training samples, up to an ascent's accuracy
// (for supkqd-opt the features of a direction are coarser, 1e-8 of k(x, x)).
TEST(OptimisedPlans, that_split_report_the_supremum_over_the_training_rows) {
  const Data data(20, 24, 2, false, false, 26);
  for (const std::string& id : optimised()) {
    MethodOptions options;
    options.kernel = parse_kernel("linear");
    options.parameters = {{"starts", 12}};
    const TestPool pool = make_test_pool(data.x, data.y, ThreadCount{1});
    const PreparedPlan prepared = method_with_id(id).prepare(pool, options, {});
    const Split split = split_for_training(pool, 0.5, {}, options.seed);
    const double direct = distance(id, split.train_x, split.train_y, options).statistic;
    const auto fitted = std::ranges::find(prepared.details, "fitted", &Detail::name);
    ASSERT_NE(fitted, prepared.details.end());
    EXPECT_NEAR(fitted->value, direct, 1e-6 * direct) << id;
    for (const std::size_t row : split.train_rows) EXPECT_EQ(std::ranges::count(prepared.rows, row), 0);
  }
}

TEST(OptimisedPlans, that_split_fit_the_direction_of_the_training_rows) {
  Source source(23);
  const std::size_t n = 200;
  const Sample x = test::normal_sample({n, 6}, source);
  Sample y = test::normal_sample({n, 6}, source);
  for (std::size_t i = 0; i < n; ++i) y.points(i, 2) += 2.0;
  for (const std::string& id : optimised()) {
    TwoSampleOptions options;
    options.method = id;
    options.test.num_permutations = 199;
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_EQ(result.test.pvalue, 1.0 / 200.0) << id;
    EXPECT_EQ(result.num_set_aside, 200U);
    EXPECT_EQ(result.per_direction.size(), 1U);
    EXPECT_GT(result.effect_size, 0.5);
    if (id == "max-sw") {
      EXPECT_NEAR(result.test.statistic, 2.0, 0.5);
    }
  }
}

TEST(OptimisedPlans, give_the_same_bits_for_any_threads) {
  for (const std::string& id : optimised()) {
    for (const double share : {0.0, 0.5}) {
      const Data data(16, 12, 2, false, false, 24);
      MethodOptions options;
      options.parameters = {{"share", share}};
      const TestPool pool = make_test_pool(data.x, data.y, ThreadCount{1});
      options.threads = ThreadCount{1};
      const PreparedPlan only = method_with_id(id).prepare(pool, options, {});
      options.threads = ThreadCount{3};
      const PreparedPlan together = method_with_id(id).prepare(pool, options, {});
      const PermutationSource source(Design::independent(), {16, 12}, only.rows, Seed{9});
      LabelBatch batch;
      source.fill(PermutationMode::random, 0, 8, batch);
      std::vector<double> expected(8);
      std::vector<double> found(8);
      only.plan->evaluate({&batch, 1}, expected, ThreadCount{1});
      together.plan->evaluate({&batch, 1}, found, ThreadCount{4});
      EXPECT_EQ(found, expected) << id << " " << share;
    }
  }
}

TEST(OptimisedMethods, refuse_what_they_cannot_do) {
  Source source(25);
  const Sample x = test::normal_sample({3, 2}, source);
  const Sample y = test::normal_sample({30, 2}, source);
  TwoSampleOptions options;
  options.method = "max-sw";
  test::expect_error(ErrorCode::empty_sample,
                     "the training part of X has 1 of its 3 rows, needs at least 2; use larger samples",
                     [&] { static_cast<void>(two_sample_test(x, y, options)); });
  options.effect_interval = true;
  test::expect_error(
      ErrorCode::invalid_option,
      "max-sw has no interval for the effect size: the direction would be fitted again to every half-sample",
      [&] { static_cast<void>(two_sample_test(y, y, options)); });
  MethodOptions statistic;
  statistic.parameters = {{"share", 0.95}};
  EXPECT_THROW(static_cast<void>(distance("max-sw", x, y, statistic)), Error);
  statistic.parameters = {{"rank", 2.5}};
  EXPECT_THROW(static_cast<void>(distance("supkqd-opt", x, y, statistic)), Error);

  const Sample large = test::normal_sample({20000, 40}, source);
  options.effect_interval = false;
  options.statistic.parameters = {{"share", 0.0}};
  try {
    static_cast<void>(two_sample_test(large, large, options));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("max-sw of 40000 rows, once for each of 1000 permutations (share = 0), takes about "))
        << error.what();
  }
}

TEST(OptimisedMethods, see_nothing_where_there_is_nothing) {
  const Sample same{Matrix<double>(9, 2, 3.0), {}, {}};
  for (const std::string& id : optimised()) {
    TwoSampleOptions options;
    options.method = id;
    options.test.num_permutations = 99;
    for (const double share : {0.0, 0.5}) {
      options.statistic.parameters = {{"share", share}};
      const TwoSampleResult result = two_sample_test(same, same, options);
      EXPECT_EQ(result.test.statistic, 0.0) << id;
      EXPECT_EQ(result.test.pvalue, 1.0) << id;
    }
  }
  Sample zeros{Matrix<double>(9, 2, 0.0), {}, {}};
  MethodOptions linear;
  linear.kernel = parse_kernel("linear");
  EXPECT_EQ(distance("supkqd-opt", zeros, zeros, linear).statistic, 0.0);
}

}  // namespace
}  // namespace kqd
