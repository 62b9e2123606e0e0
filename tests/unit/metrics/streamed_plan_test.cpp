#include "metrics/quantile/kqd_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kqd/kqd.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"

namespace kqd {
namespace {

SyntheticPair two_samples() {
  return make_problem({.name = "mean-shift", .n_x = 70, .n_y = 90, .dim = 3, .seed = Seed{5}}, ThreadCount{1});
}

MethodOptions along(std::size_t directions, double power) {
  MethodOptions options;
  options.directions.num_directions = directions;
  options.power = power;
  return options;
}

TEST(StreamedKqdPlan, gives_the_values_of_a_plan_that_holds_all_directions) {
  const SyntheticPair data = two_samples();
  for (const double power : {1.0, 2.0, 3.5, std::numeric_limits<double>::infinity()}) {
    for (const std::string id : {"ekqd", "supkqd", "sw"}) {
      MethodOptions options = along(43, power);
      const test::Permuted whole(id, data.x, data.y, options);
      options.max_memory = 2 * 8 * KqdPlan::bytes_per_direction(160);  // eight kept, eight at work
      const test::Permuted streamed(id, data.x, data.y, options);
      ASSERT_EQ(dynamic_cast<const KqdPlan*>(streamed.prepared.plan.get()), nullptr);
      EXPECT_EQ(streamed.values, whole.values) << id << ", p = " << power;
      EXPECT_EQ(streamed.prepared.plan->tie_slack(1.0), whole.prepared.plan->tie_slack(1.0));
      // Sums over 43 directions in another order.
      EXPECT_NEAR(streamed.prepared.pooled_scale, whole.prepared.pooled_scale,
                  43 * std::numeric_limits<double>::epsilon() * whole.prepared.pooled_scale);
    }
  }
}

TEST(StreamedKqdPlan, gives_the_values_of_a_whole_plan_for_weighted_rows_too) {
  SyntheticPair data = two_samples();
  for (std::size_t i = 0; i < 70; ++i) data.x.weights.push_back(1.0 + static_cast<double>(i % 3));
  for (const double power : {1.0, 2.0}) {
    MethodOptions options = along(43, power);
    const test::Permuted whole("ekqd", data.x, data.y, options);
    options.max_memory = 2 * 8 * KqdPlan::bytes_per_direction(160);
    const test::Permuted streamed("ekqd", data.x, data.y, options);
    ASSERT_EQ(dynamic_cast<const KqdPlan*>(streamed.prepared.plan.get()), nullptr);
    EXPECT_EQ(streamed.values, whole.values) << "p = " << power;
    EXPECT_EQ(streamed.prepared.plan->tie_slack(1.0), whole.prepared.plan->tie_slack(1.0)) << "p = " << power;
  }
}

TEST(StreamedKqdPlan, holds_one_direction_when_there_is_room_for_no_more) {
  const SyntheticPair data = two_samples();
  const test::Permuted whole("ekqd", data.x, data.y, along(9, 1.0));
  MethodOptions options = along(9, 1.0);
  options.max_memory = 1;
  const test::Permuted streamed("ekqd", data.x, data.y, options);
  for (std::size_t k = 0; k < whole.values.size(); ++k) {
    // Projections by one column at a time may round otherwise.
    EXPECT_NEAR(streamed.values[k], whole.values[k], 1e-12 * whole.values[k]);
  }
}

TEST(MaxMemory, changes_no_result_of_a_test) {
  const SyntheticPair data = two_samples();
  for (const std::string method : {"ekqd", "adaptive"}) {
    TwoSampleOptions options;
    options.method = method;
    options.test.num_permutations = 199;
    const TwoSampleResult free = two_sample_test(data.x, data.y, options);
    options.statistic.max_memory = 512 * KqdPlan::bytes_per_direction(160);
    const TwoSampleResult bound = two_sample_test(data.x, data.y, options);
    EXPECT_EQ(bound.test.statistic, free.test.statistic) << method;
    EXPECT_EQ(bound.test.pvalue, free.test.pvalue) << method;
    EXPECT_EQ(bound.per_direction, free.per_direction) << method;
    EXPECT_NEAR(bound.effect_size, free.effect_size, 1e-12) << method;
  }
}

TEST(MaxMemory, too_small_for_the_adaptive_test_is_refused_with_what_it_needs) {
  const SyntheticPair data = two_samples();
  TwoSampleOptions options;
  options.method = "adaptive";
  options.statistic.max_memory = 10'000;
  test::expect_error(
      ErrorCode::resource_limit,
      "the adaptive test of 160 rows needs at least 1 MB next to them, the limit on memory leaves it 0 MB",
      [&] { (void)two_sample_test(data.x, data.y, options); });
}

TEST(AggregatedTest, with_more_permutations_than_memory_is_refused) {
  const SyntheticPair data = two_samples();
  TwoSampleOptions options;
  options.method = "adaptive";
  options.test.num_permutations = 19;
  const std::size_t statistics = two_sample_test(data.x, data.y, options).configurations.size();
  options.test.num_permutations = 100'000'000;
  const double bytes = 3.0 * 8.0 * static_cast<double>(statistics) * 100'000'001.0;
  test::expect_error(
      ErrorCode::resource_limit,
      fmt::format("{} statistics of 100000001 permutations take {:.0f} MB, more than the 4096 MB allowed; "
                  "ask for fewer permutations",
                  statistics, std::ceil(bytes / 1e6)),
      [&] { (void)two_sample_test(data.x, data.y, options); });
}

}  // namespace
}  // namespace kqd
