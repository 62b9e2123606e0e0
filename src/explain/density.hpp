#pragma once
#include <span>

#include "kqd/explain/explain.hpp"

namespace kqd {

/// Values along a direction with the weights they have in each sample (0 in the other one).
struct WeightedValues {
  std::span<const double> values;
  std::span<const double> x_weights;
  std::span<const double> y_weights;
};

/// Gaussian kernel estimates at 64 points, from the 0.5 to the 99.5 per cent point of the pool and a little beyond;
/// Silverman's bandwidth of the pool. Empty when all values are equal.
[[nodiscard]] ProjectedDensity projected_density(const WeightedValues& line);

}  // namespace kqd
