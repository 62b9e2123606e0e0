#include "experiments/rates.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace kqd {
namespace {

// Wilson's interval solves |rate - p| = z sqrt(p (1 - p) / n): both ends are checked by that equation.
TEST(WilsonInterval, ends_are_z_standard_errors_from_the_rate) {
  constexpr double kDeviate = 1.959963984540054;
  for (const Count count : {Count{8, 10}, Count{1, 300}, Count{150, 300}, Count{999, 1000}}) {
    const Interval interval = wilson_interval(count);
    for (const double p : {interval.lower, interval.upper}) {
      const double error = std::sqrt(p * (1.0 - p) / static_cast<double>(count.runs));
      EXPECT_NEAR(std::abs(count.rate() - p), kDeviate * error, 1e-12) << count.successes;
    }
    EXPECT_LT(interval.lower, count.rate());
    EXPECT_GT(interval.upper, count.rate());
  }
}

TEST(WilsonInterval, has_positive_width_if_none_or_all_succeed) {
  const double z2 = 1.959963984540054 * 1.959963984540054;
  EXPECT_EQ(wilson_interval({0, 10}).lower, 0.0);
  EXPECT_NEAR(wilson_interval({0, 10}).upper, z2 / (10.0 + z2), 1e-12);
  EXPECT_EQ(wilson_interval({10, 10}).upper, 1.0);
  EXPECT_NEAR(wilson_interval({10, 10}).lower, 10.0 / (10.0 + z2), 1e-12);
}

// With two degrees of freedom the tail of the chi-square distribution is exp(-x / 2).
TEST(ChiSquare, sums_squared_differences_and_skips_pairs_without_information) {
  const std::array<CountPair, 4> pairs = {
      {{{30, 100}, {40, 100}}, {{5, 100}, {10, 200}}, {{0, 50}, {0, 300}}, {{50, 50}, {300, 300}}}};
  const ChiSquare all = chi_square(pairs);
  EXPECT_EQ(all.degrees, 2U);
  const double first = 0.1 / std::sqrt(0.35 * 0.65 * 0.02);
  EXPECT_NEAR(all.statistic, first * first, 1e-12);  // equal rates add nothing
  EXPECT_NEAR(all.pvalue, std::exp(-0.5 * all.statistic), 1e-12);
  EXPECT_EQ(chi_square(std::span(pairs).subspan(2)).pvalue, 1.0);
}

TEST(RootMeanSquare, has_the_standard_error_of_a_root) {
  const std::array<double, 4> errors = {1.0, -1.0, 3.0, -3.0};
  const SizedError found = root_mean_square(7.0, errors);
  EXPECT_EQ(found.size, 7.0);
  EXPECT_NEAR(found.error, std::sqrt(5.0), 1e-15);
  // Squares 1, 1, 9, 9 have variance 64/3; the root of their mean m has 1/(2 sqrt(m)) of the error of m.
  EXPECT_NEAR(found.standard_error, std::sqrt(64.0 / 3.0 / 4.0) / (2.0 * std::sqrt(5.0)), 1e-15);
}

TEST(PowerLaw, is_recovered_with_the_standard_error_of_its_slope) {
  std::array<SizedError, 3> errors;
  for (std::size_t k = 0; k < 3; ++k) {
    const double size = std::exp(static_cast<double>(k));
    const double error = 2.5 * std::pow(size, -0.75);
    errors[k] = {size, error, 0.1 * error};
  }
  const PowerLaw found = fit_power_law(errors);
  EXPECT_NEAR(found.slope, -0.75, 1e-14);
  EXPECT_NEAR(found.factor, 2.5, 1e-13);
  // x = -1, 0, 1: the slope is (y_3 - y_1) / 2, and each y has a standard error of 0.1.
  EXPECT_NEAR(found.standard_error, 0.1 / std::sqrt(2.0), 1e-15);
}

}  // namespace
}  // namespace kqd
