#pragma once
#include <cstdint>
#include <vector>

#include "kqd/core/types.hpp"
#include "profile/line_grid.hpp"
#include "quantiles/quantile_gap.hpp"

namespace kqd {

/// The rows of one sample along a line: how many are in each bin, and the sum of their values.
struct BinnedSample {
  std::vector<std::uint64_t> counts;
  std::vector<double> sums;
  double rounding = 0.0;  ///< a sum of k values is off by at most k times this
  std::uint64_t num_rows = 0;
};

/// A gap that is known up to an interval.
struct GapBounds {
  double lower = 0.0;
  double value = 0.0;  ///< an estimate inside
  double upper = 0.0;
};

/// tau_p of the values behind two binned samples, all of which are at most `bound` in size.
///
/// The distribution functions are known at the edges of bins. With p = 1 and uniform levels, the integral of F_X - F_Y
/// over a bin follows from the sums; it is that of |F_X - F_Y| unless the sign changes inside, and then at most the
/// largest integral of the size of a function with this integral and these limits. Otherwise each quantile is known to
/// be in its bin, and the gap of every piece of levels is bounded by the ends of two bins. Both hold for every sample
/// with these counts and sums, whatever its ties and outliers.
[[nodiscard]] GapBounds bounded_gap(const LineGrid& grid, const BinnedSample& x, const BinnedSample& y, double bound,
                                    Power power, const LevelWeights& levels);

}  // namespace kqd
