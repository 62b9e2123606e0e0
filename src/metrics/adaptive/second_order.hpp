#pragma once
#include "core/pool.hpp"
#include "directions/principal.hpp"
#include "kqd/core/types.hpp"
#include "metrics/adaptive/table_parts.hpp"
#include "profile/function_set.hpp"

namespace kqd {

/// Principal components of the pooled rows. A function of the unlabelled pool and the seed only. Cost as
/// principal_basis().
[[nodiscard]] LinearComponents linear_components(const Pool& pool, const PrincipalOptions& options, Seed seed,
                                                 ThreadCount threads);

/// Products of two numbers (all pairs, or the `most_pairs` with the largest correlation in the pool) and of two of the
/// leading components of all columns.
[[nodiscard]] PairProducts second_moments(const LinearComponents& components, const Pool& rows, const TableParts& parts,
                                          std::size_t most_components, std::size_t most_pairs, Seed seed);

/// Squares of the numbers, measured as in `products`.
[[nodiscard]] PairProducts squares_of_columns(const PairProducts& products, const Pool& rows, const TableParts& parts);

/// Products of two columns and the leading component, for the pairs of columns of `products`.
[[nodiscard]] TripleProducts third_moments(const LinearComponents& components, const PairProducts& products,
                                           const Pool& rows);

}  // namespace kqd
