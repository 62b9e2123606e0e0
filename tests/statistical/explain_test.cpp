// Whether explain() finds what was changed, and whether its adjusted p-values keep their level where nothing was.
#include "kqd/explain/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "binomial.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRows = 500;
constexpr std::size_t kDim = 20;
constexpr std::size_t kChanged = 6;  // column 7
constexpr std::size_t kQuickSeeds = 4;

struct Pair {
  Sample x;
  Sample y;
};

Pair standard_normal(test::Source& source) {
  return {test::normal_sample({kRows, kDim}, source), test::normal_sample({kRows, kDim}, source)};
}

// 95 of 100 seeds are asked for (KQD_TEST_SEEDS=100; docs/guide/explain.md has the numbers); of a few, one may miss.
void expect_hits(const std::function<bool(test::Source&, Seed)>& is_hit, double share = 0.95) {
  const auto seeds = test::seeds(kQuickSeeds);
  std::size_t hits = 0;
  for (const std::uint64_t seed : seeds) {
    test::Source source(seed);
    if (is_hit(source, Seed{seed})) ++hits;
  }
  testing::Test::RecordProperty("hits", static_cast<int>(hits));
  EXPECT_GE(static_cast<double>(hits), std::floor(share * static_cast<double>(seeds.size()))) << "of " << seeds.size();
}

TEST(Explain, ranks_a_column_shifted_by_half_a_standard_deviation_first) {
  expect_hits([](test::Source& source, Seed seed) {
    auto [x, y] = standard_normal(source);
    for (std::size_t i = 0; i < kRows; ++i) y.points(i, kChanged) += 0.5;
    const Explanation e = explain(x, y, {.seed = seed});
    return e.columns.front().index == kChanged && e.columns.front().reject;
  });
}

// Values above `from` are stretched away from it by the factor 1.5.
void stretch_above(double from, Sample& sample) {
  for (std::size_t i = 0; i < kRows; ++i) {
    double& value = sample.points(i, kChanged);
    if (value > from) value = from + 1.5 * (value - from);
  }
}

void expect_stretched_tail_found(double from) {
  expect_hits([&](test::Source& source, Seed seed) {
    auto [x, y] = standard_normal(source);
    stretch_above(from, y);
    const ColumnExplanation first = explain(x, y, {.seed = seed}).columns.front();
    return first.index == kChanged && first.where == Where::upper_tail;
  });
}

TEST(Explain, ranks_a_column_whose_upper_half_is_stretched_first_and_names_the_upper_tail) {
  expect_stretched_tail_found(0.0);
}

// From the 60 per cent point of the normal distribution on.
TEST(Explain, ranks_a_column_whose_upper_two_fifths_are_stretched_first_and_names_the_upper_tail) {
  expect_stretched_tail_found(0.2533);
}

// Values above the 90 per cent point of the normal distribution, times 1.5: fifty rows of Y differ.
TEST(Explain, ranks_a_column_whose_highest_tenth_is_multiplied_first_and_names_the_upper_tail) {
  expect_hits(
      [](test::Source& source, Seed seed) {
        auto [x, y] = standard_normal(source);
        for (std::size_t i = 0; i < kRows; ++i) {
          if (y.points(i, kChanged) > 1.2816) y.points(i, kChanged) *= 1.5;
        }
        const ColumnExplanation first = explain(x, y, {.seed = seed}).columns.front();
        return first.index == kChanged && first.where == Where::upper_tail;
      },
      0.9);
}

// Cluster k has its centre 6 standard deviations from 0 along axis k; rows go through the clusters in turn.
constexpr std::size_t kClusters = 4;
Sample clustered(test::Source& source, double move) {
  Sample sample = test::normal_sample({kRows, kDim}, source);
  for (std::size_t i = 0; i < kRows; ++i) {
    sample.points(i, i % kClusters) += 6.0;
    if (i % kClusters == 2) sample.points(i, 10) += move;
  }
  return sample;
}

TEST(Explain, most_of_the_extreme_rows_belong_to_the_one_cluster_of_four_that_moved) {
  expect_hits([](test::Source& source, Seed seed) {
    const Sample x = clustered(source, 0.0);
    const Sample y = clustered(source, 1.0);
    const Explanation e = explain(x, y, {.seed = seed});
    const auto in_moved = [](const ExtremeRow& row) { return row.index % kClusters == 2; };
    return std::ranges::count_if(e.most_x, in_moved) + std::ranges::count_if(e.most_y, in_moved) > 10;
  });
}

// Under equal distributions any rejection is a false one, so false discovery rate and family-wise error are both the
// probability of one: at most 0.05.
TEST(Explain, adjusted_p_values_keep_their_level_under_equal_distributions) {
  const auto seeds = test::seeds(60);
  std::size_t columns = 0;
  std::size_t directions = 0;
  for (const std::uint64_t seed : seeds) {
    test::Source source(seed);
    Sample x = test::normal_sample({40, 5}, source);
    Sample y = test::normal_sample({60, 5}, source);
    for (Sample* sample : {&x, &y}) {  // a column of ties, and one that follows another
      for (std::size_t i = 0; i < sample->points.rows(); ++i) {
        sample->points(i, 1) = std::round(sample->points(i, 1));
        sample->points(i, 2) = sample->points(i, 0) + 0.1 * sample->points(i, 2);
      }
    }
    const Explanation e = explain(x, y, {.seed = Seed{seed}});
    ASSERT_EQ(e.columns_note, "");
    ASSERT_EQ(e.directions_note, "");
    if (e.columns.front().reject) ++columns;
    if (e.directions.front().reject) ++directions;
  }
  RecordProperty("columns", static_cast<int>(columns));
  RecordProperty("directions", static_cast<int>(directions));
  const auto band = validation::binomial_band(seeds.size(), 0.05, 1e-6);
  EXPECT_LE(columns, band.highest);
  EXPECT_LE(directions, band.highest);
}

// Pairs that lie far apart hardly mix: what no exchange within pairs can change, as a tail, must not hide what it can.
// The test by the distance of the whole column finds the shift in 0.47 of 150 runs, explain() found it in 0.16.
TEST(Explain, finds_a_shift_within_pairs_that_differ_much) {
  constexpr std::size_t kRuns = 100;
  constexpr std::size_t kPairs = 20;
  std::size_t hits = 0;
  std::size_t false_alarms = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    test::Source source(seed);
    const Sample effect = test::normal_sample({kPairs, 1}, source);
    Sample x = test::normal_sample({kPairs, 1}, source);
    Sample y = test::normal_sample({kPairs, 1}, source);
    for (std::size_t i = 0; i < kPairs; ++i) {
      x.points(i, 0) += 3.0 * effect.points(i, 0);
      y.points(i, 0) += 3.0 * effect.points(i, 0);
    }
    const ExplainOptions options{.num_permutations = 199, .design = Design::paired(), .seed = Seed{seed}};
    if (explain(x, y, options).columns.front().pvalue <= 0.05) ++false_alarms;
    for (double& v : y.points.values()) v += 0.8;
    if (explain(x, y, options).columns.front().pvalue <= 0.05) ++hits;
  }
  EXPECT_GE(hits, 30U);
  EXPECT_LE(false_alarms, validation::binomial_band(kRuns, 0.05, 1e-6).highest);
}

}  // namespace
}  // namespace kqd
