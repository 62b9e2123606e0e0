#include "simd/kernel_maps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/rounding.hpp"
#include "support/source.hpp"
#include "support/targets.hpp"

namespace kqd::simd {
namespace {

using test::kUnit;
using test::Real;
using test::roundings;
using test::within;

// Lengths around the width w of a vector (0, 1, w-1, w, w+1, 4w+3) for every w up to 8: all of 0..40.
constexpr std::size_t kLongest = 40;

// The documented errors of Highway's functions, in roundings (one ulp is at most two of them).
constexpr double kExpError = 2;    // ULP = 1
constexpr double kLogError = 8;    // ULP = 4
constexpr double kLog1pError = 4;  // ULP = 2

// Exponentials below e^-708 are set to 0 and not kept as denormals; a Matern factor multiplies what that loses.
constexpr Real kVanishing = 3.4e-308L;

// The plain version of a map, and how many roundings its vector version may be off, relatively.
struct Specification {
  std::string name;
  Map map;
  double a;
  double b;
  std::function<Real(Real v)> value;
  std::function<double(Real v)> roundings;
  Real vanishing = kVanishing;
};

// exp(-t): the relative error of exp is the absolute one of its argument, t times the roundings of t.
Specification exponential(double a) {
  return {"exponential",
          Map::exponential,
          a,
          0,
          [=](Real v) { return std::exp(-a * v); },
          [=](Real v) { return static_cast<double>(a * v) + kExpError; }};
}

// t = a sqrt v has two roundings.
Specification exponential_root(double a) {
  return {"exponential_root",
          Map::exponential_root,
          a,
          0,
          [=](Real v) { return std::exp(-a * std::sqrt(v)); },
          [=](Real v) { return static_cast<double>(2 * a * std::sqrt(v)) + kExpError; }};
}

// d log[(1 + t) e^-t] = -t/(1 + t) dt, so two roundings of t count at most 2 t; then 1 + t, exp and their product.
Specification matern32(double a) {
  return {"matern32",
          Map::matern32,
          a,
          0,
          [=](Real v) {
            const Real t = a * std::sqrt(v);
            return (1 + t) * std::exp(-t);
          },
          [=](Real v) { return static_cast<double>(2 * a * std::sqrt(v)) + kExpError + 2; },
          (1 + 708) * kVanishing};
}

// d log[(1 + t + t^2/3) e^-t] = -(t + t^2)/(3 + 3 t + t^2) dt is below dt; the factor takes four operations.
Specification matern52(double a) {
  return {"matern52",
          Map::matern52,
          a,
          0,
          [=](Real v) {
            const Real t = a * std::sqrt(v);
            return (1 + t + t * t / 3) * std::exp(-t);
          },
          [=](Real v) { return static_cast<double>(2 * a * std::sqrt(v)) + kExpError + 5; },
          (1 + 708 + 708 * 708 / 3.0) * kVanishing};
}

// 1 + a v has two roundings at most, a root halves them and adds one, the division adds one. In general the exponent
// E = b log1p(a v) has one rounding from a v (log1p does not enlarge it), those of log1p and one of the product.
Specification inverse_power(double a, double b) {
  const bool direct = b == 0.5 || b == 1.0;
  return {"inverse_power",
          Map::inverse_power,
          a,
          b,
          [=](Real v) { return std::exp(-b * std::log1p(a * v)); },
          [=](Real v) {
            if (direct) return 3.0;
            return (kLog1pError + 2) * static_cast<double>(b * std::log1p(a * v)) + kExpError;
          }};
}

// b factors with one rounding each from the addition, and b - 1 products.
Specification integer_power(double a, int b) {
  return {"integer_power",
          Map::integer_power,
          a,
          static_cast<double>(b),
          [=](Real v) {
            Real result = 1;
            for (int i = 0; i < b; ++i) result *= v + a;
            return result;
          },
          [=](Real) { return 2.0 * b; }};
}

Specification distance_power(double b) {
  return {"distance_power",
          Map::distance_power,
          0,
          b,
          [=](Real v) { return v == 0 ? Real{0} : std::pow(v, Real{b} / 2); },
          [=](Real v) {
            if (b == 1.0 || b == 2.0 || v == 0) return 1.0;
            return (kLogError + 1) * std::abs(static_cast<double>(b / 2 * std::log(v))) + kExpError;
          }};
}

std::vector<Specification> specifications() {
  return {exponential(1.0),        exponential(0.123),
          exponential(1e-8),       exponential_root(1.0),
          exponential_root(3.7),   matern32(1.0),
          matern32(0.02),          matern52(1.0),
          matern52(5.5),           inverse_power(1.0, 0.5),
          inverse_power(0.3, 1),   inverse_power(0.3, 0.77),
          inverse_power(1e-4, 50), inverse_power(2.0, 3.25),
          integer_power(0, 1),     integer_power(1.0, 3),
          integer_power(0.25, 7),  integer_power(0, 64),
          distance_power(1.0),     distance_power(2.0),
          distance_power(0.5),     distance_power(1.9)};
}

// Distances as they come: zero, tiny, ordinary over many orders of magnitude, and large.
std::vector<double> arguments(std::size_t n, test::Source& source, bool signs) {
  std::vector<double> values(n);
  for (double& v : values) {
    v = source.below(8) == 0 ? 0.0 : std::pow(10.0, source.uniform(-6, signs ? 2 : 5));
    if (signs && source.below(2) == 0) v = -v;
  }
  return values;
}

TEST(ApplyMap, agrees_with_the_plain_formula_on_every_target_length_and_alignment) {
  for (const auto& spec : specifications()) {
    SCOPED_TRACE(spec.name + " " + std::to_string(spec.a) + " " + std::to_string(spec.b));
    test::for_each_target([&](std::int64_t) {
      test::Source source(17);
      for (std::size_t length = 0; length <= kLongest; ++length) {
        for (const std::size_t offset : {0UL, 1UL, 3UL}) {
          const auto given = arguments(length, source, spec.map == Map::integer_power);
          std::vector<double> buffer(offset + length + 1, -7.0);
          std::ranges::copy(given, buffer.begin() + static_cast<std::ptrdiff_t>(offset));
          apply_map(spec.map, spec.a, spec.b, std::span(buffer).subspan(offset, length));
          for (std::size_t i = 0; i < length; ++i) {
            const Real expected = spec.value(given[i]);
            const Real bound = roundings(spec.roundings(given[i])) * std::abs(expected) + spec.vanishing;
            ASSERT_TRUE(within(buffer[offset + i], expected, bound)) << "at " << given[i];
          }
          for (std::size_t i = 0; i < offset; ++i) ASSERT_EQ(buffer[i], -7.0);
          ASSERT_EQ(buffer.back(), -7.0) << "wrote past the end";
        }
      }
    });
  }
}

TEST(ApplyMap, of_distance_zero_is_one_or_zero_exactly) {
  test::for_each_target([](std::int64_t) {
    for (const auto& spec : specifications()) {
      if (spec.map == Map::integer_power) continue;
      std::vector<double> zeros(11, 0.0);
      apply_map(spec.map, spec.a, spec.b, zeros);
      for (const double v : zeros) EXPECT_EQ(v, spec.map == Map::distance_power ? 0.0 : 1.0) << spec.name;
    }
  });
}

// A bounded kernel is 0 between points that are infinitely far apart for doubles: r^2 overflows from r = 1.4e154 on.
TEST(ApplyMap, of_bounded_kernels_vanishes_at_any_large_distance) {
  test::for_each_target([](std::int64_t) {
    for (const Map map : {Map::exponential, Map::exponential_root, Map::matern32, Map::matern52, Map::inverse_power}) {
      for (const double b : {0.5, 1.0, 2.5}) {
        for (const double distance : {1e305, std::numeric_limits<double>::max(), HUGE_VAL}) {
          for (const double a : {1e200, 1e10, 1.0}) {
            std::vector<double> values(5, distance);
            apply_map(map, a, b, values);
            for (const double v : values) {
              EXPECT_TRUE(v >= 0.0 && v < 1e-150) << v << " from map " << static_cast<int>(map) << ", a " << a;
            }
          }
        }
      }
    }
  });
}

// Columns of z, x, and what both give by the plain loop.
struct Pairs {
  Pairs(std::size_t dim, std::size_t count, std::size_t stride, double location, test::Source& source)
      : x(dim), z(dim * stride), z_stride(stride), out(count) {
    for (double& v : x) v = location + source.normal();
    for (double& v : z) v = location + source.normal();
  }
  Real total(std::size_t j, const std::function<Real(Real)>& term) const {
    Real sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += term(Real{x[k]} - z[k * z_stride + j]);
    return sum;
  }

  void measure(void (*distances)(MatrixView<const double>, MatrixView<const double>, MatrixView<double>)) {
    distances({x.data(), 1, x.size()}, {z.data(), x.size(), out.size(), z_stride}, {out.data(), 1, out.size()});
  }

  std::vector<double> x;
  std::vector<double> z;
  std::size_t z_stride;
  std::vector<double> out;
};

// A difference is rounded once, its square counts that twice and adds one, the sum of d terms adds d - 1; without FMA
// each term has one more. All terms are positive, so this holds relatively, at any distance from the origin.
TEST(SquaredDistances, agree_with_the_plain_sum_on_every_target) {
  test::for_each_target([](std::int64_t) {
    test::Source source(3);
    for (const std::size_t dim : {1UL, 2UL, 7UL, 32UL}) {
      for (const double location : {0.0, 1e8}) {
        for (std::size_t count = 0; count <= kLongest; ++count) {
          Pairs pairs(dim, count, count + count % 3, location, source);
          pairs.measure(squared_distances);
          for (std::size_t j = 0; j < count; ++j) {
            const Real expected = pairs.total(j, [](Real d) { return d * d; });
            const double n = static_cast<double>(dim) + 3;
            ASSERT_TRUE(within(pairs.out[j], expected, roundings(n) * expected)) << dim << " " << count;
          }
        }
      }
    }
  });
}

TEST(L1Distances, agree_with_the_plain_sum_on_every_target) {
  test::for_each_target([](std::int64_t) {
    test::Source source(4);
    for (const std::size_t dim : {1UL, 3UL, 40UL}) {
      for (const double location : {0.0, -1e8}) {
        for (std::size_t count = 0; count <= kLongest; ++count) {
          Pairs pairs(dim, count, count + 1, location, source);
          pairs.measure(l1_distances);
          for (std::size_t j = 0; j < count; ++j) {
            const Real expected = pairs.total(j, [](Real d) { return std::abs(d); });
            ASSERT_TRUE(within(pairs.out[j], expected, roundings(static_cast<double>(dim)) * expected));
          }
        }
      }
    }
  });
}

TEST(Distances, between_equal_points_are_zero_exactly) {
  test::for_each_target([](std::int64_t) {
    const std::vector<double> x = {0.1, -1e300, 3e-320};
    std::vector<double> z(3 * 9);
    for (std::size_t k = 0; k < 3; ++k) std::fill_n(z.begin() + static_cast<std::ptrdiff_t>(9 * k), 9, x[k]);
    std::vector<double> out(9);
    squared_distances({x.data(), 1, 3}, {z.data(), 3, 9}, {out.data(), 1, 9});
    for (const double v : out) EXPECT_EQ(v, 0.0);
    l1_distances({x.data(), 1, 3}, {z.data(), 3, 9}, {out.data(), 1, 9});
    for (const double v : out) EXPECT_EQ(v, 0.0);
  });
}

TEST(Center, subtracts_exactly_and_returns_the_squared_length) {
  test::for_each_target([](std::int64_t) {
    test::Source source(5);
    for (std::size_t n = 0; n <= kLongest; ++n) {
      std::vector<double> x(n), origin(n), out(n + 1, -7.0);
      for (double& v : x) v = 1e6 + source.normal();
      for (double& v : origin) v = 1e6 + source.normal();
      const double length = center(x, origin, std::span(out).first(n));
      Real expected = 0;
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(out[i], x[i] - origin[i]);
        expected += Real{out[i]} * out[i];
      }
      ASSERT_EQ(out[n], -7.0);
      ASSERT_TRUE(within(length, expected, roundings(static_cast<double>(n) + 1) * expected)) << n;
    }
  });
}

// |x|^2 + |z|^2 is rounded once, twice the inner product is exact, their difference is rounded once.
TEST(DistancesFromDots, agree_with_the_plain_formula_and_report_the_smallest_ratio) {
  test::for_each_target([](std::int64_t) {
    test::Source source(6);
    for (std::size_t n = 0; n <= kLongest; ++n) {
      const double x_norm = source.uniform(0.0, 4.0);
      std::vector<double> z_norms(n), dots(n + 1, -7.0);
      for (double& v : z_norms) v = source.uniform(0.0, 4.0);
      for (std::size_t j = 0; j < n; ++j) dots[j] = source.uniform(-1.0, 1.0) * std::sqrt(x_norm * z_norms[j]);
      const std::vector<double> given = dots;
      const double smallest = distances_from_dots(x_norm, z_norms, std::span(dots).first(n));
      double expected_smallest = 1.0;
      for (std::size_t j = 0; j < n; ++j) {
        const Real total = Real{x_norm} + z_norms[j];
        const Real expected = total - 2 * Real{given[j]};
        ASSERT_TRUE(within(dots[j], expected, kUnit * total + roundings(1) * expected));
        expected_smallest = std::min(expected_smallest, dots[j] / (x_norm + z_norms[j]));
      }
      ASSERT_EQ(smallest, expected_smallest) << n;
      ASSERT_EQ(dots[n], -7.0);
    }
  });
}

TEST(DistancesFromDots, never_falls_below_zero_and_calls_coinciding_points_cancelled) {
  test::for_each_target([](std::int64_t) {
    for (std::size_t n = 1; n <= kLongest; ++n) {
      const std::vector<double> z_norms(n, 1.0);
      std::vector<double> dots(n, -1.0);  // opposite points: distance 4, ratio 2
      EXPECT_EQ(distances_from_dots(1.0, z_norms, dots), 1.0);
      dots.assign(n, -1.0);
      dots.back() = 1.0 + 1e-15;  // the same point, with rounding
      EXPECT_EQ(distances_from_dots(1.0, z_norms, dots), 0.0);
      EXPECT_EQ(dots.back(), 0.0);
      const std::vector<double> origin(n, 0.0);
      dots.assign(n, 0.0);  // both points in the origin
      EXPECT_EQ(distances_from_dots(0.0, origin, dots), 0.0);
    }
  });
}

}  // namespace
}  // namespace kqd::simd
