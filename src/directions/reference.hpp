#pragma once
#include <vector>

#include "core/pool.hpp"
#include "kqd/directions/directions.hpp"

namespace kqd {

/// Reference points of a family, and the pooled rows they are when they are any.
struct ReferencePoints {
  Matrix<double> points;
  std::vector<std::size_t> pooled_rows;
};

/// Draws m reference points from `options.reference` (methods A3). Point j comes from a stream of its own.
[[nodiscard]] ReferencePoints draw_reference(const Pool& pool, const DirectionOptions& options, std::size_t m,
                                             Seed seed);

/// Per column of the pool: the median, and the interquartile range with fallbacks 1.349 * 1.4826 * MAD, then
/// 1.349 * sd, then 0. Above 32768 rows from a label-blind random subsample of that many.
struct ColumnScale {
  std::vector<double> median;
  std::vector<double> iqr;
};
[[nodiscard]] ColumnScale column_scale(const Pool& pool, Seed seed);

}  // namespace kqd
