#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "kqd/core/matrix_view.hpp"
#include "kqd/core/memory.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// An owning, contiguous, row-major matrix, aligned for vector loads. New elements are not initialised.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) : data_(allocate(rows, cols)), rows_(rows), cols_(cols) {}
  Matrix(std::size_t rows, std::size_t cols, T value) : Matrix(rows, cols) { std::ranges::fill(values(), value); }
  /// Row by row: Matrix<double>(2, 2, {1, 2, 3, 4}).
  Matrix(std::size_t rows, std::size_t cols, std::initializer_list<T> values_by_row) : Matrix(rows, cols) {
    std::copy_n(values_by_row.begin(), std::min(values_by_row.size(), rows * cols), data());
  }
  explicit Matrix(MatrixView<const T> view) : Matrix(view.rows(), view.cols()) {
    for (std::size_t i = 0; i < rows_; ++i) std::ranges::copy(view.row(i), row(i).begin());
  }
  /// Takes over elements that someone else allocated, contiguous and aligned for vector loads; `owner` frees them.
  Matrix(T* elements, std::size_t rows, std::size_t cols, std::shared_ptr<void> owner)
      : data_(elements, Free{0, std::move(owner)}), rows_(rows), cols_(cols) {}
  Matrix(const Matrix& other) : Matrix(other.view()) {}
  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix other) noexcept {
    swap(other);
    return *this;
  }
  ~Matrix() = default;

  void swap(Matrix& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
  }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] bool empty() const { return rows_ == 0 || cols_ == 0; }
  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::span<T> values() { return {data(), rows_ * cols_}; }
  [[nodiscard]] std::span<const T> values() const { return {data(), rows_ * cols_}; }
  [[nodiscard]] std::span<T> row(std::size_t i) { return {data() + i * cols_, cols_}; }
  [[nodiscard]] std::span<const T> row(std::size_t i) const { return {data() + i * cols_, cols_}; }
  [[nodiscard]] T& operator()(std::size_t i, std::size_t j) { return data()[i * cols_ + j]; }
  [[nodiscard]] const T& operator()(std::size_t i, std::size_t j) const { return data()[i * cols_ + j]; }
  [[nodiscard]] MatrixView<T> view() { return {data(), rows_, cols_}; }
  [[nodiscard]] MatrixView<const T> view() const { return {data(), rows_, cols_}; }
  operator MatrixView<T>() { return view(); }              // NOLINT(google-explicit-constructor)
  operator MatrixView<const T>() const { return view(); }  // NOLINT(google-explicit-constructor)

 private:
  struct Free {
    std::size_t bytes = 0;
    std::shared_ptr<void> owner = {};  // of elements that are not ours to free
    void operator()(T* p) const {
      if (!owner) free_aligned(p, bytes);
    }
  };
  static std::unique_ptr<T[], Free> allocate(std::size_t rows, std::size_t cols) {
    if (rows == 0 || cols == 0) return {};
    // rows * cols * sizeof(T) may wrap around: a small block must not pass for an absurdly large matrix.
    if (rows > std::numeric_limits<std::size_t>::max() / sizeof(T) / cols) throw std::bad_array_new_length();
    const std::size_t bytes = rows * cols * sizeof(T);
    return {static_cast<T*>(allocate_aligned(bytes)), Free{bytes, {}}};
  }

  std::unique_ptr<T[], Free> data_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

}  // namespace kqd
