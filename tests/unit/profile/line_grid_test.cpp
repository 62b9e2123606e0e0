#include "profile/line_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"

namespace kqd {
namespace {

std::vector<double> normals(std::size_t n, std::uint64_t index) {
  RandomStream stream(Seed{4}, Purpose::test_data, index);
  std::vector<double> values(n);
  for (double& v : values) v = stream.normal();
  return values;
}

std::size_t bin_by_counting(const LineGrid& grid, double v) {
  return static_cast<std::size_t>(std::ranges::count_if(grid.edges, [&](double edge) { return edge <= v; }));
}

TEST(LineGrid, of_few_different_values_has_a_bin_for_each) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back((i * 37) % 256);
  const LineGrid grid = make_line_grid(values);
  ASSERT_EQ(grid.num_bins(), 256U);
  for (std::size_t b = 0; b < 256; ++b) EXPECT_EQ(grid.values[b], static_cast<double>(b));
  for (std::size_t b = 0; b < 255; ++b) EXPECT_EQ(grid.edges[b], static_cast<double>(b + 1));
}

TEST(LineGrid, of_few_different_values_has_bins_for_new_ones_as_well) {
  std::vector<double> values = {2, 2, 5, 9, 9, 9};
  const LineGrid grid = make_line_grid(values);
  EXPECT_EQ(grid.values, (std::vector<double>{-1.5, 2, 3.5, 5, 7, 9, 12.5}));
  const BinFinder bin(grid);
  std::vector<std::size_t> bins;
  for (const double v : {-7.0, 2.0, 2.5, 5.0, 8.9, 9.0, 10.0}) bins.push_back(bin(v));
  EXPECT_EQ(bins, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(LineGrid, of_one_value_has_a_bin_below_and_one_above) {
  std::vector<double> values(20, 3.5);
  const LineGrid grid = make_line_grid(values);
  EXPECT_EQ(grid.values, (std::vector<double>{0, 3.5, 7}));
  const BinFinder bin(grid);
  EXPECT_EQ(bin(1.0), 0U);
  EXPECT_EQ(bin(3.5), 1U);
  EXPECT_EQ(bin(9.0), 2U);
}

TEST(LineGrid, of_many_values_has_bins_of_equal_numbers_and_narrow_tails) {
  std::vector<double> values = normals(50'000, 1);
  const LineGrid grid = make_line_grid(values);
  EXPECT_GT(grid.num_bins(), 200U);
  EXPECT_LE(grid.num_bins(), LineGrid::kMostBins);
  std::vector<double> rows(grid.num_bins(), 0.0);
  std::vector<double> sums(grid.num_bins(), 0.0);
  for (const double v : values) {
    rows[bin_by_counting(grid, v)] += 1.0;
    sums[bin_by_counting(grid, v)] += v;
  }
  EXPECT_LE(*std::ranges::max_element(rows), std::ceil(50'000.0 / 192.0));
  EXPECT_LE(rows.front(), 2.0);
  EXPECT_LE(rows.back(), 2.0);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    ASSERT_GT(rows[b], 0.0);
    EXPECT_NEAR(grid.values[b], sums[b] / rows[b], 1e-12);
  }
}

// A third of the rows are 0: they have a bin that no other row shares.
TEST(LineGrid, gives_frequent_values_a_bin_of_their_own) {
  std::vector<double> values = normals(30'000, 2);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 0.0;
  const LineGrid grid = make_line_grid(values);
  const std::size_t zero = bin_by_counting(grid, 0.0);
  for (const double v : values) {
    if (v == 0.0) continue;
    EXPECT_NE(bin_by_counting(grid, v), zero) << v;
  }
  EXPECT_EQ(grid.values[zero], 0.0);
}

// With a bin for each value, weights by ranks are 1 / sqrt(F (1 - F)), half of it on either side of the bin between two
// of them; else their sum is that over all rows.
TEST(LineGrid, weights_by_ranks_are_those_of_the_rows) {
  std::vector<double> few = {1, 1, 2, 2, 2, 5, 7, 7};
  const LineGrid grid = make_line_grid(few);
  const auto weight = [](double share) { return 1.0 / std::sqrt(share * (1.0 - share)); };
  ASSERT_EQ(grid.rank_weights.size(), 8U);
  const std::vector<double> shares = {2.0 / 8, 5.0 / 8, 6.0 / 8};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_DOUBLE_EQ(grid.rank_weights[1 + 2 * k], 0.5 * weight(shares[k]));
    EXPECT_DOUBLE_EQ(grid.rank_weights[2 + 2 * k], 0.5 * weight(shares[k]));
  }
  EXPECT_DOUBLE_EQ(grid.rank_weights.front(), weight(1.0 / 9));
  EXPECT_DOUBLE_EQ(grid.rank_weights.back(), weight(1.0 / 9));

  std::vector<double> many = normals(5000, 3);
  const LineGrid fine = make_line_grid(many);
  double of_grid = 0.0;
  for (const double w : fine.rank_weights) of_grid += w;
  double of_rows = 0.0;
  for (std::size_t k = 1; k < many.size(); ++k) of_rows += weight(static_cast<double>(k) / 5000.0);
  EXPECT_NEAR(of_grid, of_rows, 1e-9 * of_rows);
}

// Normal, heavy-tailed, discrete, far from 0, and with edges that are next to each other.
TEST(BinFinder, counts_the_edges_up_to_a_value) {
  std::vector<std::vector<double>> samples = {normals(20'000, 4), normals(20'000, 5), normals(300, 6),
                                              normals(20'000, 7), normals(20'000, 8)};
  for (double& v : samples[1]) v = std::copysign(std::exp(8.0 * std::abs(v)), v);
  for (double& v : samples[3]) v = 1e15 + std::floor(40.0 * v);
  for (double& v : samples[4]) v *= 1e300;
  for (std::vector<double>& values : samples) {
    const std::vector<double> given = values;
    const LineGrid grid = make_line_grid(values);
    const BinFinder bin(grid);
    const auto expect_bin = [&](double v) { ASSERT_EQ(bin(v), bin_by_counting(grid, v)) << v; };
    for (const double v : given) expect_bin(v);
    for (const double edge : grid.edges) {
      expect_bin(edge);
      expect_bin(std::nextafter(edge, -1e308));
      expect_bin(std::nextafter(edge, 1e308));
    }
    for (const double v : {-1.7e308, 1.7e308, 0.0, -0.0}) expect_bin(v);
  }
}

}  // namespace
}  // namespace kqd
