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

}  // namespace
}  // namespace kqd
