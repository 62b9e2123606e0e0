#include "quantiles/quantile_gap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/errors.hpp"
#include "support/levels.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::kUnit;
using test::Real;
using test::roundings;
using test::within;

using test::kInfinity;
const std::vector<double> kPowers = {1.0, 1.5, 2.0, 3.0, 9.0, 33.25, kInfinity};

std::vector<double> sorted_normals(std::size_t n, test::Source& source) {
  std::vector<double> values(n);
  for (double& v : values) v = source.normal();
  std::ranges::sort(values);
  return values;
}

Real largest_gap(const std::vector<double>& x, const std::vector<double>& y) {
  return std::max(std::abs(Real{x.back()} - y.front()), std::abs(Real{y.back()} - x.front()));
}

// In units of the largest gap G, T = (tau/G)^p: a mass is off by at most 8 density u (see level_weights_test), so T by
// that times the number of pieces; a term by p roundings of its gap and p of its power, the sum by 512 + 8. A power
// that is not an integer goes through exp(p log g), off by 9 u |p log g|: as |p log g| g^p <= 1/e for g <= G = 1 that
// is at most 4 u over all terms, and 9 u p |log G| T when gaps are not divided by G first (p <= 8). The root of T is
// monotone; it and the last product add four.
Real gap_bound(Real tau, Real largest, std::size_t num_pieces, Real density, double p) {
  if (largest == 0) return 0;
  if (std::isinf(p)) return roundings(1) * tau;
  const Real total = std::pow(tau / largest, Real{p});
  Real error = 8 * density * kUnit * static_cast<Real>(num_pieces) + roundings(2 * p + 520) * total;
  if (p != std::floor(p)) error += 4 * kUnit;
  if (p != std::floor(p) && p <= 8.0) error += 9 * kUnit * p * std::abs(std::log(largest)) * total;
  return test::spread([&](Real t) { return largest * std::pow(std::max<Real>(0, t), 1 / Real{p}); }, total, error) +
         roundings(4 + static_cast<double>(std::abs(std::log(largest)))) * tau;
}

struct Sizes {
  std::size_t nx, ny;
};
const std::vector<Sizes> kSizes = {{1, 1},  {1, 5},  {2, 2},   {2, 3},   {4, 6},   {7, 7},     {7, 11},
                                   {12, 8}, {1, 64}, {30, 42}, {50, 51}, {97, 89}, {600, 600}, {300, 450}};

TEST(LevelGrid, pieces_are_those_of_the_expansion_to_a_common_multiple) {
  for (const auto& [nx, ny] : kSizes) {
    const LevelGrid grid(nx, ny, {});
    const std::size_t n = std::lcm(nx, ny);
    EXPECT_EQ(grid.num_pieces(), nx + ny - std::gcd(nx, ny));
    if (grid.aligned()) {
      EXPECT_TRUE(grid.steps().empty());
      EXPECT_TRUE(grid.masses().empty());
      continue;
    }
    // Walk both: piece k covers a run of cells of the common grid in which neither sample moves on.
    std::size_t i = 0, j = 0, cell = 0;
    for (std::size_t k = 0; k < grid.num_pieces(); ++k) {
      const std::size_t first = cell;
      while (cell < n && cell / (n / nx) == i && cell / (n / ny) == j) ++cell;
      ASSERT_GT(cell, first) << "piece " << k << " of " << nx << ", " << ny << " is empty";
      const Real mass = static_cast<Real>(cell - first) / static_cast<Real>(n);
      ASSERT_TRUE(within(grid.masses()[k], mass, 3 * kUnit)) << k;
      const unsigned step = grid.steps()[k];
      i += step & 1U;
      j += step >> 1U;
    }
    EXPECT_EQ(cell, n);
    EXPECT_EQ(i, nx);
    EXPECT_EQ(j, ny);
  }
}

TEST(LevelGrid, masses_of_every_weighting_are_exact_and_sum_to_one) {
  for (const auto& level : test::levels()) {
    for (const auto& [nx, ny] : kSizes) {
      const LevelGrid grid(nx, ny, parse_level_weights(level.text));
      if (grid.masses().empty()) continue;
      Real total = 0;
      for (const double mass : grid.masses()) {
        EXPECT_GE(mass, 0.0) << level.text;
        total += mass;
      }
      EXPECT_TRUE(within(total, 1, 2 * kUnit)) << level.text << " " << nx << " " << ny;
    }
  }
}

TEST(LevelGrid, point_evaluated_weights_need_equal_sizes) {
  EXPECT_NO_THROW(LevelGrid(5, 5, {}, true));
  test::expect_error(ErrorCode::invalid_option, "point-evaluated level weights need samples of equal size, got 5 and 6",
                     [] { LevelGrid(5, 6, {}, true); });
}

TEST(LevelGrid, sizes_whose_products_would_overflow_are_refused) {
  test::expect_error(ErrorCode::resource_limit,
                     "samples of 2147483649 and 2 rows, at most 2147483648 can be compared on one grid",
                     [] { LevelGrid((std::size_t{1} << 31U) + 1, 2, {}); });
}

TEST(QuantileGap, agrees_with_the_expansion_for_every_weighting_power_and_size) {
  test::Source source(1);
  for (const auto& level : test::levels()) {
    const LevelWeights weights = parse_level_weights(level.text);
    for (const auto& [nx, ny] : kSizes) {
      const auto x = sorted_normals(nx, source);
      const auto y = sorted_normals(ny, source);
      const LevelGrid grid(nx, ny, weights);
      for (const double p : kPowers) {
        const Real expected = test::quantile_gap(x, y, level.cdf, p);
        const Real bound =
            gap_bound(expected, largest_gap(x, y), grid.num_pieces(), level.density_bound(std::lcm(nx, ny)), p);
        ASSERT_TRUE(within(quantile_gap(x, y, grid, Power{p}), expected, bound))
            << level.text << ", p " << p << ", sizes " << nx << " and " << ny;
      }
    }
  }
}

TEST(QuantileGap, is_zero_on_equal_lists_and_does_not_care_which_comes_first) {
  test::Source source(2);
  for (const auto& level : test::levels()) {
    const LevelWeights weights = parse_level_weights(level.text);
    const auto x = sorted_normals(40, source);
    const auto y = sorted_normals(30, source);
    for (const double p : kPowers) {
      EXPECT_EQ(quantile_gap(x, x, LevelGrid(40, 40, weights), Power{p}), 0.0);
      EXPECT_EQ(quantile_gap(x, y, LevelGrid(40, 30, weights), Power{p}),
                quantile_gap(y, x, LevelGrid(30, 40, weights), Power{p}))
          << level.text;
    }
  }
}

// A list and the list with every value repeated have the same quantile function: merged pieces of gap 0.
TEST(QuantileGap, does_not_see_repetition) {
  test::Source source(3);
  for (const std::size_t times : {2UL, 3UL, 7UL}) {
    const auto x = sorted_normals(20, source);
    for (const double p : kPowers) {
      EXPECT_EQ(quantile_gap(x, test::repeated(x, times), LevelGrid(20, 20 * times, {}), Power{p}), 0.0);
    }
  }
}

// {0, 1} against {0.5, 2, 3}: W_1 = 4/3, W_2^2 = 9/4, W_3^3 = 101/24, and the largest gap is 2.
TEST(QuantileGap, is_the_wasserstein_distance_of_the_check_values) {
  const std::vector<double> x = {0, 1};
  const std::vector<double> y = {0.5, 2, 3};
  const LevelGrid grid(2, 3, {});
  EXPECT_NEAR(quantile_gap(x, y, grid, Power{1}), 4.0 / 3.0, 1e-15);
  EXPECT_NEAR(quantile_gap(x, y, grid, Power{2}), 1.5, 1e-15);
  EXPECT_NEAR(quantile_gap(x, y, grid, Power{3}), std::cbrt(101.0 / 24.0), 1e-15);
  EXPECT_EQ(quantile_gap(x, y, grid, Power{kInfinity}), 2.0);
}

// As p grows tau_p rises to the largest gap (nu has mass 1).
TEST(QuantileGap, grows_with_the_power_towards_the_largest_gap) {
  test::Source source(4);
  const auto x = sorted_normals(35, source);
  const auto y = sorted_normals(49, source);
  const LevelGrid grid(35, 49, {});
  double before = 0.0;
  for (const double p : {1.0, 1.2, 2.0, 3.0, 7.9, 8.0, 8.1, 20.0, 64.0, 65.0, 300.0, 5000.0}) {
    const double tau = quantile_gap(x, y, grid, Power{p});
    EXPECT_GE(tau, before * (1.0 - 1e-12)) << p;
    before = tau;
  }
  const double largest = quantile_gap(x, y, grid, Power{kInfinity});
  EXPECT_LE(before, largest * (1.0 + 1e-12));
  EXPECT_GT(before, largest * 0.99);  // (1/84)^(1/5000) = 0.9991
}

TEST(QuantileGap, of_the_centered_form_replaces_the_gap_by_a_root) {
  test::Source source(5);
  for (const auto& [nx, ny] : kSizes) {
    const auto x = sorted_normals(nx, source);
    const auto y = sorted_normals(ny, source);
    const std::size_t n = std::lcm(nx, ny);
    const double shift = 0.37;
    std::vector<Real> gaps(n);
    const auto xs = test::repeated(x, n / nx);
    const auto ys = test::repeated(y, n / ny);
    for (std::size_t k = 0; k < n; ++k) {
      gaps[k] = std::sqrt((Real{xs[k]} - ys[k]) * (Real{xs[k]} - ys[k]) + shift);
    }
    const std::vector<Real> masses(n, 1 / static_cast<Real>(n));
    for (const double p : kPowers) {
      const Real expected = test::power_gap(gaps, masses, p);
      const Real largest = *std::ranges::max_element(gaps);
      const Real bound = gap_bound(expected, largest, nx + ny, 1, p) + roundings(6) * expected;
      EXPECT_TRUE(within(quantile_gap(x, y, LevelGrid(nx, ny, {}), Power{p}, {.centered = true, .shift = shift}),
                         expected, bound));
    }
  }
}

// Large and small gaps, whose powers may leave the range of doubles.
TEST(QuantileGap, keeps_its_digits_where_powers_leave_the_range_of_doubles) {
  for (const double scale : {0x1p1020, 1e300, 1e200, 1e150, 1e80, 1e-80, 1e-150, 1e-200, 1e-300}) {
    const std::vector<double> y = {1 * scale, 2 * scale, 3 * scale, 4 * scale};
    for (const double p : {1.0, 1.5, 2.0, 3.0, 3.5, 5.5, 7.5, 8.0, 9.0, 9.5, 64.0, 100.0}) {
      const Real expected = test::power_gap(std::vector<Real>{1, 2, 3, 4}, std::vector<Real>(4, 0.25L), p) * scale;
      const Real bound = gap_bound(expected, 4 * Real{scale}, 4, 1, p);
      EXPECT_TRUE(within(quantile_gap(std::vector<double>(4, 0.0), y, LevelGrid(4, 4, {}), Power{p}), expected, bound))
          << scale << " " << p;
      EXPECT_TRUE(within(quantile_gap(std::vector<double>(2, 0.0), y, LevelGrid(2, 4, {}), Power{p}), expected, bound))
          << scale << " " << p;
    }
  }
}

// The largest doubles add up to infinity although their mean is one of them; a gap beyond them is infinite.
TEST(QuantileGap, of_the_largest_doubles_is_their_mean) {
  constexpr double kMax = std::numeric_limits<double>::max();
  for (const double p : kPowers) {
    EXPECT_TRUE(
        within(quantile_gap(std::vector<double>(5, 0.0), std::vector<double>(5, kMax), LevelGrid(5, 5, {}), Power{p}),
               kMax, roundings(8) * kMax))
        << p;
    EXPECT_EQ(quantile_gap(std::vector<double>{-kMax}, std::vector<double>{kMax}, LevelGrid(1, 1, {}), Power{p}),
              kInfinity)
        << p;
  }
}

// 1/g overflows for a denormal g, and a part of the smallest one is 0.
TEST(QuantileGap, of_denormal_numbers_is_exact) {
  const double tiny = 1e-310;
  for (const double p : kPowers) {
    EXPECT_EQ(quantile_gap(std::vector<double>(4, 0.0), std::vector<double>(4, tiny), LevelGrid(4, 4, {}), Power{p}),
              tiny)
        << p;
    EXPECT_EQ(quantile_gap(std::vector<double>(3, 0.0), std::vector<double>(4, 5e-324), LevelGrid(3, 4, {}), Power{p}),
              5e-324)
        << p;
  }
}

TEST(QuantileGap, does_not_look_at_levels_without_mass) {
  const std::vector<double> x = {0, 0, 0, 0};
  for (const double huge : {1e200, std::numeric_limits<double>::max()}) {
    const std::vector<double> y = {1, 1, huge, huge};
    for (const double p : kPowers) {
      for (const char* text : {"interval:0:0.5", "interval:0.25:0.5", "atom:0.3"}) {
        EXPECT_EQ(quantile_gap(x, y, LevelGrid(4, 4, parse_level_weights(text)), Power{p}), 1.0) << text << " " << p;
        EXPECT_EQ(quantile_gap(std::vector<double>{0, 0}, y, LevelGrid(2, 4, parse_level_weights(text)), Power{p}), 1.0)
            << text << " " << p;
      }
    }
  }
}

// --- quantile functions ---

// The definition: the order statistic of rank ceil(alpha n), in whole numbers: the smallest r with r/n >= alpha.
double plain_quantile(const std::vector<double>& sorted, double alpha) {
  for (std::size_t r = 1; r <= sorted.size(); ++r) {
    if (static_cast<double>(r) / static_cast<double>(sorted.size()) >= alpha) return sorted[r - 1];
  }
  return sorted.back();
}

TEST(QuantileFunction, takes_the_order_statistic_of_rank_ceil_alpha_n) {
  const std::vector<double> values = {10, 20, 30, 40};
  const QuantileFunction q{values, {}};
  EXPECT_EQ(q.at(0.0), 10);  // the minimum, by definition
  EXPECT_EQ(q.at(1e-300), 10);
  EXPECT_EQ(q.at(0.25), 10);
  EXPECT_EQ(q.at(std::nextafter(0.25, 1.0)), 20);
  EXPECT_EQ(q.at(0.5), 20);
  EXPECT_EQ(q.at(0.51), 30);
  EXPECT_EQ(q.at(0.75), 30);
  EXPECT_EQ(q.at(1.0), 40);
  const std::vector<double> one = {7};
  for (const double alpha : {0.0, 0.3, 1.0}) EXPECT_EQ((QuantileFunction{one, {}}.at(alpha)), 7);
}

TEST(QuantileFunction, at_level_k_over_n_is_the_k_th_value_for_every_n) {
  for (std::size_t n = 1; n <= 500; ++n) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    const QuantileFunction q{values, {}};
    for (std::size_t k = 1; k <= n; ++k) {
      ASSERT_EQ(q.at(static_cast<double>(k) / static_cast<double>(n)), static_cast<double>(k)) << k << "/" << n;
    }
  }
}

// Just above k/n the next value begins: the smallest value with cumulative weight >= level, as for weighted samples.
TEST(QuantileFunction, just_above_level_k_over_n_is_the_next_value_for_every_n) {
  for (std::size_t n = 1; n <= 500; ++n) {
    std::vector<double> values(n), cumulative(n);
    std::iota(values.begin(), values.end(), 1.0);
    for (std::size_t k = 1; k <= n; ++k) cumulative[k - 1] = static_cast<double>(k) / static_cast<double>(n);
    for (std::size_t k = 1; k < n; ++k) {
      const double level = std::nextafter(cumulative[k - 1], 1.0);
      ASSERT_EQ((QuantileFunction{values, {}}.at(level)), static_cast<double>(k + 1)) << k << "/" << n;
      ASSERT_EQ((QuantileFunction{values, cumulative}.at(level)), static_cast<double>(k + 1)) << k << "/" << n;
    }
  }
}

// Weights as whole multiples of 1/16 are exact: the weighted sample is the one with repeated points.
TEST(QuantileFunction, of_a_weighted_sample_is_that_of_repeated_points) {
  const std::vector<double> values = {1, 2, 3, 4};
  const std::vector<std::size_t> times = {3, 1, 8, 4};
  std::vector<double> cumulative, expanded;
  double level = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    level += static_cast<double>(times[i]) / 16.0;
    cumulative.push_back(level);
    expanded.insert(expanded.end(), times[i], values[i]);
  }
  const QuantileFunction weighted{values, cumulative};
  for (int i = 0; i <= 64; ++i) {
    const double alpha = i / 64.0;
    EXPECT_EQ(weighted.at(alpha), plain_quantile(expanded, alpha)) << alpha;
  }
}

TEST(WeightedQuantileGap, is_that_of_repeated_points) {
  test::Source source(6);
  for (const auto& level : test::levels()) {
    const LevelWeights weights = parse_level_weights(level.text);
    for (int repeat = 0; repeat < 4; ++repeat) {
      // Sixteenths for x, eighths or none for y: every cumulative weight is exact.
      const auto weighted = [&](std::size_t units, std::size_t n, std::vector<double>& values,
                                std::vector<double>& cumulative, std::vector<double>& expanded) {
        values = sorted_normals(n, source);
        std::vector<std::size_t> times(n, 1);
        for (std::size_t u = n; u < units; ++u) ++times[source.below(n)];
        double total = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          total += static_cast<double>(times[i]) / static_cast<double>(units);
          cumulative.push_back(total);
          expanded.insert(expanded.end(), times[i], values[i]);
        }
      };
      std::vector<double> x, cx, ex, y, cy, ey;
      weighted(16, 5, x, cx, ex);
      weighted(8, 4, y, cy, ey);
      const bool y_weighted = repeat % 2 == 0;
      const QuantileFunction qy{y, y_weighted ? std::span<const double>(cy) : std::span<const double>{}};
      for (const double p : kPowers) {
        const Real expected = test::quantile_gap(ex, y_weighted ? ey : y, level.cdf, p);
        const Real bound = gap_bound(expected, largest_gap(x, y), 20, level.density_bound(16), p);
        EXPECT_TRUE(within(quantile_gap({x, cx}, qy, weights, Power{p}), expected, bound)) << level.text << " " << p;
        EXPECT_TRUE(within(quantile_gap(qy, {x, cx}, weights, Power{p}), expected, bound)) << level.text << " " << p;
      }
    }
  }
}

// 0.1 + 0.2 is not 0.3 for doubles. The sliver of level between them must not pair 2 with 1: p = infinity would see it.
TEST(WeightedQuantileGap, takes_levels_that_differ_by_rounding_for_one) {
  const std::vector<double> x = {1, 2}, y = {1, 1, 2};
  const std::vector<double> cx = {0.3, 1.0}, cy = {0.1, 0.1 + 0.2, 1.0};
  ASSERT_NE(cx[0], cy[1]);
  for (const double p : kPowers) {
    EXPECT_EQ(quantile_gap({x, cx}, {y, cy}, {}, Power{p}), 0.0) << p;
    EXPECT_EQ(quantile_gap({y, cy}, {x, cx}, {}, Power{p}), 0.0) << p;
  }
}

// But a point of tiny weight is a point: p = infinity asks for the largest gap that has any mass.
TEST(WeightedQuantileGap, does_not_forget_points_of_tiny_weight) {
  const std::vector<double> x = {0, 5}, y = {0};
  EXPECT_EQ(quantile_gap({x, std::vector<double>{1.0 - 0x1p-53, 1.0}}, {y, {}}, {}, Power{kInfinity}), 5.0);
  const std::vector<double> low = {-5, 0};
  EXPECT_EQ(quantile_gap({low, std::vector<double>{1e-200, 1.0}}, {y, {}}, {}, Power{kInfinity}), 5.0);
}

// More pieces than go through the vector loop at once.
TEST(WeightedQuantileGap, agrees_with_the_unweighted_one_on_long_lists) {
  test::Source source(7);
  const auto x = sorted_normals(1000, source);
  const auto y = sorted_normals(1500, source);
  std::vector<double> cumulative(1000);
  for (std::size_t i = 0; i < 1000; ++i) cumulative[i] = static_cast<double>(i + 1) / 1000.0;
  for (const double p : kPowers) {
    const double plain = quantile_gap(x, y, LevelGrid(1000, 1500, {}), Power{p});
    const Real bound = 2 * gap_bound(plain, largest_gap(x, y), 2500, 1, p);
    EXPECT_TRUE(within(quantile_gap({x, cumulative}, {y, {}}, {}, Power{p}), plain, bound)) << p;
  }
}

}  // namespace
}  // namespace kqd
