#pragma once
#include "core/pool.hpp"
#include "directions/principal.hpp"
#include "kqd/core/types.hpp"
#include "profile/function_set.hpp"

namespace kqd {

/// Principal components of the pooled rows. A function of the unlabelled pool and the seed only. Cost as
/// principal_basis().
[[nodiscard]] LinearComponents linear_components(const Pool& pool, const PrincipalOptions& options, Seed seed,
                                                 ThreadCount threads);

/// Products of two columns (all pairs, or the `most_pairs` with the largest correlation in the pool) and of two of the
/// leading components.
[[nodiscard]] PairProducts second_moments(const LinearComponents& components, const Pool& rows,
                                          std::size_t most_components, std::size_t most_pairs, Seed seed);

}  // namespace kqd
