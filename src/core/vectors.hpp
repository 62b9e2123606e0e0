#pragma once

#include <cstddef>
#include <span>

namespace kqd {

/// Sums of products and of squared differences in the order of the coordinates; for vectors too short for simd::dot().
[[nodiscard]] inline double dot(std::span<const double> a, std::span<const double> b) {
  double total = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) total += a[k] * b[k];
  return total;
}

[[nodiscard]] inline double squared_distance(std::span<const double> a, std::span<const double> b) {
  double total = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) total += (a[k] - b[k]) * (a[k] - b[k]);
  return total;
}

}  // namespace kqd
