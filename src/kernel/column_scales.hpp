#pragma once
#include <vector>

#include "core/pool.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// KernelSpec::column_scales of the kernel "mixed": from at most 20000 rows of the pool, and from the roles of its
/// columns. Columns that mark levels or missing values may have been standardised.
[[nodiscard]] std::vector<double> column_scales(const Pool& pool, Seed seed);

/// The roots of the distances of this kernel between at most kMaxMedianPoints rows of the pool, ascending.
[[nodiscard]] std::vector<double> pooled_distances(const Pool& pool, const KernelSpec& kernel, Seed seed);

}  // namespace kqd
