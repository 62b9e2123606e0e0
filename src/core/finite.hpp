#pragma once
#include <cmath>

#include "core/fail.hpp"

namespace kqd {

/// Throws Error{non_finite_value} for a statistic that is not a number: it is meaningless as a distance, and among
/// permutations a NaN would compare as "not exceeding" and make p too small.
inline void require_finite_statistic(double statistic) {
  if (std::isfinite(statistic)) return;
  fail(ErrorCode::non_finite_value,
       "the statistic is {}, not a finite number: the data or their weights span too many orders of magnitude",
       statistic);
}

}  // namespace kqd
