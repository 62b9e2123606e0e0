#include "kqd/directions/directions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"
#include "unit/simd/each_target.hpp"

namespace kqd {
namespace {

using test::expect_error;
using test::kUnit;
using test::Real;
using test::roundings;
using test::within;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Matrix<double> values_of(const Directions& directions, MatrixView<const double> points, unsigned threads = 1) {
  Matrix<double> values(directions.count(), points.rows());
  directions.evaluate(points, 0, values, ThreadCount{threads});
  return values;
}

struct Setting {
  Matrix<double> reference;
  Matrix<double> coefficients;
  Matrix<double> points;
};

Setting random_setting(std::size_t m, std::size_t l, std::size_t n, std::size_t dim, std::uint64_t seed) {
  test::Source source(seed);
  return {test::normal_matrix({m, dim}, source), test::normal_matrix({m, l}, source),
          test::normal_matrix({n, dim}, source)};
}

// f(x) = sum_j c_j k(z_j, x) and sum_j |c_j k(z_j, x)|, which its rounding is relative to.
struct Plain {
  Real value = 0;
  Real size = 0;
};
Plain plain_value(const test::KernelFunction& k, const Setting& s, std::size_t i, std::span<const double> x) {
  Plain plain;
  for (std::size_t j = 0; j < s.reference.rows(); ++j) {
    const Real term = s.coefficients(j, i) * k(s.reference.row(j), x);
    plain.value += term;
    plain.size += std::abs(term);
  }
  return plain;
}

Plain plain_norm_squared(const test::KernelFunction& k, const Setting& s, std::size_t i) {
  Plain plain;
  for (std::size_t a = 0; a < s.reference.rows(); ++a) {
    for (std::size_t b = 0; b < s.reference.rows(); ++b) {
      const Real term = Real{s.coefficients(a, i)} * s.coefficients(b, i) * k(s.reference.row(a), s.reference.row(b));
      plain.value += term;
      plain.size += std::abs(term);
    }
  }
  return plain;
}

// ||f||^2 = c' K c for the squares (1 + x.z)^2: the inner product may cancel against 1, so a kernel value is off by
// 2 d + 4 roundings of (1 + sum |x_k z_k|)^2; products and sums add 2 (m + 2).
TEST(KernelDirections, norms_are_those_of_the_quadratic_form) {
  const std::size_t m = 9, dim = 3;
  const Setting s = random_setting(m, 4, 1, dim, 1);
  const KernelDirections directions(Kernel(parse_kernel("polynomial:2:1")), s.reference, s.coefficients);
  for (std::size_t i = 0; i < 4; ++i) {
    Real size = 0;
    for (std::size_t a = 0; a < m; ++a) {
      for (std::size_t b = 0; b < m; ++b) {
        const Real largest = 1 + test::absolute_dot(s.reference.row(a), s.reference.row(b));
        size += std::abs(Real{s.coefficients(a, i)} * s.coefficients(b, i)) * largest * largest;
      }
    }
    const Real norm = std::sqrt(plain_norm_squared(test::polynomial_kernel(2, 1.0), s, i).value);
    const Real error = roundings(2 * dim + 4 + 2 * (m + 2)) * size / norm + roundings(1) * norm;
    EXPECT_TRUE(within(directions.norms()[i], norm, error));
  }
}

// Directions of the Gaussian kernel by their definition, and what rounding may do to them.
class PlainGaussian {
 public:
  PlainGaussian(const Setting& setting, double width) : setting_(setting), kernel_(test::gaussian_kernel(width)) {
    const auto dim = static_cast<double>(setting.reference.cols());
    // exp(-E) with E below 20 in these tests: E counts as often as r^2 was rounded, d + 3 times by differences; by
    // products of centred points 2 d + 6 times |x|^2 + |z|^2, which stays below 8 r^2 here. Three more of its scale.
    const double of_distance = setting.reference.cols() <= 32 ? dim + 3 : 8 * (2 * dim + 6);
    of_kernel_ = 20 * (of_distance + 3) + 3;
  }

  [[nodiscard]] Real norm(std::size_t i) const { return std::sqrt(plain_norm_squared(kernel_, setting_, i).value); }
  // ||f||^2 is a sum of m^2 terms, each with a kernel value and 2 (m + 2) roundings; its root halves the relative
  // error.
  [[nodiscard]] Real norm_error(std::size_t i) const {
    const auto [squared, size] = plain_norm_squared(kernel_, setting_, i);
    return roundings(of_kernel_ + 2 * (num_reference() + 2)) * size / (2 * squared) + roundings(1);
  }
  [[nodiscard]] Plain value(std::size_t i, std::span<const double> x) const {
    return plain_value(kernel_, setting_, i, x);
  }
  // Of sum_j c_j k(z_j, x), relative to the sum of the absolute terms.
  [[nodiscard]] Real value_error() const { return roundings(of_kernel_ + num_reference() + 1); }
  [[nodiscard]] Real inner_product(std::size_t i, const PlainGaussian& other, std::size_t j) const {
    Real total = 0;
    for (std::size_t a = 0; a < setting_.reference.rows(); ++a) {
      for (std::size_t b = 0; b < other.setting_.reference.rows(); ++b) {
        total += Real{setting_.coefficients(a, i)} * other.setting_.coefficients(b, j) *
                 kernel_(setting_.reference.row(a), other.setting_.reference.row(b));
      }
    }
    return total / (norm(i) * other.norm(j));
  }
  // sum |c_a| |d_b| over both norms: what the rounding of an inner product is relative to (kernel values are below 1).
  [[nodiscard]] Real inner_product_size(std::size_t i, const PlainGaussian& other, std::size_t j) const {
    return absolute_coefficients(i) / norm(i) * other.absolute_coefficients(j) / other.norm(j);
  }

 private:
  [[nodiscard]] double num_reference() const { return static_cast<double>(setting_.reference.rows()); }
  [[nodiscard]] Real absolute_coefficients(std::size_t i) const {
    Real total = 0;
    for (std::size_t a = 0; a < setting_.reference.rows(); ++a) total += std::abs(Real{setting_.coefficients(a, i)});
    return total;
  }

  const Setting& setting_;
  test::KernelFunction kernel_;
  double of_kernel_;
};

TEST(KernelDirections, values_are_those_of_the_plain_sum_over_the_norm) {
  for (const std::size_t dim : {1UL, 4UL, 40UL}) {
    const Setting s = random_setting(7, 5, 300, dim, 2);
    const double width = std::sqrt(static_cast<double>(dim));
    const PlainGaussian plain(s, width);
    KernelSpec spec;
    spec.bandwidth = width;
    const KernelDirections normalised(Kernel(spec), s.reference, s.coefficients);
    const KernelDirections unnormalised(Kernel(spec), s.reference, s.coefficients, false);
    EXPECT_EQ(normalised.count(), 5U);
    EXPECT_EQ(normalised.dim(), dim);
    const Matrix<double> u = values_of(normalised, s.points);
    const Matrix<double> f = values_of(unnormalised, s.points);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(unnormalised.norms()[i], normalised.norms()[i]);
      EXPECT_TRUE(within(normalised.norms()[i], plain.norm(i), plain.norm_error(i) * plain.norm(i)));
      const Real norm_error = plain.norm_error(i);
      const Real norm = plain.norm(i);
      for (std::size_t j = 0; j < 300; ++j) {
        const auto [value, size] = plain.value(i, s.points.row(j));
        ASSERT_TRUE(within(f(i, j), value, plain.value_error() * size));
        ASSERT_TRUE(within(u(i, j), value / norm, (plain.value_error() + 2 * norm_error + kUnit) * size / norm));
      }
    }
  }
}

TEST(KernelDirections, have_norm_1_and_the_inner_products_of_the_space) {
  const Setting s = random_setting(6, 4, 1, 2, 3);
  const Setting t = random_setting(9, 3, 1, 2, 4);
  const PlainGaussian plain_u(s, 1.0);
  const PlainGaussian plain_v(t, 1.0);
  const Kernel kernel(parse_kernel("gaussian@1"));
  const KernelDirections u(kernel, s.reference, s.coefficients);
  const KernelDirections v(kernel, t.reference, t.coefficients);
  for (std::size_t i = 0; i < 4; ++i) {
    const Real own_error =
        (plain_u.value_error() + 2 * plain_u.norm_error(i) + roundings(40)) * plain_u.inner_product_size(i, plain_u, i);
    EXPECT_TRUE(within(u.inner_product(i, u, i), 1, own_error));
    for (std::size_t j = 0; j < 3; ++j) {
      const Real exact = plain_u.inner_product(i, plain_v, j);
      const Real error = (plain_u.value_error() + plain_u.norm_error(i) + plain_v.norm_error(j) + roundings(60)) *
                         plain_u.inner_product_size(i, plain_v, j);
      EXPECT_TRUE(within(u.inner_product(i, v, j), exact, error));
      EXPECT_TRUE(within(v.inner_product(j, u, i), exact, error));
    }
  }
}

TEST(KernelDirections, inner_products_need_the_same_space) {
  const Setting s = random_setting(3, 1, 1, 2, 5);
  const Setting three_columns = random_setting(3, 1, 1, 3, 5);
  const KernelDirections one(Kernel(parse_kernel("gaussian@1")), s.reference, s.coefficients);
  const KernelDirections two(Kernel(parse_kernel("gaussian@2")), s.reference, s.coefficients);
  const KernelDirections wider(Kernel(parse_kernel("gaussian@1")), three_columns.reference, three_columns.coefficients);
  const LinearDirections linear(Matrix<double>(1, 2, {1, 0}));
  expect_error(ErrorCode::shape_mismatch, "directions of gaussian@1 and gaussian@2 live in different spaces",
               [&] { static_cast<void>(one.inner_product(0, two, 0)); });
  expect_error(ErrorCode::shape_mismatch, "directions of gaussian@1 and linear live in different spaces",
               [&] { static_cast<void>(one.inner_product(0, linear, 0)); });
  expect_error(ErrorCode::shape_mismatch, "directions of linear and gaussian@1 live in different spaces",
               [&] { static_cast<void>(linear.inner_product(0, one, 0)); });
  EXPECT_THROW(static_cast<void>(one.inner_product(0, wider, 0)), Error);
}

// The origin of an energy kernel is part of its space though not of its name.
TEST(KernelDirections, inner_products_need_the_same_origin) {
  const auto energy_at = [](double origin) {
    KernelSpec spec = parse_kernel("energy");
    spec.origin = {origin};
    return Kernel(spec);
  };
  const KernelDirections at_0(energy_at(0.0), Matrix<double>(1, 1, {3.0}), Matrix<double>(1, 1, {1.0}));
  const KernelDirections at_1(energy_at(1.0), Matrix<double>(1, 1, {3.0}), Matrix<double>(1, 1, {1.0}));
  EXPECT_DOUBLE_EQ(at_0.inner_product(0, at_0, 0), 1.0);
  expect_error(ErrorCode::shape_mismatch, "directions of energy:1 and energy:1 live in different spaces",
               [&] { static_cast<void>(at_0.inner_product(0, at_1, 0)); });
}

TEST(KernelDirections, duplicate_reference_points_are_harmless) {
  // 2 k(z, .) + 1 k(z, .) is 3 k(z, .): one direction.
  const Kernel kernel(parse_kernel("gaussian@1"));
  const KernelDirections twice(kernel, Matrix<double>(2, 1, {0.5, 0.5}), Matrix<double>(2, 1, {2, 1}));
  const KernelDirections once(kernel, Matrix<double>(1, 1, {0.5}), Matrix<double>(1, 1, {1}));
  test::Source source(6);
  const Matrix<double> points = test::normal_matrix({50, 1}, source);
  const auto a = values_of(twice, points);
  const auto b = values_of(once, points);
  for (std::size_t j = 0; j < 50; ++j) EXPECT_NEAR(a(0, j), b(0, j), roundings(8) * b(0, j));
  EXPECT_NEAR(twice.norms()[0], 3.0, roundings(8) * 3.0);
}

TEST(KernelDirections, null_directions_are_refused) {
  const Kernel kernel(parse_kernel("gaussian@1"));
  expect_error(ErrorCode::degenerate_directions,
               "degenerate reference points: direction 2 has norm 0 to rounding (||f||^2 = 0)", [&] {
                 KernelDirections(kernel, Matrix<double>(2, 1, {0.5, 0.5}), Matrix<double>(2, 2, {1, 1, 1, -1}));
               });
  expect_error(ErrorCode::degenerate_directions,
               "degenerate reference points: direction 1 has norm 0 to rounding (||f||^2 = 0)",
               [&] { KernelDirections(kernel, Matrix<double>(1, 1, {0.5}), Matrix<double>(1, 1, {0})); });
  // Points 1e-7 apart: ||f||^2 = 2 - 2 exp(-5e-15) = 1e-14, below 1e-12 of the terms' sum 2.
  EXPECT_THROW(KernelDirections(kernel, Matrix<double>(2, 1, {0, 1e-7}), Matrix<double>(2, 1, {1, -1})), Error);
  // 1e-5 apart: 1e-10, a direction like any other.
  EXPECT_NO_THROW(KernelDirections(kernel, Matrix<double>(2, 1, {0, 1e-5}), Matrix<double>(2, 1, {1, -1})));
  // The authors' jitter makes even those usable.
  EXPECT_NO_THROW(
      KernelDirections(kernel, Matrix<double>(2, 1, {0.5, 0.5}), Matrix<double>(2, 1, {1, -1}), true, 1e-6));
}

TEST(KernelDirections, jitter_is_added_to_the_squared_norm) {
  const Setting s = random_setting(4, 2, 10, 2, 7);
  const Kernel kernel(parse_kernel("gaussian@1"));
  const KernelDirections plain(kernel, s.reference, s.coefficients);
  const KernelDirections jittered(kernel, s.reference, s.coefficients, true, 0.5);
  const auto u = values_of(plain, s.points);
  const auto v = values_of(jittered, s.points);
  for (std::size_t i = 0; i < 2; ++i) {
    const double norm = plain.norms()[i];
    EXPECT_NEAR(jittered.norms()[i], std::sqrt(norm * norm + 0.5), roundings(4) * (norm + 1));
    for (std::size_t j = 0; j < 10; ++j) {
      // The same sums with coefficients that were rounded apart: 4 + 2 roundings of terms that are below |c_j| / norm.
      Real size = 0;
      for (std::size_t a = 0; a < 4; ++a) size += std::abs(s.coefficients(a, i)) / norm;
      EXPECT_TRUE(within(v(i, j), Real{u(i, j)} * norm / jittered.norms()[i], 2 * roundings(6) * size));
    }
  }
}

TEST(KernelDirections, what_does_not_fit_together_is_refused) {
  const Kernel kernel(parse_kernel("gaussian@1"));
  const auto make = [&](Matrix<double> reference, Matrix<double> coefficients) {
    return KernelDirections(kernel, std::move(reference), std::move(coefficients));
  };
  expect_error(ErrorCode::shape_mismatch, "coefficients are 3 x 1 for 2 reference points, expected one row per point",
               [&] { make(Matrix<double>(2, 1, 0.0), Matrix<double>(3, 1, 1.0)); });
  expect_error(ErrorCode::shape_mismatch, "coefficients are 2 x 0 for 2 reference points, expected one row per point",
               [&] { make(Matrix<double>(2, 1, 0.0), Matrix<double>(2, 0)); });
  expect_error(ErrorCode::shape_mismatch, "coefficients are 0 x 0 for 0 reference points, expected one row per point",
               [&] { make({}, {}); });
  expect_error(ErrorCode::non_finite_value, "reference points: row 2, column 1 is nan, expected a finite number", [&] {
    make(Matrix<double>(2, 1, {0, kNan}), Matrix<double>(2, 1, 1.0));
  });
  expect_error(ErrorCode::non_finite_value, "coefficients: row 1, column 2 is inf, expected a finite number", [&] {
    make(Matrix<double>(1, 1, 0.0), Matrix<double>(1, 2, {1, HUGE_VAL}));
  });
  const auto directions = make(Matrix<double>(1, 2, 0.0), Matrix<double>(1, 3, 1.0));
  Matrix<double> values(3, 4);
  expect_error(ErrorCode::shape_mismatch, "points have 1 column and the directions 2, expected the same number",
               [&] { directions.evaluate(Matrix<double>(4, 1, 0.0), 0, values, ThreadCount{1}); });
  expect_error(ErrorCode::shape_mismatch, "values are 3 x 4 from direction 1, expected at most 3 x 4",
               [&] { directions.evaluate(Matrix<double>(4, 2, 0.0), 1, values, ThreadCount{1}); });
  expect_error(ErrorCode::shape_mismatch, "values are 3 x 4 from direction 0, expected at most 3 x 5",
               [&] { directions.evaluate(Matrix<double>(5, 2, 0.0), 0, values, ThreadCount{1}); });
}

TEST(KernelDirections, overflow_is_an_error_and_never_a_value) {
  const Kernel kernel(parse_kernel("polynomial:3:1"));
  expect_error(ErrorCode::non_finite_value,
               "the norm of direction 1 overflows; rescale the columns or take a bounded kernel",
               [&] { KernelDirections(kernel, Matrix<double>(1, 1, {1e60}), Matrix<double>(1, 1, 1.0)); });
  const KernelDirections directions(kernel, Matrix<double>(1, 1, {1.0}), Matrix<double>(1, 1, 1.0));
  Matrix<double> values(1, 2);
  expect_error(ErrorCode::non_finite_value,
               "direction 1 overflows on this data; rescale the columns or take a bounded kernel", [&] {
                 directions.evaluate(Matrix<double>(2, 1, {1, 1e110}), 0, values, ThreadCount{1});
               });
}

TEST(KernelDirections, overflow_names_the_direction_that_does_it_in_any_part_of_them) {
  // 1e160 x^2 overflows at x = 1e80, x^2 does not.
  const KernelDirections directions(Kernel(parse_kernel("polynomial:2:0")), Matrix<double>(1, 1, {1.0}),
                                    Matrix<double>(1, 3, {1.0, 1.0, 1e150}), false);
  Matrix<double> values(2, 1);
  expect_error(ErrorCode::non_finite_value,
               "direction 3 overflows on this data; rescale the columns or take a bounded kernel",
               [&] { directions.evaluate(Matrix<double>(1, 1, {1e80}), 1, values, ThreadCount{1}); });
}

// 10000 points are more than one task of 4096 rows; 14 directions in parts of any size.
TEST(KernelDirections, values_have_the_same_bits_for_any_number_of_threads) {
  for (const std::size_t dim : {2UL, 40UL}) {
    const Setting s = random_setting(14, 14, 10'000, dim, 8);
    const KernelDirections directions(Kernel(parse_kernel("gaussian@3")), s.reference, s.coefficients);
    const Matrix<double> only = values_of(directions, s.points, 1);
    for (unsigned threads = 2; threads <= 8; ++threads) {
      const Matrix<double> together = values_of(directions, s.points, threads);
      ASSERT_TRUE(std::ranges::equal(together.values(), only.values())) << threads;
    }
  }
}

// A projection depends on its row and its direction only: compared with one evaluation of all rows and directions, on
// the same instruction set.
TEST(Directions, have_the_same_bits_for_rows_in_any_order_and_in_blocks_and_portions_of_any_size) {
  test::on_each_target([] {
    test::Source source(9);
    const auto portion = [&](std::size_t left) { return std::min<std::size_t>(1 + source.below(20), left); };
    for (const std::size_t dim : {1UL, 3UL, 10UL, 40UL, 700UL}) {
      for (const std::size_t num_points : {1UL, 7UL, 301UL}) {
        const Setting s = random_setting(13, 29, num_points, dim, dim);
        const KernelDirections in_space(Kernel(parse_kernel("gaussian@9")), s.reference, s.coefficients);
        const LinearDirections linear(test::normal_matrix({29, dim}, source));
        const std::vector<double> origin(dim, 0.25);
        std::vector<std::size_t> order(num_points);
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t i = num_points; i > 1; --i) std::swap(order[i - 1], order[source.below(i)]);
        Matrix<double> shuffled(num_points, dim);
        for (std::size_t i = 0; i < num_points; ++i) std::ranges::copy(s.points.row(order[i]), shuffled.row(i).begin());
        for (const Directions* directions : std::initializer_list<const Directions*>{&in_space, &linear}) {
          Matrix<double> all(29, num_points), all_from(29, num_points);
          directions->evaluate(s.points, 0, all, ThreadCount{1});
          directions->evaluate_from(origin, s.points, 0, all_from, ThreadCount{1});
          for (std::size_t first = 0, count = 0; first < 29; first += count) {
            count = portion(29 - first);
            for (std::size_t begin = 0, rows = 0; begin < num_points; begin += rows) {
              rows = num_points > 20 ? std::min<std::size_t>(1 + source.below(200), num_points - begin) : 1;
              const auto points = std::as_const(shuffled).view().row_range(begin, rows);
              Matrix<double> part(count, rows), part_from(count, rows);
              directions->evaluate(points, first, part, ThreadCount{2});
              directions->evaluate_from(origin, points, first, part_from, ThreadCount{2});
              for (std::size_t i = 0; i < count; ++i) {
                for (std::size_t k = 0; k < rows; ++k) {
                  ASSERT_EQ(part(i, k), all(first + i, order[begin + k]))
                      << dim << " columns, " << count << " directions";
                  ASSERT_EQ(part_from(i, k), all_from(first + i, order[begin + k])) << dim << " columns";
                }
              }
            }
          }
        }
      }
    }
  });
}

TEST(LinearDirections, are_unit_vectors) {
  const LinearDirections directions(Matrix<double>(3, 2, {3, 4, -2, 0, 1, 1}));
  const auto w = directions.weights();
  EXPECT_DOUBLE_EQ(w(0, 0), 0.6);
  EXPECT_DOUBLE_EQ(w(0, 1), 0.8);
  EXPECT_DOUBLE_EQ(w(1, 0), -1.0);
  EXPECT_DOUBLE_EQ(w(2, 1), std::sqrt(0.5));
  const LinearDirections plain(Matrix<double>(1, 2, {3, 4}), false);
  EXPECT_EQ(plain.weights()(0, 1), 4.0);
  EXPECT_EQ(to_string(directions.kernel().spec()), "linear");
  EXPECT_DOUBLE_EQ(directions.inner_product(0, directions, 2), 1.4 * std::sqrt(0.5));
}

// Lengths of huge and tiny vectors exist although their squares do not.
TEST(LinearDirections, of_any_scale_are_unit_vectors) {
  for (const double scale : {1e200, 1e300, 1e-200, 1e-300, 0x1p-1060}) {
    const LinearDirections directions(Matrix<double>(1, 2, {3 * scale, 4 * scale}));
    EXPECT_NEAR(directions.weights()(0, 0), 0.6, 1e-15) << scale;
    EXPECT_NEAR(directions.weights()(0, 1), 0.8, 1e-15) << scale;
  }
}

TEST(LinearDirections, values_are_inner_products) {
  test::Source source(10);
  const Matrix<double> weights = test::normal_matrix({5, 7}, source);
  const Matrix<double> points = test::normal_matrix({700, 7}, source);
  const LinearDirections directions(weights, false);
  const auto values = values_of(directions, points, 3);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 700; ++j) {
      const Real size = test::absolute_dot(weights.row(i), points.row(j));
      ASSERT_TRUE(within(values(i, j), test::dot(weights.row(i), points.row(j)), roundings(7) * size));
    }
  }
}

// w.(x - o) = w.x - w.o: a constant per direction, and digits that the products of large numbers do not have.
TEST(LinearDirections, evaluate_from_differs_by_a_constant_and_keeps_the_digits_far_away) {
  test::Source source(11);
  for (const double location : {0.0, 1e9}) {
    const Matrix<double> points = test::normal_matrix({600, 4}, source, location);
    const LinearDirections directions(test::normal_matrix({3, 4}, source));
    const std::vector<double> origin(4, location);
    Matrix<double> values(3, 600);
    directions.evaluate_from(origin, points, 0, values, ThreadCount{2});
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 600; ++j) {
        Real exact = 0, size = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          const Real term = directions.weights()(i, k) * (Real{points(j, k)} - origin[k]);
          exact += term;
          size += std::abs(term);
        }
        ASSERT_TRUE(within(values(i, j), exact, roundings(5) * size));
      }
    }
  }
}

TEST(KernelDirections, evaluate_from_is_evaluate_for_kernels_of_a_distance) {
  const Setting s = random_setting(5, 3, 100, 2, 12);
  const KernelDirections directions(Kernel(parse_kernel("gaussian@1")), s.reference, s.coefficients);
  const std::vector<double> origin = {5, -3};
  Matrix<double> from(3, 100);
  directions.evaluate_from(origin, s.points, 0, from, ThreadCount{1});
  EXPECT_TRUE(std::ranges::equal(from.values(), values_of(directions, s.points).values()));
}

// Data around 1e9 with spread 1: u(x) at the same shape around 0 is the same, because shifts by 2^30 are exact here.
TEST(KernelDirections, keep_their_digits_far_from_the_origin) {
  for (const std::size_t dim : {3UL, 40UL}) {
    Setting near = random_setting(6, 4, 200, dim, 13);
    const auto rounded = [](Matrix<double>& m) {
      for (double& v : m.values()) v = std::round(v * 0x1p20) * 0x1p-20;
    };
    rounded(near.reference);
    rounded(near.points);
    Setting far = near;
    for (double& v : far.reference.values()) v += 0x1p30;
    for (double& v : far.points.values()) v += 0x1p30;
    const Kernel kernel(parse_kernel("gaussian@4"));
    const auto a = values_of(KernelDirections(kernel, near.reference, near.coefficients), near.points);
    const auto b = values_of(KernelDirections(kernel, far.reference, far.coefficients), far.points);
    // Up to 32 columns the same differences give the same bits. Above, other means are subtracted, and either result is
    // within its bound of the truth.
    const PlainGaussian plain(near, 4.0);
    for (std::size_t i = 0; i < 4; ++i) {
      const Real relative = 2 * (plain.value_error() + 2 * plain.norm_error(i) + kUnit);
      for (std::size_t j = 0; j < 200; ++j) {
        const Real bound = dim <= 32 ? 0 : relative * plain.value(i, near.points.row(j)).size / plain.norm(i);
        ASSERT_TRUE(within(b(i, j), a(i, j), bound));
      }
    }
  }
}

TEST(LinearDirections, without_length_or_numbers_are_refused) {
  expect_error(ErrorCode::degenerate_directions, "degenerate reference points: direction 2 has length 0", [] {
    LinearDirections(Matrix<double>(2, 2, {1, 0, 0, 0}));
  });
  expect_error(ErrorCode::non_finite_value, "directions: row 1, column 2 is nan, expected a finite number", [] {
    LinearDirections(Matrix<double>(1, 2, {1, kNan}));
  });
}

}  // namespace
}  // namespace kqd
