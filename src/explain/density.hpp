#pragma once
#include "explain/gap_shape.hpp"
#include "kqd/explain/explain.hpp"

namespace kqd {

/// Gaussian kernel estimates at 64 points, from the 0.5 to the 99.5 per cent point of the pool and a little beyond;
/// Silverman's bandwidth of the pool. Empty when all values are equal.
[[nodiscard]] ProjectedDensity projected_density(const LabelledLine& line);

}  // namespace kqd
