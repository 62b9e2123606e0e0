#pragma once
#include <vector>

#include "core/pool.hpp"

namespace kqd {

/// KernelSpec::column_scales of the kernel "mixed": from at most 20000 rows of the pool, and from the roles of its
/// columns. Columns that mark levels or missing values may have been standardised.
[[nodiscard]] std::vector<double> column_scales(const Pool& pool, Seed seed);

}  // namespace kqd
