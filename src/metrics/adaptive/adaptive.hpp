#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

/// The test that looks for many kinds of difference at once: single columns, linear combinations, kernel means and
/// kernel quantiles at several bandwidths, joined by one layer of permutations.
[[nodiscard]] MethodInfo adaptive_method();

}  // namespace kqd
