#pragma once
#include "core/feature_map.hpp"
#include "core/pool.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// The power of the landmarks' Gram matrix that features are divided by.
enum class NystromRoot {
  half,  ///< psi(x) = K_ss^(-1/2) k_s(x): <psi(x), psi(y)> = k_xs K_ss^-1 k_sy, the projection on the landmarks' span
  full,  ///< K_ss^-1 k_s(x), as in the code of the paper's authors (erratum 30)
};

/// The factor A with which features are A' k_s(x): one column u_i lambda_i^(-1/2) (or lambda_i^-1) for every eigenpair
/// (lambda_i, u_i) of the landmarks' Gram matrix. Eigenvalues below kSmallestEigenvalue of the largest are dropped.
/// O(r^3). Throws Error{non_finite_value}.
[[nodiscard]] Matrix<double> nystrom_factor(const Kernel& kernel, const Matrix<double>& landmarks, NystromRoot root);

inline constexpr double kSmallestEigenvalue = 1e-10;

/// Nystroem features of a set of landmarks, in the eigenbasis of their Gram matrix: |psi(x) - psi(y)| is the
/// distance of k(x, .) and k(y, .) seen from the landmarks' span. O(r^3) here, O(r d + r^2) per row.
[[nodiscard]] FeatureMap nystrom_features(const Kernel& kernel, const Matrix<double>& landmarks);

}  // namespace kqd
