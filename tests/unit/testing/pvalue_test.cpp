#include "kqd/testing/pvalue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kqd {
namespace {

TEST(PermutationPvalue, counts_the_observed_permutation_among_the_equally_likely_ones) {
  EXPECT_EQ(permutation_pvalue({999, 49}), 0.05);
  EXPECT_EQ(permutation_pvalue({99, 0}), 0.01);
  EXPECT_EQ(permutation_pvalue({1, 1}), 1.0);
}

TEST(RandomisedPvalue, shares_ties_out_by_the_uniform_number) {
  // 9 draws: 2 greater, 3 tied, 4 smaller: p runs from 2/10 to (2 + 1 + 3)/10.
  EXPECT_DOUBLE_EQ(randomised_pvalue({9, 5}, 3, 0.0), 0.2);
  EXPECT_DOUBLE_EQ(randomised_pvalue({9, 5}, 3, 0.5), 0.4);
  EXPECT_DOUBLE_EQ(randomised_pvalue({9, 5}, 3, 1.0), 0.6);
}

// From scipy 1.10.1, printed with repr(): scipy.stats.beta.ppf(g, k, n - k + 1) and ppf(1 - g, k + 1, n - k) with
// g = (1 - confidence)/2. They agree with bisection of the binomial tail in 40 digits to 1e-15. (binomtest(...)
// .proportion_ci() of that version is good to 2e-12 only.)
TEST(ClopperPearson, agrees_with_scipy) {
  struct Row {
    Exceedances draws;
    double confidence, lower, upper;
  };
  const std::vector<Row> rows = {
      {{99, 0}, 0.95, 0.0, 0.03657574498347894},
      {{99, 1}, 0.95, 0.0002557027366659617, 0.05499682319943018},
      {{99, 4}, 0.95, 0.011116748798575963, 0.10022790656874934},
      {{999, 50}, 0.95, 0.03737299919946924, 0.06545541079534797},
      {{999, 999}, 0.95, 0.9963142371342606, 1.0},
      {{1, 1}, 0.95, 0.025000000000000022, 1.0},
      {{200, 37}, 0.99, 0.12003614826512808, 0.26546828326787136},
      {{1'000'000, 12'345}, 0.9, 0.012163919158012185, 0.01252817236461775},
  };
  for (const Row& row : rows) {
    const auto [lower, upper] = clopper_pearson(row.draws, row.confidence);
    // Rounding (1 - confidence)/2 moves it by up to 1e-15 of itself, and the ends by no larger part of themselves.
    EXPECT_NEAR(lower, row.lower, 4e-15 * row.lower);
    EXPECT_NEAR(upper, row.upper, 4e-15 * row.upper);
  }
}

// The probability of k exceedances in n draws, multiplied up factor by factor.
double binomial_probability(int n, int k, double q) {
  double probability = std::pow(1.0 - q, n - k);
  for (int i = 1; i <= k; ++i) probability *= q * (n - k + i) / i;
  return probability;
}

TEST(AnytimeInterval, holds_exactly_the_values_that_the_mixture_does_not_refute) {
  for (const auto& [n, k] : std::vector<std::pair<int, int>>{{1, 0}, {1, 1}, {7, 2}, {60, 0}, {60, 1}, {60, 59}}) {
    const auto [lower, upper] = anytime_interval({static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(k)}, 0.95);
    for (int i = 1; i < 2000; ++i) {
      const double q = i / 2000.0;
      const double evidence = (n + 1) * binomial_probability(n, k, q);
      if (std::abs(evidence / 0.05 - 1.0) < 1e-9) continue;  // on the boundary up to rounding
      EXPECT_EQ(q >= lower && q <= upper, evidence > 0.05) << n << " " << k << " " << q;
    }
  }
}

TEST(AnytimeInterval, has_known_ends_where_they_are_closed_forms) {
  // No exceedance in 50: 51 (1 - q)^50 = 0.05. All of 3: 4 q^3 = 0.05.
  EXPECT_EQ(anytime_interval({50, 0}).lower, 0.0);
  EXPECT_NEAR(anytime_interval({50, 0}).upper, 1.0 - std::pow(0.05 / 51.0, 1.0 / 50.0), 1e-14);
  EXPECT_EQ(anytime_interval({3, 3}).upper, 1.0);
  EXPECT_NEAR(anytime_interval({3, 3}).lower, std::cbrt(0.05 / 4.0), 1e-14);
}

// For a true probability q, the chance that one of the intervals after 1 .. 300 draws misses it, by adding up the
// paths that were never missed: exact, no simulation.
double chance_of_a_miss(double q, const std::vector<std::vector<Interval>>& intervals) {
  std::vector<double> path = {1.0};  // path[k]: no miss yet and k exceedances
  for (std::size_t t = 1; t < intervals.size(); ++t) {
    std::vector<double> next(t + 1, 0.0);
    for (std::size_t k = 0; k < t; ++k) {
      next[k] += path[k] * (1.0 - q);
      next[k + 1] += path[k] * q;
    }
    for (std::size_t k = 0; k <= t; ++k) {
      if (q < intervals[t][k].lower || q > intervals[t][k].upper) next[k] = 0.0;
    }
    path = next;
  }
  double never = 0.0;
  for (const double probability : path) never += probability;
  return 1.0 - never;
}

TEST(AnytimeInterval, covers_at_all_times_together_where_clopper_pearson_does_not) {
  constexpr std::size_t kDraws = 300;
  std::vector<std::vector<Interval>> anytime(kDraws + 1);
  std::vector<std::vector<Interval>> fixed(kDraws + 1);
  for (std::size_t t = 1; t <= kDraws; ++t) {
    for (std::size_t k = 0; k <= t; ++k) {
      anytime[t].push_back(anytime_interval({t, k}, 0.95));
      fixed[t].push_back(clopper_pearson({t, k}, 0.95));
    }
  }
  for (const double q : {0.003, 0.02, 0.05, 0.051, 0.2, 0.5, 0.9}) {
    EXPECT_LE(chance_of_a_miss(q, anytime), 0.05) << q;
  }
  EXPECT_GT(chance_of_a_miss(0.2, fixed), 0.05) << "repeated looks need the wider interval";
}

// By hand: 5 * 0.005, 4 * 0.01, 3 * 0.03, then 2 * 0.04 and 0.04, which may not fall below 0.09.
TEST(Holm, gives_the_textbook_adjustment_in_the_order_given) {
  const std::vector<double> pvalues = {0.01, 0.04, 0.03, 0.005, 0.04};
  const std::vector<double> expected = {0.04, 0.09, 0.09, 0.025, 0.09};
  const std::vector<double> adjusted = holm_adjusted(pvalues);
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(adjusted[i], expected[i]) << i;
}

TEST(Holm, never_exceeds_one_and_takes_any_number_of_tests) {
  EXPECT_TRUE(holm_adjusted({}).empty());
  EXPECT_EQ(holm_adjusted(std::vector<double>{0.3}), std::vector<double>{0.3});
  EXPECT_EQ(holm_adjusted(std::vector<double>{0.6, 0.7}), (std::vector<double>{1.0, 1.0}));
}

TEST(BenjaminiHochberg, adjusts_as_the_rule_says) {
  // Sorted: 0.01, 0.02, 0.03, 0.5 times 4/1, 4/2, 4/3, 1, then the smallest from the right.
  const std::vector<double> adjusted = benjamini_hochberg_adjusted(std::vector<double>{0.03, 0.5, 0.01, 0.02});
  const std::vector<double> expected = {0.04, 0.5, 0.04, 0.04};
  ASSERT_EQ(adjusted.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(adjusted[i], expected[i]) << i;
  EXPECT_TRUE(benjamini_hochberg_adjusted({}).empty());
  EXPECT_EQ(benjamini_hochberg_adjusted(std::vector<double>{0.9, 1.0}), (std::vector<double>{1.0, 1.0}));
}

}  // namespace
}  // namespace kqd
