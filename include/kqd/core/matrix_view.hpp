#pragma once
#include <cstddef>
#include <span>
#include <type_traits>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// A non-owning matrix: rows of `cols` adjacent elements, `row_stride` elements from one row to the next.
template <class T>
class MatrixView {
 public:
  constexpr MatrixView() = default;
  constexpr MatrixView(T* data, std::size_t rows, std::size_t cols, std::size_t row_stride)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride) {}
  constexpr MatrixView(T* data, std::size_t rows, std::size_t cols) : MatrixView(data, rows, cols, cols) {}

  /// A view that may write converts to one that may only read.
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires(std::is_same_v<const U, T>) constexpr MatrixView(const MatrixView<U>& other)
      : MatrixView(other.data(), other.rows(), other.cols(), other.row_stride()) {}

  [[nodiscard]] constexpr T* data() const { return data_; }
  [[nodiscard]] constexpr std::size_t rows() const { return rows_; }
  [[nodiscard]] constexpr std::size_t cols() const { return cols_; }
  [[nodiscard]] constexpr std::size_t row_stride() const { return row_stride_; }
  [[nodiscard]] constexpr bool empty() const { return rows_ == 0 || cols_ == 0; }
  [[nodiscard]] constexpr std::span<T> row(std::size_t i) const { return {data_ + i * row_stride_, cols_}; }
  [[nodiscard]] constexpr T& operator()(std::size_t i, std::size_t j) const { return data_[i * row_stride_ + j]; }

  /// `count` rows from row `first` on.
  [[nodiscard]] constexpr MatrixView row_range(std::size_t first, std::size_t count) const {
    return {data_ + first * row_stride_, count, cols_, row_stride_};
  }
  /// `count` columns from column `first` on.
  [[nodiscard]] constexpr MatrixView column_range(std::size_t first, std::size_t count) const {
    return {data_ + first, rows_, count, row_stride_};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t row_stride_ = 0;
};

}  // namespace kqd
