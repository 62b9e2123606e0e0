#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/summation.hpp"
#include "kqd/core/sample.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

/// Weights at some positions, scaled to sum 1; 1/n each when there are none.
[[nodiscard]] inline std::vector<double> weights_at(std::span<const double> weights,
                                                    std::span<const std::size_t> positions) {
  std::vector<double> chosen(positions.size(), 1.0 / static_cast<double>(positions.size()));
  if (weights.empty()) return chosen;
  for (std::size_t i = 0; i < positions.size(); ++i) chosen[i] = weights[positions[i]];
  const double total = sum(chosen);
  for (double& w : chosen) w /= total;
  return chosen;
}

}  // namespace kqd
