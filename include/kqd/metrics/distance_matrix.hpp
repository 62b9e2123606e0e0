#pragma once
#include <span>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd KQD_PUBLIC {

/// Options of distance_matrix().
struct DistanceMatrixOptions {
  std::string method = "ekqd";  ///< id in the registry, of a method that has a distance
  MethodOptions statistic = {};
};

/// The distances between several samples, with the settings that were used.
struct DistanceMatrix {
  std::string method;
  std::vector<std::string> names;  ///< one per sample
  std::vector<std::size_t> sizes;  ///< rows of each
  std::size_t dim = 0;
  Matrix<double> values;  ///< symmetric; 0 on the diagonal, which is not computed
  /// The options with everything that came from the pool of all samples made explicit: distance(method, x, y, shared)
  /// of two of the samples is their entry.
  MethodOptions shared;
  KernelSpec kernel;  ///< with the bandwidths that were used
  std::size_t num_directions = 0;
  std::size_t num_reference = 0;
  Warnings warnings;
};

/// Distances between all pairs of samples by one method, with one setting for all of them: bandwidth, reference points
/// and directions are drawn once, from the pool of all samples, in an order that does not depend on the samples. So the
/// entries can be compared with one another, and a test of any pair with these settings is exact.
///
/// ekqd, supkqd, sw and gsw project and sort each sample once, whatever the number of pairs. Other methods take the
/// pairs one by one; their other draws (landmarks, features) follow from the seed and the pair.
/// `names`: one per sample, for messages. Cost of k samples of n rows, l directions, m reference points: O(l k n m +
/// l k n log n + l k^2 n) in the first case, k^2/2 distances in the other. Throws the errors of distance(), and
/// Error{shape_mismatch} for fewer than two samples or samples of different dimension.
[[nodiscard]] DistanceMatrix distance_matrix(std::span<const SampleView> samples, std::span<const std::string> names,
                                             const DistanceMatrixOptions& options = {},
                                             const RunControl* control = nullptr);

}  // namespace kqd
