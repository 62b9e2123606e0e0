#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/feature_map.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/directions/directions.hpp"
#include "metrics/test_pool.hpp"
#include "quantiles/gap_weight.hpp"

namespace kqd {

/// The pooled rows along l directions, sorted once for all permutations. Values are measured from the smallest in units
/// of their range: what compares distributions along a direction only feels the unit, and no power of it overflows.
struct PooledProjections {
  Matrix<double> values;            ///< l x N, ascending, in [0, 1]
  Matrix<std::uint32_t> order;      ///< l x N: position of each value
  std::vector<double> units;        ///< per direction: the range of its values, or 1 when they are all equal
  std::vector<double> origins;      ///< per direction: the smallest value
  double root_mean_variance = 0.0;  ///< root mean square over directions of the pooled standard deviation
  std::size_t num_flat = 0;         ///< directions along which over 95 % of the values are equal
};

/// Projections of the pooled rows on directions first .. first + count - 1: one row per direction. Blocks of rows are
/// copied together first, so that what a row's value rounds to depends on its place in a label-blind order only.
[[nodiscard]] Matrix<double> project_pool(const Directions& directions, const Pool& pool, std::size_t first,
                                          std::size_t count, ThreadCount threads);
/// The same into a matrix that is there already, as many directions as it has rows.
void project_pool(const Directions& directions, const Pool& pool, std::size_t first, MatrixView<double> values,
                  ThreadCount threads);

/// The same for functions of a row.
[[nodiscard]] Matrix<double> project_pool(const FeatureMap& functions, const Pool& pool, std::size_t first,
                                          std::size_t count, ThreadCount threads);

/// Sorts projections, one row per direction; with another weight than `size` the sorted values are replaced by sums of
/// the weights of the gaps below them.
[[nodiscard]] PooledProjections sort_projections(Matrix<double> projections, GapWeight weight, ThreadCount threads);

/// The share of the pooled weight up to and including each of the sorted rows but the last. `weights`: per row, empty:
/// equal.
[[nodiscard]] std::vector<double> pooled_levels(std::span<const std::uint32_t> order, std::span<const double> weights);

/// sum_k sqrt(F_k (1 - F_k)) gap_k over sorted values with the pooled levels between them: what the part of tau_1 that
/// lies there is proportional to on average over permutations. 0 where all values are equal.
[[nodiscard]] double expected_gap(std::span<const double> sorted, std::span<const double> levels);

/// How many directions of `bytes_each` are taken at a time within a bound, at least one.
[[nodiscard]] std::size_t directions_that_fit(std::size_t max_bytes, std::size_t bytes_each);

/// Projects the pool on all directions, and sorts. `order`: position -> row of (X, Y).
[[nodiscard]] PooledProjections sorted_projections(const Directions& directions, const TestPool& pool,
                                                   std::span<const std::size_t> order, ThreadCount threads);

}  // namespace kqd
