// The effect size and its interval on cases with known truth.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kqd/kqd.hpp"
#include "support/drawn_sample.hpp"

namespace kqd {
namespace {

Sample normal(std::size_t n, double mean, std::uint64_t index) {
  return test::drawn_sample(n, 1, {}, index, Seed{2024}, mean);
}

TwoSampleOptions along_the_axis() {
  TwoSampleOptions options;
  options.method = "ekqd";
  options.statistic.kernel = parse_kernel("linear");
  options.statistic.directions.family = DirectionFamily::axis;
  options.statistic.threads = ThreadCount{1};
  options.test.num_permutations = 99;
  return options;
}

// Along one axis e-KQD_1 of two normal distributions a distance d apart is d, and the variance of their even mixture is
// 1 + d^2/4: the effect size of a shift by 1 is 1 / sqrt(1.25). The interval is claimed at 95 %; 200 intervals that
// cover with probability 0.93 or more (half-samples are asymptotic) do so fewer than 167 times with probability below
// 1e-6.
TEST(EffectInterval, covers_a_known_shift) {
  const double truth = 1.0 / std::sqrt(1.25);
  TwoSampleOptions options = along_the_axis();
  options.effect_interval = true;
  int covered = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    options.statistic.seed = Seed{run};
    const auto result = two_sample_test(normal(120, 0.0, 2 * run), normal(150, 1.0, 2 * run + 1), options);
    ASSERT_TRUE(result.effect_interval.has_value());
    covered += result.effect_interval->lower <= truth && truth <= result.effect_interval->upper ? 1 : 0;
  }
  EXPECT_GE(covered, 167);
  RecordProperty("covered", covered);
}

// The same for groups of five rows, whose interval is that of the jackknife: of rows in memory, and of profiles, where
// directions and grid come from rows that are not counted.
TEST(EffectInterval, of_groups_covers_a_known_shift) {
  constexpr std::uint64_t kRuns = 200;
  const double truth = 1.0 / std::sqrt(1.25);
  TwoSampleOptions options = along_the_axis();
  options.effect_interval = true;
  ProfileOptions counted;
  counted.method = "ekqd";
  counted.statistic = options.statistic;
  counted.rows_per_group = 5;
  std::array<int, 2> covered = {};
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const Sample x = normal(700, 0.0, 4000 + 2 * run);
    const Sample y = normal(640, 1.0, 4001 + 2 * run);
    options.statistic.seed = counted.statistic.seed = Seed{run};
    options.permute = Permute::groups;
    const TwoSampleResult in_memory = two_sample_test(x, y, options);
    options.permute = Permute::automatic;
    const Profile of_x = make_profile(x, counted);
    const TwoSampleResult of_profiles = two_sample_test(of_x, make_profile(y, of_x), options);
    for (const auto& [k, result] : {std::pair(0, &in_memory), std::pair(1, &of_profiles)}) {
      ASSERT_TRUE(result->effect_interval.has_value());
      ASSERT_TRUE(result->groups.has_value());
      EXPECT_EQ(result->groups->rows_per_group, 5U);
      const auto [lower, upper] = *result->effect_interval;
      covered[static_cast<std::size_t>(k)] += lower <= truth && truth <= upper ? 1 : 0;
    }
  }
  EXPECT_GE(covered[0], 167);
  EXPECT_GE(covered[1], 167);
  RecordProperty("covered_in_memory", covered[0]);
  RecordProperty("covered_by_profiles", covered[1]);
}

// Under the null the statistic and its permutation mean agree on average: the mean of 200 effect sizes is within five
// standard errors of 0, whatever the sample size.
TEST(EffectSize, is_centred_at_zero_under_the_null_at_every_size) {
  for (const std::size_t n : {20UL, 80UL, 320UL}) {
    TwoSampleOptions options = along_the_axis();
    double sum = 0.0, squares = 0.0;
    for (std::uint64_t run = 0; run < 200; ++run) {
      options.statistic.seed = Seed{run};
      const auto result = two_sample_test(normal(n, 0.0, 1000 + 2 * run), normal(n, 0.0, 1001 + 2 * run), options);
      sum += result.effect_size;
      squares += result.effect_size * result.effect_size;
    }
    const double mean = sum / 200.0;
    EXPECT_LT(std::abs(mean), 5.0 * std::sqrt((squares / 200.0 - mean * mean) / 199.0)) << n;
  }
}

}  // namespace
}  // namespace kqd
