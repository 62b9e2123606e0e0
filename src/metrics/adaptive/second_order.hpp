#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/types.hpp"
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"

namespace kqd {

/// Principal components of the pooled rows as explicit linear functions z = W' (x - mean).
struct LinearComponents {
  std::vector<double> mean;       ///< of the pool
  Matrix<double> weights;         ///< W, d x r, orthonormal columns
  std::vector<double> variances;  ///< of the components, descending
  double other_variance = 0.0;    ///< average over the d - r directions that no component covers; 0 when there is none
  double mean_variance = 0.0;     ///< average over all d directions

  /// Components of some rows, one row each; `rows` are centred in place.
  void project(MatrixView<double> rows, MatrixView<double> components) const;
};

/// A function of the unlabelled pool and the seed only. Cost as principal_basis().
[[nodiscard]] LinearComponents linear_components(const Pool& pool, const PrincipalOptions& options, Seed seed,
                                                 ThreadCount threads);

/// One score per row and ridge: the cube root of the ridge leverage (x - mean)' (C + lambda I)^-1 (x - mean), with the
/// pooled covariance C and lambda = ridge times its mean eigenvalue; an infinite ridge gives the squared distance to
/// the mean. The root makes the scores of normal rows about normal (Wilson and Hilferty). `rows` must outlive the
/// result.
[[nodiscard]] BundleDirections leverage_scores(std::shared_ptr<const LinearComponents> components, const Pool& rows,
                                               std::vector<double> ridges);

/// Products of two columns, each measured from its mean and cut at four standard deviations (all pairs, or the
/// `most_pairs` with the largest correlation in the pool), and of two of the leading components, squares included.
[[nodiscard]] MeanFeatures second_moments(std::shared_ptr<const LinearComponents> components, const Pool& rows,
                                          std::size_t most_components, std::size_t most_pairs, Seed seed);

}  // namespace kqd
