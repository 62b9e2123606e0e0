#pragma once
#include <span>

#include "core/random.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/sample.hpp"

namespace kqd {

/// The rows of X, then the rows of Y, as one unlabelled pool; nothing is copied.
struct Pool {
  MatrixView<const double> x;
  MatrixView<const double> y;

  [[nodiscard]] std::size_t size() const { return x.rows() + y.rows(); }
  [[nodiscard]] std::size_t dim() const { return x.cols(); }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    return i < x.rows() ? x.row(i) : y.row(i - x.rows());
  }
};

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
    for (std::size_t i = 0; i < pool.size(); ++i) std::ranges::copy(pool.row(i), rows.row(i).begin());
    return rows;
  }
  RandomStream stream(seed, purpose);
  return gather(pool, sample_without_replacement(pool.size(), limit, stream));
}

/// The mean of every column of the pool, to about two roundings.
[[nodiscard]] std::vector<double> pooled_mean(const Pool& pool);

}  // namespace kqd
