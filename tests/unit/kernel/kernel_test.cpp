#include "kqd/kernel/kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::expect_error;
using test::kUnit;
using test::Real;
using test::roundings;
using test::spread;
using test::within;

using Point = std::span<const double>;

// Kernels of squared distances take differences up to 32 columns and inner products of centred points above.
constexpr std::size_t kDirectDim = 32;

struct Judged {
  Real value;
  Real error;  // what the library may be off
};

// One pair of points: what rounding does to its squared distance.
struct Pair {
  Point x;
  Point z;
  std::span<const Real> center;  // the mean of all z, which the library centres with

  [[nodiscard]] double dim() const { return static_cast<double>(x.size()); }

  // By differences: each is rounded once, squared and added, d + 3 roundings of a sum of positive terms. By products of
  // centred points, with S = |x - c|^2 + |z - c|^2: the three sums are off by 2 d + 6 roundings of S together; where
  // the distance is below 1e-6 S it is computed again from the differences of the centred points. Centring rounds every
  // coordinate once, which moves r^2 by 2 r u sqrt(2 S).
  [[nodiscard]] Judged squared_distance() const {
    const Real r2 = test::squared_distance(x, z);
    const Real direct = roundings(dim() + 3) * r2;
    if (x.size() <= kDirectDim) return {r2, direct};
    Real size = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      size += (x[k] - center[k]) * (x[k] - center[k]) + (z[k] - center[k]) * (z[k] - center[k]);
    }
    const Real centring = 2 * std::sqrt(r2) * kUnit * std::sqrt(2 * size) + 2 * kUnit * kUnit * size;
    const bool recomputed = r2 < 0.99e-6L * size;
    return {r2, centring + (recomputed ? direct : roundings(2 * dim() + 6) * size)};
  }
};

struct Family {
  std::string text;
  std::function<Judged(const Pair&)> judge;
};

// k = f(r^2) with f falling: the error of r^2 carried through f, and the roundings of f itself, given by the size of
// its exponent. Parameters such as 1/(2 s^2) count as often as they were rounded.
Family radial(std::string text, const std::function<Real(Real)>& f, const std::function<Real(Real)>& of_formula) {
  return {std::move(text), [=](const Pair& pair) {
            const auto [r2, error] = pair.squared_distance();
            const auto clamped = [&](Real v) { return f(std::max<Real>(0, v)); };
            const Real value = f(r2);
            return Judged{value, spread(clamped, r2, error) + of_formula(r2) * kUnit * value + 6e-303L};
          }};
}

Family gaussian(double s) {
  const auto e = [=](Real r2) { return r2 / (2 * Real{s} * s); };
  return radial(
      "gaussian@" + std::to_string(s), [=](Real r2) { return std::exp(-e(r2)); },
      [=](Real r2) { return 3 * e(r2) + 3; });
}

Family matern12(double s) {
  const auto e = [=](Real r2) { return std::sqrt(r2) / s; };
  return radial(
      "matern12@" + std::to_string(s), [=](Real r2) { return std::exp(-e(r2)); },
      [=](Real r2) { return 3 * e(r2) + 3; });
}

Family matern32(double s) {
  const auto t = [=](Real r2) { return std::sqrt(Real{3} * r2) / s; };
  return radial(
      "matern32@" + std::to_string(s), [=](Real r2) { return (1 + t(r2)) * std::exp(-t(r2)); },
      [=](Real r2) { return 4 * t(r2) + 5; });
}

Family matern52(double s) {
  const auto t = [=](Real r2) { return std::sqrt(Real{5} * r2) / s; };
  return radial(
      "matern52@" + std::to_string(s), [=](Real r2) { return (1 + t(r2) + t(r2) * t(r2) / 3) * std::exp(-t(r2)); },
      [=](Real r2) { return 4 * t(r2) + 8; });
}

Family rational_quadratic(double alpha, double s) {
  const auto w = [=](Real r2) { return r2 / (2 * Real{alpha} * s * s); };
  return radial(
      "rq:" + std::to_string(alpha) + "@" + std::to_string(s),
      [=](Real r2) { return std::pow(1 + w(r2), -Real{alpha}); },
      [=](Real r2) { return 5 * alpha + 6 * alpha * std::log1p(w(r2)) + 4; });
}

Family inverse_multiquadric(double beta, double s) {
  const auto w = [=](Real r2) { return r2 / (Real{s} * s); };
  return radial(
      "imq:" + std::to_string(beta) + "@" + std::to_string(s),
      [=](Real r2) { return std::pow(1 + w(r2), -Real{beta}); },
      [=](Real r2) { return 5 * beta + 6 * beta * std::log1p(w(r2)) + 4; });
}

Family laplace(double s) {
  return {"laplace@" + std::to_string(s), [=](const Pair& pair) {
            const Real e = test::l1_distance(pair.x, pair.z) / s;
            const Real value = std::exp(-e);
            return Judged{value, value * ((pair.dim() + 2) * e + 3) * kUnit + 6e-303L};
          }};
}

// (x.z + c)^q: the inner product is off by d roundings of sum |x_k z_k|; adding c and the power by 2 q more.
Judged judge_polynomial(const Pair& pair, int degree, double offset) {
  const Real error = roundings(pair.dim()) * test::absolute_dot(pair.x, pair.z);
  const Real v = test::dot(pair.x, pair.z) + offset;
  const Real value = std::pow(v, Real(degree));
  const Real largest = std::pow(std::abs(v) + error, Real(degree));
  return {value, degree * std::pow(std::abs(v) + error, Real(degree - 1)) * error + 2 * degree * kUnit * largest};
}

Family linear(double offset) {
  return {"linear:" + std::to_string(offset), [=](const Pair& pair) { return judge_polynomial(pair, 1, offset); }};
}

Family polynomial(int degree, double offset) {
  return {"polynomial:" + std::to_string(degree) + ":" + std::to_string(offset),
          [=](const Pair& pair) { return judge_polynomial(pair, degree, offset); }};
}

// ((x.z + c) / (|x| |z|))^q with |x| = sqrt(x.x + c): each length is off by (d + 1)/2 + 1 roundings, their product and
// the quotient by one each, all of it q times; the power adds q - 1.
Family normalised_polynomial(int degree, double offset) {
  return {"normalised-polynomial:" + std::to_string(degree) + ":" + std::to_string(offset), [=](const Pair& pair) {
            const auto [value, error] = judge_polynomial(pair, degree, offset);
            const Real lengths = std::sqrt(std::pow((test::dot(pair.x, pair.x) + offset), Real(degree)) *
                                           std::pow((test::dot(pair.z, pair.z) + offset), Real(degree)));
            const double n = degree * (pair.dim() + 6);
            return Judged{value / lengths, error / lengths + roundings(n) * std::abs(value) / lengths};
          }};
}

// (|x - o|^b + |z - o|^b - r^b)/2 at the origin o = 0.
Family energy(double beta) {
  return {"energy:" + std::to_string(beta), [=](const Pair& pair) {
            const auto power = [=](Real squared) { return std::pow(std::max<Real>(0, squared), Real{beta} / 2); };
            const Real x = power(test::dot(pair.x, pair.x));
            const Real z = power(test::dot(pair.z, pair.z));
            const auto [r2, r2_error] = pair.squared_distance();
            const Real r = power(r2);
            const Real exponent = r2 > 0 ? std::abs(beta / 2 * std::log(r2)) : 0;
            const Real r_error = spread(power, r2, r2_error) + (9 * exponent + 3) * kUnit * r;
            const Real xz_error = roundings(beta / 2 * (pair.dim() + 2) + 2) * (x + z);
            return Judged{(x + z - r) / 2, (xz_error + r_error) / 2 + 2 * kUnit * (x + z + r)};
          }};
}

std::vector<Family> families() {
  return {gaussian(1.5),
          gaussian(0.25),
          laplace(3.0),
          matern12(2.0),
          matern32(2.0),
          matern52(1.25),
          rational_quadratic(1.0, 2.0),
          rational_quadratic(0.5, 1.0),
          rational_quadratic(2.75, 0.5),
          rational_quadratic(40.0, 3.0),
          inverse_multiquadric(0.5, 2.0),
          inverse_multiquadric(1.0, 1.0),
          inverse_multiquadric(0.3, 4.0),
          linear(0.0),
          linear(1.5),
          polynomial(1, 0.0),
          polynomial(2, 1.0),
          polynomial(3, 1.0),
          polynomial(7, 0.5),
          normalised_polynomial(3, 1.0),
          normalised_polynomial(2, 0.25),
          energy(1.0),
          energy(0.5),
          energy(1.75),
          energy(2.0)};
}

// Any kernel that text can spell, with the energy kernel's origin at 0.
Kernel make_kernel(const std::string& text, std::size_t dim) {
  KernelSpec spec = parse_kernel(text);
  if (spec.family == KernelFamily::energy) spec.origin.assign(dim, 0.0);
  return Kernel(spec);
}

void expect_formula(const Family& family, MatrixView<const double> x, MatrixView<const double> z) {
  SCOPED_TRACE(family.text + ", " + std::to_string(x.cols()) + " columns");
  std::vector<Real> center(z.cols(), 0);
  for (std::size_t j = 0; j < z.rows(); ++j) {
    for (std::size_t k = 0; k < z.cols(); ++k) center[k] += Real{z(j, k)} / static_cast<Real>(z.rows());
  }
  Matrix<double> values(x.rows(), z.rows());
  make_kernel(family.text, x.cols()).evaluate(x, z, values);
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < z.rows(); ++j) {
      const auto [expected, error] = family.judge({x.row(i), z.row(j), center});
      ASSERT_TRUE(within(values(i, j), expected, error)) << "row " << i << ", point " << j;
    }
  }
}

TEST(Kernel, every_family_agrees_with_its_formula_below_and_above_the_switch_to_products) {
  for (const std::size_t dim : {1UL, 2UL, 5UL, 31UL, 32UL, 33UL, 64UL}) {
    test::Source source(dim);
    const Matrix<double> x = test::normal_matrix({40, dim}, source);
    const Matrix<double> z = test::normal_matrix({13, dim}, source);
    for (const auto& family : families()) expect_formula(family, x, z);
  }
}

TEST(Kernel, blocks_of_rows_and_of_columns_change_nothing) {
  test::Source source(2);
  for (const auto& family : {gaussian(20.0), laplace(500.0), polynomial(2, 1.0), energy(1.0), matern32(20.0)}) {
    expect_formula(family, test::normal_matrix({300, 3}, source), test::normal_matrix({2, 3}, source));
    expect_formula(family, test::normal_matrix({300, 40}, source), test::normal_matrix({3, 40}, source));
    expect_formula(family, test::normal_matrix({5, 1100}, source), test::normal_matrix({9, 1100}, source));
  }
}

// Doubles near 1e8 are 1.5e-8 apart: the differences are exact, and only a road that squares the points themselves
// would lose them.
TEST(Kernel, keeps_its_digits_far_from_the_origin) {
  for (const std::size_t dim : {2UL, 32UL, 33UL, 100UL}) {
    for (const double location : {1e8, -1e8}) {
      test::Source source(dim);
      const Matrix<double> x = test::normal_matrix({20, dim}, source, location);
      const Matrix<double> z = test::normal_matrix({7, dim}, source, location);
      for (const auto& family : families()) expect_formula(family, x, z);
    }
  }
}

TEST(Kernel, keeps_its_digits_between_nearly_equal_points) {
  for (const std::size_t dim : {3UL, 40UL}) {
    for (const double location : {0.0, 1e6}) {
      test::Source source(3);
      const Matrix<double> z = test::normal_matrix({9, dim}, source, location);
      for (const double apart : {0.0, 1e-9, 1e-6, 1e-4, 5e-4, 1e-3, 1.5e-3, 2e-3, 1e-2}) {
        Matrix<double> x = z;
        for (double& v : x.values()) v += apart * source.normal();
        for (const auto& family : families()) expect_formula(family, x, z);
      }
    }
  }
}

TEST(Kernel, of_a_point_with_itself_is_one_exactly_for_families_of_a_distance) {
  test::Source source(4);
  for (const std::size_t dim : {1UL, 5UL, 33UL, 600UL}) {
    const Matrix<double> z = test::normal_matrix({10, dim}, source, 1e5);
    for (const char* text :
         {"gaussian@1e-3", "laplace@0.1", "matern12@1", "matern32@1", "matern52@1", "rq:3@1", "imq@0.01"}) {
      Matrix<double> values(10, 10);
      Kernel(parse_kernel(text)).evaluate(z, z, values);
      for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(values(i, i), 1.0) << text << " " << dim;
    }
  }
}

TEST(Kernel, imq_is_the_rational_quadratic_of_another_scale) {
  test::Source source(5);
  const Matrix<double> x = test::normal_matrix({20, 4}, source);
  for (const double beta : {0.5, 1.0, 2.3}) {
    const double s = 1.7;
    Matrix<double> imq(20, 20), rq(20, 20);
    Kernel({.family = KernelFamily::imq, .bandwidth = s, .beta = beta}).evaluate(x, x, imq);
    Kernel({.family = KernelFamily::rq, .bandwidth = s / std::sqrt(2.0 * beta), .alpha = beta}).evaluate(x, x, rq);
    // Scales differ by up to four roundings, each counted beta times at most; both formulas by 6 E + 5 beta + 4 more,
    // where E = beta log(1 + r^2/s^2) is below 10.
    for (std::size_t i = 0; i < imq.values().size(); ++i) {
      EXPECT_NEAR(imq.values()[i], rq.values()[i], roundings(4 * beta + 2 * (60 + 5 * beta + 4)) * imq.values()[i]);
    }
  }
}

TEST(Kernel, laplace_in_one_dimension_is_matern12) {
  test::Source source(6);
  const Matrix<double> x = test::normal_matrix({30, 1}, source);
  Matrix<double> laplace_values(30, 30), matern(30, 30);
  Kernel(parse_kernel("laplace@0.5")).evaluate(x, x, laplace_values);
  Kernel(parse_kernel("matern12@0.5")).evaluate(x, x, matern);
  for (std::size_t i = 0; i < 900; ++i) {
    const double e = -std::log(laplace_values.values()[i]);
    EXPECT_NEAR(matern.values()[i], laplace_values.values()[i], roundings(8 * e + 8) * laplace_values.values()[i]);
  }
}

TEST(Kernel, sums_and_products_combine_their_parts) {
  test::Source source(7);
  const Matrix<double> x = test::normal_matrix({6, 3}, source);
  const Matrix<double> z = test::normal_matrix({5, 3}, source);
  const auto values_of = [&](const char* text) {
    Matrix<double> values(6, 5);
    Kernel(parse_kernel(text)).evaluate(x, z, values);
    return values;
  };
  const auto g = values_of("gaussian@1");
  const auto l = values_of("laplace@2");
  const auto p = values_of("polynomial:2:1");
  const auto check = [&](const char* text, auto formula) {
    const auto got = values_of(text);
    for (std::size_t i = 0; i < 30; ++i) {
      EXPECT_DOUBLE_EQ(got.values()[i], formula(g.values()[i], l.values()[i], p.values()[i])) << text;
    }
  };
  check("gaussian@1+laplace@2", [](double a, double b, double) { return a + b; });
  check("0.25 gaussian@1+3 laplace@2", [](double a, double b, double) { return 0.25 * a + 3 * b; });
  check("gaussian@1*polynomial:2:1", [](double a, double, double c) { return a * c; });
  check("0.5 gaussian@1*laplace@2+polynomial:2:1", [](double a, double b, double c) { return 0.5 * (a * b) + c; });
  check("2 laplace@2", [](double, double b, double) { return 2 * b; });
  check("0 gaussian@1+laplace@2", [](double, double b, double) { return b; });
}

TEST(Kernel, diagonal_is_the_formula_at_equal_points) {
  test::Source source(8);
  const Matrix<double> x = test::normal_matrix({12, 4}, source);
  const auto diagonal_of = [&](const std::string& text) {
    std::vector<double> values(12);
    make_kernel(text, 4).diagonal(x, values);
    return values;
  };
  for (const char* text : {"gaussian@0.3", "laplace@1", "matern12@1", "matern32@1", "matern52@1", "rq:2@1", "imq@1",
                           "normalised-polynomial:3:1"}) {
    for (const double v : diagonal_of(text)) EXPECT_EQ(v, 1.0) << text;
  }
  const auto linear_values = diagonal_of("linear:2");
  const auto cubes = diagonal_of("polynomial:3:1");
  const auto distances = diagonal_of("energy:1");
  const auto mixed = diagonal_of("0.5 gaussian@1*polynomial:3:1+linear:2");
  for (std::size_t i = 0; i < 12; ++i) {
    const Real squared = test::dot(x.row(i), x.row(i));
    EXPECT_TRUE(within(linear_values[i], squared + 2, roundings(6) * (squared + 2)));
    EXPECT_TRUE(within(cubes[i], std::pow(squared + 1, Real{3}), roundings(18) * std::pow(squared + 1, Real{3})));
    EXPECT_TRUE(within(distances[i], std::sqrt(squared), roundings(6) * std::sqrt(squared)));
    EXPECT_DOUBLE_EQ(mixed[i], 0.5 * cubes[i] + linear_values[i]);
  }
}

TEST(Kernel, views_with_strides_are_read_and_written_in_place) {
  test::Source source(9);
  const Matrix<double> wide = test::normal_matrix({12, 9}, source);
  const auto x = wide.view().row_range(1, 5).column_range(2, 3);
  const auto z = wide.view().row_range(6, 4).column_range(5, 3);
  const Matrix<double> x_copy(x), z_copy(z);
  for (const char* text : {"gaussian@1", "laplace@1", "polynomial:2:1", "gaussian@1+linear", "normalised-polynomial"}) {
    Matrix<double> expected(5, 4);
    Kernel(parse_kernel(text)).evaluate(x_copy, z_copy, expected);
    Matrix<double> frame(7, 8, -5.0);
    Kernel(parse_kernel(text)).evaluate(x, z, frame.view().row_range(1, 5).column_range(2, 4));
    for (std::size_t i = 0; i < 7; ++i) {
      for (std::size_t j = 0; j < 8; ++j) {
        const bool inside = i >= 1 && i < 6 && j >= 2 && j < 6;
        EXPECT_EQ(frame(i, j), inside ? expected(i - 1, j - 2) : -5.0) << text;
      }
    }
  }
}

TEST(Kernel, only_families_of_a_distance_are_shift_invariant) {
  for (const char* text : {"gaussian@1", "laplace@1", "matern12@1", "matern32@1", "matern52@1", "rq@1", "imq@1",
                           "gaussian@1+rq@2", "gaussian@1*laplace@2"}) {
    EXPECT_TRUE(Kernel(parse_kernel(text)).shift_invariant()) << text;
  }
  for (const char* text :
       {"linear", "polynomial", "normalised-polynomial", "energy", "gaussian@1+linear", "gaussian@1*polynomial"}) {
    EXPECT_FALSE(make_kernel(text, 1).shift_invariant()) << text;
  }
}

TEST(Kernel, what_cannot_be_evaluated_is_refused) {
  const Matrix<double> two(3, 2, 1.0), three(4, 3, 1.0);
  Matrix<double> values(3, 4);
  const Kernel kernel(parse_kernel("gaussian@1"));
  expect_error(ErrorCode::shape_mismatch, "kernel arguments have 2 and 3 columns, expected the same number",
               [&] { kernel.evaluate(two, three, values); });
  expect_error(ErrorCode::shape_mismatch, "kernel values are 3 x 4, expected 3 x 3",
               [&] { kernel.evaluate(two, two, values); });
  std::vector<double> diagonal(2);
  expect_error(ErrorCode::shape_mismatch, "2 diagonal values for 3 rows, expected one per row",
               [&] { kernel.diagonal(two, diagonal); });
  expect_error(ErrorCode::invalid_option, "the bandwidth of kernel gaussian is not set, expected a number > 0",
               [] { Kernel(KernelSpec{}); });
  expect_error(ErrorCode::invalid_option, "the bandwidth of kernel rq:2 is not set, expected a number > 0",
               [] { Kernel(parse_kernel("linear+rq:2")); });
  expect_error(ErrorCode::invalid_option,
               "the origin of kernel energy:1 is not set, expected one coordinate per column",
               [] { Kernel(parse_kernel("energy")); });
  const Matrix<double> zero(1, 2, 0.0);
  Matrix<double> one_value(3, 1);
  expect_error(ErrorCode::invalid_option,
               "kernel = normalised-polynomial:2:0: expected an offset > 0, because the data have a point of length 0",
               [&] { Kernel(parse_kernel("normalised-polynomial:2:0")).evaluate(two, zero, one_value); });
}

// (x.z + c)^q overflows long before its normalised form does, which never exceeds 1.
TEST(Kernel, normalised_polynomial_stays_in_range_where_the_polynomial_does_not) {
  const Matrix<double> x(2, 1, {1e4, 1e100});
  Matrix<double> values(2, 2);
  Kernel(parse_kernel("normalised-polynomial:64:1")).evaluate(x, x, values);
  EXPECT_NEAR(values(0, 0), 1.0, roundings(64 * 7));
  EXPECT_NEAR(values(1, 1), 1.0, roundings(64 * 7));
  // cos = (1e104 + 1) / (sqrt(1e8 + 1) 1e100) = 1 - 5e-9 + ..., and (1 + 1e-8)^-32 = 1 - 3.2e-7 + 5.28e-14 - ...
  EXPECT_NEAR(values(0, 1), std::pow(1.0 + 1e-8, -32.0), roundings(64 * 7) + 1e-20);
  EXPECT_EQ(values(0, 1), values(1, 0));
}

TEST(Kernel, of_no_points_has_no_values) {
  for (const std::size_t dim : {3UL, 40UL}) {
    const Matrix<double> some(4, dim, 1.0), none(0, dim);
    for (const char* text : {"gaussian@1", "laplace@1", "polynomial", "gaussian@1+linear"}) {
      Matrix<double> columns(4, 0), rows(0, 4);
      EXPECT_NO_THROW(Kernel(parse_kernel(text)).evaluate(some, none, columns)) << text;
      EXPECT_NO_THROW(Kernel(parse_kernel(text)).evaluate(none, some, rows)) << text;
    }
  }
}

TEST(Kernel, an_origin_of_another_dimension_is_refused) {
  KernelSpec spec = parse_kernel("energy");
  spec.origin = {1, 2};
  const Kernel kernel(spec);
  const Matrix<double> points(4, 3, 1.0);
  Matrix<double> values(4, 4);
  std::vector<double> diagonal(4);
  expect_error(ErrorCode::shape_mismatch, "the origin of kernel energy:1 has 2 coordinates, expected 3",
               [&] { kernel.evaluate(points, points, values); });
  expect_error(ErrorCode::shape_mismatch, "the origin of kernel energy:1 has 2 coordinates, expected 3",
               [&] { kernel.diagonal(points, diagonal); });
}

}  // namespace
}  // namespace kqd
