#pragma once
#include <span>

#include "kqd/core/types.hpp"
#include "kqd/profile/profile.hpp"

namespace kqd {

/// The p-value of the last of several batches, by rank among all of them: the share of batches that are at least as far
/// from the others together as the last one is, with ties broken at random.
///
/// The distance is the aggregate of the adaptive test of one batch against all others; it treats the batches alike. So
/// while batches are exchangeable, the p-values of one batch after another are independent and uniform on (0, 1)
/// [VNG03]. Each profile counts with its first group; for exactness these have equally many rows.
/// Time and memory: one group per batch in every line of the spec.
[[nodiscard]] double conformal_pvalue(std::span<const Profile> batches, Seed seed, ThreadCount threads);

}  // namespace kqd
