#include <gtest/gtest.h>

#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
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

SyntheticPair draw(const std::string& name, std::size_t dim, const Parameters& parameters = {}) {
  return make_problem({.name = name, .n_x = kMany, .n_y = kMany, .dim = dim, .parameters = parameters});
}

std::vector<double> products(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> values;
  for (std::size_t i = 0; i < a.size(); ++i) values.push_back(a[i] * b[i]);
  return values;
}

// N(0, 1) in both, with correlation rho: the product has mean rho and variance 1 + rho^2.
void expect_correlation(const std::vector<double>& a, const std::vector<double>& b, double rho) {
  expect_mean(products(a, b), rho, 1.0 + rho * rho, "correlation");
}

// U(low, high): mean, variance and a point of the distribution function. The fourth central moment is w^4/80, so the
// squared deviation has variance w^4/80 - w^4/144 = w^4/180.
void expect_uniform(const std::vector<double>& values, double low, double high) {
  const double width = high - low;
  const double middle = low + 0.5 * width;
  for (const double v : values) ASSERT_TRUE(low <= v && v <= high) << v;
  expect_mean(values, middle, width * width / 12.0, "mean");
  expect_mean(map(values, [=](double v) { return (v - middle) * (v - middle); }), width * width / 12.0,
              std::pow(width, 4) / 180.0, "variance");
  expect_probability_below(values, low + 0.3 * width, 0.3);
}

TEST(SpikedCovariance, last_coordinates_of_y_are_copies_of_one_normal_number) {
  const auto [x, y, parameters] = draw("spiked-covariance", 7);
  for (std::size_t j = 0; j < 7; ++j) expect_normal(column(x, j), 1.0);
  for (std::size_t j = 0; j < 2; ++j) expect_normal(column(y, j), 1.0);
  expect_normal(column(y, 2), 3.0);
  for (std::size_t j = 3; j < 7; ++j) EXPECT_EQ(column(y, j), column(y, 2));
  expect_mean(products(column(y, 0), column(y, 2)), 0.0, 3.0, "covariance with the others");
}

TEST(SpikedCovariance, without_equal_coordinates_is_the_null) {
  const auto [x, y, parameters] = draw("spiked-covariance", 2, {{"k", 0}});
  for (std::size_t j = 0; j < 2; ++j) expect_normal(column(y, j), 1.0);
  expect_correlation(column(y, 0), column(y, 1), 0.0);
}

TEST(Equicorrelation, any_two_coordinates_have_the_correlation_asked_for) {
  const auto [x, y, parameters] = draw("equicorrelation", 3, {{"rho_y", 0.8}});
  for (std::size_t j = 0; j < 3; ++j) {
    expect_normal(column(x, j), 1.0);
    expect_normal(column(y, j), 1.0);
    for (std::size_t k = 0; k < j; ++k) {
      expect_correlation(column(x, j), column(x, k), 0.5);
      expect_correlation(column(y, j), column(y, k), 0.8);
    }
  }
}

TEST(ArCorrelation, correlation_is_a_power_of_the_distance) {
  const auto [x, y, parameters] = draw("ar-correlation", 4, {{"rho_x", -0.7}});
  for (std::size_t j = 0; j < 4; ++j) {
    expect_normal(column(x, j), 1.0);
    expect_normal(column(y, j), 1.0);
    for (std::size_t k = 0; k < j; ++k) {
      const auto distance = static_cast<double>(j - k);
      expect_correlation(column(x, j), column(x, k), std::pow(-0.7, distance));
      expect_correlation(column(y, j), column(y, k), std::pow(0.6, distance));
    }
  }
}

std::vector<double> squared_norms(const Sample& sample) {
  std::vector<double> norms(sample.points.rows(), 0.0);
  for (std::size_t i = 0; i < norms.size(); ++i) {
    for (const double v : sample.points.row(i)) norms[i] += v * v;
  }
  return norms;
}

// Without noise, rows have the norm asked for up to the rounding of d = 3 squares and a division, and by Archimedes
// each of three coordinates is uniform.
TEST(Spheres, rows_are_uniform_on_spheres_of_both_radii) {
  const auto [x, y, parameters] = draw("spheres", 3, {{"noise", 0}, {"radius", 2}});
  constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();
  for (const double norm : squared_norms(x)) ASSERT_NEAR(norm, 1.0, kRounding);
  for (const double norm : squared_norms(y)) ASSERT_NEAR(norm, 4.0, 4.0 * kRounding);
  for (std::size_t j = 0; j < 3; ++j) {
    expect_uniform(column(x, j), -1.0, 1.0);
    expect_uniform(column(y, j), -2.0, 2.0);
  }
}

// |r u + e|^2 with e of N(0, s^2 I_d) has mean r^2 + d s^2 and variance 4 r^2 s^2 + 2 d s^4.
TEST(Spheres, noise_adds_its_variance_in_every_coordinate) {
  const auto [x, y, parameters] = draw("spheres", 20, {{"noise", 0.1}});
  for (const auto& [sample, r] : {std::pair{&x, 1.0}, std::pair{&y, 1.015}}) {
    expect_mean(squared_norms(*sample), r * r + 0.2, 0.04 * r * r + 0.004, "squared norm");
  }
}

TEST(ThinCube, only_the_first_coordinates_of_y_are_thinner) {
  const auto [x, y, parameters] = draw("thin-cube", 4, {{"k", 2}});
  for (std::size_t j = 0; j < 4; ++j) {
    expect_uniform(column(x, j), 0.0, 1.0);
    const double margin = j < 2 ? 0.1 : 0.0;
    expect_uniform(column(y, j), margin, 1.0 - margin);
  }
  const auto centred = [](double v) { return v - 0.5; };
  expect_mean(products(map(column(y, 0), centred), map(column(y, 1), centred)), 0.0, std::pow(0.64 / 12.0, 2),
              "covariance");
}

TEST(TwoClusters, first_coordinate_of_y_is_a_mixture_of_two_normals) {
  const auto [x, y, parameters] = draw("two-clusters", 2, {{"mean", 1.5}});
  const auto normal = [](double t) { return 0.5 * std::erfc(-t / std::sqrt(2.0)); };
  for (const double t : {-2.5, -1.0, 0.0, 0.7, 2.0}) {
    expect_probability_below(column(y, 0), t, 0.5 * (normal(t - 1.5) + normal(t + 1.5)));
  }
  expect_normal(column(y, 1), 1.0);
  expect_normal(column(x, 0), 1.0);
  expect_mean(products(column(y, 0), column(y, 1)), 0.0, 1.0 + 1.5 * 1.5, "covariance");
}

TEST(Scale, every_coordinate_of_y_has_the_variance_asked_for) {
  const auto [x, y, parameters] = draw("scale", 2);
  for (std::size_t j = 0; j < 2; ++j) {
    expect_normal(column(x, j), 1.0);
    expect_normal(column(y, j), 1.2);
  }
  expect_mean(products(column(y, 0), column(y, 1)), 0.0, 1.44, "covariance");
}

TEST(ScaledT, coordinates_have_student_distributions_of_both_scales) {
  const auto [x, y, parameters] = draw("scaled-t", 2, {{"df", 3}});
  const boost::math::students_t student(3.0);
  for (const double t : {-6.0, -1.5, 0.0, 0.4, 3.0}) {
    for (std::size_t j = 0; j < 2; ++j) {
      expect_probability_below(column(x, j), t, boost::math::cdf(student, t));
      expect_probability_below(column(y, j), t * std::sqrt(1.22), boost::math::cdf(student, t));
    }
  }
}

// The coordinates are sqrt(w) z with one w = df / chi-square(df) per row: E w = df/(df - 2), E w^2 =
// df^2/((df - 2)(df - 4)), E w^4 = df^4/((df - 2)(df - 4)(df - 6)(df - 8)). For normal z with correlation r, E z_1^2
// z_2^2 = 1 + 2 r^2.
TEST(ScaledT, coordinates_share_their_divisor_and_decrease_in_correlation) {
  constexpr double kDf = 12.0;
  constexpr double kW = kDf / 10.0;
  constexpr double kW2 = kDf * kDf / (10.0 * 8.0);
  constexpr double kW4 = kDf * kDf * kDf * kDf / (10.0 * 8.0 * 6.0 * 4.0);
  const auto correlated = draw("scaled-t", 3, {{"df", kDf}});
  for (std::size_t k = 1; k < 3; ++k) {
    const double r = std::pow(0.5, static_cast<double>(k));
    const double variance = kW2 * (1.0 + 2.0 * r * r) - r * r * kW * kW;
    expect_mean(products(column(correlated.x, 0), column(correlated.x, k)), r * kW, variance, "covariance of X");
    expect_mean(products(column(correlated.y, 0), column(correlated.y, k)), 1.22 * r * kW, 1.22 * 1.22 * variance,
                "covariance of Y");
  }
  const auto uncorrelated = draw("scaled-t", 2, {{"df", kDf}, {"rho", 0}});
  const auto square = [](double v) { return v * v; };
  expect_mean(products(map(column(uncorrelated.x, 0), square), map(column(uncorrelated.x, 1), square)), kW2,
              9.0 * kW4 - kW2 * kW2, "product of squares");
}

// Centres 40 standard deviations apart: a row's first coordinate shows its cluster.
void expect_two_tilted_normals(const Sample& sample, double rho) {
  std::array<double, 2> counts{};
  std::array<std::array<std::vector<double>, 3>, 2> residuals;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    const std::size_t cluster = sample.points(i, 0) > 20.0 ? 1 : 0;
    counts.at(cluster) += 1.0;
    for (std::size_t j = 0; j < 3; ++j) {
      residuals.at(cluster).at(j).push_back(sample.points(i, j) - (cluster == 1 ? 40.0 : 0.0));
    }
  }
  expect_equally_likely(counts);
  for (const double sign : {1.0, -1.0}) {
    const auto& cluster = residuals.at(sign > 0.0 ? 0 : 1);
    for (const auto& values : cluster) expect_normal(values, 1.0);
    expect_correlation(cluster[0], cluster[1], sign * rho);
    expect_correlation(cluster[0], cluster[2], 0.0);
    expect_correlation(cluster[1], cluster[2], 0.0);
  }
}

TEST(Hdgm, clusters_of_y_have_opposite_correlations_of_the_first_two_coordinates) {
  const auto [x, y, parameters] = draw("hdgm", 3, {{"mean", 40}});
  expect_two_tilted_normals(x, 0.0);
  expect_two_tilted_normals(y, 0.5);
}

// The level of each row in one block of indicators, after a check that there is exactly one.
std::vector<std::size_t> levels_of(const Sample& sample, std::size_t first, std::size_t num_levels) {
  std::vector<std::size_t> levels;
  for (std::size_t i = 0; i < sample.points.rows(); ++i) {
    const auto block = sample.points.row(i).subspan(first, num_levels);
    const auto found = std::ranges::find(block, 1.0);
    EXPECT_EQ(std::ranges::count(block, 1.0), 1);
    EXPECT_EQ(std::ranges::count(block, 0.0), static_cast<std::ptrdiff_t>(num_levels) - 1);
    levels.push_back(static_cast<std::size_t>(found - block.begin()));
  }
  return levels;
}

// With L = 3 levels the sign is +1 for levels 0 and 2 and -1 for level 1: mean 1/3, variance 8/9. Numeric column 1
// given the level is (z + delta (sign - 1/3))/sd with sd^2 = 1 + delta^2 8/9.
void expect_mixed_table(const Sample& sample, double delta) {
  constexpr std::size_t kLevels = 3;
  for (const std::size_t first : {0U, 3U}) {
    std::array<double, kLevels> counts{};
    for (const std::size_t level : levels_of(sample, first, kLevels)) counts.at(level) += 1.0;
    expect_equally_likely(counts);
  }
  const double variance = 1.0 + delta * delta * 8.0 / 9.0;
  std::array<std::vector<double>, kLevels> residuals;
  const std::vector<std::size_t> levels = levels_of(sample, 0, kLevels);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double sign = levels[i] % 2 == 0 ? 1.0 : -1.0;
    residuals.at(levels[i]).push_back(sample.points(i, 6) - delta * (sign - 1.0 / 3.0) / std::sqrt(variance));
  }
  for (const auto& values : residuals) expect_normal(values, 1.0 / variance);
  expect_mean(column(sample, 6), 0.0, 1.0, "mean");
  expect_normal(column(sample, 7), 1.0);
}

TEST(MixedTable, number_depends_on_the_parity_of_the_first_category_in_y_only) {
  const auto [x, y, parameters] = draw("mixed-table", 0, {{"k", 2}, {"levels", 3}, {"m", 2}, {"delta", 0.9}});
  EXPECT_EQ(x.points.cols(), 8U);
  expect_mixed_table(x, 0.0);
  expect_mixed_table(y, 0.9);
}

}  // namespace
}  // namespace kqd
