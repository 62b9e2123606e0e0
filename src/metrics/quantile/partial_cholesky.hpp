#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Features Phi (N x r) with Phi Phi' = K up to a positive semidefinite rest: the Cholesky factor of a Gram matrix, its
/// pivots the points that are known worst so far. With r below the rank of K these are Nystroem features whose
/// landmarks are the pivots; otherwise they are exact, and no jitter is needed for a singular K.
struct PartialCholesky {
  Matrix<double> features;
  std::vector<std::size_t> pivots;  ///< rows
  double residual = 0.0;            ///< trace of the rest, over that of K

  /// c with sum_j c_j k(z_pivot_j, .) = sum_j w_j phi_j(.): a vector of feature space as a function on the points.
  [[nodiscard]] std::vector<double> coefficients(std::span<const double> w) const;
};

/// Stops at `max_rank` columns, or when no diagonal entry of the rest is above `tolerance` times the largest k(x, x). K
/// is never stored: O(N r) memory, O(N r d + N r^2) time. `blocks` as row_blocks() gives them; equal rows at the same
/// place of equal blocks have equal features. Same bits for any thread count.
[[nodiscard]] PartialCholesky partial_cholesky(const Kernel& kernel, MatrixView<const double> points,
                                               std::span<const std::size_t> blocks, std::size_t max_rank,
                                               double tolerance, ThreadCount threads);

}  // namespace kqd
