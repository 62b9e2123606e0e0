#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "experiments/pooled_kernel.hpp"
#include "experiments/published.hpp"
#include "kqd/core/types.hpp"
#include "kqd/quantiles/level_weights.hpp"

namespace kqd::lab {

/// A statistic of two samples of n rows as in the authors' code: a function of the ordered pool. Roots are not taken,
/// which does not change a test.
struct OrderedStatistic {
  enum class Kind {
    mean_gap,     ///< e-KQD: gaps of quantiles, mean over directions
    largest_gap,  ///< sup-KQD over the drawn directions
    mmd,          ///< unbiased, all pairs
    mmd_multi,    ///< floor(log n)^2 subdiagonals
    mmd_lin,      ///< row i with row i + n/2
  };
  Kind kind = Kind::mean_gap;
  double power = 2.0;           ///< 1 or 2, of a gap
  bool centered = false;        ///< of a gap
  LevelWeights weighting = {};  ///< of a gap; evaluated at (j-1)/(n-1) (erratum 29)
};

/// values[s] of every statistic for the pool in this order. Reference points are the rows at draw.indices of the
/// *ordered* pool, and stay among the rows whose quantiles are compared (erratum 26).
[[nodiscard]] std::vector<double> ordered_values(const PooledKernel& kernel, const Order& order,
                                                 const DirectionDraw& draw,
                                                 std::span<const OrderedStatistic> statistics);

/// The decision of the authors' test for each statistic. The observed order (X, then Y) is compared with random orders,
/// the same for all statistics. "Above the 0.95-quantile of all B + 1 values" is equivalent to p <= 0.05 for the
/// published numbers of permutations.
[[nodiscard]] std::vector<bool> reference_tests(const PooledKernel& kernel, std::size_t n, const DirectionDraw& draw,
                                                std::span<const OrderedStatistic> statistics, std::size_t permutations,
                                                Seed seed);

/// Coefficients and indices of the same shape as the authors' for samples of n rows, from a seed.
[[nodiscard]] DirectionDraw fresh_draw(std::size_t n, Seed seed);

}  // namespace kqd::lab
