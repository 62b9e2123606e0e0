#include <gtest/gtest.h>

#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "unit/synthetic/checks.hpp"

namespace kqd {
namespace {

using test::column;
using test::expect_equally_likely;
using test::expect_mean;
using test::expect_normal;
using test::expect_probability_below;
using test::kMany;
using test::map;

TEST(PowerDecay, y_has_variance_four_in_three_coordinates_and_one_in_the_others) {
  const auto [x, y, parameters] = make_problem({.name = "power-decay", .n_x = kMany, .n_y = kMany, .dim = 5});
  for (std::size_t j = 0; j < 5; ++j) {
    expect_normal(column(x, j), 1.0);
    expect_normal(column(y, j), j < 3 ? 4.0 : 1.0);
  }
}

TEST(PowerDecay, parameters_change_how_many_coordinates_and_how_much) {
  const auto [x, y, parameters] = make_problem(
      {.name = "power-decay", .n_x = 1, .n_y = kMany, .dim = 2, .parameters = {{"k", 1}, {"variance", 0.25}}});
  expect_normal(column(y, 0), 0.25);
  expect_normal(column(y, 1), 1.0);
}

TEST(PowerDecay, coordinates_of_a_row_are_uncorrelated) {
  const auto [x, y, parameters] = make_problem({.name = "power-decay", .n_x = kMany, .n_y = kMany, .dim = 4});
  for (std::size_t j = 0; j + 1 < 4; ++j) {
    std::vector<double> products;
    for (std::size_t i = 0; i < kMany; ++i) products.push_back(y.points(i, j) * y.points(i, j + 1));
    expect_mean(products, 0.0, 4.0 * (j + 1 < 3 ? 4.0 : 1.0), "product of neighbours");
  }
}

// Laplace(0, b) with b = s/sqrt(2): E x^2 = s^2, E x^4 = 24 b^4 = 6 s^4, E x^8 = 8! b^8 = 2520 s^8, and
// P(x <= t) = exp(t/b)/2 for t <= 0.
TEST(LaplaceGaussian, both_distributions_have_the_variance_asked_for_and_tails_of_their_own) {
  const double s = 0.8;
  const auto [x, y, parameters] =
      make_problem({.name = "laplace-gaussian", .n_x = kMany, .n_y = kMany, .parameters = {{"scale", s}}});
  const auto laplace = column(x, 0);
  expect_mean(laplace, 0.0, s * s, "mean");
  expect_mean(map(laplace, [](double v) { return v * v; }), s * s, 5.0 * std::pow(s, 4), "variance");
  expect_mean(map(laplace, [](double v) { return v * v * v * v; }), 6.0 * std::pow(s, 4), 2484.0 * std::pow(s, 8),
              "fourth moment");
  for (const double t : {0.0, 0.3, 1.0, 2.5}) {
    const double tail = 0.5 * std::exp(-t * std::numbers::sqrt2 / s);
    expect_probability_below(laplace, -t, tail);
    expect_probability_below(laplace, t, 1.0 - tail);
  }
  expect_normal(column(y, 0), s * s);
}

// U(1/2, 1) has mean 3/4 and variance 1/48; the share below 5/8 is 1/4.
TEST(LaplaceGaussian, without_a_scale_each_seed_draws_its_own_from_a_half_to_one) {
  std::vector<double> scales;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto pair = make_problem({.name = "laplace-gaussian", .n_x = 1, .n_y = 1, .seed = Seed{seed}});
    scales.push_back(pair.parameters.at("scale"));
    ASSERT_GT(scales.back(), 0.5);
    ASSERT_LE(scales.back(), 1.0);
  }
  expect_mean(scales, 0.75, 1.0 / 48.0, "scale");
  expect_probability_below(scales, 0.625, 0.25);
}

TEST(LaplaceGaussian, asking_for_the_drawn_scale_gives_the_same_samples) {
  const auto drawn = make_problem({.name = "laplace-gaussian", .n_x = 50, .n_y = 50, .seed = Seed{9}});
  const auto asked =
      make_problem({.name = "laplace-gaussian", .n_x = 50, .n_y = 50, .parameters = drawn.parameters, .seed = Seed{9}});
  EXPECT_EQ(column(drawn.x, 0), column(asked.x, 0));
  EXPECT_EQ(column(drawn.y, 0), column(asked.y, 0));
}

// The centres are 20 standard deviations (10 for the wide component) from the axes: a row's signs name its component.
std::size_t quadrant(const Sample& sample, std::size_t i) {
  return (sample.points(i, 0) < 0.0 ? 1U : 0U) + (sample.points(i, 1) < 0.0 ? 2U : 0U);
}

void expect_four_normals(const Sample& sample, double sd_of_last) {
  std::array<double, 4> counts{};
  std::array<std::array<std::vector<double>, 3>, 4> residuals;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    const std::size_t q = quadrant(sample, i);
    counts[q] += 1.0;
    residuals[q][0].push_back(sample.points(i, 0) - ((q & 1U) != 0 ? -20.0 : 20.0));
    residuals[q][1].push_back(sample.points(i, 1) - ((q & 2U) != 0 ? -20.0 : 20.0));
    residuals[q][2].push_back(sample.points(i, 2));
  }
  expect_equally_likely(counts);
  for (std::size_t q = 0; q < 4; ++q) {
    for (const auto& values : residuals[q]) expect_normal(values, q == 3 ? sd_of_last * sd_of_last : 1.0);
  }
}

TEST(Mixture, only_the_component_of_y_at_minus_twenty_minus_twenty_has_another_spread) {
  const auto [x, y, parameters] =
      make_problem({.name = "mixture", .n_x = kMany, .n_y = kMany, .dim = 3, .parameters = {{"sd", 1.6}}});
  expect_four_normals(x, 1.0);
  expect_four_normals(y, 1.6);
}

// Spacing 30 keeps the components 15 standard deviations apart, so the nearest centre is the one drawn. The covariance
// of Y is R diag(3, 1) R' with R a rotation by 30 degrees: 2.5, 1.5 on the diagonal and sqrt(3)/2 next to it. For
// normal residuals with covariance C, products have variance C_jj C_kk + C_jk^2.
void expect_blobs(const Sample& sample, double c00, double c01, double c11) {
  std::array<double, 9> counts{};
  std::vector<double> first;
  std::vector<double> second;
  std::vector<double> products;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    const double a = std::round(sample.points(i, 0) / 30.0);
    const double b = std::round(sample.points(i, 1) / 30.0);
    counts.at(static_cast<std::size_t>(3.0 * (a + 1.0) + b + 1.0)) += 1.0;
    first.push_back(sample.points(i, 0) - 30.0 * a);
    second.push_back(sample.points(i, 1) - 30.0 * b);
    products.push_back(first.back() * second.back());
  }
  expect_equally_likely(counts);
  expect_normal(first, c00);
  expect_normal(second, c11);
  expect_mean(products, c01, c00 * c11 + c01 * c01, "covariance");
}

TEST(Blobs, components_of_y_are_stretched_and_turned) {
  const auto [x, y, parameters] =
      make_problem({.name = "blobs",
                    .n_x = kMany,
                    .n_y = kMany,
                    .parameters = {{"grid", 3}, {"spacing", 30}, {"stretch", 3}, {"angle", 30}}});
  expect_blobs(x, 1.0, 0.0, 1.0);
  expect_blobs(y, 2.5, std::sqrt(3.0) / 2.0, 1.5);
}

// Defaults: centres c on a grid of 4 x 4 with spacing 5, variance 25 (16 - 1)/12 = 31.25, and components e with
// variance 1.5 and covariance 1/2. Multiplied out, E (c1 + e1)^2 (c2 + e2)^2 = 32.75^2 + 2 (1/2)^2.
TEST(Blobs, grid_is_centred_at_zero) {
  const auto [x, y, parameters] = make_problem({.name = "blobs", .n_x = kMany, .n_y = kMany});
  std::vector<double> products;
  for (std::size_t i = 0; i < kMany; ++i) products.push_back(y.points(i, 0) * y.points(i, 1));
  expect_mean(products, 0.5, 32.75 * 32.75 + 0.25, "covariance");
  expect_mean(column(x, 0), 0.0, 32.25, "mean of x1");
  expect_mean(column(y, 1), 0.0, 32.75, "mean of x2");
}

TEST(MeanShift, y_is_moved_along_the_first_coordinates_only) {
  const auto [x, y, parameters] = make_problem(
      {.name = "mean-shift", .n_x = kMany, .n_y = kMany, .dim = 3, .parameters = {{"delta", -0.7}, {"k", 2}}});
  for (std::size_t j = 0; j < 3; ++j) {
    expect_normal(column(x, j), 1.0);
    expect_normal(map(column(y, j), [&](double v) { return v + (j < 2 ? 0.7 : 0.0); }), 1.0);
  }
}

TEST(MeanShift, takes_the_distributions_of_the_null) {
  ProblemRequest request{.name = "mean-shift", .n_x = 1000, .n_y = 1000, .dim = 1};
  set_parameter(request, "distribution=discrete");
  set_parameter(request, "levels=3");
  set_parameter(request, "delta=10");
  const auto [x, y, parameters] = make_problem(request);
  for (const double v : column(x, 0)) EXPECT_TRUE(v == 0.0 || v == 1.0 || v == 2.0) << v;
  for (const double v : column(y, 0)) EXPECT_TRUE(v == 10.0 || v == 11.0 || v == 12.0) << v;
}

SyntheticPair null_of(const std::string& distribution, const std::map<std::string, double>& more = {}) {
  ProblemRequest request{.name = "null", .n_x = kMany, .n_y = kMany, .dim = 2, .parameters = more};
  set_parameter(request, "distribution=" + distribution);
  return make_problem(request);
}

TEST(Null, both_samples_are_standard_normal_by_default) {
  const auto pair = make_problem({.name = "null", .n_x = kMany, .n_y = kMany, .dim = 2});
  for (const Sample* sample : {&pair.x, &pair.y}) {
    for (std::size_t j = 0; j < 2; ++j) expect_normal(column(*sample, j), 1.0);
  }
}

TEST(Null, student_has_the_distribution_function_of_any_degrees_of_freedom) {
  for (const double df : {0.7, 3.0, 25.5}) {
    const auto pair = null_of("student", {{"df", df}});
    const boost::math::students_t distribution(df);
    for (const double t : {-20.0, -3.0, -1.0, 0.0, 0.4, 2.0, 8.0}) {
      expect_probability_below(column(pair.x, 0), t, boost::math::cdf(distribution, t));
      expect_probability_below(column(pair.y, 1), t, boost::math::cdf(distribution, t));
    }
  }
}

// Both coordinates are large together with the square of the probability of one only.
TEST(Null, student_coordinates_are_independent) {
  const auto pair = null_of("student", {{"df", 2.0}});
  const double only = 2.0 * boost::math::cdf(boost::math::students_t(2.0), -2.0);
  std::vector<double> both;
  for (std::size_t i = 0; i < kMany; ++i) {
    both.push_back(std::abs(pair.x.points(i, 0)) > 2.0 && std::abs(pair.x.points(i, 1)) > 2.0 ? 1.0 : 0.0);
  }
  expect_mean(both, only * only, only * only * (1.0 - only * only), "both large");
}

TEST(Null, cauchy_has_its_distribution_function) {
  const auto pair = null_of("cauchy");
  for (const double t : {-100.0, -1.0, 0.0, 0.5, 10.0}) {
    expect_probability_below(column(pair.x, 0), t, 0.5 + std::atan(t) / std::numbers::pi);
    expect_probability_below(column(pair.y, 1), t, 0.5 + std::atan(t) / std::numbers::pi);
  }
}

TEST(Null, laplace_has_its_distribution_function) {
  const auto pair = null_of("laplace");
  for (const double t : {0.0, 0.5, 2.0, 6.0}) {
    expect_probability_below(column(pair.x, 0), -t, 0.5 * std::exp(-t));
    expect_probability_below(column(pair.y, 1), t, 1.0 - 0.5 * std::exp(-t));
  }
}

TEST(Null, discrete_takes_each_level_equally_often) {
  const auto pair = null_of("discrete", {{"levels", 7}});
  std::array<double, 7> counts{};
  for (const double v : pair.y.points.values()) {
    ASSERT_EQ(v, std::floor(v));
    counts.at(static_cast<std::size_t>(v)) += 1.0;
  }
  expect_equally_likely(counts);
}

}  // namespace
}  // namespace kqd
