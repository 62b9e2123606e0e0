#pragma once
#include "explain/gap_shape.hpp"
#include "kqd/explain/explain.hpp"

namespace kqd {

/// Gaussian kernel estimates at 64 points, from two bandwidths below the 0.5% quantile of the pool to two above the
/// 99.5% quantile; with Silverman's bandwidth of the pool. Empty when all values are equal.
[[nodiscard]] ProjectedDensity projected_density(const LabelledLine& line);

}  // namespace kqd
