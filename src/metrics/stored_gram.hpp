#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Rows of a pool with equal ones merged.
struct DistinctRows {
  Matrix<double> points;                 ///< in the order in which they first appear
  std::vector<std::size_t> of_position;  ///< position of the pool -> its point

  [[nodiscard]] std::size_t size() const { return points.rows(); }
};
[[nodiscard]] DistinctRows distinct_rows(const Pool& pool);

/// Throws Error{resource_limit} when the Gram matrix of so many rows takes too much memory or time, unless
/// `allowed`. `what` is what needs it: "the geometric median".
void require_storable_gram(std::size_t num_rows, std::size_t dim, bool allowed, std::string_view what);

/// k(z_i, z_j) for all pairs of points, symmetric to the last bit. Throws Error{non_finite_value} when one overflows.
[[nodiscard]] Matrix<double> gram_matrix(const Kernel& kernel, MatrixView<const double> points, ThreadCount threads);

/// The Gram matrix with the feature map moved by the mean of its points, symmetric as before.
void centre_gram(Matrix<double>& gram);

/// The weights of some positions on the points of the pool, of sum 1; those of other points are 0. `weights` are per
/// position, empty: all equal.
[[nodiscard]] std::vector<double> weights_on_points(const DistinctRows& rows, std::span<const std::size_t> positions,
                                                    std::span<const double> weights);

}  // namespace kqd
