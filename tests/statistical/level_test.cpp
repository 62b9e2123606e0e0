#include <gtest/gtest.h>

#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kRuns = 1000;

// Scenarios of 10,000 nulls shortened to 1000. A correct test fails each with a probability below 1e-6: its number of
// rejections is Binomial(1000, 0.05), outside [20, 87] with less than that; with ties it is not above.
void expect_level(std::string_view table, std::string_view row) {
  std::size_t found = 0;
  for (const Scenario& scenario : level_scenarios()) {
    if (scenario.table != table || !scenario.row.starts_with(row)) continue;
    ++found;
    const Count rejections = count_rejections(scenario, kRuns, ThreadCount{});
    EXPECT_TRUE(meets(scenario, rejections)) << scenario.name() << ": " << rejections.successes << " of " << kRuns;
  }
  EXPECT_GE(found, 6U) << "plans in " << table << " | " << row;
}

TEST(BinomialBand, of_a_thousand_nulls_at_five_percent_is_20_to_87) {
  const Band band = binomial_band(1000, 0.05, 1e-6);
  EXPECT_EQ(band.lowest, 20U);
  EXPECT_EQ(band.highest, 87U);
}

TEST(Level, is_exact_for_continuous_data) {
  expect_level("Independent samples", "normal, d = 3, 20 + 20");
}

TEST(Level, is_exact_for_samples_of_unequal_size) {
  expect_level("Independent samples", "normal, d = 3, 12 + 35");
}

TEST(Level, is_exact_for_a_kernel_of_low_rank) {
  expect_level("Independent samples", "normal, d = 1, linear kernel");
}

TEST(Level, is_exact_in_high_dimension) {
  expect_level("Independent samples", "normal, d = 200");
}

TEST(Level, is_exact_for_weighted_rows) {
  expect_level("Independent samples", "weighted rows");
}

TEST(Level, is_not_exceeded_with_heavy_ties) {
  expect_level("Independent samples", "heavy ties: three values");
}

TEST(Level, is_exact_for_pairs_blocks_and_clusters) {
  for (const char* row : {"pairs", "blocks", "clusters"}) expect_level("Restricted designs", row);
}

TEST(Level, is_exact_when_pooled_reference_points_are_held_out_with_their_units) {
  for (const char* row : {"normal, d = 3, 12 + 35", "clusters"}) {
    expect_level("Pooled reference points, set aside", row);
  }
}

TEST(Level, is_exact_when_calibrated_by_sign_flips) {
  expect_level("Other calibrations", "sign flips");
}

TEST(Level, is_exact_for_randomised_ties) {
  expect_level("Other calibrations", "randomised ties");
}

}  // namespace
}  // namespace kqd::validation
