#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "core/executor.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kRuns = 400;

// Scenarios of 10,000 nulls shortened to 400: a correct test fails each with a probability below 1e-6. Returns how many
// scenarios there were.
template <class Chosen>
std::size_t expect_adaptive_level(Chosen chosen) {
  std::size_t found = 0;
  for (const Scenario& scenario : adaptive_level_scenarios()) {
    if (!chosen(scenario)) continue;
    ++found;
    const Count rejections = count_rejections(scenario, kRuns, ThreadCount{});
    EXPECT_TRUE(meets(scenario, rejections)) << scenario.name() << ": " << rejections.successes << " of " << kRuns;
  }
  return found;
}

// One column and a linear kernel on it is the case of a Gram matrix that lacks rank, where row order once leaked
// labels.
TEST(AdaptiveLevel, is_kept_with_and_without_ties_in_one_column_and_in_twenty) {
  EXPECT_EQ(expect_adaptive_level([](const Scenario& scenario) {
              return scenario.column == "B = 99" &&
                     (scenario.row.ends_with("d = 1") || scenario.row.ends_with("d = 20"));
            }),
            4U);
}

TEST(AdaptiveLevel, is_kept_for_weights_pairs_blocks_and_clusters) {
  EXPECT_EQ(expect_adaptive_level([](const Scenario& scenario) {
              return scenario.row.starts_with("weighted rows") || scenario.row.starts_with("pairs") ||
                     scenario.row.starts_with("blocks") || scenario.row.starts_with("clusters");
            }),
            4U);
}

// The probability that any component statistic has an adjusted p-value of at most 0.05 is at most 0.05 when the samples
// have the same distribution. Without the adjustment it is far larger, so that a missing adjustment would be seen.
TEST(AdaptiveLevel, adjusted_pvalues_of_component_statistics_control_the_family_wise_error) {
  constexpr std::size_t kNulls = 1000;
  const auto draw = draws_of({.name = "null", .n_x = 12, .n_y = 10, .dim = 3});
  TwoSampleOptions options;
  options.method = "adaptive";
  options.test.num_permutations = 99;
  options.statistic.threads = ThreadCount{1};
  std::atomic<std::size_t> adjusted{0};
  std::atomic<std::size_t> single{0};
  parallel_for_blocks(kNulls, 1, ThreadCount{}, [&](std::size_t run, std::size_t) {
    const Draw data = draw(Seed{50'000 + run});
    const auto found = two_sample_test(data.x, data.y, options).configurations;
    const auto smallest = [&](auto member) { return (*std::ranges::min_element(found, {}, member)).*member; };
    if (smallest(&Configuration::adjusted_pvalue) <= 0.05) ++adjusted;
    if (smallest(&Configuration::pvalue) <= 0.05) ++single;
  });
  EXPECT_LE(adjusted, binomial_band(kNulls, 0.05, 2e-6).highest);
  EXPECT_GT(adjusted, 0U);
  EXPECT_GT(single, 2 * binomial_band(kNulls, 0.05, 2e-6).highest);
}

// Bars of 200 runs shortened to 20 with a bound that a test at the bar misses with a probability below 1e-6.
TEST(AdaptivePower, is_there_where_single_choices_fail) {
  for (const Scenario& scenario : study_scenarios()) {
    const bool chosen = scenario.column == "adaptive" && scenario.expectation.kind == Expectation::Kind::at_least &&
                        scenario.expectation.at_least >= 0.85;
    if (!chosen) continue;
    Scenario quick = scenario;
    quick.options.test.num_permutations = 199;
    const Count rejections = count_rejections(quick, 20, ThreadCount{});
    EXPECT_GE(rejections.successes, binomial_band(20, scenario.expectation.at_least, 2e-6).lowest) << scenario.name();
  }
}

// Covariance, spread or dependence that changes a little in many columns: problems on which version 0.1 found nothing.
// Bars of 200 runs and 999 permutations, shortened as above.
TEST(AdaptivePower, has_no_blind_spot_in_many_columns) {
  struct Published {
    std::string problem;
    std::size_t dim;
    std::vector<std::string> settings;
    double bar;
  };
  constexpr std::size_t kPublishedRuns = 20;
  const std::vector<Published> problems = {{"spiked-covariance", 500, {}, 0.95},
                                           {"spiked-covariance", 1500, {}, 0.95},
                                           {"spheres", 50, {}, 0.90},
                                           {"spheres", 1500, {}, 0.95},
                                           {"equicorrelation", 500, {"rho_y=0.55"}, 0.98},
                                           {"ar-correlation", 500, {"rho_y=0.6"}, 0.95},
                                           {"scale", 20, {}, 0.90},
                                           {"two-clusters", 1500, {}, 0.97}};
  TwoSampleOptions options;
  options.test.num_permutations = 199;
  for (const auto& [problem, dim, settings, bar] : problems) {
    ProblemRequest request{.name = problem, .n_x = 100, .n_y = 100, .dim = dim};
    for (const std::string& setting : settings) set_parameter(request, setting);
    Scenario scenario;
    scenario.row = problem;
    scenario.draw = draws_of(request);
    scenario.options = options;
    const Count rejections = count_rejections(scenario, kPublishedRuns, ThreadCount{});
    EXPECT_GE(rejections.successes, binomial_band(kPublishedRuns, bar, 2e-6).lowest) << problem << ", d = " << dim;
  }
}

}  // namespace
}  // namespace kqd::validation
