// Row weights: where the levels of a weighted sample lie, and what happens where those of two samples meet.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "quantiles/sorted_projections.hpp"

namespace kqd {
namespace {

SortedProjections along_one_direction(const std::vector<double>& values, const std::vector<double>& weights) {
  Matrix<double> projections(1, values.size());
  std::ranges::copy(values, projections.data());
  return {std::move(projections), weights, ThreadCount{1}};
}

double gap(const std::vector<double>& x, const std::vector<double>& a, const std::vector<double>& y,
           const std::vector<double>& b, double power) {
  return quantile_gap(along_one_direction(x, a).quantiles(0), along_one_direction(y, b).quantiles(0), LevelWeights{},
                      Power{power}, {});
}

TEST(WeightedLevels, whole_weights_have_the_levels_of_repeated_rows) {
  for (std::size_t n = 1; n <= 60; ++n) {
    std::vector<double> values(n);
    std::vector<double> weights(n);
    double total = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      values[k] = static_cast<double>(k);
      weights[k] = 1.0 + static_cast<double>((7 * k) % 5);
      total += weights[k];
    }
    const SortedProjections sorted = along_one_direction(values, weights);
    double rows = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      rows += weights[k];
      EXPECT_EQ(sorted.quantiles(0).cumulative[k], rows / total) << n << " " << k;
    }
  }
}

// {0, 0, 5} with weights 1/10, 2/10, 7/10 and {0, 5} with 3/10, 7/10 are the same distribution, but 0.1 + 0.2 > 0.3 in
// doubles: the sliver of levels in between has no width that means anything.
TEST(WeightedLevels, levels_that_differ_by_rounding_are_one_level) {
  for (const double power : {1.0, 2.0, 3.0, 20.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(gap({0, 0, 5}, {.1, .2, .7}, {0, 5}, {.3, .7}, power), 0.0) << power;
    EXPECT_EQ(gap({0, 5}, {.3, .7}, {0, 0, 5}, {.1, .2, .7}, power), 0.0) << power;
  }
}

// A weight far above rounding counts in full for p = infinity, however small it is.
TEST(WeightedLevels, a_small_weight_is_seen_by_the_largest_gap) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(gap({0, 5}, {1.0, 1e-12}, {0}, {1.0}, infinity), 5.0);
}

}  // namespace
}  // namespace kqd
