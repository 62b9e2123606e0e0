#include "core/blas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::Real;

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
Real element(MatrixView<const T> a, Op op, std::size_t i, std::size_t j) {
  return op == Op::none ? a(i, j) : a(j, i);
}

struct Sizes {
  std::size_t rows, cols, inner;
};

template <class T>
class Gemm : public testing::Test {};
using Scalars = testing::Types<double, float>;
TYPED_TEST_SUITE(Gemm, Scalars);

// k products, their sum, the factor alpha, the factor beta and one more sum: k + 3 roundings, whatever the order.
TYPED_TEST(Gemm, agrees_with_the_triple_loop_for_all_transposes_strides_and_factors) {
  using T = TypeParam;
  const Real unit = std::numeric_limits<T>::epsilon() / 2;
  test::Source source(5);
  for (const Sizes n : {Sizes{1, 1, 1}, Sizes{3, 5, 7}, Sizes{17, 4, 33}, Sizes{64, 31, 100}, Sizes{256, 14, 14}}) {
    for (const Op op_a : {Op::none, Op::transpose}) {
      for (const Op op_b : {Op::none, Op::transpose}) {
        for (const std::size_t margin : {0UL, 3UL}) {
          for (const auto& [alpha, beta] : {std::pair{T{1}, T{0}}, std::pair{T(-0.7), T(1.3)}, std::pair{T{2}, T{1}}}) {
            const auto framed = [&](Op op, std::size_t rows, std::size_t cols) {
              return op == Op::none ? Framed<T>(rows, cols, margin, source) : Framed<T>(cols, rows, margin, source);
            };
            const Framed<T> a = framed(op_a, n.rows, n.inner);
            const Framed<T> b = framed(op_b, n.inner, n.cols);
            Framed<T> c(n.rows, n.cols, margin, source);
            const Framed<T> before = c;
            gemm(alpha, a.read(), op_a, b.read(), op_b, beta, c.view());
            const Real bound = static_cast<Real>(n.inner + 3) * unit * Real{1.01};
            for (std::size_t i = 0; i < n.rows; ++i) {
              for (std::size_t j = 0; j < n.cols; ++j) {
                Real product = 0;
                Real size = 0;
                for (std::size_t k = 0; k < n.inner; ++k) {
                  const Real term = element(a.read(), op_a, i, k) * element(b.read(), op_b, k, j);
                  product += term;
                  size += std::abs(term);
                }
                const Real own = beta * Real{before.read()(i, j)};
                ASSERT_TRUE(test::within(c.read()(i, j), alpha * product + own,
                                         bound * (std::abs(alpha) * size + std::abs(own))));
              }
            }
            for (std::size_t i = 0; i < c.storage.rows(); ++i) {
              for (std::size_t j = 0; j < c.storage.cols(); ++j) {
                const bool inside = i >= 1 && i <= n.rows && j >= margin && j < margin + n.cols;
                if (!inside) {
                  ASSERT_EQ(c.storage(i, j), before.storage(i, j)) << "outside the block";
                }
              }
            }
          }
        }
      }
    }
  }
}

// Integers below 2^20 in products of 50 terms stay exact in any order.
TEST(GemmOfIntegers, is_exact) {
  test::Source source(6);
  Matrix<double> a(40, 50), b(50, 30), c(40, 30);
  for (double& v : a.values()) v = static_cast<double>(source.below(2001)) - 1000.0;
  for (double& v : b.values()) v = static_cast<double>(source.below(2001)) - 1000.0;
  gemm(1.0, a, Op::none, b, Op::none, 0.0, c);
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 30; ++j) {
      double expected = 0.0;
      for (std::size_t k = 0; k < 50; ++k) expected += a(i, k) * b(k, j);
      ASSERT_EQ(c(i, j), expected);
    }
  }
}

TEST(GemmWithBetaZero, forgets_what_was_there_even_when_it_is_no_number) {
  const Matrix<double> a(3, 3, 1.0);
  Matrix<double> c(3, 3, std::numeric_limits<double>::quiet_NaN());
  gemm(1.0, a, Op::none, a, Op::none, 0.0, c);
  for (const double v : c.values()) EXPECT_EQ(v, 3.0);
}

TEST(GemmOfNothing, leaves_an_empty_result_alone) {
  const Matrix<double> a(0, 3);
  const Matrix<double> b(3, 2, 1.0);
  Matrix<double> c(0, 2);
  EXPECT_NO_THROW(gemm(1.0, a, Op::none, b, Op::none, 0.0, c));
}

TEST(Blas, names_the_kernels_it_chose) {
  EXPECT_FALSE(std::string(blas_core_name()).empty());
}

// k products and their sum, alpha, beta and one more sum, as above.
TEST(Gemv, agrees_with_the_double_loop) {
  test::Source source(6);
  for (const auto& [rows, cols] : {std::pair{1UL, 1UL}, {3UL, 7UL}, {256UL, 33UL}, {17UL, 300UL}}) {
    for (const Op op : {Op::none, Op::transpose}) {
      for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {-0.7, 1.3}}) {
        const Framed<double> a(rows, cols, 3, source);
        const std::size_t inner = op == Op::none ? cols : rows;
        std::vector<double> x(inner), y(op == Op::none ? rows : cols);
        for (double& v : x) v = source.normal();
        for (double& v : y) v = source.normal();
        const std::vector<double> before = y;
        gemv(alpha, a.read(), op, x, beta, y);
        for (std::size_t i = 0; i < y.size(); ++i) {
          Real product = 0;
          Real size = 0;
          for (std::size_t k = 0; k < inner; ++k) {
            const Real term = element(a.read(), op, i, k) * x[k];
            product += term;
            size += std::abs(term);
          }
          const Real own = beta * Real{before[i]};
          ASSERT_TRUE(
              test::within(y[i], alpha * product + own,
                           test::roundings(static_cast<double>(inner + 3)) * (std::abs(alpha) * size + std::abs(own))));
        }
      }
    }
  }
}

}  // namespace
}  // namespace kqd
