#include "kqd/monitor/alarm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "support/errors.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

// The definition, written out: the mean over bets of the sum over starts of weight times product.
double evidence_by_definition(const std::vector<double>& pvalues) {
  constexpr std::array<double, 6> kLimitsOfBets = {0.01, 0.02, 0.03, 0.05, 0.1, 0.2};
  double total = 0.0;
  for (const double limit : kLimitsOfBets) {
    for (std::size_t start = 1; start <= pvalues.size(); ++start) {
      const double c = 100.0 + static_cast<double>(start);
      double wealth = 100.0 / ((c - 1.0) * c);
      for (std::size_t t = start; t <= pvalues.size(); ++t) {
        wealth *= 0.2 + (pvalues[t - 1] <= limit ? 0.8 / limit : 0.0);
      }
      total += wealth / 6.0;
    }
  }
  double of_later_starts = 1.0;
  for (std::size_t start = 1; start <= pvalues.size(); ++start) {
    const double c = 100.0 + static_cast<double>(start);
    of_later_starts -= 100.0 / ((c - 1.0) * c);
  }
  return total + of_later_starts;
}

TEST(Alarm, evidence_is_the_weighted_mean_of_products_of_bets) {
  test::Source source(1);
  Alarm alarm;
  std::vector<double> pvalues;
  for (int t = 0; t < 60; ++t) {
    pvalues.push_back(t > 40 ? 0.03 * source.uniform() : source.uniform());
    alarm.add(pvalues.back());
    EXPECT_NEAR(alarm.evidence().back() / evidence_by_definition(pvalues), 1.0, 1e-11) << t;
  }
  EXPECT_EQ(alarm.threshold(), 20.0);
}

// Ville: at most 0.05. A correct alarm is above 132 of 2000 with a probability below 1e-3 even if it used all of its
// 5%; it uses about a quarter.
TEST(Alarm, uniform_pvalues_raise_it_in_at_most_alpha_of_all_streams) {
  test::Source source(2);
  int raised = 0;
  for (int stream = 0; stream < 2000; ++stream) {
    Alarm alarm;
    for (int t = 0; t < 300 && !alarm.raised_at(); ++t) alarm.add(source.uniform());
    if (alarm.raised_at()) ++raised;
  }
  EXPECT_LE(raised, 132);
  EXPECT_GE(raised, 1);  // it can be raised
}

TEST(Alarm, small_pvalues_after_a_change_raise_it_within_four_batches) {
  test::Source source(3);
  Alarm alarm;
  for (int t = 0; t < 100; ++t) alarm.add(0.2 + 0.8 * source.uniform());
  for (int t = 0; t < 4; ++t) alarm.add(0.009);
  ASSERT_TRUE(alarm.raised_at());
  EXPECT_LE(*alarm.raised_at(), 103U);
  EXPECT_GE(*alarm.raised_at(), 101U);
}

// Times to the alarm are nearly exponential: the mean of 2000 deviates by 2.2% (standard error), the threshold of the
// library by up to 3%. A correct one is 14% off with a probability below 1e-5.
TEST(Alarm, an_average_run_length_is_kept) {
  for (const double length : {100.0, 1000.0, 10'000.0}) {
    const double threshold = Alarm(AlarmOptions{.average_run_length = length}).threshold();
    test::Source source(4);
    double total = 0.0;
    constexpr int kRuns = 2000;
    for (int run = 0; run < kRuns; ++run) {
      std::array<double, 6> sums{};
      for (int t = 1;; ++t) {
        const double pvalue = source.uniform();
        double evidence = 0.0;
        constexpr std::array<double, 6> kLimitsOfBets = {0.01, 0.02, 0.03, 0.05, 0.1, 0.2};
        for (std::size_t j = 0; j < sums.size(); ++j) {
          sums[j] = (1.0 + sums[j]) * (0.2 + (pvalue <= kLimitsOfBets[j] ? 0.8 / kLimitsOfBets[j] : 0.0));
          evidence += sums[j] / 6.0;
        }
        if (evidence < threshold) continue;
        total += t;
        break;
      }
    }
    EXPECT_NEAR(total / kRuns / length, 1.0, 0.14) << length;
  }
}

TEST(Alarm, a_threshold_that_is_known_is_taken) {
  EXPECT_EQ(Alarm(AlarmOptions{.average_run_length = 1000.0, .threshold = 321.0}).threshold(), 321.0);
}

TEST(Alarm, longer_average_run_lengths_have_larger_thresholds) {
  double before = 0.0;
  for (const double length : {10.0, 100.0, 1000.0, 10'000.0, 1e6}) {
    const Alarm alarm(AlarmOptions{.average_run_length = length});
    EXPECT_GT(alarm.threshold(), before) << length;
    EXPECT_LE(alarm.threshold(), length) << length;  // the mean of the evidence after t batches is t
    before = alarm.threshold();
  }
}

TEST(Alarm, options_out_of_range_are_refused) {
  test::expect_error(ErrorCode::invalid_option, "alpha = 0: expected a number > 0 and < 1",
                     [] { Alarm(AlarmOptions{.alpha = 0.0}); });
  test::expect_error(ErrorCode::invalid_option, "average_run_length = 5: expected a number from 10 to 10^9",
                     [] { Alarm(AlarmOptions{.average_run_length = 5.0}); });
}

}  // namespace
}  // namespace kqd
