#pragma once
#include <span>
#include <string>
#include <string_view>

#include "kqd/core/run_control.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/metrics/distance_matrix.hpp"
#include "kqd/profile/profile.hpp"
#include "kqd/testing/pvalue.hpp"
#include "kqd/two_sample/pairwise_tests.hpp"

namespace kqd KQD_PUBLIC {

/// A distance between profiles.
struct ProfileDistance {
  DistanceResult distance;  ///< its value is an estimate inside the interval
  Interval interval;        ///< holds the distance of the rows for certain
};

/// The distance between the rows of two profiles along the directions of their spec. Method ekqd or supkqd, any power
/// and level weights; with power 1 and uniform levels the interval is narrowest. All rows that were counted take part,
/// also those in no group.
///
/// The profiles have the same spec, and groups of any size. "For certain" is up to the rounding of the values along
/// the directions. Throws Error{shape_mismatch, invalid_option, empty_sample}.
[[nodiscard]] ProfileDistance distance(std::string_view method, const Profile& x, const Profile& y,
                                       const MethodOptions& options = {}, const RunControl* control = nullptr);

/// The distances between several profiles of one spec.
[[nodiscard]] DistanceMatrix distance_matrix(std::span<const Profile> profiles, std::span<const std::string> names,
                                             const DistanceMatrixOptions& options = {},
                                             const RunControl* control = nullptr);

/// Is each pair of profiles from the same distribution? A test per pair, as two_sample_test() of profiles; adjusted
/// p-values are family-wise over all pairs. num_permutations as for samples.
[[nodiscard]] PairwiseTests pairwise_tests(std::span<const Profile> profiles, const TwoSampleOptions& options,
                                           const RunControl* control = nullptr);

}  // namespace kqd
