#include "kqd/kernel/bandwidth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/errors.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

using test::column;
using test::Real;
using test::roundings;
using test::within;

struct Found {
  double bandwidth;
  Warnings warnings;
};

Found find(const char* kernel, const SampleView& x, const SampleView& y, BandwidthRule rule = BandwidthRule::median,
           Seed seed = {}) {
  Found found;
  found.bandwidth = first_bandwidth(resolve(parse_kernel(kernel), x, y, rule, seed, found.warnings)).value();
  return found;
}

// Methods F: over all ordered pairs {0, 2} has r^2/2 = 0, 2, 2, 0 with median 1; over i < j it has 2 only.
TEST(MedianBandwidth, of_two_points) {
  EXPECT_DOUBLE_EQ(find("gaussian", column({0}), column({2}), BandwidthRule::median_with_diagonal).bandwidth, 1.0);
  EXPECT_DOUBLE_EQ(find("gaussian", column({0}), column({2})).bandwidth, std::sqrt(2.0));
}

TEST(MedianBandwidth, of_three_points_is_the_square_root_of_2_with_and_without_the_diagonal) {
  for (const BandwidthRule rule : {BandwidthRule::median, BandwidthRule::median_with_diagonal}) {
    EXPECT_DOUBLE_EQ(find("gaussian", column({0, 4}), column({2}), rule).bandwidth, std::sqrt(2.0));
  }
}

TEST(MedianBandwidth, of_an_even_number_of_distances_is_the_mean_of_the_middle_two) {
  const Sample x = column({0, 1});
  const Sample y = column({3, 7});  // distances 1, 2, 3, 4, 6, 7
  EXPECT_EQ(find("laplace", x, y).bandwidth, 3.5);
  EXPECT_EQ(find("matern32", x, y).bandwidth, 3.5);
  EXPECT_EQ(find("gaussian", x, y).bandwidth, 2.5);  // squares 1, 4, 9, 16, 36, 49: sqrt(12.5 / 2)
}

TEST(MedianBandwidth, of_an_odd_number_of_distances_is_the_middle_one) {
  const Sample x = column({0, 2});
  const Sample y = column({5});  // distances 2, 3, 5
  for (const char* kernel : {"laplace", "matern12", "matern32", "matern52", "rq", "imq"}) {
    EXPECT_EQ(find(kernel, x, y).bandwidth, 3.0) << kernel;
  }
  EXPECT_DOUBLE_EQ(find("gaussian", x, y).bandwidth, 3.0 / std::sqrt(2.0));
}

// A distance between d columns is off by d + 3 roundings (see kernel_test), and the median of rounded numbers lies as
// near to the median as they do to theirs.
TEST(MedianBandwidth, agrees_with_all_pairs_sorted) {
  for (const std::size_t dim : {1UL, 4UL, 32UL, 50UL}) {
    test::Source source(dim);
    const Sample x = test::normal_sample({31, dim}, source, 1000.0);
    const Sample y = test::normal_sample({44, dim}, source, 1001.0, 2.0);
    std::vector<Real> squares, l1;
    const auto row = [&](std::size_t i) { return i < 31 ? x.points.row(i) : y.points.row(i - 31); };
    for (std::size_t i = 0; i < 75; ++i) {
      for (std::size_t j = i + 1; j < 75; ++j) {
        squares.push_back(test::squared_distance(row(i), row(j)));
        l1.push_back(test::l1_distance(row(i), row(j)));
      }
    }
    const auto median = [](std::vector<Real> values) {
      std::ranges::sort(values);
      return values.size() % 2 == 1 ? values[values.size() / 2]
                                    : (values[values.size() / 2 - 1] + values[values.size() / 2]) / 2;
    };
    // Above 32 columns the largest |x - c|^2 + |z - c|^2 of centred points counts instead of r^2: within 8 r^2 here.
    const double n = dim <= 32 ? static_cast<double>(dim) + 8 : 8 * (2 * static_cast<double>(dim) + 10);
    const Real gaussian = std::sqrt(median(squares) / 2);
    EXPECT_TRUE(within(find("gaussian", x, y).bandwidth, gaussian, roundings(n) * gaussian)) << dim;
    EXPECT_TRUE(within(find("laplace", x, y).bandwidth, median(l1), roundings(n) * median(l1))) << dim;
    std::vector<Real> roots;
    for (const Real s : squares) roots.push_back(std::sqrt(s));
    EXPECT_TRUE(within(find("matern52", x, y).bandwidth, median(roots), roundings(n) * median(roots))) << dim;
  }
}

TEST(MedianBandwidth, with_the_diagonal_takes_every_ordered_pair) {
  const Sample x = column({0, 1, 5});
  const Sample y = column({11});  // ordered distances: four 0, and 1 5 11 4 10 6 twice
  EXPECT_EQ(find("laplace", x, y, BandwidthRule::median_with_diagonal).bandwidth, (4.0 + 5.0) / 2.0);
  EXPECT_EQ(find("laplace", x, y).bandwidth, 5.5);
}

TEST(MedianBandwidth, of_zero_falls_back_on_the_distances_that_are_not) {
  const Sample x = column({0, 0, 0});
  const Sample y = column({0, 3});
  const Found laplace = find("laplace", x, y);
  EXPECT_EQ(laplace.bandwidth, 3.0);
  EXPECT_EQ(laplace.warnings, test::only(WarningId::zero_median_distance, 3.0));
  const Found gaussian = find("gaussian", x, y);
  EXPECT_DOUBLE_EQ(gaussian.bandwidth, std::sqrt(4.5));
  EXPECT_EQ(gaussian.warnings, laplace.warnings);  // the distance is 3, though the formula takes its square
}

TEST(MedianBandwidth, of_one_repeated_point_is_1_with_a_warning) {
  for (const char* kernel : {"gaussian", "laplace", "imq"}) {
    for (const BandwidthRule rule : {BandwidthRule::median, BandwidthRule::median_with_diagonal}) {
      const Found found = find(kernel, column({2, 2}), column({2, 2, 2}), rule);
      EXPECT_EQ(found.bandwidth, 1.0) << kernel;
      EXPECT_EQ(found.warnings, test::only(WarningId::zero_distances));
    }
  }
}

TEST(MedianBandwidth, of_a_sum_warns_once) {
  EXPECT_EQ(find("gaussian+laplace", column({2, 2}), column({2, 2, 2})).warnings.size(), 1U);
}

TEST(MedianBandwidth, does_not_depend_on_which_rows_are_called_x) {
  test::Source source(3);
  for (const std::size_t n : {50UL, 3000UL}) {  // all pairs, and a subsample
    const Matrix<double> all = test::normal_matrix({n, 3}, source);
    const auto cut_at = [&](std::size_t nx, Seed seed) {
      const SampleView x{all.view().row_range(0, nx), {}};
      const SampleView y{all.view().row_range(nx, n - nx), {}};
      return find("gaussian", x, y, BandwidthRule::median, seed).bandwidth;
    };
    const double bandwidth = cut_at(1, Seed{7});
    for (const std::size_t nx : {10UL, 25UL, 49UL}) EXPECT_EQ(cut_at(nx, Seed{7}), bandwidth);
    if (n > 1000) {
      EXPECT_NE(cut_at(1, Seed{8}), bandwidth);
    } else {
      EXPECT_EQ(cut_at(1, Seed{8}), bandwidth);
    }
  }
}

TEST(MedianBandwidth, does_not_depend_on_the_row_order_of_a_small_pool) {
  test::Source source(4);
  const Sample x = test::normal_sample({40, 5}, source);
  const Sample y = test::normal_sample({60, 5}, source);
  const double bandwidth = find("gaussian", x, y).bandwidth;
  EXPECT_EQ(find("gaussian", y, x).bandwidth, bandwidth);
  EXPECT_EQ(find("gaussian", test::rows_in_order(x, test::shuffled(40, source)), y).bandwidth, bandwidth);
}

// The median of |X - X'| for two standard normals is sqrt2 * 0.6745. Among 1000 points, the level that the sample
// median has in truth is off by 0.12 with probability below 2 exp(-2 * 500 * 0.12^2) = 1.1e-6 (Hoeffding for
// U-statistics).
TEST(MedianBandwidth, of_a_subsample_is_near_that_of_the_distribution) {
  test::Source source(5);
  const Sample x = test::normal_sample({5000, 1}, source);
  const Sample y = test::normal_sample({15'000, 1}, source);
  const double level = std::erf(find("laplace", x, y).bandwidth / 2.0);  // P(|N(0, 2)| <= s)
  EXPECT_NEAR(level, 0.5, 0.12);
}

TEST(Resolve, keeps_given_bandwidths_and_sets_every_open_one) {
  const Sample x = column({0, 2});
  const Sample y = column({5});
  Warnings warnings;
  const auto resolved = [&](const char* text) {
    return to_string(resolve(parse_kernel(text), x, y, BandwidthRule::median, Seed{}, warnings));
  };
  EXPECT_EQ(resolved("gaussian@0.25"), "gaussian@0.25");
  EXPECT_EQ(resolved("laplace@9+0.5 laplace"), "laplace@9+0.5 laplace@3");
  EXPECT_EQ(resolved("rq:2*linear"), "rq:2@3*linear");
  EXPECT_EQ(resolved("polynomial:2:1"), "polynomial:2:1");
  EXPECT_TRUE(warnings.empty());
}

TEST(Resolve, puts_the_origin_of_the_energy_kernel_at_the_pooled_mean_unless_it_is_given) {
  const Sample x{Matrix<double>(1, 2, {0, 10}), {}, {}};
  const Sample y{Matrix<double>(3, 2, {4, 10, 4, 10, 0, 30}), {}, {}};
  Warnings warnings;
  KernelSpec spec = parse_kernel("energy");
  EXPECT_EQ(resolve(spec, x, y, BandwidthRule::median, Seed{}, warnings).origin, (std::vector<double>{2, 15}));
  spec.origin = {1, 2};
  EXPECT_EQ(resolve(spec, x, y, BandwidthRule::median, Seed{}, warnings).origin, (std::vector<double>{1, 2}));
  spec.origin = {1, 2, 3};
  test::expect_error(ErrorCode::shape_mismatch, "the origin of kernel energy:1 has 3 coordinates, expected 2",
                     [&] { static_cast<void>(resolve(spec, x, y, BandwidthRule::median, Seed{}, warnings)); });
}

TEST(PooledDistances, are_all_pairs_in_ascending_order) {
  const Sample x{Matrix<double>(2, 2, {0, 0, 3, 4}), {}, {}};
  const Sample y{Matrix<double>(1, 2, {0, 1}), {}, {}};
  EXPECT_EQ(pooled_distances(x, y, DistanceKind::l1, Seed{}), (std::vector<double>{1, 6, 7}));
  const auto euclidean = pooled_distances(x, y, DistanceKind::euclidean, Seed{});
  EXPECT_EQ(euclidean[0], 1.0);
  EXPECT_DOUBLE_EQ(euclidean[1], std::sqrt(18.0));
  EXPECT_EQ(euclidean[2], 5.0);
}

// Methods F: geometric from lo/2 to 2 hi with lo the smallest distance, hi the largest one.
TEST(BandwidthGrids, geometric_grid_runs_from_half_the_smallest_to_twice_the_largest_distance) {
  const auto grid = geometric_bandwidth_grid({0.5, 1.0, 4.0}, 6);
  ASSERT_EQ(grid.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(grid[i], 0.25 * std::pow(2.0, static_cast<double>(i)), 1e-14);
}

TEST(BandwidthGrids, geometric_grid_does_not_follow_tiny_distances) {
  std::vector<double> distances(21);  // 0, 0.05, ..., 1: the 5th percentile is 0.05, below 0.1
  for (std::size_t i = 0; i < 21; ++i) distances[i] = 0.05 * static_cast<double>(i);
  EXPECT_NEAR(geometric_bandwidth_grid(distances, 3).front(), 0.05, 1e-15);
  for (double& d : distances) d *= 10;  // 5th percentile 0.5, though the smallest is 0
  EXPECT_NEAR(geometric_bandwidth_grid(distances, 3).front(), 0.25, 1e-15);
  EXPECT_NEAR(geometric_bandwidth_grid({0.0, 0.01}, 2).back(), 0.6, 1e-15);  // hi is at least 0.3
}

TEST(BandwidthGrids, quantile_grid_runs_linearly_between_percentiles) {
  std::vector<double> distances(21);
  for (std::size_t i = 0; i < 21; ++i) distances[i] = static_cast<double>(i);
  const auto grid = quantile_bandwidth_grid(distances, 5);  // q05 = 1, q95 = 19: from 0.5 to 38
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(grid[i], 0.5 + 37.5 * static_cast<double>(i) / 4.0, 1e-13);
}

TEST(BandwidthGrids, one_value_is_the_middle_and_none_is_refused) {
  EXPECT_NEAR(geometric_bandwidth_grid({1.0, 4.0}, 1)[0], 2.0, 1e-15);
  EXPECT_NEAR(quantile_bandwidth_grid({2.0}, 1)[0], 2.5, 1e-15);
  for (const auto grid : {geometric_bandwidth_grid, quantile_bandwidth_grid}) {
    test::expect_error(ErrorCode::invalid_option, "a bandwidth grid of 0 values, expected at least 1",
                       [&] { static_cast<void>(grid({1.0}, 0)); });
    test::expect_error(ErrorCode::empty_sample, "a bandwidth grid needs at least two pooled points",
                       [&] { static_cast<void>(grid({}, 3)); });
  }
}

}  // namespace
}  // namespace kqd
