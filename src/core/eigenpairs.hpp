#pragma once
#include <span>
#include <vector>

#include "kqd/core/matrix.hpp"

namespace kqd {

/// Eigenvalues, ascending, and orthonormal eigenvectors, one column each.
struct Eigenpairs {
  std::vector<double> values;
  Matrix<double> vectors;
};

/// Of a symmetric matrix; only its lower triangle is read. Throws Error{internal} when the iteration does not converge.
///
/// All decompositions are compiled in one place, because Eigen's code for them takes seconds to compile.
[[nodiscard]] Eigenpairs symmetric_eigenpairs(MatrixView<const double> matrix);
[[nodiscard]] std::vector<double> symmetric_eigenvalues(MatrixView<const double> matrix);
/// Of the symmetric matrix with this diagonal and with `below` next to it; `below` has one element less.
[[nodiscard]] Eigenpairs tridiagonal_eigenpairs(std::span<const double> diagonal, std::span<const double> below);

}  // namespace kqd
