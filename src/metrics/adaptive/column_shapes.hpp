#pragma once
#include <cstddef>
#include <vector>

#include "core/pool.hpp"
#include "profile/function_set.hpp"

namespace kqd {

/// Legendre polynomials of degree 1 to `degree` of the rank of each column in the pool, as Neyman's smooth test
/// compares them: together they see any change in the shape of a single column, whatever its unit. Ranks are read off
/// 257 quantiles of the column, of the rows that have a value. A function of the
/// unlabelled pool only. Cost: a sort per column, then O(degree) per row and column.
[[nodiscard]] RankPolynomials column_shapes(const Pool& rows, const std::vector<std::size_t>& columns,
                                            const MissingMarks& marks, std::size_t degree, ThreadCount threads);

}  // namespace kqd
