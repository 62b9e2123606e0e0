#include "testing/sequential.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace kqd {
namespace {

// Feeds '1' (exceeds) and '0' until the test has enough; returns how many it took.
std::size_t feed(SequentialTest& test, const std::string& draws) {
  for (std::size_t t = 0; t < draws.size(); ++t) {
    if (test.add(draws[t] == '1')) return t + 1;
  }
  return draws.size();
}

TEST(FixedNumber, never_stops) {
  const auto test = make_sequential_test(EarlyStop::none, 0.05, 19);
  EXPECT_EQ(feed(*test, std::string(19, '1')), 19U);
  EXPECT_EQ(test->pvalue(), 1.0);
}

TEST(BesagClifford, stops_at_the_exceedance_that_rules_out_a_rejection) {
  // alpha (B + 1) = 0.1 * 30 = 3: stops at the third exceedance with p = 3/draws.
  const auto stopped = make_sequential_test(EarlyStop::besag_clifford, 0.1, 29);
  EXPECT_EQ(feed(*stopped, "0100010000001000"), 13U);
  EXPECT_EQ(stopped->pvalue(), 3.0 / 13.0);
  const auto not_stopped = make_sequential_test(EarlyStop::besag_clifford, 0.1, 29);
  EXPECT_EQ(feed(*not_stopped, "01000100000000000000000000000"), 29U);
  EXPECT_EQ(not_stopped->pvalue(), 0.1);
}

TEST(BesagClifford, needs_a_whole_number_of_exceedances) {
  EXPECT_EQ(besag_clifford_limit(0.05, 999), 50U);
  EXPECT_EQ(besag_clifford_limit(0.05, 19), 1U);
  EXPECT_EQ(besag_clifford_limit(0.1, 29), 3U);  // 0.1 * 30 is not 3 in binary
  EXPECT_EQ(besag_clifford_limit(0.05, 1000), 0U);
  EXPECT_EQ(besag_clifford_limit(0.05, 9), 0U);
  EXPECT_EQ(besag_clifford_limit(0.001, 99), 0U);
}

// P(Bin(n, c) > k) as one minus the sum of the first terms, each multiplied up: no incomplete beta function.
double upper_tail(int n, double c, int k) {
  double term = std::pow(1.0 - c, n);
  double below = term;
  for (int i = 1; i <= k; ++i) {
    term *= c / (1.0 - c) * (n - i + 1) / i;
    below += term;
  }
  return 1.0 - below;
}

TEST(BettingWealth, has_the_published_check_values) {
  EXPECT_NEAR(betting_wealth({10, 0}, 0.05), 8.8308657, 5e-8);
  EXPECT_LT(betting_wealth({49, 0}, 0.05), 20.0);
  EXPECT_GE(betting_wealth({50, 0}, 0.05), 20.0);
  for (const int t : {1, 2, 10, 100, 300}) {
    for (int k = 0; k <= std::min(t, 9); ++k) {
      const Exceedances draws = {static_cast<std::uint64_t>(t), static_cast<std::uint64_t>(k)};
      // The oracle subtracts from 1, so it is good to some roundings of 1.
      EXPECT_NEAR(betting_wealth(draws, 0.05) * 0.045, upper_tail(t + 1, 0.045, k), 1e-13) << t << " " << k;
    }
  }
}

// Under the null hypothesis the next draw exceeds with probability (L + 1)/(t + 2): the observed value is equally
// likely to have any rank. The mean of the wealth after it must be the wealth before it.
TEST(BettingWealth, is_a_fair_game_under_the_null_hypothesis) {
  EXPECT_NEAR(betting_wealth({0, 0}, 0.05), 1.0, 1e-15);
  for (std::uint64_t t = 0; t <= 40; ++t) {
    for (std::uint64_t k = 0; k <= t; ++k) {
      const double exceeds = static_cast<double>(k + 1) / static_cast<double>(t + 2);
      const double now = betting_wealth({t, k}, 0.05);
      const double next =
          exceeds * betting_wealth({t + 1, k + 1}, 0.05) + (1.0 - exceeds) * betting_wealth({t + 1, k}, 0.05);
      EXPECT_NEAR(next / now, 1.0, 1e-12) << t << " " << k;
    }
  }
}

TEST(Betting, rejects_as_soon_as_the_wealth_allows_and_gives_up_when_it_is_lost) {
  const auto rejects = make_sequential_test(EarlyStop::betting, 0.05, 999);
  EXPECT_EQ(feed(*rejects, std::string(999, '0')), 50U);
  EXPECT_EQ(rejects->pvalue(), 1.0 / betting_wealth({50, 0}, 0.05));
  EXPECT_LE(rejects->pvalue(), 0.05);
  const auto gives_up = make_sequential_test(EarlyStop::betting, 0.05, 999);
  EXPECT_EQ(feed(*gives_up, std::string(999, '1')), 2U);
  EXPECT_EQ(gives_up->pvalue(), 1.0);
}

TEST(Betting, pvalue_keeps_the_best_wealth_so_far) {
  const auto test = make_sequential_test(EarlyStop::betting, 0.05, 999);
  feed(*test, "00000000001");
  EXPECT_EQ(test->pvalue(), 1.0 / betting_wealth({10, 0}, 0.05));
}

TEST(SmallestPvalue, is_reached_without_exceedances) {
  EXPECT_EQ(smallest_pvalue(EarlyStop::none, 0.05, 19), 0.05);
  EXPECT_GT(smallest_pvalue(EarlyStop::betting, 0.05, 49), 0.05);
  EXPECT_LE(smallest_pvalue(EarlyStop::betting, 0.05, 50), 0.05);
}

}  // namespace
}  // namespace kqd
