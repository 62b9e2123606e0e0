#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/quantile/over_directions.hpp"

namespace kqd {

/// The discrepancy of checked samples along directions that are there already; centered when result.mmd_squared is set.
void measure_along(DistanceResult& result, const Directions& directions, const SampleView& x, const SampleView& y,
                   const MethodOptions& options, Over over);

/// Directions that serve many samples, and how the gaps along them become a distance.
struct SharedSlices {
  DrawnDirections drawn;
  Over over = Over::mean;
  Warnings warnings;
};

/// The directions of e-KQD and sup-KQD for a pool, with the kernel's bandwidth taken from it.
[[nodiscard]] SharedSlices draw_slices(const Pool& pool, const MethodOptions& options, Over over);

/// Distances between all pairs of some samples along the same directions.
struct PairwiseGaps {
  Matrix<double> distances;        ///< symmetric, 0 on the diagonal
  std::size_t num_flat_pairs = 0;  ///< pairs that see more than 95 % equal values along a direction
};

/// Every sample is projected and sorted once, whatever the number of pairs; the numbers are those of measure_along().
/// Memory as there, for all samples together. Samples are checked, of one dimension, without rows of weight 0.
/// `origin`: where linear directions measure from, any point amid the data.
/// Cost: O(l sum_i (n_i m + n_i log n_i) + l sum_{i<j} (n_i + n_j)).
[[nodiscard]] PairwiseGaps measure_all_pairs(const Directions& directions, std::span<const double> origin,
                                             std::span<const SampleView> samples, const MethodOptions& options,
                                             Over over, const RunControl* control = nullptr);

}  // namespace kqd
