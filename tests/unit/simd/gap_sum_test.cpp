#include "simd/gap_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/rounding.hpp"
#include "support/source.hpp"
#include "support/targets.hpp"

namespace kqd::simd {
namespace {

using test::Real;
using test::roundings;
using test::within;

struct Pieces {
  std::vector<double> x, y, mass;

  [[nodiscard]] std::span<const double> xs(std::size_t offset) const { return std::span(x).subspan(offset); }
  [[nodiscard]] std::span<const double> ys(std::size_t offset) const { return std::span(y).subspan(offset); }
  [[nodiscard]] std::span<const double> masses(std::size_t offset) const {
    return mass.empty() ? std::span<const double>{} : std::span(mass).subspan(offset);
  }
};

Pieces random_pieces(std::size_t n, bool with_mass, test::Source& source) {
  Pieces pieces;
  for (std::size_t j = 0; j < n; ++j) {
    pieces.x.push_back(source.normal());
    pieces.y.push_back(source.below(6) == 0 ? pieces.x.back() : source.normal());
    if (with_mass) pieces.mass.push_back(source.below(5) == 0 ? 0.0 : source.uniform());
  }
  return pieces;
}

// The gap as specified.
Real plain_gap(Real x, Real y, const GapRule& rule) {
  const Real difference = x - y;
  if (!rule.centered) return std::abs(difference);
  return std::sqrt(std::max(Real{0}, difference * difference + rule.shift));
}

struct Sum {
  Real value = 0;
  Real largest_exponent = 0;  // |p log g| over the terms
};

Sum plain_sum(std::span<const double> x, std::span<const double> y, std::span<const double> mass, const GapRule& rule) {
  Sum sum;
  for (std::size_t j = 0; j < x.size(); ++j) {
    Real g = plain_gap(x[j], y[j], rule);
    if (rule.scale > 0) g = std::min(g / rule.scale, Real{1});
    if (g == 0) continue;
    sum.value += (mass.empty() ? Real{1} : Real{mass[j]}) * std::pow(g, Real{rule.power});
    sum.largest_exponent = std::max(sum.largest_exponent, std::abs(rule.power * std::log(g)));
  }
  return sum;
}

// Per term: a gap is off by one rounding (by three when it is the root of a sum of positive numbers), the scale adds
// one, a power p multiplies them by p and adds p - 1 products, or for a power that is not an integer one product, a
// logarithm of eight and an exponential of two roundings, where errors of the exponent count as often as it is large.
// Then the mass, the sum of 512/lanes terms in a block, three steps over the lanes and two of the compensated total.
double bound(const GapRule& rule, Real largest_exponent, std::size_t lanes) {
  const double p = rule.power;
  const double of_gap = (rule.centered ? 3.0 : 1.0) + (rule.scale > 0 ? 1.0 : 0.0);
  const bool whole = p == std::floor(p) && p <= 64.0;
  const double of_power = whole ? p - 1.0 : 2.0 + 9.0 * static_cast<double>(largest_exponent);
  return roundings(p * of_gap + of_power + 1.0 + 512.0 / static_cast<double>(lanes) + 3.0 + 2.0);
}

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> list;
  for (std::size_t n = 0; n <= 40; ++n) list.push_back(n);
  for (const std::size_t n : {511UL, 512UL, 513UL, 515UL, 1024UL, 1500UL}) list.push_back(n);
  return list;
}

TEST(GapSum, agrees_with_the_plain_sum_on_every_target_length_and_alignment) {
  test::for_each_target([](std::int64_t target) {
    test::Source source(1);
    for (const double power : {1.0, 1.5, 2.0, 3.0, 7.0, 7.25, 64.0, 64.5, 65.0}) {
      for (const bool with_mass : {false, true}) {
        for (const std::size_t n : lengths()) {
          const std::size_t offset = source.below(4);
          const Pieces pieces = random_pieces(n + offset, with_mass, source);
          const GapRule rule{.power = power, .scale = source.below(2) == 0 ? 0.0 : 1.7};
          const Sum expected = plain_sum(pieces.xs(offset), pieces.ys(offset), pieces.masses(offset), rule);
          const double sum = gap_sum(pieces.xs(offset), pieces.ys(offset), pieces.masses(offset), rule);
          const double relative = bound(rule, expected.largest_exponent, test::lanes_of(target));
          ASSERT_TRUE(within(sum, expected.value, relative * expected.value)) << "p " << power << ", length " << n;
        }
      }
    }
  });
}

// g^7.5 = 1e1500 has no double. The sum is infinite instead of the value of a garbled exponent.
TEST(GapSum, of_a_power_beyond_the_range_of_doubles_is_not_finite) {
  test::for_each_target([](std::int64_t) {
    const std::vector<double> zeros(9, 0.0);
    for (const double gap : {1e95, 1e120, 1e200, 1e300, 1.7e308}) {
      for (const double power : {3.5, 5.5, 7.0, 7.5, 64.5}) {
        const double sum = gap_sum(zeros, std::vector<double>(9, gap), {}, {.power = power});
        EXPECT_FALSE(std::isfinite(sum)) << gap << " " << power << ": " << sum;
      }
    }
    EXPECT_TRUE(std::isfinite(gap_sum(zeros, std::vector<double>(9, 1e85), {}, {.power = 3.5})));
  });
}

TEST(GapSum, with_a_scale_holds_pairs_without_mass_back) {
  test::for_each_target([](std::int64_t) {
    const std::vector<double> x = {0, 0, 0, 0, 0};
    const std::vector<double> y = {1, 2, 1e200, 1e300, 2};
    const std::vector<double> mass = {1, 1, 0, 0, 1};
    EXPECT_EQ(gap_sum(x, y, mass, {.power = 3.0, .scale = 2.0}), 0.125 + 1.0 + 1.0);
  });
}

TEST(GapSum, of_the_centered_form_agrees_with_the_plain_sum) {
  test::for_each_target([](std::int64_t target) {
    test::Source source(2);
    for (const double power : {1.0, 1.5, 2.0, 3.0, 10.0}) {
      for (const std::size_t n : lengths()) {
        const Pieces pieces = random_pieces(n, true, source);
        const GapRule rule{.power = power, .shift = source.uniform(), .centered = true};
        const Sum expected = plain_sum(pieces.x, pieces.y, pieces.mass, rule);
        const double relative = bound(rule, expected.largest_exponent, test::lanes_of(target));
        ASSERT_TRUE(within(gap_sum(pieces.x, pieces.y, pieces.mass, rule), expected.value, relative * expected.value));
      }
    }
  });
}

// Whole numbers make (x - y)^2 + shift exact, so that a negative shift loses no digit; below zero it counts as zero.
TEST(GapSum, of_the_centered_form_with_a_negative_shift_is_clamped_at_zero) {
  test::for_each_target([](std::int64_t) {
    const std::vector<double> x = {0, 0, 0, 0, 0, 0, 0};
    const std::vector<double> y = {0, 1, 2, 3, 4, 5, 6};
    const GapRule squares{.power = 2.0, .shift = -9.0, .centered = true};
    EXPECT_NEAR(gap_sum(x, y, {}, squares), 7.0 + 16.0 + 27.0, roundings(20) * 50);
    EXPECT_NEAR(largest_gap(x, y, {}, squares), std::sqrt(27.0), roundings(1) * 6);
  });
}

// Whole numbers below 2^53 add up exactly in any order, so every target gives the same bits.
TEST(GapSum, of_whole_numbers_is_exact_on_every_target) {
  test::Source source(3);
  for (const std::size_t n : lengths()) {
    std::vector<double> x(n), y(n), mass(n);
    double of_gaps = 0.0, of_squares = 0.0, of_cubes = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      x[j] = static_cast<double>(source.below(200));
      y[j] = static_cast<double>(source.below(200));
      mass[j] = static_cast<double>(source.below(4));
      const double g = std::abs(x[j] - y[j]);
      of_gaps += mass[j] * g;
      of_squares += mass[j] * g * g;
      of_cubes += mass[j] * g * g * g;
    }
    test::for_each_target([&](std::int64_t) {
      EXPECT_EQ(gap_sum(x, y, mass, {.power = 1.0}), of_gaps) << n;
      EXPECT_EQ(gap_sum(x, y, mass, {.power = 2.0}), of_squares) << n;
      EXPECT_EQ(gap_sum(x, y, mass, {.power = 3.0}), of_cubes) << n;
    });
  }
}

// One rounding of a difference keeps the order, so the largest gap is the same on every target.
TEST(LargestGap, is_the_largest_difference_that_has_mass) {
  test::Source source(4);
  for (const std::size_t n : lengths()) {
    for (const bool with_mass : {false, true}) {
      const Pieces pieces = random_pieces(n, with_mass, source);
      double expected = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        if (!with_mass || pieces.mass[j] > 0.0) expected = std::max(expected, std::abs(pieces.x[j] - pieces.y[j]));
      }
      test::for_each_target(
          [&](std::int64_t) { EXPECT_EQ(largest_gap(pieces.x, pieces.y, pieces.mass, {}), expected) << n; });
    }
  }
}

TEST(LargestGap, of_the_centered_form_does_not_see_its_own_padding) {
  test::for_each_target([](std::int64_t) {
    for (std::size_t n = 1; n <= 40; ++n) {
      const std::vector<double> x(n, 1.0);
      const GapRule rule{.power = 2.0, .shift = 4.0, .centered = true};
      EXPECT_EQ(largest_gap(x, x, {}, rule), 2.0);
      EXPECT_EQ(largest_gap(x, x, std::vector<double>(n, 0.0), rule), 0.0);
      EXPECT_EQ(gap_sum(x, x, {}, rule), 4.0 * static_cast<double>(n));
    }
  });
}

}  // namespace
}  // namespace kqd::simd
