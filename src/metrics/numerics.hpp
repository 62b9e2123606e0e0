#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_traits.hpp"

namespace kqd {

/// Throws Error{non_finite_value} for a number beyond the range of doubles. `what` is a noun: "the MMD", "a distance
/// between pooled points".
inline void require_finite(double value, std::string_view what) {
  if (std::isfinite(value)) return;
  fail(ErrorCode::non_finite_value, "{} overflows on this data; {}", what, kOverflowAdvice);
}

inline void require_finite(std::span<const double> values, std::string_view what) {
  for (const double value : values) require_finite(value, what);
}

/// The standard error of the mean of two or more independent values.
[[nodiscard]] inline double standard_error(std::span<const double> values, double mean) {
  CompensatedSum squares;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares.value() / (count - 1.0) / count);
}

}  // namespace kqd
