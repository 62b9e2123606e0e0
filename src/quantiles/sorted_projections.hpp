#pragma once
#include <cstddef>
#include <span>

#include "core/summation.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"
#include "quantiles/quantile_gap.hpp"

namespace kqd {

/// The quantile functions of one sample along several directions: made from projections, one row per direction.
class SortedProjections {
 public:
  /// Sorts the rows of `projections` in place of copying them. `weights`: one per column, of any scale; empty for equal
  /// ones. A cumulative weight is a quotient of exact sums, rounded once, so counts as weights have the very levels of
  /// repeated points. Cost: O(l n log n), one direction per task.
  SortedProjections(Matrix<double> projections, std::span<const double> weights, ThreadCount threads);

  [[nodiscard]] std::size_t num_directions() const { return values_.rows(); }
  [[nodiscard]] std::size_t num_points() const { return values_.cols(); }
  [[nodiscard]] bool weighted() const { return !cumulative_.empty(); }
  [[nodiscard]] QuantileFunction quantiles(std::size_t direction) const;
  /// The (weighted) mean along a direction: <u, mu_P>. Cost: O(n).
  [[nodiscard]] double mean(std::size_t direction) const;

 private:
  void sort_weighted(std::size_t direction, std::span<const double> weights);

  Matrix<double> values_;
  Matrix<double> cumulative_;
};

}  // namespace kqd
