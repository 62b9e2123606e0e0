// Permutations of groups of rows: level, power next to permutations of rows, and assignments that would be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "profile/grouped_gaps.hpp"
#include "profile/row_groups.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

// Bands have this probability of a false alarm for any number of runs. `./dev validate` runs 2000 nulls of tests of
// profiles (group_scenarios.cpp), and `kqd_validate --groups` compares the power of groups with that of rows.
constexpr double kFalseAlarm = 1e-6;

using Fill = void (*)(std::span<double> row, RandomStream& stream);

void normal_row(std::span<double> row, RandomStream& stream) {
  for (double& v : row) v = stream.normal();
}
void three_values(std::span<double> row, RandomStream& stream) {
  for (double& v : row) v = static_cast<double>(stream.below(3));
}

Sample drawn(std::size_t n, std::size_t dim, Fill fill, std::uint64_t index) {
  RandomStream stream(Seed{2026}, Purpose::test_data, index);
  Sample sample{Matrix<double>(n, dim), {}, {}};
  for (std::size_t i = 0; i < n; ++i) fill(sample.points.row(i), stream);
  return sample;
}

struct Null {
  std::string method;
  std::size_t nx;
  std::size_t ny;
  Fill fill;
  std::size_t runs;
};

std::size_t rejections_of(const Null& null) {
  std::size_t rejections = 0;
  for (std::size_t run = 0; run < null.runs; ++run) {
    const Sample x = drawn(null.nx, 2, null.fill, 2 * run);
    const Sample y = drawn(null.ny, 2, null.fill, 2 * run + 1);
    TwoSampleOptions options;
    options.method = null.method;
    options.permute = Permute::groups;
    options.test.num_permutations = 19;
    if (null.method != "adaptive") options.statistic.directions.num_directions = 4;
    if (null.method == "mmd-rff") options.statistic.parameters = {{"features", 8.0}};
    rejections += two_sample_test(x, y, options).test.reject ? 1U : 0U;
  }
  return rejections;
}

// Rejections are Binomial(runs, 0.05) without ties, fewer with them.
TEST(GroupedLevel, is_exact_for_independent_rows) {
  for (const Null& null : {Null{"ekqd", 300, 300, normal_row, 500}, Null{"mmd-rff", 300, 300, normal_row, 200},
                           Null{"adaptive", 260, 260, normal_row, 50}}) {
    const std::size_t rejections = rejections_of(null);
    EXPECT_TRUE(binomial_band(null.runs, 0.05, kFalseAlarm).holds(rejections)) << null.method << ": " << rejections;
  }
}

TEST(GroupedLevel, is_exact_for_four_times_as_many_rows_of_one_sample) {
  const Null null{"ekqd", 1200, 300, normal_row, 500};
  EXPECT_TRUE(binomial_band(null.runs, 0.05, kFalseAlarm).holds(rejections_of(null)));
}

TEST(GroupedLevel, is_not_exceeded_with_heavy_ties) {
  const Null null{"ekqd", 300, 300, three_values, 500};
  const std::size_t rejections = rejections_of(null);
  EXPECT_LE(rejections, binomial_band(null.runs, 0.05, kFalseAlarm).highest);
  EXPECT_GT(rejections, null.runs / 50);  // equal rows are spread over groups: the test is not degenerate
}

// ---- Assignments ----

// A group of each of n rows of a sample, by their place in the file.
using Assign = std::vector<std::size_t> (*)(std::size_t n, std::size_t num_groups, std::uint64_t index);

std::vector<std::size_t> by_turns(std::size_t n, std::size_t num_groups, std::uint64_t /*index*/) {
  std::vector<std::size_t> group(n);
  for (std::size_t i = 0; i < n; ++i) group[i] = i % num_groups;
  return group;
}

// The assignment of kqd, of which only the groups of X are kept.
std::vector<std::size_t> at_random(std::size_t n, std::size_t num_groups, std::uint64_t index) {
  std::vector<std::size_t> rows(2 * n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const RowGroups groups = make_row_groups(rows, n, Seed{index});
  EXPECT_EQ(groups.sizes.num_x, num_groups);
  std::vector<std::size_t> group(n);
  for (std::size_t unit = 0; unit < groups.num_units(); ++unit) {
    if (groups.order[unit] >= groups.sizes.num_x) continue;
    for (const std::size_t row : groups.rows_of(unit)) group[row] = groups.order[unit];
  }
  return group;
}

// The share of true nulls that a test of tau_1 rejects when both samples come sorted and groups are assigned by
// `assign`.
std::size_t rejections_of_sorted_files(Assign assign, std::size_t runs) {
  constexpr std::size_t kRows = 2048;
  constexpr std::size_t kGroups = 128;
  std::size_t rejections = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    RandomStream stream(Seed{7}, Purpose::test_data, run);
    std::vector<double> values(2 * kRows);
    for (double& v : values) v = stream.normal();
    std::sort(values.begin(), values.begin() + kRows);
    std::sort(values.begin() + kRows, values.end());
    std::vector<double> pool = values;
    GroupedLine line;
    line.grid = make_line_grid(pool);
    line.counts = Matrix<std::uint32_t>(2 * kGroups, line.grid.num_bins(), 0);
    const BinFinder bin(line.grid);
    for (const std::size_t sample : {0U, 1U}) {
      const auto group = assign(kRows, kGroups, 2 * run + sample);
      for (std::size_t i = 0; i < kRows; ++i) {
        ++line.counts(sample * kGroups + group[i], bin(values[sample * kRows + i]));
      }
    }
    std::vector<std::size_t> order(2 * kGroups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const PermutationSource source(Design::independent(), {kGroups, kGroups}, order, Seed{run});
    LabelBatch batch;
    source.fill(PermutationMode::random, 0, 20, batch);
    std::vector<double> taus(20);
    grouped_gaps(line, GapWeight::size, UnitPermutations({&batch, 1}, 20), taus);
    const double observed = taus.front();
    rejections += std::ranges::all_of(taus.begin() + 1, taus.end(), [&](double t) { return t < observed; }) ? 1U : 0U;
  }
  return rejections;
}

TEST(GroupAssignment, at_random_keeps_the_level_for_sorted_files) {
  EXPECT_TRUE(binomial_band(2000, 0.05, kFalseAlarm).holds(rejections_of_sorted_files(at_random, 2000)));
}

// Groups that get the 1st, 129th, 257th, ... of sorted rows are alike within a sample, more than random ones: the noise
// between the samples stands out. So groups must never be assigned by turns.
TEST(GroupAssignment, by_turns_rejects_true_nulls_for_sorted_files) {
  EXPECT_GT(rejections_of_sorted_files(by_turns, 200), binomial_band(200, 0.05, kFalseAlarm).highest);
}

// ---- Rows that depend on each other ----

// Users with 1 to 9 rows each, which share an effect.
struct UserRows {
  Sample sample;
  std::vector<std::uint64_t> keys;
};

UserRows draw_users(std::size_t num_users, std::uint64_t index) {
  RandomStream stream(Seed{41}, Purpose::test_data, index);
  std::vector<double> values;
  UserRows users;
  for (std::size_t user = 0; user < num_users; ++user) {
    const double effect = stream.normal();
    for (std::size_t i = stream.below(9) + 1; i > 0; --i) {
      values.push_back(effect + 0.5 * stream.normal());
      users.keys.push_back(user);
    }
  }
  users.sample.points = Matrix<double>(values.size(), 1);
  std::ranges::copy(values, users.sample.points.values().begin());
  return users;
}

// An autoregressive series of order 1 and its ranks in time.
UserRows draw_series(std::size_t n, std::uint64_t index) {
  constexpr double kAuto = 0.9;
  RandomStream stream(Seed{42}, Purpose::test_data, index);
  UserRows series{{Matrix<double>(n, 1), {}, {}}, {}};
  double value = stream.normal();
  for (std::size_t i = 0; i < n; ++i) {
    series.sample.points(i, 0) = value;
    series.keys.push_back(i);
    value = kAuto * value + std::sqrt(1.0 - kAuto * kAuto) * stream.normal();
  }
  return series;
}

bool rejects(const UserRows& x, const UserRows& y, const char* rule) {
  TwoSampleOptions options;
  options.method = "ekqd";
  options.permute = Permute::groups;
  options.statistic.directions.num_directions = 4;
  options.test.num_permutations = 19;
  options.groups = parse_group_rule(rule);
  if (options.groups.assignment != GroupAssignment::random) {
    options.group_keys = x.keys;
    options.group_keys.insert(options.group_keys.end(), y.keys.begin(), y.keys.end());
  }
  return two_sample_test(x.sample, y.sample, options).test.reject;
}

TEST(GroupedLevel, by_keys_is_exact_for_users_with_several_rows_and_at_random_is_not) {
  constexpr std::size_t kRuns = 300;
  std::size_t by_key = 0;
  std::size_t by_rows = 0;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const UserRows x = draw_users(160, 2 * run);
    const UserRows y = draw_users(140, 2 * run + 1);
    by_key += rejects(x, y, "key:user") ? 1U : 0U;
    by_rows += rejects(x, y, "random") ? 1U : 0U;
  }
  const auto band = binomial_band(kRuns, 0.05, kFalseAlarm);
  EXPECT_TRUE(band.holds(by_key)) << by_key;
  EXPECT_GT(by_rows, 2 * band.highest);
}

// Blocks of 64 rows of a series with a memory of some 20: not exact, but near the level. Measured: 0.07 to 0.08.
TEST(GroupedLevel, in_blocks_is_near_the_level_for_a_series_and_at_random_is_not) {
  constexpr std::size_t kRuns = 200;
  std::size_t in_blocks = 0;
  std::size_t by_rows = 0;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const UserRows x = draw_series(2048, 2 * run);
    const UserRows y = draw_series(2048, 2 * run + 1);
    in_blocks += rejects(x, y, "blocks:time") ? 1U : 0U;
    by_rows += rejects(x, y, "random") ? 1U : 0U;
  }
  EXPECT_LE(in_blocks, binomial_band(kRuns, 0.08, kFalseAlarm).highest);
  EXPECT_GT(by_rows, kRuns / 2);
}

// The same for profiles. Numbers of keys in a group are random there.
TEST(ProfileLevel, by_keys_is_near_the_level_for_users_with_several_rows) {
  constexpr std::size_t kRuns = 200;
  std::size_t rejections = 0;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const UserRows x = draw_users(220, 2 * run);
    const UserRows y = draw_users(200, 2 * run + 1);
    ProfileOptions options;
    options.rows_per_group = 20;
    options.statistic.parameters = {{"landmarks", 6.0}};
    options.groups = parse_group_rule("key:user");
    options.keys = x.keys;
    const Profile of_x = make_profile(x.sample, options);
    TwoSampleOptions test;
    test.method = "ekqd";
    test.test.num_permutations = 19;
    rejections += two_sample_test(of_x, make_profile(y.sample, of_x, {}, nullptr, y.keys), test).test.reject ? 1U : 0U;
  }
  EXPECT_TRUE(binomial_band(kRuns, 0.055, kFalseAlarm).holds(rejections)) << rejections;
}

// ---- Profiles ----

// Rows of a profile are assigned by their numbers, so files that are sorted must not matter; the spec comes from rows
// of X only, which are in no group.
TEST(ProfileLevel, is_exact_for_sorted_files_and_a_spec_from_one_sample) {
  constexpr std::size_t kRuns = 200;
  for (const char* method : {"ekqd", "adaptive"}) {
    std::size_t rejections = 0;
    for (std::size_t run = 0; run < kRuns; ++run) {
      Sample x = drawn(440, 1, normal_row, 2 * run);
      Sample y = drawn(300, 1, normal_row, 2 * run + 1);
      std::ranges::sort(x.points.values());
      std::ranges::sort(y.points.values());
      ProfileOptions options;
      options.rows_per_group = 3;
      options.statistic.parameters = {{"landmarks", 6.0}};
      const Profile of_x = make_profile(x, options);
      TwoSampleOptions test;
      test.method = method;
      test.test.num_permutations = 19;
      rejections += two_sample_test(of_x, make_profile(y, of_x), test).test.reject ? 1U : 0U;
    }
    EXPECT_TRUE(binomial_band(kRuns, 0.05, kFalseAlarm).holds(rejections)) << method << ": " << rejections;
  }
}

// ---- Power ----

// The same data with groups of five rows and with rows: the difference of two rejection rates has a standard error of
// sqrt(d / runs) at most, d the share of data sets on which they disagree. A loss of 0.03 is allowed, and twice that.
TEST(GroupedPower, is_that_of_rows) {
  constexpr std::size_t kRuns = 400;
  struct Problem {
    const char* name;
    double shift;
    double scale;
  };
  for (const Problem& problem : {Problem{"shift", 0.12, 1.0}, Problem{"scale", 0.0, 1.1}}) {
    double of_groups = 0.0;
    double of_rows = 0.0;
    double disagree = 0.0;
    for (std::size_t run = 0; run < kRuns; ++run) {
      const Sample x = drawn(640, 2, normal_row, 2 * run);
      Sample y = drawn(640, 2, normal_row, 2 * run + 1);
      for (double& v : y.points.values()) v = v * problem.scale + problem.shift;
      TwoSampleOptions options;
      options.method = "ekqd";
      options.statistic.directions.num_directions = 8;
      options.test.num_permutations = 99;
      options.permute = Permute::groups;
      const bool by_groups = two_sample_test(x, y, options).test.reject;
      options.permute = Permute::rows;
      const bool by_rows = two_sample_test(x, y, options).test.reject;
      of_groups += by_groups ? 1.0 / kRuns : 0.0;
      of_rows += by_rows ? 1.0 / kRuns : 0.0;
      disagree += by_groups != by_rows ? 1.0 / kRuns : 0.0;
    }
    EXPECT_GT(of_rows, 0.2) << problem.name;
    EXPECT_LT(of_rows, 0.98) << problem.name;
    EXPECT_GT(of_groups, of_rows - 0.03 - 2.0 * std::sqrt(disagree / kRuns)) << problem.name;
  }
}

}  // namespace
}  // namespace kqd::validation
