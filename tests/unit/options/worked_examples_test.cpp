// The worked examples of CONTRIBUTING.md: a method and an option, written as it says. The code between the marks
// "example" is the code of the page; tests/cli/test_checks.py compares them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "kqd/kqd.hpp"
#include "kqd/options/options.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/method.hpp"
#include "options/values.hpp"

namespace kqd {
namespace {

// example: method
double first_mean_gap(std::span<const double> x, std::span<const double> y) {
  double gap = 0.0;
  for (const double value : x) gap += value / static_cast<double>(x.size());
  for (const double value : y) gap -= value / static_cast<double>(y.size());
  return std::abs(gap);
}

DistanceResult first_mean_distance(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples checked(x, y, options, result.warnings);
  std::vector<double> of_x;
  std::vector<double> of_y;
  for (std::size_t i = 0; i < checked.x.points.rows(); ++i) of_x.push_back(checked.x.points(i, 0));
  for (std::size_t i = 0; i < checked.y.points.rows(); ++i) of_y.push_back(checked.y.points(i, 0));
  result.statistic = first_mean_gap(of_x, of_y);
  return result;
}

// The plan sees the pool in label-blind order. DirectPlan calls the function for each permutation, with the positions
// of both samples.
PreparedPlan prepare_first_mean(const TestPool& pool, const MethodOptions& options, const PlanRequest& /*request*/) {
  PreparedPlan prepared = plan_on_all_rows(pool, options);
  std::vector<double> values;
  for (std::size_t i = 0; i < pool.rows().size(); ++i) values.push_back(pool.rows().row(i)[0]);
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  prepared.pooled_scale = largest;
  // n divisions and n additions, each with an error of at most eps/2 of a value of size at most 2 `largest`, in each of
  // two evaluations.
  const double slack = 4.0 * static_cast<double>(values.size()) * std::numeric_limits<double>::epsilon() * largest;
  prepared.plan = std::make_unique<DirectPlan>(
      values.size(),
      [values](std::span<const std::size_t> x, std::span<const std::size_t> y) {
        std::vector<double> of_x;
        std::vector<double> of_y;
        for (const std::size_t i : x) of_x.push_back(values[i]);
        for (const std::size_t i : y) of_y.push_back(values[i]);
        return first_mean_gap(of_x, of_y);
      },
      [slack](double) { return slack; });
  return prepared;
}

Method first_mean_method() {
  return {.info = {.id = "first-mean",
                   .family = "examples",
                   .summary = "absolute difference of the means of the first column",
                   .reports = "|mean(X) - mean(Y)|",
                   .cost = "N",
                   .permutation = "N",
                   .calibrations = "permutation",
                   .details = "",
                   .reference = ""},
          .distance = first_mean_distance,
          .prepare = prepare_first_mean};
}
// end

// example: option
const OptionInfo kEnumerationLimit = {
    .id = "enumeration_limit",
    .type = OptionType::count,
    .section = "Test",
    .commands = kTestCommand,
    .calls = kTestCommand,
    .help = "enumerate all permutations when there are at most N",
    .value = "N",
    .lowest = 0,
    .highest = 1'000'000,
    .set = [](Settings& s, const OptionInfo& self,
              std::string_view text) { read_value(self, text, s.test.test.enumeration_limit); },
    .get = [](const Settings& s) { return text_of(s.test.test.enumeration_limit); }};
// end

TEST(WorkedExamples, a_method_of_one_file_gives_distance_plan_and_p_value) {
  const Method method = first_mean_method();
  const Sample x{Matrix<double>(3, 1, {1.0, 2.0, 3.0}), {}, {}};
  const Sample y{Matrix<double>(4, 1, {7.0, 8.0, 9.0, 12.0}), {}, {}};
  EXPECT_DOUBLE_EQ(distance(method, x, y).statistic, 7.0);

  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const PreparedPlan prepared = method.prepare(pool, {}, {});
  const PermutationSource source(Design::independent(), {3, 4}, prepared.rows, Seed{1});
  const TestOutcome outcome = permutation_test(*prepared.plan, source);
  EXPECT_NEAR(outcome.statistic, 7.0, 1e-14);
  // All 35 splits are enumerated. X has the three smallest values: no other split of 3 + 4 is as extreme.
  EXPECT_TRUE(outcome.enumerated);
  EXPECT_DOUBLE_EQ(outcome.pvalue, 1.0 / 35.0);
}

TEST(WorkedExamples, an_option_of_one_row_has_names_range_and_errors_of_all_front_ends) {
  Settings settings = default_settings(kTestCommand);
  EXPECT_EQ(flag_name(kEnumerationLimit), "enumeration-limit");
  EXPECT_EQ(keyword_name(kEnumerationLimit), "enumeration_limit");
  EXPECT_EQ(kEnumerationLimit.get(settings), "20000");
  kEnumerationLimit.set(settings, kEnumerationLimit, "35");
  EXPECT_EQ(settings.test.test.enumeration_limit, 35u);
  EXPECT_EQ(kEnumerationLimit.get(settings), "35");
  try {
    kEnumerationLimit.set(settings, kEnumerationLimit, "many");
    FAIL() << "accepted \"many\"";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_option);
    EXPECT_EQ(error.parts().subject, "enumeration_limit");
    EXPECT_EQ(error.parts().value, "many");
  }
}

}  // namespace
}  // namespace kqd
