#pragma once
#include "core/pool.hpp"
#include "kqd/core/types.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// The spread of a pool in the feature space, computed in time linear in its rows.
struct PoolSpread {
  double variance = 0.0;       ///< unbiased: the mean of |phi(z) - phi(z')|^2 / 2 over neighbours of the pool's order
  double largest_value = 0.0;  ///< the largest k(z, z), which no kernel value exceeds
};

/// Label-blind if the order of the pool is.
[[nodiscard]] PoolSpread pool_spread(const Kernel& kernel, const Pool& pool, ThreadCount threads);

}  // namespace kqd
