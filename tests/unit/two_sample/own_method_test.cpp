// A method that is not in the registry: the difference of the means of the first column. It is all that a new method
// needs, and what the worked example of CONTRIBUTING.md shows.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "kqd/kqd.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/method.hpp"
#include "support/drawn_sample.hpp"
#include "support/source.hpp"
#include "two_sample/test_by_method.hpp"

namespace kqd {
namespace {

double mean_of(const Pool& pool, std::span<const std::size_t> positions) {
  double total = 0.0;
  for (const std::size_t i : positions) total += pool.row(i)[0];
  return total / static_cast<double>(positions.size());
}

DistanceResult mean_difference(const SampleView& x, const SampleView& y, const MethodOptions& /*options*/) {
  DistanceResult result;
  const auto mean = [](const SampleView& sample) {
    double total = 0.0;
    for (std::size_t i = 0; i < sample.size(); ++i) total += sample.points.row(i)[0];
    return total / static_cast<double>(sample.size());
  };
  result.statistic = result.statistic_power = std::abs(mean(x) - mean(y));
  return result;
}

PreparedPlan prepare_mean_difference(const TestPool& pool, const MethodOptions& options, const PlanRequest&) {
  PreparedPlan prepared = plan_on_all_rows(pool, options);
  prepared.plan = std::make_unique<DirectPlan>(
      pool.order.size(), [rows = pool.rows()](auto x, auto y) { return std::abs(mean_of(rows, x) - mean_of(rows, y)); },
      [](double value) { return 1e-12 * value; });
  return prepared;
}

Method mean_difference_method() {
  return {.info = {.id = "mean-difference",
                   .family = "examples",
                   .summary = "difference of the means of the first column",
                   .reports = "|mean x - mean y| >= 0",
                   .cost = "N",
                   .permutation = "N",
                   .calibrations = "permutation",
                   .details = "",
                   .reference = "",
                   .has_distance = true},
          .distance = mean_difference,
          .prepare = prepare_mean_difference};
}

TEST(OwnMethod, has_a_distance) {
  const DistanceResult result = distance(mean_difference_method(), test::column({0, 1}), test::column({3, 4}));
  EXPECT_EQ(result.statistic, 3.0);
}

TEST(OwnMethod, has_a_test) {
  const Sample x = test::drawn_sample(40, 1, {}, 1);
  const Sample y = test::drawn_sample(40, 1, {}, 2, Seed{77}, 2.0);
  TwoSampleOptions options;
  options.test.num_permutations = 199;
  const TwoSampleResult result = two_sample_test(mean_difference_method(), x, y, options);
  EXPECT_EQ(result.method, "mean-difference");
  EXPECT_EQ(result.test.pvalue, 1.0 / 200.0);
  EXPECT_NEAR(result.test.statistic, mean_difference(x, y, {}).statistic, 1e-14);  // rows in another order
}

// C++ follows the same rule as the program and Python.
TEST(DefaultMethod, is_adaptive_unless_an_option_is_for_one_statistic) {
  const Sample x = test::drawn_sample(12, 2, {}, 1);
  const Sample y = test::drawn_sample(12, 2, {}, 2);
  TwoSampleOptions options;
  options.test.num_permutations = 19;
  const TwoSampleResult adaptive = two_sample_test(x, y, options);
  EXPECT_EQ(adaptive.method, "adaptive");
  EXPECT_FALSE(adaptive.configurations.empty());
  options.statistic.power = 2.0;
  EXPECT_EQ(two_sample_test(x, y, options).method, "ekqd");
}

}  // namespace
}  // namespace kqd
