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

/// Draws m reference points from `options.reference`. Point j comes from a stream of its own.
[[nodiscard]] ReferencePoints draw_reference(const Pool& pool, const DirectionOptions& options, std::size_t m,
                                             Seed seed);

/// draw_directions() for a pool in any order; pooled_rows of the result are positions of that pool.
[[nodiscard]] DrawnDirections draw_directions(const Kernel& kernel, const Pool& pool, const DirectionOptions& options,
                                              Seed seed, ThreadCount threads = {});

/// `count` directions of R^dim, uniform on the sphere; direction i comes from a stream of its own.
[[nodiscard]] LinearDirections draw_uniform_directions(std::size_t count, std::size_t dim, Seed seed);

/// Per column of the pool: the median, and the interquartile range with fallbacks 1.349 * 1.4826 * MAD, then
/// 1.349 * sd, then 0. Above 32768 rows from a label-blind random subsample of that many.
struct ColumnScale {
  std::vector<double> median;
  std::vector<double> iqr;
};
[[nodiscard]] ColumnScale column_scale(const Pool& pool, Seed seed);

}  // namespace kqd
