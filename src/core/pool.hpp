#pragma once
#include <span>

#include "core/random.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/sample.hpp"

namespace kqd {

/// The rows of X, then the rows of Y, as one unlabelled pool; nothing is copied. With an `order`, position i of the
/// pool is row order[i] of that sequence: another sequence, or some of its rows.
struct Pool {
  MatrixView<const double> x;
  MatrixView<const double> y;
  std::span<const std::size_t> order = {};
  std::span<const ColumnRole> roles = {};  ///< as in SampleView

  [[nodiscard]] std::size_t size() const { return order.empty() ? x.rows() + y.rows() : order.size(); }
  [[nodiscard]] std::size_t dim() const { return x.cols(); }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    const std::size_t pooled = order.empty() ? i : order[i];
    return pooled < x.rows() ? x.row(pooled) : y.row(pooled - x.rows());
  }
};

/// Positions first .. first + rows.rows() - 1 of the pool, copied.
inline void copy_rows(const Pool& pool, std::size_t first, MatrixView<double> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) std::ranges::copy(pool.row(first + i), rows.row(i).begin());
}

/// The pool's rows at `indices`, copied.
[[nodiscard]] inline Matrix<double> gather(const Pool& pool, std::span<const std::size_t> indices) {
  Matrix<double> rows(indices.size(), pool.dim());
  for (std::size_t i = 0; i < indices.size(); ++i) std::ranges::copy(pool.row(indices[i]), rows.row(i).begin());
  return rows;
}

/// At most `limit` rows of the pool, copied: all of them in order when they are few, else a label-blind random choice.
[[nodiscard]] inline Matrix<double> subsample(const Pool& pool, std::size_t limit, Seed seed, Purpose purpose) {
  if (pool.size() <= limit) {
    Matrix<double> rows(pool.size(), pool.dim());
    copy_rows(pool, 0, rows);
    return rows;
  }
  RandomStream stream(seed, purpose);
  return gather(pool, sample_without_replacement(pool.size(), limit, stream));
}

/// The mean of every column of the pool, to about two roundings.
[[nodiscard]] std::vector<double> pooled_mean(const Pool& pool);

}  // namespace kqd
