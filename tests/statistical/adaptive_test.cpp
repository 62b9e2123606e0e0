#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kqd::validation
