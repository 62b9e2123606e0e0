#pragma once
#include <cstddef>
#include <span>

#include "kqd/core/matrix.hpp"

namespace kqd {

/// Norms of Sigma_P - Sigma_Q that need its eigenvalues: those of L' M L with K = L L' and M = diag(p - q), for
/// centered covariances diag(p) - p p' - diag(q) + q q'.
class CovarianceSpectrum {
 public:
  enum class Norm { trace, operator_norm };

  /// `gram` is that of distinct points. Eigenvalues of it below rounding are left out. Cost: O(n^3).
  CovarianceSpectrum(const Matrix<double>& gram, bool centered, Norm norm);

  /// The norm for weights p and q on the points, each of sum 1. Cost: O(n r^2) for a Gram matrix of rank r.
  [[nodiscard]] double between(std::span<const double> p, std::span<const double> q) const;

  [[nodiscard]] std::size_t rank() const { return factor_.cols(); }
  /// The rounding error of a norm: eigenvalues are good to some n eps of |L' M L| <= 2 max k(z, z), and the trace
  /// norm adds up `rank` of them.
  [[nodiscard]] double rounding() const;

  /// Rough seconds of one thread for `count` norms between weights on n points, the factor included.
  [[nodiscard]] static double seconds(std::size_t num_points, std::size_t count);

 private:
  bool centered_;
  Norm norm_;
  Matrix<double> factor_;  // L, a row per point
  double largest_diagonal_ = 0.0;
};

}  // namespace kqd
