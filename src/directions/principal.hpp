#pragma once
#include <cstddef>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// The leading eigenfunctions of the pooled covariance operator within the span of some landmarks (Nystroem):
/// e_j = sum_i c_ij k(s_i, .), orthonormal in the feature space, in order of the pool's variance along them.
struct PrincipalBasis {
  Matrix<double> landmarks;            ///< m x d
  Matrix<double> coefficients;         ///< m x r
  std::vector<double> variances;       ///< r eigenvalues, descending, > 0
  std::vector<std::size_t> positions;  ///< of the pool's rows that are landmarks, ascending
};

struct PrincipalOptions {
  std::size_t num_landmarks = 128;  ///< at most; no more than the pool has rows
  std::size_t max_rank = 64;        ///< at most this many functions
};

/// The default number of landmarks: min(128, N/4), or, where the kernel has fewer features than 512, as
/// many as it has: then the functions are exactly those of the whole pool.
[[nodiscard]] std::size_t default_num_landmarks(const KernelSpec& kernel, std::size_t num_rows, std::size_t dim);

/// A function of the unlabelled pool and the seed only. Directions of relative variance below 1e-10 of the largest are
/// rounding and are excluded; no direction is left when all points are equal. Same bits for any thread count.
/// Cost: O(N m (d + m) + m^3) time, O(m^2) memory per 4096 rows.
[[nodiscard]] PrincipalBasis principal_basis(const Kernel& kernel, const Pool& pool, const PrincipalOptions& options,
                                             Seed seed, ThreadCount threads);

}  // namespace kqd
