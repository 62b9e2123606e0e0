#include "kqd/core/matrix.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace kqd {
namespace {

std::vector<double> list(std::span<const double> values) {
  return {values.begin(), values.end()};
}

TEST(Matrix, is_row_major_and_aligned_for_vector_loads) {
  const Matrix<double> m(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(m(1, 0), 4);
  EXPECT_EQ(list(m.row(0)), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(list(m.values()), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m.data()) % 64, 0U);
}

TEST(Matrix, may_be_filled_with_one_value) {
  const Matrix<float> m(3, 2, 1.5F);
  for (const float v : m.values()) EXPECT_EQ(v, 1.5F);
}

TEST(Matrix, copies_are_deep_and_moves_leave_nothing_behind) {
  Matrix<double> a(1, 2, {1, 2});
  Matrix<double> copy = a;
  copy(0, 0) = 9;
  EXPECT_EQ(a(0, 0), 1);
  const double* data = a.data();
  const Matrix<double> moved = std::move(a);
  EXPECT_EQ(moved.data(), data);
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a.rows(), 0U);
  copy = moved;
  EXPECT_EQ(list(copy.values()), (std::vector<double>{1, 2}));
  copy = *&copy;
  EXPECT_EQ(list(copy.values()), (std::vector<double>{1, 2}));
}

TEST(Matrix, without_rows_or_columns_is_empty_and_harmless) {
  for (const auto& m : {Matrix<double>(), Matrix<double>(0, 5), Matrix<double>(5, 0)}) {
    EXPECT_TRUE(m.empty());
    EXPECT_EQ(m.values().size(), 0U);
    const Matrix<double> copy = m;
    EXPECT_EQ(copy.rows(), m.rows());
    EXPECT_EQ(copy.cols(), m.cols());
  }
}

// rows * cols wraps around to a small number here: memory of that size must not pass for the matrix.
TEST(Matrix, of_more_elements_than_can_be_counted_is_refused) {
  constexpr std::size_t kHuge = std::size_t{1} << 62U;
  EXPECT_THROW(Matrix<double>(kHuge, 4), std::bad_alloc);
  EXPECT_THROW(Matrix<double>(kHuge, 5), std::bad_alloc);
  EXPECT_THROW(Matrix<double>(kHuge / 4, 2), std::bad_alloc);  // countable, but not in bytes
  EXPECT_NO_THROW(Matrix<double>(kHuge, 0));
}

TEST(MatrixView, parts_of_rows_and_columns_keep_the_stride) {
  Matrix<double> m(4, 5);
  for (std::size_t i = 0; i < 20; ++i) m.data()[i] = static_cast<double>(i);
  const MatrixView<double> part = m.view().row_range(1, 2).column_range(2, 3);
  EXPECT_EQ(part.rows(), 2U);
  EXPECT_EQ(part.cols(), 3U);
  EXPECT_EQ(part.row_stride(), 5U);
  EXPECT_EQ(list(part.row(1)), (std::vector<double>{12, 13, 14}));
  part(0, 0) = -1;
  EXPECT_EQ(m(1, 2), -1);
  const Matrix<double> gathered(MatrixView<const double>{part});
  EXPECT_EQ(list(gathered.values()), (std::vector<double>{-1, 8, 9, 12, 13, 14}));
}

TEST(MatrixView, one_that_may_write_converts_to_one_that_may_only_read) {
  Matrix<double> m(1, 1, 3.0);
  const MatrixView<double> writable = m;
  const MatrixView<const double> readable = writable;
  EXPECT_EQ(readable.data(), m.data());
  static_assert(!std::is_convertible_v<MatrixView<const double>, MatrixView<double>>);
}

TEST(Matrix, keeps_foreign_elements_alive_and_copies_become_its_own) {
  auto owner = std::make_shared<std::array<double, 4>>(std::array<double, 4>{1, 2, 3, 4});
  const std::weak_ptr<std::array<double, 4>> watch = owner;
  double* const elements = owner->data();
  Matrix<double> moved;
  Matrix<double> copy;
  {
    Matrix<double> matrix(elements, 2, 2, std::move(owner));
    EXPECT_EQ(matrix.data(), elements);
    copy = matrix;
    moved = std::move(matrix);
  }
  EXPECT_EQ(moved(1, 1), 4.0);
  EXPECT_FALSE(watch.expired());
  moved = Matrix<double>();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(copy(1, 1), 4.0);
}

}  // namespace
}  // namespace kqd
