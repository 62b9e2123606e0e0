#include "kqd/testing/permutation_test.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <functional>
#include <thread>

#include "core/random.hpp"
#include "support/warnings.hpp"
#include "testing/sequential.hpp"
#include "unit/testing/toy_plans.hpp"

namespace kqd {
namespace {

using test::MeanDifference;
using test::MeanOfX;
using test::ToyPlan;
using test::Wasserstein;

PermutationSource source_in_order(SampleSizes sizes, const Design& design = {}, Seed seed = {}) {
  return PermutationSource(design, sizes, test::rows_in_order(sizes.total()), seed);
}

// X = {4, 5, 6}, Y = {1, 2, 3}: of the 20 means of three values only one reaches 5.
TEST(PermutationTest, enumerates_a_small_pool_and_gives_the_exact_pvalue) {
  const ToyPlan plan({4, 5, 6, 1, 2, 3}, MeanOfX{});
  const TestOutcome outcome =
      permutation_test(plan, source_in_order({3, 3}), {.num_permutations = 5, .keep_null_distribution = true});
  EXPECT_EQ(outcome.statistic, 5.0);
  EXPECT_EQ(outcome.pvalue, 0.05);
  EXPECT_TRUE(outcome.enumerated);
  EXPECT_TRUE(outcome.reject);
  EXPECT_FALSE(outcome.stopped_early);
  EXPECT_EQ(outcome.n_exceed, 1U);
  EXPECT_EQ(outcome.n_resamples, 20U);
  EXPECT_EQ(outcome.pvalue_lower, 0.05);
  EXPECT_EQ(outcome.pvalue_upper, 0.05);
  // Over all permutations the mean of X has mean 3.5 and variance (1/3) (1 - 3/6) 3.5 (sampling without replacement).
  EXPECT_NEAR(outcome.permutation_mean, 3.5, 1e-14);
  EXPECT_NEAR(outcome.permutation_sd, std::sqrt(3.5 / 6.0), 1e-14);
  ASSERT_EQ(outcome.null_distribution.size(), 20U);
  EXPECT_EQ(outcome.null_distribution[0], 5.0);
  EXPECT_TRUE(outcome.warnings.empty());
}

// |difference|: the swapped permutation is as extreme, 2 of 20.
TEST(PermutationTest, counts_the_mirrored_permutation_of_a_symmetric_statistic) {
  const ToyPlan plan({4, 5, 6, 1, 2, 3}, MeanDifference{});
  const TestOutcome outcome = permutation_test(plan, source_in_order({3, 3}));
  EXPECT_EQ(outcome.pvalue, 0.1);
  EXPECT_FALSE(outcome.reject);
}

// Pairs (5,1) (4,2) (2,3): swaps change the sum of X by -4, -2, +1; sums are 11, 7, 9, 5, 12, 8, 10, 6: 11 is reached
// by 2 of 8.
TEST(PermutationTest, swaps_within_pairs) {
  const ToyPlan plan({5, 4, 2, 1, 2, 3}, MeanOfX{});
  EXPECT_EQ(permutation_test(plan, source_in_order({3, 3}, Design::paired())).pvalue, 2.0 / 8.0);
}

// Block 1 holds X 9 and Y 1, 5 (three choices: 9, 1, 5), block 2 X 2 and Y 4 (two: 2, 4). The sums of X are 11, 3, 7,
// 13, 5, 9: 11 is reached by 2 of 6.
TEST(PermutationTest, permutes_within_blocks) {
  const ToyPlan plan({9, 2, 1, 5, 4}, MeanOfX{});
  EXPECT_EQ(permutation_test(plan, source_in_order({2, 3}, Design::blocks({1, 2, 1, 1, 2}))).pvalue, 2.0 / 6.0);
}

// Clusters {9, 8}, {7}, {1}, {2, 3}, the first two are X. Clusters of the same size may change places, which gives 4
// permutations; the mean 8 of X is reached by the observed one only.
TEST(PermutationTest, permutes_whole_clusters) {
  const ToyPlan plan({9, 8, 7, 1, 2, 3}, MeanOfX{});
  EXPECT_EQ(permutation_test(plan, source_in_order({3, 3}, Design::clusters({1, 1, 2, 3, 4, 4}))).pvalue, 1.0 / 4.0);
}

std::vector<double> normal_values(std::size_t count, Seed seed, double shift_of_first_half = 0.0) {
  RandomStream stream(seed, Purpose::test_data);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = stream.normal() + (i < count / 2 ? shift_of_first_half : 0.0);
  return values;
}

TEST(PermutationTest, reports_a_random_sample_of_a_large_pool_with_its_interval) {
  const ToyPlan plan(normal_values(40, Seed{1}, 0.5), MeanDifference{});
  const TestOutcome outcome =
      permutation_test(plan, source_in_order({20, 20}), {.num_permutations = 499, .keep_null_distribution = true});
  EXPECT_FALSE(outcome.enumerated);
  EXPECT_EQ(outcome.n_resamples, 499U);
  ASSERT_EQ(outcome.null_distribution.size(), 499U);
  const auto num_exceed =
      std::ranges::count_if(outcome.null_distribution, [&](double t) { return t >= outcome.statistic; });
  EXPECT_EQ(outcome.n_exceed, static_cast<std::uint64_t>(num_exceed));
  EXPECT_EQ(outcome.pvalue, (1.0 + static_cast<double>(num_exceed)) / 500.0);
  EXPECT_LT(outcome.pvalue_lower, outcome.pvalue);
  EXPECT_GT(outcome.pvalue_upper, outcome.pvalue);
  double mean = 0.0;
  for (const double t : outcome.null_distribution) mean += t / 499.0;
  double variance = 0.0;
  for (const double t : outcome.null_distribution) variance += (t - mean) * (t - mean) / 498.0;
  EXPECT_NEAR(outcome.permutation_mean, mean, 1e-13);
  EXPECT_NEAR(outcome.permutation_sd, std::sqrt(variance), 1e-13);
}

TEST(PermutationTest, equal_points_give_pvalue_one) {
  const ToyPlan plan(std::vector<double>(40, 3.25), MeanDifference{});
  const TestOutcome outcome = permutation_test(plan, source_in_order({20, 20}), {.num_permutations = 99});
  EXPECT_EQ(outcome.statistic, 0.0);
  EXPECT_EQ(outcome.pvalue, 1.0);
  EXPECT_EQ(outcome.n_exceed, 99U);
}

// Every permutation has the same exact value, but sums in another order round differently.
TEST(PermutationTest, values_within_the_tie_slack_are_ties) {
  int call = 0;
  const auto one_up_to_rounding = [&call](const auto&, const auto&) { return 1.0 - 1e-13 * (call++ % 7); };
  const ToyPlan strict(std::vector<double>(40), one_up_to_rounding);
  const PermutationSource source = source_in_order({20, 20});
  EXPECT_LT(permutation_test(strict, source).pvalue, 0.2) << "the observed value came out as the largest";
  call = 0;
  const auto tolerant = ToyPlan(std::vector<double>(40), one_up_to_rounding).with_slack(1e-12);
  EXPECT_EQ(permutation_test(tolerant, source).pvalue, 1.0);
}

TEST(PermutationTest, gives_the_same_outcome_for_any_threads_and_any_cut_into_calls) {
  const std::vector<double> values = normal_values(30, Seed{3}, 0.8);
  for (const EarlyStop early_stop : {EarlyStop::none, EarlyStop::besag_clifford, EarlyStop::betting}) {
    std::vector<TestOutcome> outcomes;
    for (const std::size_t batches : {1UL, 3UL, 1000UL}) {
      for (const unsigned threads : {1U, 2U, 5U, 8U}) {
        const auto plan = ToyPlan(values, Wasserstein{}).with_batches_per_call(batches);
        outcomes.push_back(
            permutation_test(plan, source_in_order({15, 15}),
                             {.threads = {threads}, .early_stop = early_stop, .keep_null_distribution = true}));
        EXPECT_EQ(outcomes.back().pvalue, outcomes.front().pvalue);
        EXPECT_EQ(outcomes.back().n_resamples, outcomes.front().n_resamples);
        EXPECT_EQ(outcomes.back().null_distribution, outcomes.front().null_distribution);
      }
    }
  }
}

TEST(PermutationTest, early_stopping_counts_less_and_reports_the_anytime_interval) {
  const PermutationSource source = source_in_order({20, 20});
  const ToyPlan same(normal_values(40, Seed{4}), MeanDifference{});
  const ToyPlan shifted(normal_values(40, Seed{4}, 3.0), MeanDifference{});
  for (const EarlyStop early_stop : {EarlyStop::besag_clifford, EarlyStop::betting}) {
    const TestOutcome outcome = permutation_test(same, source, {.early_stop = early_stop});
    EXPECT_TRUE(outcome.stopped_early);
    EXPECT_FALSE(outcome.reject);
    EXPECT_LT(outcome.n_resamples, 999U);
    const Interval interval = anytime_interval({outcome.n_resamples, outcome.n_exceed});
    EXPECT_EQ(outcome.pvalue_lower, interval.lower);
    EXPECT_EQ(outcome.pvalue_upper, interval.upper);
  }
  const TestOutcome rejected = permutation_test(shifted, source, {.early_stop = EarlyStop::betting});
  EXPECT_TRUE(rejected.reject);
  EXPECT_TRUE(rejected.stopped_early);
  EXPECT_EQ(rejected.n_resamples, 50U);
}

// The outermost counts of Binomial(runs, level) that are reached with probability 5e-7 or more on each side.
struct Band {
  Band(int runs, double level) {
    const boost::math::binomial distribution(runs, level);
    lower = static_cast<int>(quantile(distribution, 5e-7));
    upper = static_cast<int>(quantile(complement(distribution, 5e-7)));
  }
  int lower;
  int upper;
};

using ValuesOfRun = std::function<std::vector<double>(Seed)>;

template <class Statistic>
int count_rejections(int runs, SampleSizes sizes, Statistic statistic, const ValuesOfRun& values_of,
                     const TestOptions& options) {
  int rejections = 0;
  for (int run = 0; run < runs; ++run) {
    const Seed seed{static_cast<std::uint64_t>(run) + 1000};
    const auto plan = ToyPlan(values_of(seed), statistic).with_slack(1e-12);
    rejections += permutation_test(plan, source_in_order(sizes, options.design, seed), options).reject;
  }
  return rejections;
}

TEST(PermutationTestLevel, is_exact_with_a_fixed_number_of_permutations) {
  const int runs = 2000;
  const Band band(runs, 0.05);
  const TestOptions options = {.num_permutations = 199};
  const auto normal_20 = [](Seed seed) { return normal_values(20, seed); };
  const int equal = count_rejections(runs, {10, 10}, MeanDifference{}, normal_20, options);
  EXPECT_GE(equal, band.lower);
  EXPECT_LE(equal, band.upper);
  const int unequal = count_rejections(runs, {6, 14}, Wasserstein{}, normal_20, options);
  EXPECT_GE(unequal, band.lower);
  EXPECT_LE(unequal, band.upper);
}

// Pairs, blocks and clusters whose rows share a random effect: exact with their design.
TEST(PermutationTestLevel, is_exact_for_restricted_designs) {
  const int runs = 2000;
  const Band band(runs, 0.05);
  const auto with_effects = [](const std::vector<std::size_t>& group_of_row) {
    return [group_of_row](Seed seed) {
      RandomStream stream(seed, Purpose::test_data, 1);
      std::vector<double> effects(group_of_row.size());
      for (double& effect : effects) effect = 3.0 * stream.normal();
      std::vector<double> values;
      for (const std::size_t group : group_of_row) values.push_back(effects[group] + stream.normal());
      return values;
    };
  };
  // With 199 permutations drawn at random from few permutations ties with the observed one would make it conservative.
  std::vector<std::size_t> pair_of_row;
  for (std::size_t i = 0; i < 40; ++i) pair_of_row.push_back(i % 20);
  const int paired = count_rejections(runs, {20, 20}, MeanDifference{}, with_effects(pair_of_row),
                                      {.num_permutations = 199, .design = Design::paired()});
  EXPECT_GE(paired, band.lower);
  EXPECT_LE(paired, band.upper);

  std::vector<std::size_t> block_of_row;
  for (std::size_t i = 0; i < 36; ++i) block_of_row.push_back(i % 6);
  const std::vector<std::int64_t> blocks(block_of_row.begin(), block_of_row.end());
  const int blocked = count_rejections(runs, {13, 23}, MeanDifference{}, with_effects(block_of_row),
                                       {.num_permutations = 199, .design = Design::blocks(blocks)});
  EXPECT_GE(blocked, band.lower);
  EXPECT_LE(blocked, band.upper);

  std::vector<std::size_t> cluster_of_row;  // 20 clusters of 1 .. 3 rows, ten on each side
  for (std::size_t cluster = 0; cluster < 20; ++cluster)
    cluster_of_row.insert(cluster_of_row.end(), 1 + cluster % 3, cluster);
  const std::vector<std::int64_t> clusters(cluster_of_row.begin(), cluster_of_row.end());
  const auto num_x = static_cast<std::size_t>(std::ranges::count_if(cluster_of_row, [](auto c) { return c < 10; }));
  const int clustered =
      count_rejections(runs, {num_x, cluster_of_row.size() - num_x}, MeanDifference{}, with_effects(cluster_of_row),
                       {.num_permutations = 199, .design = Design::clusters(clusters)});
  EXPECT_GE(clustered, band.lower);
  EXPECT_LE(clustered, band.upper);
}

std::vector<double> coin_tosses(std::size_t count, Seed seed) {
  RandomStream stream(seed, Purpose::test_data);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(stream.below(2));
  return values;
}

TEST(PermutationTestLevel, is_not_exceeded_with_heavy_ties_and_exact_when_they_are_randomised) {
  const int runs = 2000;
  const Band band(runs, 0.05);
  const auto tosses = [](Seed seed) { return coin_tosses(20, seed); };
  const int plain = count_rejections(runs, {10, 10}, MeanDifference{}, tosses, {.num_permutations = 199});
  EXPECT_LE(plain, band.upper);
  const int randomised =
      count_rejections(runs, {10, 10}, MeanDifference{}, tosses, {.num_permutations = 199, .randomised_ties = true});
  EXPECT_GE(randomised, band.lower);
  EXPECT_LE(randomised, band.upper);
  // All 20 permutations of a pool of six, ties randomised.
  const int enumerated = count_rejections(runs, {3, 3}, MeanDifference{},
                                          [](Seed seed) { return coin_tosses(6, seed); }, {.randomised_ties = true});
  EXPECT_GE(enumerated, band.lower);
  EXPECT_LE(enumerated, band.upper);
}

TEST(PermutationTestLevel, besag_clifford_decides_like_the_fixed_number) {
  for (int run = 0; run < 300; ++run) {
    const Seed seed{static_cast<std::uint64_t>(run)};
    const ToyPlan plan(normal_values(24, seed, 0.7), MeanDifference{});
    const PermutationSource source = source_in_order({12, 12}, {}, seed);
    TestOptions options = {.num_permutations = 199};
    const bool fixed = permutation_test(plan, source, options).reject;
    options.early_stop = EarlyStop::besag_clifford;
    EXPECT_EQ(permutation_test(plan, source, options).reject, fixed) << run;
  }
}

TEST(PermutationTestLevel, besag_clifford_is_exact) {
  const int runs = 2000;
  const Band band(runs, 0.05);
  const int rejections =
      count_rejections(runs, {10, 10}, MeanDifference{}, [](Seed seed) { return normal_values(20, seed); },
                       {.num_permutations = 199, .early_stop = EarlyStop::besag_clifford});
  EXPECT_GE(rejections, band.lower);
  EXPECT_LE(rejections, band.upper);
}

// The level of the betting test with at most `num_draws` draws, adding up the paths of (draws, exceedances): a draw
// exceeds with probability (L + 1)/(t + 2) under the null hypothesis.
double betting_level(std::uint64_t num_draws, double alpha) {
  std::vector<double> path = {1.0};
  double level = 0.0;
  for (std::uint64_t t = 1; t <= num_draws; ++t) {
    std::vector<double> next(t + 1, 0.0);
    for (std::uint64_t k = 0; k < t; ++k) {
      const double exceeds = static_cast<double>(k + 1) / static_cast<double>(t + 1);
      next[k] += path[k] * (1.0 - exceeds);
      next[k + 1] += path[k] * exceeds;
    }
    for (std::uint64_t k = 0; k <= t; ++k) {
      const double wealth = betting_wealth({t, k}, alpha);
      if (wealth >= 1.0 / alpha) level += next[k];
      if (wealth >= 1.0 / alpha || (wealth < alpha && t > 1)) next[k] = 0.0;
    }
    path = next;
  }
  return level;
}

TEST(PermutationTestLevel, betting_has_the_level_of_its_game) {
  const int runs = 2000;
  const double level = betting_level(499, 0.05);
  EXPECT_LE(level, 0.05);
  EXPECT_GE(level, 0.03);
  const Band band(runs, level);
  const int rejections =
      count_rejections(runs, {10, 10}, MeanDifference{}, [](Seed seed) { return normal_values(20, seed); },
                       {.num_permutations = 499, .early_stop = EarlyStop::betting});
  EXPECT_GE(rejections, band.lower);
  EXPECT_LE(rejections, band.upper);
}

void expect_refusal(const TestOptions& options, const std::string& sentence) {
  try {
    validate(options);
    ADD_FAILURE() << "accepted, expected: " << sentence;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_option);
    EXPECT_EQ(error.what(), sentence);
  }
}

TEST(TestOptions, outside_their_bounds_are_refused_with_field_value_and_bound) {
  expect_refusal({.num_permutations = 0}, "num_permutations = 0: expected a whole number in 1 .. 1000000000");
  expect_refusal({.num_permutations = -5}, "num_permutations = -5: expected a whole number in 1 .. 1000000000");
  expect_refusal({.alpha = 0.0}, "alpha = 0: expected a number > 0 and < 1");
  expect_refusal({.alpha = 1.5}, "alpha = 1.5: expected a number > 0 and < 1");
  expect_refusal({.alpha = std::nan("")}, "alpha = nan: expected a number > 0 and < 1");
  expect_refusal({.confidence = 1.0}, "confidence = 1: expected a number > 0 and < 1");
  expect_refusal(
      {.num_permutations = 1000, .early_stop = EarlyStop::besag_clifford},
      "alpha * (permutations + 1) = 0.05 * 1001 = 50.050000000000004, early stopping by besag-clifford needs "
      "a whole number >= 1");
  expect_refusal({.early_stop = EarlyStop::betting, .randomised_ties = true},
                 "randomised ties do not go with early stopping");
}

TEST(PermutationTest, refuses_permutations_of_another_pool_and_values_that_are_no_numbers) {
  const ToyPlan plan(std::vector<double>(7), MeanDifference{});
  EXPECT_THROW((void)permutation_test(plan, source_in_order({4, 4})), Error);
  const ToyPlan nan_plan(std::vector<double>(8, std::nan("")), MeanDifference{});
  try {
    (void)permutation_test(nan_plan, source_in_order({4, 4}));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::non_finite_value);
  }
}

TEST(PermutationTest, warns_when_the_level_is_out_of_reach) {
  const ToyPlan small({1, 2}, MeanDifference{});
  const TestOutcome one_row_each = permutation_test(small, source_in_order({1, 1}));
  EXPECT_EQ(one_row_each.pvalue, 1.0);
  EXPECT_EQ(one_row_each.warnings, test::only(WarningId::few_distinct_permutations, 0.05, 0.5, 2));
  // Labels that change places give the same difference: 2 of 20 permutations are the least there can be.
  const ToyPlan three_each({1, 2, 3, 11, 12, 13}, MeanDifference{});
  const TestOutcome twins = permutation_test(three_each, source_in_order({3, 3}));
  EXPECT_EQ(twins.pvalue, 0.1);
  EXPECT_EQ(twins.warnings, test::only(WarningId::tied_permutations, 2, 20, 0.1, 0.05));
  EXPECT_TRUE(permutation_test(three_each, source_in_order({3, 3}), {.alpha = 0.1}).warnings.empty());
  const ToyPlan plan(normal_values(40, Seed{1}), MeanDifference{});
  const PermutationSource source = source_in_order({20, 20});
  const TestOutcome few = permutation_test(plan, source, {.num_permutations = 9});
  EXPECT_EQ(few.warnings, test::only(WarningId::few_permutations, 0.05, 0.1, 9));
  EXPECT_TRUE(permutation_test(plan, source, {.num_permutations = 19}).warnings.empty());
  EXPECT_EQ(permutation_test(plan, source, {.num_permutations = 49, .early_stop = EarlyStop::betting}).warnings.size(),
            1U);
}

TEST(PermutationTest, shows_progress_from_the_calling_thread_up_to_one) {
  const auto plan = ToyPlan(normal_values(40, Seed{1}), MeanDifference{}).with_batches_per_call(2);
  std::vector<double> fractions;
  const auto caller = std::this_thread::get_id();
  const RunControl control{.progress = [&](const ProgressReport& at) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(at.what, "permutations");
    EXPECT_EQ(at.total, 1000.0);
    EXPECT_TRUE(at.counted);
    fractions.push_back(at.fraction());
  }};
  (void)permutation_test(plan, source_in_order({20, 20}), {.threads = {4}}, &control);
  ASSERT_EQ(fractions.size(), 9U);  // 16 batches, two at a time, and the start
  EXPECT_EQ(fractions.front(), 0.0);
  EXPECT_EQ(fractions.back(), 1.0);
  EXPECT_TRUE(std::ranges::is_sorted(fractions));
}

TEST(PermutationTest, ends_soon_after_the_stop_flag_is_set) {
  const auto plan = ToyPlan(normal_values(40, Seed{1}), MeanDifference{}).with_batches_per_call(1);
  std::atomic<bool> stop{false};
  int calls = 0;
  const RunControl control{.progress = [&](const ProgressReport&) { stop = ++calls == 3; }, .stop = &stop};
  try {
    (void)permutation_test(plan, source_in_order({20, 20}), {}, &control);
    ADD_FAILURE() << "ran to its end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::interrupted);
  }
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace kqd
