#include "testing/aggregation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "core/random.hpp"

namespace kqd {
namespace {

Matrix<double> noise(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix<double> values(rows, cols);
  RandomStream stream(Seed{seed}, Purpose::test_data);
  for (double& v : values.values()) v = stream.exponential();
  return values;
}

std::vector<double> equal_weights(std::size_t count) {
  return std::vector<double>(count, 1.0 / static_cast<double>(count));
}

constexpr std::array<Aggregation, 4> kSymmetricRules = {Aggregation::smooth_min_p, Aggregation::soft_min_p,
                                                        Aggregation::min_p, Aggregation::fuse};

TEST(Aggregation, permuting_permutations_permutes_their_aggregates) {
  // The test is exact because all permutations are treated alike.
  const std::size_t columns = 40;
  const Matrix<double> values = noise(5, columns, 1);
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomStream stream(Seed{2}, Purpose::test_data);
  order = sample_without_replacement(columns, columns, stream);
  Matrix<double> moved(5, columns);
  for (std::size_t r = 0; r < 5; ++r) {
    for (std::size_t k = 0; k < columns; ++k) moved(r, k) = values(r, order[k]);
  }
  for (const Aggregation rule : kSymmetricRules) {
    const auto before = aggregate(rule, values, equal_weights(5));
    const auto after = aggregate(rule, moved, equal_weights(5));
    // Moments are compensated sums: the same to about two roundings in any order; scores are of order 10.
    for (std::size_t k = 0; k < columns; ++k) EXPECT_NEAR(after[k], before[order[k]], 1e-12);
  }
}

TEST(Aggregation, one_statistic_keeps_its_order) {
  const Matrix<double> values = noise(1, 100, 3);
  for (const Aggregation rule : kSymmetricRules) {
    const auto aggregates = aggregate(rule, values, equal_weights(1));
    for (std::size_t a = 0; a < 100; ++a) {
      for (std::size_t b = 0; b < 100; ++b) {
        if (values(0, a) < values(0, b)) continue;
        EXPECT_GE(aggregates[a], aggregates[b] - 1e-12);
      }
    }
  }
}

TEST(Aggregation, min_p_is_that_of_the_definition) {
  const std::size_t columns = 30;
  const Matrix<double> values = noise(3, columns, 4);
  const std::vector<double> weights = {0.5, 0.3, 0.2};
  const auto aggregates = aggregate(Aggregation::min_p, values, weights);
  for (std::size_t k = 0; k < columns; ++k) {
    double smallest = 1e300;
    for (std::size_t r = 0; r < 3; ++r) {
      double count = 0.0;
      for (std::size_t b = 0; b < columns; ++b) count += values(r, b) >= values(r, k) ? 1.0 : 0.0;
      smallest = std::min(smallest, count / static_cast<double>(columns) / weights[r]);
    }
    EXPECT_NEAR(aggregates[k], -std::log(smallest), 1e-12);
  }
}

TEST(Aggregation, two_layers_rank_against_the_first_half_only) {
  const std::size_t columns = 21;  // the observed one, ten for ranks, ten for the distribution of the smallest
  const Matrix<double> values = noise(2, columns, 5);
  const std::vector<double> weights = {0.5, 0.5};
  const auto aggregates = aggregate(Aggregation::two_layer, values, weights);
  ASSERT_EQ(aggregates.size(), 11U);
  const auto expected = [&](std::size_t column) {
    double smallest = 1e300;
    for (std::size_t r = 0; r < 2; ++r) {
      double count = 1.0;
      for (std::size_t b = 1; b <= 10; ++b) count += values(r, b) >= values(r, column) ? 1.0 : 0.0;
      smallest = std::min(smallest, count / 11.0 / 0.5);
    }
    return -std::log(smallest);
  };
  EXPECT_NEAR(aggregates[0], expected(0), 1e-12);
  for (std::size_t k = 0; k < 10; ++k) EXPECT_NEAR(aggregates[1 + k], expected(11 + k), 1e-12);
}

TEST(Aggregation, fuse_is_the_log_of_the_weighted_sum_of_exponentials) {
  Matrix<double> values(2, 2);
  values(0, 0) = 1.0;
  values(1, 0) = 2.0;
  values(0, 1) = 900.0;  // beyond the range of exp
  values(1, 1) = -900.0;
  const std::vector<double> weights = {0.25, 0.75};
  const auto aggregates = aggregate(Aggregation::fuse, values, weights);
  EXPECT_NEAR(aggregates[0], std::log(0.25 * std::exp(1.0) + 0.75 * std::exp(2.0)), 1e-14);
  EXPECT_NEAR(aggregates[1], 900.0 + std::log(0.25), 1e-12);
}

TEST(DeskewedScores, are_normal_deviates_of_gamma_distributions) {
  // Quantiles of a gamma distribution at (k - 1/2)/n stand for a large sample; their scores must be the normal
  // quantiles up to the error of the Wilson-Hilferty approximation, which is below 0.02 between the 5th and 99.5th
  // percentile for shapes from 1 on, and up to what the leave-one-out moments of 2000 values lack.
  for (const double shape : {1.0, 4.0, 40.0}) {
    const boost::math::gamma_distribution<> distribution(shape, 3.0);
    const std::size_t n = 2000;
    std::vector<double> row(n);
    for (std::size_t k = 0; k < n; ++k) {
      row[k] = boost::math::quantile(distribution, (static_cast<double>(k) + 0.5) / static_cast<double>(n));
    }
    std::vector<double> scores(n);
    deskewed_scores(row, scores);
    for (std::size_t k = n / 2; k < n - n / 200; ++k) {
      const double normal =
          boost::math::quantile(boost::math::normal(), (static_cast<double>(k) + 0.5) / static_cast<double>(n));
      EXPECT_NEAR(scores[k], normal, 0.035) << "shape " << shape << ", place " << k;
    }
  }
}

TEST(DeskewedScores, an_outlier_does_not_hide_itself) {
  std::vector<double> row(100);
  RandomStream stream(Seed{6}, Purpose::test_data);
  for (double& v : row) v = stream.normal();
  row[0] = 50.0;
  std::vector<double> scores(row.size());
  deskewed_scores(row, scores);
  EXPECT_GT(scores[0], 10.0);  // among all 100 values its studentised size could not exceed 9.95
  for (std::size_t k = 1; k < row.size(); ++k) EXPECT_LT(scores[k], 3.0);
}

// Issue 22: a score of 1000 and with it a statistic of 500006, where equal values give no scale.
TEST(DeskewedScores, of_equal_values_are_zero_and_of_one_that_differs_that_of_the_largest_of_so_many) {
  std::vector<double> row(10, 2.0);
  std::vector<double> scores(row.size(), 7.0);
  deskewed_scores(row, scores);
  for (const double s : scores) EXPECT_EQ(s, 0.0);
  row[3] = 2.5;
  deskewed_scores(row, scores);
  EXPECT_DOUBLE_EQ(scores[3], std::sqrt(2.0 * std::log(10.0)));
  row[3] = 1.5;
  deskewed_scores(row, scores);
  EXPECT_DOUBLE_EQ(scores[3], -std::sqrt(2.0 * std::log(10.0)));
  // With a scale, however small next to the value, the score is that of the smallest p-value that is a number.
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = 1e-6 * static_cast<double>(k * k % 7);
  row[3] = 1.0;
  deskewed_scores(row, scores);
  EXPECT_EQ(scores[3], 38.0);
}

// Cubes of 1e120 overflow and those of 1e-120 vanish; scores have no unit.
TEST(DeskewedScores, do_not_depend_on_the_unit) {
  std::vector<double> row(50);
  RandomStream stream(Seed{8}, Purpose::test_data);
  for (double& v : row) v = stream.normal();
  std::vector<double> expected(row.size());
  deskewed_scores(row, expected);
  for (const int exponent : {-900, -400, 400, 900}) {
    std::vector<double> scaled(row.size());
    std::ranges::transform(row, scaled.begin(), [&](double v) { return std::scalbn(v, exponent); });
    std::vector<double> scores(row.size());
    deskewed_scores(scaled, scores);
    EXPECT_EQ(scores, expected) << exponent;
  }
}

TEST(MergeTies, joins_what_lies_within_the_slack_and_nothing_else) {
  std::vector<double> row = {1.0, 2.0, 1.0 + 1e-13, 3.0, 2.0 - 1e-13, 1.1};
  merge_ties(row, 1e-12);
  EXPECT_EQ(row[0], row[2]);
  EXPECT_EQ(row[1], row[4]);
  EXPECT_EQ(row[3], 3.0);
  EXPECT_EQ(row[5], 1.1);
  EXPECT_NE(row[0], row[5]);
}

TEST(AdjustedStatistics, are_never_below_their_own_p_value_and_grow_from_the_most_extreme_on) {
  Matrix<double> values = noise(6, 200, 7);
  values(2, 0) = 12.0;
  const auto results = adjusted_statistics(values);
  EXPECT_DOUBLE_EQ(results[2].pvalue, 1.0 / 200.0);
  EXPECT_LE(results[2].adjusted_pvalue, 2.0 / 200.0);
  for (std::size_t r = 0; r < 6; ++r) {
    EXPECT_GE(results[r].adjusted_pvalue, results[r].pvalue);
    EXPECT_LE(results[r].adjusted_pvalue, 1.0);
    EXPECT_GE(results[r].adjusted_pvalue, results[2].adjusted_pvalue);
  }
}

TEST(AdjustedStatistics, of_copies_of_one_statistic_are_its_own_p_value) {
  const Matrix<double> one = noise(1, 50, 8);
  Matrix<double> values(3, 50);
  for (std::size_t r = 0; r < 3; ++r) std::ranges::copy(one.row(0), values.row(r).begin());
  for (const auto& result : adjusted_statistics(values)) EXPECT_DOUBLE_EQ(result.adjusted_pvalue, result.pvalue);
}

}  // namespace
}  // namespace kqd
