#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/summation.hpp"

namespace kqd {

/// How the gaps tau_p(u_i) along the directions become one number: their power mean (e-KQD) or their maximum (sup-KQD).
enum class Over { mean, maximum };

/// mean_i (tau_i / scale)^p.
[[nodiscard]] inline double scaled_power_mean(std::span<const double> tau, double p, double scale) {
  CompensatedSum total;
  for (const double t : tau) total.add(p == 1.0 ? t / scale : std::pow(t / scale, p));
  return total.value() / static_cast<double>(tau.size());
}

/// (mean_i tau_i^p)^(1/p) or max_i tau_i; scaled by the largest, so that no power leaves the range of doubles.
[[nodiscard]] inline double over_directions(Over over, std::span<const double> tau, double p) {
  const double largest = *std::ranges::max_element(tau);
  if (over == Over::maximum || std::isinf(p) || !(largest > 0.0)) return largest;
  return largest * std::pow(scaled_power_mean(tau, p, largest), 1.0 / p);
}

/// value^p, or the value itself for p = infinity; the largest number where a power is beyond it.
[[nodiscard]] inline double finite_power(double value, double p) {
  return std::isinf(p) ? value : std::min(std::pow(value, p), std::numeric_limits<double>::max());
}

}  // namespace kqd
