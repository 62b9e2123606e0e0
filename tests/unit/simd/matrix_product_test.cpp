#include "simd/matrix_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "simd/target.hpp"
#include "support/source.hpp"
#include "unit/simd/each_target.hpp"

namespace kqd::simd {
namespace {

// A rows x cols block within a larger matrix whose other elements must not be touched.
template <class T>
struct Framed {
  Framed(std::size_t num_rows, std::size_t num_cols, std::size_t around, test::Source& source)
      : storage(num_rows + 2, num_cols + 2 * around + 1), margin(around), rows(num_rows), cols(num_cols) {
    for (T& v : storage.values()) v = static_cast<T>(source.normal());
  }
  MatrixView<T> view() { return storage.view().row_range(1, rows).column_range(margin, cols); }
  MatrixView<const T> read() const { return storage.view().row_range(1, rows).column_range(margin, cols); }

  Matrix<T> storage;
  std::size_t margin;
  std::size_t rows;
  std::size_t cols;
};

template <class T>
Matrix<T> noise(std::size_t rows, std::size_t cols, test::Source& source) {
  Matrix<T> matrix(rows, cols);
  for (T& v : matrix.values()) v = static_cast<T>(source.normal());
  return matrix;
}

// One term of a sum, as the instruction set in use rounds it.
template <class T>
T plus_product(T sum, T a, T b) {
  return has_fma() ? std::fma(a, b, sum) : static_cast<T>(sum + static_cast<T>(a * b));
}

template <class T>
T element(MatrixView<const T> a, Op op, std::size_t i, std::size_t j) {
  return op == Op::none ? a(i, j) : a(j, i);
}

// The specification: one term after the other in ascending order.
template <class T>
T expected_element(MatrixView<const T> a, Op op_a, MatrixView<const T> b, Op op_b, std::size_t inner, std::size_t i,
                   std::size_t j, T start) {
  T sum = start;
  for (std::size_t k = 0; k < inner; ++k) sum = plus_product(sum, element(a, op_a, i, k), element(b, op_b, k, j));
  return sum;
}

struct Sizes {
  std::size_t rows, cols, inner;
};

template <class T>
class MatrixProduct : public testing::Test {};
using Scalars = testing::Types<double, float>;
TYPED_TEST_SUITE(MatrixProduct, Scalars);

TYPED_TEST(MatrixProduct, adds_terms_in_ascending_order_to_the_bit) {
  using T = TypeParam;
  test::on_each_target([] {
    test::Source source(5);
    for (const Sizes n : {Sizes{1, 1, 1}, Sizes{3, 5, 7}, Sizes{17, 4, 33}, Sizes{65, 31, 100}, Sizes{70, 14, 14},
                          Sizes{66, 70, 10}, Sizes{9, 50, 193}, Sizes{13, 25, 400}, Sizes{2, 97, 0}}) {
      for (const Op op_a : {Op::none, Op::transpose}) {
        for (const Op op_b : {Op::none, Op::transpose}) {
          for (const Into into : {Into::overwrite, Into::add}) {
            const auto framed = [&](Op op, std::size_t rows, std::size_t cols) {
              return op == Op::none ? Framed<T>(rows, cols, 3, source) : Framed<T>(cols, rows, 3, source);
            };
            const Framed<T> a = framed(op_a, n.rows, n.inner);
            const Framed<T> b = framed(op_b, n.inner, n.cols);
            Framed<T> c(n.rows, n.cols, 3, source);
            const Framed<T> before = c;
            multiply(a.read(), op_a, b.read(), op_b, c.view(), into);
            for (std::size_t i = 0; i < n.rows; ++i) {
              for (std::size_t j = 0; j < n.cols; ++j) {
                const T start = into == Into::add ? before.read()(i, j) : T{0};
                ASSERT_EQ(c.read()(i, j), expected_element(a.read(), op_a, b.read(), op_b, n.inner, i, j, start))
                    << n.rows << " x " << n.inner << " x " << n.cols << ", element " << i << ", " << j;
              }
            }
            for (std::size_t i = 0; i < c.storage.rows(); ++i) {
              for (std::size_t j = 0; j < c.storage.cols(); ++j) {
                const bool inside = i >= 1 && i <= n.rows && j >= 3 && j < 3 + n.cols;
                if (!inside) {
                  ASSERT_EQ(c.storage(i, j), before.storage(i, j)) << "outside the block";
                }
              }
            }
          }
        }
      }
    }
  });
}

// Compared with the whole product on the same instruction set.
TYPED_TEST(MatrixProduct, has_the_same_bits_in_parts_of_any_shape) {
  using T = TypeParam;
  test::on_each_target([] {
    test::Source source(11);
    for (int repetition = 0; repetition < 20; ++repetition) {
      const std::size_t rows = 1 + source.below(150);
      const std::size_t inner = 1 + source.below(500);
      const std::size_t cols = 1 + source.below(150);
      const Matrix<T> a = noise<T>(rows, inner, source);
      const Matrix<T> b = noise<T>(inner, cols, source);
      Matrix<T> whole(rows, cols), parts(rows, cols);
      multiply(a, Op::none, b, Op::none, whole);
      const auto cut = [&](std::size_t size, const auto& use) {
        for (std::size_t first = 0; first < size;) {
          const std::size_t count = std::min<std::size_t>(1 + source.below(60), size - first);
          use(first, count);
          first += count;
        }
      };
      cut(rows, [&](std::size_t i, std::size_t num_rows) {
        cut(cols, [&](std::size_t j, std::size_t num_cols) {
          cut(inner, [&](std::size_t k, std::size_t depth) {
            multiply(a.view().row_range(i, num_rows).column_range(k, depth), Op::none,
                     b.view().row_range(k, depth).column_range(j, num_cols), Op::none,
                     parts.view().row_range(i, num_rows).column_range(j, num_cols),
                     k == 0 ? Into::overwrite : Into::add);
          });
        });
      });
      ASSERT_TRUE(std::ranges::equal(parts.values(), whole.values())) << rows << " x " << inner << " x " << cols;
    }
  });
}

TEST(MatrixProductOfNothing, is_zero_or_leaves_the_result_as_it_is) {
  const Matrix<double> none(0, 3);
  const Matrix<double> b(3, 2, 1.0);
  Matrix<double> c(0, 2);
  EXPECT_NO_THROW(multiply(none, Op::none, b, Op::none, c));
}

TEST(MatrixProduct, overwrites_what_was_there_even_nan) {
  const Matrix<double> a(3, 3, 1.0);
  Matrix<double> c(3, 3, std::numeric_limits<double>::quiet_NaN());
  multiply(a, Op::none, a, Op::none, c);
  for (const double v : c.values()) EXPECT_EQ(v, 3.0);
}

TEST(PackedFactor, reuses_its_memory_for_another_factor) {
  test::Source source(12);
  PackedFactor<double> factor;
  for (const Sizes n : {Sizes{4, 100, 300}, Sizes{4, 3, 5}, Sizes{4, 30, 50}}) {
    const Matrix<double> a = noise<double>(n.rows, n.inner, source);
    const Matrix<double> b = noise<double>(n.cols, n.inner, source);
    factor.assign(b, Op::transpose);
    Matrix<double> c(n.rows, n.cols), expected(n.rows, n.cols);
    multiply(a, Op::none, factor, c);
    multiply(a, Op::none, b, Op::transpose, expected);
    EXPECT_TRUE(std::ranges::equal(c.values(), expected.values()));
  }
}

// The specification of dot(): eight running sums in a fixed tree.
double expected_dot(std::span<const double> a, std::span<const double> b) {
  std::vector<double> lanes(8, 0.0);
  for (std::size_t k = 0; k < a.size(); ++k) lanes[k % 8] = plus_product(lanes[k % 8], a[k], b[k]);
  for (const std::size_t half : {4U, 2U, 1U}) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

TEST(MatrixVectorProduct, has_the_bits_of_its_specification) {
  test::on_each_target([] {
    test::Source source(6);
    for (const auto& [rows, cols] : {std::pair{1UL, 1UL}, {3UL, 7UL}, {26UL, 33UL}, {17UL, 300UL}, {5UL, 8UL}}) {
      for (const Op op : {Op::none, Op::transpose}) {
        for (const Into into : {Into::overwrite, Into::add}) {
          const Framed<double> a(rows, cols, 3, source);
          std::vector<double> x(op == Op::none ? cols : rows), y(op == Op::none ? rows : cols);
          for (double& v : x) v = source.normal();
          for (double& v : y) v = source.normal();
          const std::vector<double> before = y;
          multiply(a.read(), op, x, y, into);
          for (std::size_t i = 0; i < y.size(); ++i) {
            const double start = into == Into::add ? before[i] : 0.0;
            double expected = start;
            if (op == Op::none) {
              expected =
                  into == Into::add ? start + expected_dot(a.read().row(i), x) : expected_dot(a.read().row(i), x);
            } else {
              for (std::size_t k = 0; k < rows; ++k) expected = plus_product(expected, x[k], a.read()(k, i));
            }
            ASSERT_EQ(y[i], expected) << rows << " x " << cols << ", element " << i;
          }
        }
      }
    }
  });
}

TEST(Dot, adds_over_eight_lanes_whatever_the_instruction_set) {
  test::on_each_target([] {
    test::Source source(7);
    for (const std::size_t n : {0UL, 1UL, 7UL, 8UL, 9UL, 35UL, 1000UL}) {
      std::vector<double> a(n), b(n);
      for (double& v : a) v = source.normal();
      for (double& v : b) v = source.normal();
      EXPECT_EQ(dot(a, b), expected_dot(a, b)) << n;
    }
  });
}

}  // namespace
}  // namespace kqd::simd
