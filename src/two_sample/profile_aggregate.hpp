#pragma once
#include <cstddef>

#include "core/statistic_bundle.hpp"
#include "profile/profile_spec.hpp"
#include "two_sample/profile_units.hpp"

namespace kqd {

/// The component statistics of the adaptive test of a spec, for so many permutations of units of profiles.
[[nodiscard]] AggregatedPlan aggregate_of(const ProfileSpec& spec, const ProfileUnits& units,
                                          std::size_t permutation_count);

}  // namespace kqd
