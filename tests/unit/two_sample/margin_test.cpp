// The size of a difference and its verdict, against closed forms and brute force.
#include "kqd/two_sample/margin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "kqd/kqd.hpp"
#include "support/drawn_sample.hpp"
#include "two_sample/boundary.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

Sample normal(std::size_t n, std::size_t dim, std::uint64_t index, double shift = 0.0) {
  Sample sample = test::drawn_sample(n, dim, {}, index, Seed{29});
  for (std::size_t i = 0; i < n; ++i) sample.points(i, 0) += shift;
  return sample;
}

DifferenceSize size_of(const Sample& x, const Sample& y) {
  return difference_size(x, y, {.threads = ThreadCount{1}});
}

// With one function (a + s Z)^2 <= t means |a + s Z| <= sqrt(t).
TEST(Boundary, one_function_has_a_folded_normal_distribution) {
  const EffectMoments moments{.squared = 0.0, .noise = 0.04, .noise_square = 0.0016, .along = 0.04, .groups = 1e9};
  const boost::math::normal distribution(0.3, 0.2);
  for (const double t : {0.001, 0.05, 0.2, 0.6}) {
    const double expected = cdf(distribution, std::sqrt(t)) - cdf(distribution, -std::sqrt(t));
    EXPECT_NEAR(squared_below(moments, t, 0.3), expected, 1e-7) << t;
  }
}

// The sum of k squares of normal variables with variance v and one mean a is v times a noncentral chi-square. The sum
// over 64 cells has an error of order 64^-2.
TEST(Boundary, equal_variances_have_a_noncentral_chi_square_distribution) {
  for (const double k : {2.0, 10.0, 100.0}) {
    const double v = 0.01;
    const EffectMoments moments{.squared = 0.0, .noise = k * v, .noise_square = k * v * v, .along = v, .groups = 1e9};
    for (const double a : {0.0, 0.1, 0.5}) {
      const boost::math::non_central_chi_squared distribution(k, a * a / v + 1e-12);
      for (const double p : {0.02, 0.05, 0.5, 0.95, 0.98}) {
        const double t = v * quantile(distribution, p);
        EXPECT_NEAR(squared_below(moments, t, a), p, 0.002) << k << ' ' << a << ' ' << p;
      }
    }
  }
}

TEST(Boundary, limits_are_where_the_tails_are_reached) {
  const EffectMoments moments{.squared = 0.5, .noise = 0.2, .noise_square = 0.01, .along = 0.05, .groups = 100.0};
  const double lower = lower_limit(moments, 0.05);
  const double upper = upper_limit(moments, 0.05);
  EXPECT_NEAR(squared_below(moments, 0.5, lower), 0.95, 1e-5);
  EXPECT_NEAR(squared_below(moments, 0.5, upper), 0.05, 1e-5);
  EXPECT_NEAR(squared_below(moments, squared_quantile(moments, 0.3, 0.4), 0.4), 0.3, 1e-5);
  const EffectMoments nothing{.squared = 0.2, .noise = 0.2, .noise_square = 0.01, .along = 0.05, .groups = 100.0};
  EXPECT_EQ(lower_limit(nothing, 0.05), 0.0);
}

// |mean of X - mean of Y|^2 without the products of a group with itself.
TEST(EffectMoments, squared_without_noise_is_the_u_statistic_of_the_groups) {
  const Sample rows = test::drawn_sample(11, 3, {}, 5, Seed{1});
  SizeUnits units{std::vector<double>(11, 1.0), std::vector<char>(11, 0)};
  std::fill_n(units.is_x.begin(), 6, 1);
  Matrix<double> sums(rows.points.view());
  const EffectMoments moments = moments_of(units, sums, ThreadCount{1});
  double expected = 0.0;
  for (std::size_t g = 0; g < 11; ++g) {
    for (std::size_t h = 0; h < 11; ++h) {
      if (g == h) continue;
      double product = 0.0;
      for (std::size_t k = 0; k < 3; ++k) product += sums(g, k) * sums(h, k);
      const bool same = units.is_x[g] == units.is_x[h];
      expected += same ? product / (units.is_x[g] != 0 ? 30.0 : 20.0) : -product / 30.0;
    }
  }
  EXPECT_NEAR(moments.squared - moments.noise, expected, 1e-12);
}

// Noise of independent normal functions, of variance 1 and 9 by turns: S = (1/n + 1/m) diag(1, 9, 1, 9, ...). Each of
// 400 estimates is unbiased; the mean of them is within six of its standard errors, estimated from the same draws.
TEST(EffectMoments, noise_and_its_square_are_unbiased) {
  constexpr std::size_t kRuns = 400;
  const double v = 1.0 / 12.0 + 1.0 / 9.0;
  std::vector<double> noise;
  std::vector<double> square;
  for (std::size_t run = 0; run < kRuns; ++run) {
    SizeUnits units{std::vector<double>(21, 1.0), std::vector<char>(21, 0)};
    std::fill_n(units.is_x.begin(), 12, 1);
    Matrix<double> sums(test::drawn_sample(21, 40, {}, run, Seed{2}).points.view());
    for (std::size_t u = 0; u < 21; ++u) {
      for (std::size_t k = 0; k < 40; k += 2) sums(u, k) *= 3.0;
    }
    const EffectMoments moments = moments_of(units, sums, ThreadCount{1});
    noise.push_back(moments.noise);
    square.push_back(moments.noise_square);
  }
  const auto near = [](const std::vector<double>& values, double truth) {
    const double count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double variance = 0.0;
    for (const double value : values) variance += (value - mean) * (value - mean) / (count - 1.0);
    EXPECT_NEAR(mean, truth, 6.0 * std::sqrt(variance / count));
  };
  near(noise, 200.0 * v);
  near(square, 20.0 * (1.0 + 81.0) * v * v);
}

// Over the pool, each sample counted alike, functions have mean 0, variance 1 and no correlation.
TEST(ColumnScores, are_orthonormal_over_the_pool) {
  const Sample x = normal(40, 1, 1);
  const Sample y = normal(60, 1, 2, 0.5);
  const ColumnScores scores(x.points.values(), {}, y.points.values(), {});
  for (std::size_t a = 0; a < ColumnScores::kOrders; ++a) {
    EXPECT_TRUE(scores.has(a));
    double mean = 0.0;
    for (const double value : x.points.values()) mean += scores(value)[a] / 80.0;
    for (const double value : y.points.values()) mean += scores(value)[a] / 120.0;
    EXPECT_NEAR(mean, 0.0, 1e-9);
    for (std::size_t b = 0; b <= a; ++b) {
      double product = 0.0;
      for (const double value : x.points.values()) product += scores(value)[a] * scores(value)[b] / 80.0;
      for (const double value : y.points.values()) product += scores(value)[a] * scores(value)[b] / 120.0;
      EXPECT_NEAR(product, a == b ? 1.0 : 0.0, 1e-6);
    }
  }
}

// (p - q) / sqrt(r (1 - r)) with r = (p + q) / 2.
TEST(ColumnScores, of_two_values_have_one_function_the_standardised_column) {
  const std::vector<double> x = {0, 0, 0, 1};
  const std::vector<double> y = {0, 0, 1, 1, 1, 1};
  const ColumnScores scores(x, {}, y, {});
  EXPECT_TRUE(scores.has(0));
  EXPECT_FALSE(scores.has(1));
  const double r = 0.5 * (0.25 + 4.0 / 6.0);
  EXPECT_NEAR(scores(1.0)[0] - scores(0.0)[0], 1.0 / std::sqrt(r * (1.0 - r)), 1e-12);
}

// The normal score of the mixture of N(0, 1) and N(s, 1): its mean difference by numerical integration.
double effect_of_shift(double s) {
  const boost::math::normal standard;
  double difference = 0.0;
  double square = 0.0;
  constexpr double kStep = 0.001;
  for (double v = -9.0; v < 9.0 + s; v += kStep) {
    const double z = quantile(standard, std::clamp(0.5 * (cdf(standard, v) + cdf(standard, v - s)), 1e-300, 1 - 1e-16));
    const double p = pdf(standard, v);
    const double q = pdf(standard, v - s);
    difference += z * (q - p) * kStep;
    square += z * z * 0.5 * (p + q) * kStep;
  }
  return difference / std::sqrt(square);
}

// The standard deviation of the effect is about sqrt(2 / n).
TEST(DifferenceSize, of_a_shift_is_that_shift) {
  EXPECT_NEAR(effect_of_shift(0.1), 0.1, 0.001);
  for (const double shift : {0.1, 0.3, 1.0}) {
    const DifferenceSize size = size_of(normal(40'000, 3, 1), normal(40'000, 3, 2, shift));
    EXPECT_NEAR(size.aspects.front().effect, effect_of_shift(shift), 5.0 * std::sqrt(2.0 / 40'000)) << shift;
    // Phi(shift / sqrt 2) is the probability that a row of Y is above one of X.
    const double separated = cdf(boost::math::normal(), shift / std::sqrt(2.0));
    EXPECT_NEAR(size.separation.value(), separated, 0.02) << shift;
  }
}

// Scores come from 65,536 rows of each sample, which must be drawn at random: equal rows are next to each other in the
// order of a pool. Shares of 0.3 and 0.4 among two values have the effect 0.1 / sqrt(0.35 0.65).
TEST(DifferenceSize, of_many_rows_with_few_values_is_that_of_their_shares) {
  constexpr std::size_t kManyRows = 150'000;
  Sample x{Matrix<double>(kManyRows, 1, 0.0), {}, {}};
  Sample y = x;
  for (std::size_t i = 0; i < 3 * kManyRows / 10; ++i) x.points(i, 0) = 1.0;
  for (std::size_t i = 0; i < 4 * kManyRows / 10; ++i) y.points(i, 0) = 1.0;
  // The shares of the rows that scores come from have a standard deviation of 0.002, those of the groups one of 0.0002.
  EXPECT_NEAR(size_of(x, y).effect, 0.1 / std::sqrt(0.35 * 0.65), 0.006);
}

TEST(DifferenceSize, does_not_depend_on_units_or_monotone_changes_of_a_column) {
  const Sample x = normal(150, 3, 3);
  const Sample y = normal(130, 3, 4, 0.4);
  Sample u = x;
  Sample v = y;
  for (Sample* sample : {&u, &v}) {
    for (std::size_t i = 0; i < sample->points.rows(); ++i) {
      sample->points(i, 0) = std::exp(sample->points(i, 0));
      sample->points(i, 2) = 1000.0 + 1e-3 * sample->points(i, 2);
    }
  }
  const DifferenceSize plain = size_of(x, y);
  const DifferenceSize changed = size_of(u, v);
  EXPECT_EQ(plain.effect, changed.effect);
  EXPECT_EQ(plain.interval.upper, changed.interval.upper);
  EXPECT_EQ(plain.separation, changed.separation);
}

TEST(DifferenceSize, has_the_same_bits_for_any_number_of_threads) {
  const Sample x = normal(3000, 4, 5);
  const Sample y = normal(2500, 4, 6, 0.2);
  const DifferenceSize one = size_of(x, y);
  for (const unsigned threads : {2U, 5U}) {
    const DifferenceSize many = difference_size(x, y, {.threads = ThreadCount{threads}});
    EXPECT_EQ(one.effect, many.effect);
    EXPECT_EQ(one.interval.lower, many.interval.lower);
    EXPECT_EQ(one.separation, many.separation);
  }
}

// A correlation of 0.5 that turns into -0.5 leaves every column as it was.
TEST(DifferenceSize, sees_relations_between_columns) {
  Sample x = normal(4000, 2, 7);
  Sample y = normal(4000, 2, 8);
  for (std::size_t i = 0; i < 4000; ++i) {
    x.points(i, 1) = 0.5 * x.points(i, 0) + std::sqrt(0.75) * x.points(i, 1);
    y.points(i, 1) = -0.5 * y.points(i, 0) + std::sqrt(0.75) * y.points(i, 1);
  }
  const DifferenceSize size = size_of(x, y);
  ASSERT_EQ(size.aspects.size(), 3U);
  EXPECT_LT(size.aspects[0].effect, 0.1);
  EXPECT_LT(size.aspects[1].effect, 0.15);
  EXPECT_NEAR(size.aspects[2].effect, 1.0, 0.1);  // the difference of the correlations
  EXPECT_EQ(size.effect, size.aspects[2].effect);
  EXPECT_GT(size.separation.value(), 0.6);
}

// Weights change the random groups, from which the noise is estimated: its standard deviation is about a tenth of it,
// 0.0005 for 400 rows, and the effect changes by that over twice itself.
TEST(DifferenceSize, equal_weights_change_the_effect_by_the_noise_of_its_noise_only) {
  Sample x = normal(400, 1, 9);
  const Sample y = normal(400, 1, 10, 0.3);
  x.weights.assign(400, 2.5);
  EXPECT_NEAR(size_of(x, y).effect, size_of(normal(400, 1, 9), y).effect, 0.01);
}

TEST(Judge, gives_each_of_three_verdicts) {
  const DifferenceSize far = size_of(normal(2000, 2, 11), normal(2000, 2, 12, 0.5));
  EXPECT_EQ(judge(far, MarginKind::tolerance, 0.2, 0.05).verdict, Verdict::different);
  EXPECT_EQ(judge(far, MarginKind::equivalent, 0.9, 0.05).verdict, Verdict::equivalent);
  const MarginResult unclear = judge(far, MarginKind::tolerance, far.effect * 0.98, 0.05);
  EXPECT_EQ(unclear.verdict, Verdict::undecided);
  ASSERT_TRUE(unclear.rows_needed.has_value());
  EXPECT_GT(*unclear.rows_needed, 4000U);
  EXPECT_THROW(static_cast<void>(judge(far, MarginKind::tolerance, 0.0, 0.05)), Error);
}

TEST(JudgeByBatches, compares_the_rank_of_the_effect_where_batches_are_many) {
  const DifferenceSize size = size_of(normal(500, 1, 13), normal(500, 1, 14, 0.3));
  std::vector<double> batches(19, 0.01);
  batches[7] = 0.05;
  const MarginResult beyond = judge_by_batches(size, MarginKind::tolerance, batches, 0.05);
  EXPECT_EQ(beyond.margin, 0.05);
  EXPECT_DOUBLE_EQ(beyond.pvalue_beyond, 1.0 / 20.0);
  EXPECT_EQ(beyond.verdict, Verdict::different);
  batches[3] = 0.9;
  EXPECT_NE(judge_by_batches(size, MarginKind::tolerance, batches, 0.05).verdict, Verdict::different);
  EXPECT_THROW(static_cast<void>(judge_by_batches(size, MarginKind::tolerance, {0.1}, 0.05)), Error);
}

// The limit for a new one of few normal values: mean + t s sqrt(1 + 1/k); t of 2 degrees of freedom at 0.95 is 2.920.
TEST(JudgeByBatches, predicts_where_batches_are_few) {
  const DifferenceSize size = size_of(normal(500, 1, 13), normal(500, 1, 14, 0.3));
  const MarginResult result = judge_by_batches(size, MarginKind::tolerance, {0.1, 0.2, 0.3}, 0.05);
  EXPECT_NEAR(result.margin, 0.2 + 2.91999 * 0.1 * std::sqrt(4.0 / 3.0), 1e-5);
}

// Batches that are closer than noise leave no room within the margin.
TEST(JudgeByBatches, never_calls_samples_equivalent_within_a_margin_of_0) {
  const DifferenceSize size = size_of(normal(500, 1, 13), normal(500, 1, 14));
  const MarginResult result = judge_by_batches(size, MarginKind::equivalent, std::vector<double>(19, -0.2), 0.05);
  EXPECT_EQ(result.margin, 0.0);
  EXPECT_EQ(result.pvalue_within, 1.0);
  EXPECT_NE(result.verdict, Verdict::equivalent);
}

TEST(Margin, does_not_change_the_test_of_equal_distributions) {
  const Sample x = normal(120, 2, 15);
  const Sample y = normal(140, 2, 16, 0.3);
  TwoSampleOptions options;
  options.test.num_permutations = 99;
  const TwoSampleResult plain = two_sample_test(x, y, options);
  options.margin = {.kind = MarginKind::tolerance, .margin = 0.1};
  const TwoSampleResult judged = two_sample_test(x, y, options);
  EXPECT_EQ(plain.test.pvalue, judged.test.pvalue);
  EXPECT_EQ(plain.test.statistic, judged.test.statistic);
  ASSERT_TRUE(judged.margin.has_value());
  EXPECT_EQ(judged.effect_size, judged.difference->effect);
  EXPECT_FALSE(plain.margin.has_value());
}

}  // namespace
}  // namespace kqd
