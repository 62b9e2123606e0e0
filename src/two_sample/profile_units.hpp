#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kqd/core/types.hpp"
#include "kqd/profile/profile.hpp"
#include "profile/grouped_summary.hpp"

namespace kqd {

/// The groups of two profiles that have rows, as units of a permutation test. Where profiles have groups of different
/// sizes, or one has more than kMostGroups, units are several groups, each as many: those of a sample that follow each
/// other, and at the end of a sample the first ones of the next. Their numbers are those of group_sizes(). Units
/// without rows say nothing, and whether one is empty does not depend on its label under the null hypothesis, so
/// leaving them out keeps a test exact.
struct ProfileUnits {
  std::shared_ptr<const GroupedData> data;
  std::vector<std::size_t> order;        ///< position of a unit -> group of (X, Y), in random order
  std::vector<std::size_t> first_lines;  ///< in the data, of each set of functions
  std::uint64_t rows_per_unit = 0;       ///< that a unit is meant to have
  std::size_t num_x = 0;                 ///< units of X
  std::size_t num_y = 0;
};

/// Throws Error{shape_mismatch} for profiles of different specs.
void require_same_spec(const Profile& x, const Profile& y);

/// Throws Error{shape_mismatch, invalid_option, empty_sample} for profiles of different specs, for parts of samples,
/// and for profiles without groups.
void require_comparable(const Profile& x, const Profile& y);

/// One unit for each profile, its first group, in random order; num_x and num_y are not set. The profiles have the same
/// spec, and each has a group.
[[nodiscard]] ProfileUnits units_of_each(std::span<const Profile> profiles, Seed seed);

/// `seed` must depend on both profiles. Throws Error{empty_sample} for a profile that has no unit.
[[nodiscard]] ProfileUnits units_of(const Profile& x, const Profile& y, Seed seed);

/// The seed of permutations: it follows from all counts and sums, and does not change when X and Y change places.
[[nodiscard]] Seed permutation_seed(const Profile& x, const Profile& y, Seed seed);

}  // namespace kqd
