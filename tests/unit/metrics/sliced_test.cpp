// Sliced Wasserstein distances and their generalisations. Oracles: closed forms, transport on the line
// written out in tests/support, polynomials written out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "core/pool.hpp"
#include "directions/reference.hpp"
#include "kqd/kqd.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/quantile/gap_objective.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/test_pool.hpp"
#include "metrics/transport/generalised_slices.hpp"
#include "support/errors.hpp"
#include "support/oracles.hpp"
#include "support/plans.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::kInfinity;

using test::Source;

MethodOptions sliced_options(double power, std::size_t num_directions) {
  MethodOptions options;
  options.power = power;
  options.directions.num_directions = num_directions;
  options.seed = Seed{5};
  return options;
}

// --- sw ---

TEST(Sw, is_ekqd_of_the_linear_kernel_along_uniform_directions_to_the_last_bit) {
  Source source(1);
  for (const double power : {1.0, 2.0, 3.0, kInfinity}) {
    const Sample x = test::normal_sample({20, 4}, source);
    const Sample y = test::normal_sample({31, 4}, source, 0.3);
    MethodOptions options = sliced_options(power, 17);
    const DistanceResult sliced = distance("sw", x, y, options);
    options.kernel = parse_kernel("linear");
    options.directions.family = DirectionFamily::linear;
    const DistanceResult expected = ekqd(x, y, options);
    EXPECT_EQ(sliced.statistic, expected.statistic);
    EXPECT_EQ(sliced.per_direction, expected.per_direction);
    EXPECT_EQ(sliced.num_directions, 17U);
    EXPECT_EQ(sliced.num_reference, 0U);
    options.kernel = parse_kernel("gaussian@3");  // not felt
    EXPECT_EQ(distance("sw", x, y, options).statistic, expected.statistic);
  }
}

TEST(Sw, on_the_line_is_wasserstein) {
  const Sample x = test::column({0, 1});
  const Sample y = test::column({0.5, 2, 3});
  EXPECT_NEAR(distance("sw", x, y, sliced_options(1, 3)).statistic, 4.0 / 3.0, 1e-15);
  EXPECT_NEAR(distance("sw", x, y, sliced_options(2, 3)).statistic_power, 9.0 / 4.0, 1e-15);
  EXPECT_NEAR(distance("sw", x, y, sliced_options(3, 3)).statistic_power, 101.0 / 24.0, 1e-14);
}

// E|u_1|^p on the sphere of R^d.
double moment(double d, double p) {
  return std::tgamma(d / 2) * std::tgamma((p + 1) / 2) / (std::sqrt(std::numbers::pi) * std::tgamma((d + p) / 2));
}

// SW_p^p of two points is |x - y|^p times the mean of |u_1|^p over the directions drawn: off by its standard error, of
// which six bound a normal deviate with probability 1 - 2e-9.
TEST(Sw, of_two_points_is_their_distance_times_a_moment_of_the_sphere) {
  EXPECT_NEAR(moment(3, 1), 1.0 / 2.0, 1e-15);
  EXPECT_NEAR(moment(3, 2), 1.0 / 3.0, 1e-15);
  EXPECT_NEAR(moment(3, 3), 1.0 / 4.0, 1e-15);
  EXPECT_NEAR(moment(2, 1), 2.0 / std::numbers::pi, 1e-15);
  EXPECT_NEAR(moment(10, 1), 0.2586899392, 1e-10);
  constexpr std::size_t kNumDirections = 20000;
  for (const auto& [dim, power] : {std::pair{3UL, 1.0}, {3UL, 2.0}, {3UL, 3.0}, {2UL, 1.0}, {10UL, 1.0}}) {
    Sample x{Matrix<double>(1, dim, 1.0), {}, {}};
    Sample y = x;
    y.points(0, 0) += 2.0;
    const double found = distance("sw", x, y, sliced_options(power, kNumDirections)).statistic_power;
    const auto d = static_cast<double>(dim);
    const double variance = moment(d, 2 * power) - moment(d, power) * moment(d, power);
    const double error = std::sqrt(variance / static_cast<double>(kNumDirections));
    EXPECT_NEAR(found, std::pow(2.0, power) * moment(d, power), 6 * std::pow(2.0, power) * error)
        << dim << " " << power;
  }
}

// SW_2^2 = |a - b|^2 / d + (s - t)^2. With n = 4000 means are off by 0.016 s, standard deviations by 0.011 s; with 1000
// directions the mean of (u.(a - b))^2 by 0.25 / sqrt(1000): together below 0.03, of which 3 are allowed.
TEST(Sw, of_round_gaussians_is_known) {
  Source source(2);
  const Sample x = test::normal_sample({4000, 4}, source, 0.0, 1.0);
  const Sample y = test::normal_sample({4000, 4}, source, 0.5, 2.0);  // |a - b|^2 = 4 * 0.25
  EXPECT_NEAR(distance("sw", x, y, sliced_options(2, 1000)).statistic_power, 1.0 / 4.0 + 1.0, 0.09);
}

TEST(Sw, takes_directions_that_are_given) {
  Source source(3);
  const Sample x = test::normal_sample({9, 3}, source);
  const Sample y = test::normal_sample({9, 3}, source);
  MethodOptions options = sliced_options(2, 64);
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = Matrix<double>(2, 3, {1, 0, 0, 0, 3, 4});
  options.directions.coefficients = Matrix<double>(2, 2, {1, 0, 0, 1});
  double total = 0.0;
  for (const auto& u : {std::vector<double>{1, 0, 0}, {0, 0.6, 0.8}}) {
    std::vector<double> px;
    std::vector<double> py;
    for (std::size_t i = 0; i < 9; ++i) {
      px.push_back(static_cast<double>(test::dot(x.points.row(i), u)));
      py.push_back(static_cast<double>(test::dot(y.points.row(i), u)));
    }
    const auto tau = static_cast<double>(test::quantile_gap(px, py, test::uniform_levels(), 2.0));
    total += tau * tau / 2.0;
  }
  EXPECT_NEAR(distance("sw", x, y, options).statistic_power, total, 1e-13 * total);
}

TEST(Sw, refuses_axis_directions) {
  MethodOptions options;
  options.directions.family = DirectionFamily::axis;
  test::expect_error(ErrorCode::invalid_option,
                     "directions axis are not uniform on the sphere, as sw is; use method ekqd for them", [&] {
                       static_cast<void>(distance("sw", test::column({1, 2}), test::column({3}), options));
                     });
}

// --- monomials ---

// At the first primes a monomial is a number, and its factors are those of the number.
std::vector<std::vector<int>> exponents(const PolynomialMap& map) {
  const std::vector<double> primes = {2, 3, 5, 7, 11};
  Matrix<double> point(1, map.dim());
  for (std::size_t k = 0; k < map.dim(); ++k) point(0, k) = primes[k];
  Matrix<double> monomials(1, map.num_monomials());
  map.evaluate(point, monomials);
  std::vector<std::vector<int>> list;
  for (double value : monomials.values()) {
    std::vector<int> alpha(map.dim());
    for (std::size_t k = 0; k < map.dim(); ++k) {
      while (std::fmod(value, primes[k]) == 0.0) {
        value /= primes[k];
        ++alpha[k];
      }
    }
    EXPECT_EQ(value, 1.0);
    list.push_back(alpha);
  }
  return list;
}

int factorial(int n) {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

TEST(PolynomialMap, has_every_monomial_of_the_degree_once) {
  for (const auto& [dim, degree, count] :
       {std::tuple{1UL, 5UL, 1UL}, {2UL, 3UL, 4UL}, {3UL, 1UL, 3UL}, {4UL, 3UL, 20UL}, {5UL, 5UL, 126UL}}) {
    const PolynomialMap map(dim, degree);
    EXPECT_EQ(map.num_monomials(), count);  // C(d + q - 1, q)
    auto alphas = exponents(map);
    for (const auto& alpha : alphas) {
      int total = 0;
      for (const int a : alpha) total += a;
      EXPECT_EQ(total, static_cast<int>(degree));
    }
    std::ranges::sort(alphas);
    EXPECT_EQ(std::ranges::adjacent_find(alphas), alphas.end());
  }
}

// --- gsw ---

MethodOptions polynomial_options(double degree, double power, std::size_t num_directions = 7) {
  MethodOptions options = sliced_options(power, num_directions);
  options.parameters = {{"degree", degree}};
  return options;
}

MethodOptions circular_options(double radius, double power, std::size_t num_directions = 7) {
  MethodOptions options = sliced_options(power, num_directions);
  options.parameters = {{"family", 1}, {"radius", radius}};
  return options;
}

// On the line theta = 1 or -1, so GSW_p = W_p of x^q: no rescaling is left in the number.
TEST(Gsw, on_the_line_is_wasserstein_of_the_power) {
  Source source(4);
  const Sample x = test::normal_sample({11, 1}, source, 1.0, 3.0);
  const Sample y = test::normal_sample({14, 1}, source, -2.0, 5.0);
  for (const double degree : {1.0, 3.0, 5.0}) {
    std::vector<double> px;
    std::vector<double> py;
    for (const double v : x.points.values()) px.push_back(std::pow(v, degree));
    for (const double v : y.points.values()) py.push_back(std::pow(v, degree));
    for (const double power : {1.0, 2.0, 3.0}) {
      const auto expected = static_cast<double>(test::quantile_gap(px, py, test::uniform_levels(), power));
      const MethodOptions options = polynomial_options(degree, power);
      EXPECT_NEAR(distance("gsw", x, y, options).statistic, expected, 1e-13 * expected);
      EXPECT_NEAR(distance("max-gsw", x, y, options).statistic, expected, 1e-13 * expected);
    }
  }
}

TEST(Gsw, of_degree_one_is_sw) {
  Source source(5);
  const Sample x = test::normal_sample({20, 4}, source);
  const Sample y = test::normal_sample({15, 4}, source, 0.5);
  for (const double power : {1.0, 2.0}) {
    const double sliced = distance("sw", x, y, sliced_options(power, 9)).statistic;
    EXPECT_NEAR(distance("gsw", x, y, polynomial_options(1, power, 9)).statistic, sliced, 1e-13 * sliced);
    // Two ascents on the same points, of which one is measured from their mean: to the accuracy of an ascent.
    const double largest = distance("max-sw", x, y, sliced_options(power, 1)).statistic;
    EXPECT_NEAR(distance("max-gsw", x, y, polynomial_options(1, power)).statistic, largest, 1e-6 * largest);
  }
}

// The kernel (x.y)^q has features sqrt(q!/alpha!) x^alpha. So f = sum_j c_j (z_j.x)^q is the polynomial with
// coefficients theta_alpha = q!/alpha! sum_j c_j z_j^alpha, and e-KQD along f / ||f|| is GSW along theta / ||f||: a
// re-weighted distribution of theta (erratum 10).
TEST(Gsw, along_reweighted_coefficients_is_ekqd_of_the_homogeneous_polynomial_kernel) {
  Source source(6);
  const std::size_t dim = 3;
  const std::size_t degree = 3;
  const Sample x = test::normal_sample({12, dim}, source);
  const Sample y = test::normal_sample({17, dim}, source, 0.4);
  const Matrix<double> z = test::normal_matrix({5, dim}, source);
  const Matrix<double> c = test::normal_matrix({5, 4}, source);
  const PolynomialMap map(dim, degree);
  const auto alphas = exponents(map);
  Matrix<double> theta(4, map.num_monomials(), 0.0);
  for (std::size_t i = 0; i < 4; ++i) {
    double norm = 0.0;  // ||f||^2 = sum_alpha theta_alpha^2 / (q!/alpha!)
    for (std::size_t m = 0; m < alphas.size(); ++m) {
      double multinomial = factorial(static_cast<int>(degree));
      for (const int a : alphas[m]) multinomial /= factorial(a);
      for (std::size_t j = 0; j < 5; ++j) {
        double power = c(j, i);
        for (std::size_t k = 0; k < dim; ++k) power *= std::pow(z(j, k), alphas[m][k]);
        theta(i, m) += multinomial * power;
      }
      norm += theta(i, m) * theta(i, m) / multinomial;
    }
    for (double& t : theta.row(i)) t /= std::sqrt(norm);
  }
  for (const double power : {1.0, 2.0}) {
    MethodOptions options;
    options.power = power;
    options.kernel = parse_kernel("polynomial:3:0");
    options.directions.reference = ReferenceMeasure::points;
    options.directions.reference_points = z;
    options.directions.coefficients = c;
    const DistanceResult by_kernel = ekqd(x, y, options);
    DistanceResult by_polynomials;
    measure_along(by_polynomials, PolynomialDirections(map, LinearDirections(theta, false)), x, y, options, Over::mean);
    EXPECT_NEAR(by_polynomials.statistic, by_kernel.statistic, 1e-12 * by_kernel.statistic);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(by_polynomials.per_direction[i], by_kernel.per_direction[i], 1e-12 * by_kernel.per_direction[i]);
    }
  }
}

TEST(Gsw, by_circles_is_transport_of_distances_to_points_of_the_sphere) {
  Source source(7);
  const Sample x = test::normal_sample({10, 3}, source);
  const Sample y = test::normal_sample({13, 3}, source, 0.4);
  const MethodOptions options = circular_options(1.5, 2.0, 6);
  const LinearDirections theta = draw_uniform_directions(6, 3, options.seed);
  double total = 0.0;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto distances = [&](const Sample& sample) {
      std::vector<double> list;
      for (std::size_t r = 0; r < sample.points.rows(); ++r) {
        std::vector<double> center(3);
        for (std::size_t k = 0; k < 3; ++k) center[k] = 1.5 * theta.weights()(i, k);
        list.push_back(static_cast<double>(std::sqrt(test::squared_distance(sample.points.row(r), center))));
      }
      return list;
    };
    const auto tau = static_cast<double>(test::quantile_gap(distances(x), distances(y), test::uniform_levels(), 2.0));
    total += tau * tau / 6.0;
  }
  EXPECT_NEAR(distance("gsw", x, y, options).statistic_power, total, 1e-13 * total);
}

TEST(Gsw, refuses_what_is_no_metric_and_what_is_too_large) {
  Source source(8);
  const Sample x = test::normal_sample({5, 60}, source);
  for (const char* id : {"gsw", "max-gsw"}) {
    MethodOptions options;
    options.parameters = {{"degree", 4}};
    test::expect_error(ErrorCode::invalid_option,
                       "degree = 4 is even, so x and -x look the same and the distance is not a metric; use 3 or 5",
                       [&] { static_cast<void>(distance(id, x, x, options)); });
    options.parameters = {{"degree", 3}};
    test::expect_error(ErrorCode::invalid_option,
                       "K too large: homogeneous polynomials of degree 3 in 60 columns have K = 37820 coefficients, "
                       "at most 20000 can be used; lower the degree, or compare fewer columns",
                       [&] { static_cast<void>(distance(id, x, x, options)); });
    options.parameters = {{"degree", 63}};
    EXPECT_THROW(static_cast<void>(distance(id, x, x, options)), Error);
    options.parameters = {{"family", 1}, {"radius", 0}};
    EXPECT_THROW(static_cast<void>(distance(id, x, x, options)), Error);
    Sample huge = test::column({1e150, 2e150, -1e150});
    try {
      static_cast<void>(distance(id, huge, test::column({1, 2}), {}));
      ADD_FAILURE() << id;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::non_finite_value) << error.what();
    }
  }
  MethodOptions none;
  none.directions.num_directions = 0;
  EXPECT_THROW(static_cast<void>(distance("gsw", x, x, none)), Error);
}

// --- max-gsw ---

// As for linear slices: central differences are off by 1e-10 or so where tau is smooth.
TEST(MaxGsw, by_circles_has_the_gradient_of_finite_differences) {
  Source source(9);
  const CircularSlices slices(1.3, test::normal_matrix({25, 4}, source), row_blocks(12, 25));
  std::vector<std::size_t> x, y;
  for (std::size_t i = 0; i < 25; ++i) (i < 12 ? x : y).push_back(i);
  for (const double power : {1.0, 2.0, 3.0}) {
    MethodOptions options;
    options.power = power;
    const GapProblem problem(slices, x, y, {}, options);
    GapObjective objective(problem);
    std::vector<double> w = {0.5, -0.5, 0.5, 0.5};
    std::vector<double> gradient(4);
    objective.gradient(w, gradient);
    double error = 0.0, size = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double at = w[k];
      w[k] = at + 1e-5;
      const double above = objective.value(w);
      w[k] = at - 1e-5;
      const double below = objective.value(w);
      w[k] = at;
      error = std::hypot(error, (above - below) / 2e-5 - gradient[k]);
      size = std::hypot(size, gradient[k]);
    }
    EXPECT_LT(error, 1e-6 * size) << power;
  }
}

// ||x - r w| - |y - r w|| is at most |x - y|, and reaches it where r w lies on the line through both, outside.
TEST(MaxGsw, by_circles_of_two_points_in_line_with_the_origin_is_their_distance) {
  const Sample x{Matrix<double>(1, 2, {0.6, 0.8}), {}, {}};
  const Sample y{Matrix<double>(1, 2, {1.8, 2.4}), {}, {}};
  EXPECT_NEAR(distance("max-gsw", x, y, circular_options(0.5, 2)).statistic, 2.0, 1e-7);
}

TEST(MaxGsw, is_above_gsw) {
  Source source(10);
  const Sample x = test::normal_sample({25, 3}, source);
  Sample y = test::normal_sample({20, 3}, source, 0.4);
  for (std::size_t i = 0; i < 20; ++i) y.weights.push_back(source.uniform());
  for (const double power : {1.0, 2.0}) {
    for (const MethodOptions& options : {polynomial_options(3, power), circular_options(1.0, power)}) {
      const DistanceResult largest = distance("max-gsw", x, y, options);
      const DistanceResult drawn = distance("gsw", x, y, options);
      EXPECT_GT(largest.statistic, *std::ranges::max_element(drawn.per_direction));
    }
  }
}

TEST(MaxGsw, follows_the_unit_of_the_data_to_the_power) {
  Source source(11);
  const Sample x = test::normal_sample({12, 2}, source);
  const Sample y = test::normal_sample({12, 2}, source, 0.5);
  const double plain = distance("max-gsw", x, y, polynomial_options(3, 2)).statistic;
  for (const double unit : {0x1p-200, 0x1p200}) {
    Sample sx = x;
    Sample sy = y;
    for (double& v : sx.points.values()) v *= unit;
    for (double& v : sy.points.values()) v *= unit;
    EXPECT_EQ(distance("max-gsw", sx, sy, polynomial_options(3, 2)).statistic, plain * unit * unit * unit);
  }
}

TEST(PolynomialSlices, made_again_are_those_in_memory) {
  Source source(12);
  const PolynomialMap map(3, 3);
  const Matrix<double> points = test::normal_matrix({600, 3}, source);
  Matrix<double> monomials(600, map.num_monomials());
  map.evaluate(points, monomials);
  const StoredSlices stored(monomials, row_blocks(280, 600));
  const PolynomialSlices again(map, points, row_blocks(280, 600));
  std::vector<double> w(map.num_monomials(), 0.3), slopes(600), first(600), second(600);
  for (double& s : slopes) s = source.normal();
  stored.evaluate(w, first);
  again.evaluate(w, second);
  EXPECT_EQ(first, second);
  std::vector<double> g(w.size()), h(w.size());
  stored.pull_back(w, first, slopes, g);
  again.pull_back(w, second, slopes, h);
  EXPECT_EQ(g, h);
}

// --- plans ---

TEST(SlicedPlans, equal_direct_recomputation) {
  const std::vector<std::pair<std::string, Parameters>> settings = {
      {"sw", {}}, {"gsw", {{"degree", 3}}}, {"gsw", {{"family", 1}, {"radius", 1.0}}}};
  for (const auto& [id, parameters] : settings) {
    for (const auto& [nx, ny, weighted, ties] : {std::tuple{20UL, 20UL, false, false},
                                                 {13UL, 22UL, false, false},
                                                 {13UL, 22UL, true, false},
                                                 {20UL, 17UL, false, true},
                                                 {15UL, 15UL, true, true}}) {
      for (const double power : {1.0, 2.0, 12.0, kInfinity}) {
        Source source(13);
        Sample x = test::normal_sample({nx, 3}, source);
        Sample y = test::normal_sample({ny, 3}, source, 0.3);
        for (Sample* sample : {&x, &y}) {
          for (double& v : sample->points.values()) v = ties ? std::floor(2 * v) : v;
          for (std::size_t i = 0; weighted && i < sample->points.rows(); ++i) {
            sample->weights.push_back(source.uniform(0.3, 1.4));
          }
        }
        MethodOptions options = sliced_options(power, 5);
        options.parameters = parameters;
        test::expect_plan_equals_distance(id, x, y, options, {.relative = 1e-10});
      }
    }
  }
}

// Refits and distances climb from other roundings of the same starts, and ascents end within some 1e-7 of a maximum.
TEST(SlicedPlans, of_max_gsw_that_refit_equal_the_distance_of_every_permutation) {
  for (const Parameters& slices : {Parameters{{"degree", 3}}, Parameters{{"family", 1}, {"radius", 1.0}}}) {
    Source source(15);
    const Sample x = test::normal_sample({12, 2}, source);
    const Sample y = test::normal_sample({15, 2}, source, 0.4);
    MethodOptions options = sliced_options(2, 1);
    options.parameters = slices;
    options.parameters.insert({{"share", 0.0}, {"starts", 12}});
    test::expect_plan_equals_distance("max-gsw", x, y, options, {.slacks = 0.0, .relative = 1e-6});
  }
}

TEST(SlicedPlans, serve_tests_with_an_interval_for_the_effect) {
  Source source(14);
  const Sample x = test::normal_sample({60, 3}, source);
  const Sample y = test::normal_sample({60, 3}, source, 1.0);
  for (const char* id : {"sw", "gsw"}) {
    TwoSampleOptions options;
    options.method = id;
    options.statistic.directions.num_directions = 16;
    options.test.num_permutations = 39;
    options.effect_interval = true;
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_EQ(result.test.pvalue, 0.025) << id;
    ASSERT_TRUE(result.effect_interval);
    EXPECT_LT(result.effect_interval->lower, result.effect_size);
    EXPECT_GT(result.effect_interval->upper, result.effect_size);
  }
  TwoSampleOptions options;
  options.method = "max-gsw";
  options.test.num_permutations = 19;
  for (const Parameters& parameters : {Parameters{{"family", 0}}, Parameters{{"family", 1}, {"radius", 1.0}}}) {
    options.statistic.parameters = parameters;
    const TwoSampleResult result = two_sample_test(x, y, options);
    EXPECT_EQ(result.test.pvalue, 0.05);
    EXPECT_EQ(result.num_set_aside, 60U);
  }
}

}  // namespace
}  // namespace kqd
