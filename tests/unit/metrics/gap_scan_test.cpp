#include "metrics/quantile/gap_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "metrics/quantile/pooled_projections.hpp"
#include "unit/simd/labelled_pool.hpp"

namespace kqd {
namespace {

using SortedRows = test::Pool;

constexpr std::size_t kRows = 300;

std::vector<LabelBatch> two_batches() {
  std::vector<std::size_t> sizes(64);
  for (std::size_t b = 0; b < sizes.size(); ++b) sizes[b] = 1 + b * (kRows - 2) / 63;
  return {test::random_labels(kRows, sizes, 1), test::random_labels(kRows, std::vector<std::size_t>(9, 40), 2)};
}

// The specification: the area between the two distribution functions from `first` to `last` of the sorted rows.
long double area(const SortedRows& pool, const LabelBatch& labels, unsigned b, const std::vector<double>& weights,
                 std::size_t first, std::size_t last) {
  const auto weight = [&](std::size_t row) { return static_cast<long double>(weights.empty() ? 1.0 : weights[row]); };
  long double total_x = 0.0L, total_y = 0.0L;
  for (std::size_t i = 0; i < kRows; ++i) (labels.is_x(i, b) ? total_x : total_y) += weight(i);
  long double x = 0.0L, y = 0.0L, sum = 0.0L;
  for (std::size_t k = 0; k < last; ++k) {
    (labels.is_x(pool.row(k), b) ? x : y) += weight(pool.row(k));
    if (k < first) continue;
    const long double gap = static_cast<long double>(pool.value(k + 1)) - static_cast<long double>(pool.value(k));
    sum += std::abs(x / total_x - y / total_y) * gap;
  }
  return sum;
}

void expect_areas(const GapScan& scan, const simd::SortedPool& line, const std::vector<LabelBatch>& batches,
                  const std::vector<double>& weights, const auto& expected) {
  std::vector<double> taus(scan.count());
  scan.along(line, GapPrecision::single, taus);
  const double range = line.values.back() - line.values.front();
  for (std::size_t k = 0; k < taus.size(); ++k) {
    const auto exact = static_cast<double>(expected(batches[k / 64], static_cast<unsigned>(k % 64)));
    EXPECT_NEAR(taus[k], exact, gap_scan_slack(exact, range, kRows, !weights.empty(), GapPrecision::single)) << k;
  }
}

// Weights as they are, and with a few rows that outweigh all others by far.
std::vector<std::vector<double>> weightings() {
  RandomStream stream(Seed{3}, Purpose::test_data, 0);
  std::vector<double> mild(kRows);
  for (double& w : mild) w = 0.1 + stream.uniform();
  std::vector<double> wild = mild;
  for (std::size_t i = 0; i < kRows; i += 10) wild[i] *= 1e13;
  return {{}, mild, wild};
}

TEST(GapScan, is_the_area_between_two_distribution_functions) {
  const SortedRows pool(kRows, 4, test::normal_value);
  const std::vector<LabelBatch> batches = two_batches();
  for (const std::vector<double>& weights : weightings()) {
    const GapScan scan(batches, 64 + 9, weights);
    expect_areas(scan, pool.view(), batches, weights,
                 [&](const LabelBatch& labels, unsigned b) { return area(pool, labels, b, weights, 0, kRows - 1); });
  }
}

TEST(GapScan, of_the_lowest_or_of_the_highest_rows_turned_around_is_their_part_of_it) {
  const SortedRows pool(kRows, 5, test::normal_value);
  const std::vector<LabelBatch> batches = two_batches();
  constexpr std::size_t kEnd = 30;
  std::vector<double> values;
  std::vector<std::uint32_t> order;
  for (std::size_t k = kRows; k-- > kRows - kEnd;) {
    values.push_back(-pool.value(k));
    order.push_back(static_cast<std::uint32_t>(pool.row(k)));
  }
  for (const std::vector<double>& weights : weightings()) {
    const GapScan scan(batches, 64 + 9, weights);
    expect_areas(scan, {pool.view().values.first(kEnd), pool.view().order.first(kEnd)}, batches, weights,
                 [&](const LabelBatch& labels, unsigned b) { return area(pool, labels, b, weights, 0, kEnd - 1); });
    expect_areas(scan, {values, order}, batches, weights, [&](const LabelBatch& labels, unsigned b) {
      return area(pool, labels, b, weights, kRows - kEnd, kRows - 1);
    });
  }
}

TEST(GapScan, takes_no_more_permutations_than_asked_for) {
  const SortedRows pool(kRows, 6, test::normal_value);
  const std::vector<LabelBatch> batches = two_batches();
  for (const std::vector<double>& weights : weightings()) {
    std::vector<double> all(73);
    std::vector<double> some(66);
    GapScan(batches, 73, weights).along(pool.view(), GapPrecision::single, all);
    GapScan(batches, 66, weights).along(pool.view(), GapPrecision::single, some);
    all.resize(66);
    EXPECT_EQ(some, all);
  }
}

TEST(DirectionsThatFit, are_as_many_as_there_is_room_for_and_one_at_least) {
  EXPECT_EQ(directions_that_fit(0, 100), 1U);
  EXPECT_EQ(directions_that_fit(99, 100), 1U);
  EXPECT_EQ(directions_that_fit(750, 100), 7U);
  EXPECT_EQ(directions_that_fit(800, 100), 8U);
  EXPECT_EQ(directions_that_fit(1599, 100), 15U);
  EXPECT_EQ(directions_that_fit(1700, 100), 17U);
}

TEST(GapPrecision, is_full_where_most_gaps_vanish_next_to_a_few) {
  const auto of = [](std::vector<double> values) {
    std::ranges::sort(values);
    return precision_for(values);
  };
  EXPECT_EQ(of({}), GapPrecision::single);
  EXPECT_EQ(of({1.0, 1.0, 1.0}), GapPrecision::single);
  EXPECT_EQ(of({0, 0, 0, 1}), GapPrecision::single);  // two values: no small gap at all
  EXPECT_EQ(of({2, 10, 11, 14, 19, 23, 24, 24, 1e6, 1e6 + 1}), GapPrecision::full);
  RandomStream stream(Seed{5}, Purpose::test_data, 0);
  for (const std::size_t n : {10UL, 100UL, 100'000UL}) {
    std::vector<double> values(n);
    for (double& v : values) v = stream.normal();
    EXPECT_EQ(of(values), GapPrecision::single) << n;
    values[n / 2] = 1e7;
    EXPECT_EQ(of(values), GapPrecision::full) << n;
  }
}

// Equal sizes and an outlier a hundred million times as far as the rest: in single precision the rest would vanish.
TEST(GapScan, in_full_precision_keeps_small_gaps_next_to_an_outlier) {
  const SortedRows pool(kRows, 7,
                        [drawn = 0](RandomStream& stream) mutable { return ++drawn == 17 ? 1e8 : stream.normal(); });
  const std::vector<LabelBatch> batches = {test::random_labels(kRows, std::vector<std::size_t>(64, kRows / 2), 1)};
  const GapScan scan(batches, 64, {});
  std::vector<double> taus(64);
  scan.along(pool.view(), GapPrecision::full, taus);
  for (unsigned b = 0; b < 64; ++b) {
    const auto exact = static_cast<double>(area(pool, batches[0], b, {}, 0, kRows - 1));
    EXPECT_NEAR(taus[b], exact, gap_scan_slack(exact, 1e8, kRows, false, GapPrecision::full)) << b;
    EXPECT_NEAR(taus[b], exact, 1e-6) << b;
  }
}

}  // namespace
}  // namespace kqd
