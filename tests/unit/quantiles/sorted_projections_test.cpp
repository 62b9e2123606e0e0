#include "quantiles/sorted_projections.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::Real;
using test::roundings;
using test::within;

TEST(SortedProjections, sorts_every_direction_by_itself_for_any_number_of_threads) {
  test::Source source(1);
  const Matrix<double> given = test::normal_matrix({9, 333}, source);
  for (unsigned threads = 1; threads <= 8; ++threads) {
    const SortedProjections sorted(given, {}, ThreadCount{threads});
    EXPECT_EQ(sorted.num_directions(), 9U);
    EXPECT_EQ(sorted.num_points(), 333U);
    EXPECT_FALSE(sorted.weighted());
    for (std::size_t i = 0; i < 9; ++i) {
      std::vector<double> expected(given.row(i).begin(), given.row(i).end());
      std::ranges::sort(expected);
      EXPECT_TRUE(std::ranges::equal(sorted.quantiles(i).values, expected));
      EXPECT_TRUE(sorted.quantiles(i).cumulative.empty());
    }
  }
}

TEST(SortedProjections, weights_travel_with_their_values_and_end_at_one) {
  const Matrix<double> given(2, 3, {3, 1, 2, 5, 5, 4});
  const std::vector<double> weights = {0.5, 0.25, 0.25};
  const SortedProjections sorted(given, weights, ThreadCount{1});
  const auto first = sorted.quantiles(0);
  EXPECT_TRUE(std::ranges::equal(first.values, std::vector<double>{1, 2, 3}));
  EXPECT_TRUE(std::ranges::equal(first.cumulative, std::vector<double>{0.25, 0.5, 1}));
  const auto second = sorted.quantiles(1);
  EXPECT_TRUE(std::ranges::equal(second.values, std::vector<double>{4, 5, 5}));
  EXPECT_TRUE(std::ranges::equal(second.cumulative, std::vector<double>{0.25, 0.75, 1}));
}

// Counts and equal weights are what weights mostly are. Their levels are the fractions k/n, rounded once, so that they
// coincide with those of the sample with repeated points: p = infinity and atoms see any difference, however small.
TEST(SortedProjections, whole_weights_of_any_scale_give_the_levels_of_repeated_points_exactly) {
  test::Source source(3);
  for (const double scale : {1.0, 0.1, 0.7, 1e-300, 1e300, 1.0 / 3.0}) {
    for (const std::size_t n : {1UL, 2UL, 5UL, 6UL, 7UL, 49UL, 100UL, 333UL}) {
      for (const std::size_t most : {1UL, 3UL, 10UL}) {
        Matrix<double> values(1, n);
        std::vector<double> weights(n);
        std::vector<std::size_t> counts(n);
        std::size_t total = 0;
        for (std::size_t i = 0; i < n; ++i) {
          values(0, i) = static_cast<double>(i);
          total += counts[i] = 1 + source.below(most);
          weights[i] = static_cast<double>(counts[i]) * scale;
        }
        // 3 * 0.1 is not three times 0.1: only sums of equal numbers are exact multiples of one.
        if (most > 1 && scale != 1.0) continue;
        const SortedProjections sorted(values, weights, ThreadCount{1});
        const auto cumulative = sorted.quantiles(0).cumulative;
        std::size_t up_to = 0;
        for (std::size_t i = 0; i < n; ++i) {
          up_to += counts[i];
          ASSERT_EQ(cumulative[i], static_cast<double>(up_to) / static_cast<double>(total)) << i << " of " << n;
        }
      }
    }
  }
}

// A compensated sum and one division; weighted, each product too.
TEST(SortedProjections, mean_is_the_weighted_mean) {
  test::Source source(2);
  const std::size_t n = 1000;
  const Matrix<double> given = test::normal_matrix({2, n}, source);
  std::vector<double> weights(n, 1.0 / static_cast<double>(n));
  const SortedProjections plain(given, {}, ThreadCount{1});
  for (std::size_t i = 0; i < 2; ++i) {
    Real exact = 0, size = 0;
    for (const double v : given.row(i)) {
      exact += Real{v} / n;
      size += std::abs(Real{v}) / n;
    }
    EXPECT_TRUE(within(plain.mean(i), exact, roundings(3) * size));
  }
  Real total = 0;
  for (double& w : weights) total += w = source.uniform();
  for (double& w : weights) w = static_cast<double>(w / total);
  const SortedProjections weighted(given, weights, ThreadCount{1});
  for (std::size_t i = 0; i < 2; ++i) {
    Real exact = 0;
    Real largest = 0;
    for (std::size_t j = 0; j < n; ++j) {
      exact += Real{weights[j]} * given(i, j);
      largest = std::max(largest, std::abs(Real{given(i, j)}));
    }
    // Differences of cumulative weights are off by two roundings of numbers up to 1 each.
    EXPECT_TRUE(within(weighted.mean(i), exact, roundings(2 * static_cast<double>(n)) * largest));
  }
}

}  // namespace
}  // namespace kqd
