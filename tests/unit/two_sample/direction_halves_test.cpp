// P-values by half of the directions: how much the draw of directions matters.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/quantile/kqd_plan.hpp"
#include "support/drawn_sample.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRows = 23;

// One row per direction, the columns are rows 0 .. 22 of the pool.
Matrix<double> projections(std::size_t first, std::size_t count) {
  Matrix<double> values(count, kRows);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < kRows; ++k) values(i, k) = std::sin(static_cast<double>((first + i + 2) * (k + 1) * k));
  }
  return values;
}

TestOutcome outcome_of(const Plan& plan, const TestOptions& options) {
  std::vector<std::size_t> order(kRows);
  for (std::size_t k = 0; k < kRows; ++k) order[k] = k;
  return permutation_test(plan, PermutationSource(Design::independent(), {10, 13}, order, Seed{4}), options);
}

// A plan of only these directions gives the same p-value for the same permutations.
TEST(DirectionHalves, pvalues_are_those_of_tests_along_either_half) {
  TestOptions test;
  test.num_permutations = 199;
  test.keep_null_distribution = true;
  for (const double power : {1.0, 2.0, std::numeric_limits<double>::infinity()}) {
    for (const Over over : {Over::mean, Over::maximum}) {
      MethodOptions options;
      options.power = power;
      KqdPlan plan(projections(0, 7), {}, options, over);
      const TestOutcome without = outcome_of(plan, test);
      EXPECT_FALSE(without.half_pvalues);
      plan.set_independent_directions(over, power);
      const TestOutcome with = outcome_of(plan, test);
      ASSERT_TRUE(with.half_pvalues);
      EXPECT_EQ(with.half_pvalues->at(0), outcome_of(KqdPlan(projections(0, 3), {}, options, over), test).pvalue);
      EXPECT_EQ(with.half_pvalues->at(1), outcome_of(KqdPlan(projections(3, 4), {}, options, over), test).pvalue);
      EXPECT_NE(with.half_pvalues->at(0), with.half_pvalues->at(1));
      EXPECT_EQ(with.pvalue, without.pvalue);
      EXPECT_EQ(with.null_distribution, without.null_distribution);  // not one bit changes
    }
  }
}

TEST(DirectionHalves, are_not_tested_with_early_stopping_or_randomised_ties) {
  KqdPlan plan(projections(0, 6), {}, {}, Over::mean);
  plan.set_independent_directions(Over::mean, 1.0);
  EXPECT_TRUE(outcome_of(plan, {}).half_pvalues);
  EXPECT_FALSE(outcome_of(plan, {.early_stop = EarlyStop::besag_clifford}).half_pvalues);
  EXPECT_FALSE(outcome_of(plan, {.randomised_ties = true}).half_pvalues);
}

TEST(DirectionHalves, a_test_warns_when_they_disagree_about_the_decision) {
  const Sample x = test::drawn_sample(40, 5, {}, 1);
  Sample y = test::drawn_sample(40, 5, {}, 2);
  for (std::size_t i = 0; i < y.points.rows(); ++i) y.points(i, 0) += 0.8;
  TwoSampleOptions options;
  options.method = "ekqd";
  options.test.num_permutations = 199;
  options.statistic.directions.num_directions = 4;
  std::size_t warned = 0;
  constexpr std::size_t kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    options.statistic.seed = Seed{seed};
    const TwoSampleResult result = two_sample_test(x, y, options);
    const auto [first, second] = result.test.half_pvalues.value();
    const bool disagree = (first <= 0.05) != (second <= 0.05);
    EXPECT_EQ(test::count(result.warnings, WarningId::decision_depends_on_directions), disagree ? 1 : 0) << seed;
    if (disagree) ++warned;
  }
  EXPECT_GT(warned, 0U);
  EXPECT_LT(warned, kSeeds);
}

// Principal functions and axes are not independent draws, and the statistics of `adaptive` are not halves of anything.
TEST(DirectionHalves, exist_only_for_independent_directions) {
  const Sample x = test::drawn_sample(30, 4, {}, 1);
  const Sample y = test::drawn_sample(30, 4, {}, 2);
  const auto has_halves = [&](const char* method, DirectionFamily family) {
    TwoSampleOptions options;
    options.method = method;
    options.test.num_permutations = 19;
    options.statistic.directions.family = family;
    return two_sample_test(x, y, options).test.half_pvalues.has_value();
  };
  EXPECT_TRUE(has_halves("ekqd", DirectionFamily::gaussian));
  EXPECT_TRUE(has_halves("supkqd", DirectionFamily::linear));
  EXPECT_TRUE(has_halves("sw", DirectionFamily::gaussian));
  EXPECT_TRUE(has_halves("gsw", DirectionFamily::gaussian));
  EXPECT_FALSE(has_halves("ekqd", DirectionFamily::principal));
  EXPECT_FALSE(has_halves("ekqd", DirectionFamily::mixed));
  EXPECT_FALSE(has_halves("ekqd", DirectionFamily::axis));
  EXPECT_FALSE(has_halves("mmd", DirectionFamily::gaussian));
  EXPECT_FALSE(has_halves("adaptive", DirectionFamily::gaussian));
}

}  // namespace
}  // namespace kqd
