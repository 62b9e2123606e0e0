#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// When to stop.
struct MedianOptions {
  std::size_t iterations = 1000;  ///< products with the Gram matrix, at most
  double tolerance = 1e-10;       ///< length of a step, relative to the objective, at which it has converged
};

/// f = sum_i w_i k(z_i, .), about where sum_i a_i |f - k(z_i, .)| is least.
struct GeometricMedian {
  std::vector<double> weights;  ///< w, per point of the Gram matrix: of sum 1, 0 where the mass is 0
  double objective = 0.0;       ///< sum_i a_i |f - k(z_i, .)|
  std::size_t iterations = 0;   ///< products with the Gram matrix
  bool converged = false;
};

/// Newton's iteration from the mean, with a step of Weiszfeld where it does not descend and of [VZ00] where it meets a
/// point. The nearest points are tried as the minimum by themselves. `mass` has sum 1; points of mass 0 take no part.
/// Deterministic; cost O(n^2) per product with the Gram matrix for n points with mass, usually 20 to 60 products.
///
/// Error: the last Newton step was no longer than the tolerance, and the iterate is closer to the minimum than the step
/// was long. Where the curvature is small (points nearly on a line of the feature space) rounding ends it earlier.
///
/// The minimum is unique unless the points lie on one line of the feature space and a half of their mass is on either
/// side of a gap; then it is the point of that gap that the mean leads to.
[[nodiscard]] GeometricMedian geometric_median(MatrixView<const double> gram, std::span<const double> mass,
                                               const MedianOptions& options);

}  // namespace kqd
